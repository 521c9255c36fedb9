"""Test that scans of hostile sites end as documented.

The sites are the “animals” of the “zoo”.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_django
from msgspec.structs import asdict

from scans.models import Scan
from scans.tasks import run_scan
from tests.factories import Member, make_scan
from tests.targets.server import Site
from tests.targets.zoo import ANIMALS_BY_NAME, ZOO
from tests.targets.zoo_cage import Animal, End
from tests.targets.zoo_scan import Order, Outcome, run
from tests.website_scan.net.loopback import NETWORKS
from website_scan.judging import BUSY
from website_scan.plan import OUT_OF_TIME, TOO_SLOW

# Hostile sites that only delay responses get a short time limit. Others may need longer on a busy machine.
SLOW_SITE_LIMIT_S, SCAN_LIMIT_S = 3.0, 20.0
GRACE_S = 5.0
MAX_PEAK_MIB = 500
CONCURRENT_SCANS = 16

QUICK = [animal for animal in ZOO if not animal.is_slow and not animal.is_heavy]
SLOW = [animal for animal in ZOO if animal.is_slow and not animal.is_heavy]
HEAVY = [animal for animal in ZOO if animal.is_heavy]


def scan_requests(animal: Animal, site: Site) -> list[Order]:
    limit_s = SLOW_SITE_LIMIT_S if animal.is_slow else SCAN_LIMIT_S
    ca_file = str(site.ca_file) if site.ca_file else None
    return [Order(animal.url(site), str(scan_type), ca_file, limit_s) for scan_type in animal.only]


def broken_promise(end: End, outcome: Outcome, limit_s: float) -> str:
    """Describe how the outcome differs from the expected end.

    If it does not, return an empty string.
    """
    messages = (outcome.message, *outcome.reasons)
    ends, expected_texts = {(status, end.code) for status in end.statuses}, [end.says]
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        # On a busy machine, the scan may reach its time limit before all checks have run.
        expected_texts += [BUSY.reason, OUT_OF_TIME.reason, TOO_SLOW.reason]
        if not end.code:
            ends |= {("partial", ""), ("failed", "NO_CHECK_RAN")}
    has_text = outcome.status == "completed" or any(
        words in message for message in messages for words in expected_texts
    )
    is_expected = (outcome.status, outcome.code) in ends and has_text
    return "" if is_expected and outcome.seconds < limit_s + GRACE_S else f"{outcome} instead of {end}"


def test_hostile_sites_declare_expected_ends() -> None:
    assert len({animal.name for animal in ZOO}) == len(ZOO) > 100
    for animal in ZOO:
        assert animal.only, animal.name
        for scan_type in animal.only:
            end = animal.expected_end(scan_type)
            assert ("failed" in end.statuses) == bool(end.code), animal.name
            assert end.says or end.statuses == {"completed"}, animal.name


@pytest.mark.parametrize("animal", QUICK, ids=lambda animal: animal.name)
def test_scan_of_hostile_site_ends_as_documented(animal: Animal) -> None:
    with animal.start() as site:
        for scan_type, order in zip(animal.only, scan_requests(animal, site), strict=True):
            assert not broken_promise(animal.expected_end(scan_type), run(order), order.time_limit_s), scan_type


def test_slow_site_scans_end_within_limit() -> None:
    with ExitStack() as cleanup, ThreadPoolExecutor(CONCURRENT_SCANS) as pool:
        started = [(animal, scan_requests(animal, cleanup.enter_context(animal.start()))) for animal in SLOW]
        promised = [
            (animal.name, animal.expected_end(scan_type), order)
            for animal, animal_scans in started
            for scan_type, order in zip(animal.only, animal_scans, strict=True)
        ]
        outcomes = list(pool.map(lambda each: run(each[2]), promised))
    broken = {
        (name, order.type): wrong
        for (name, end, order), outcome in zip(promised, outcomes, strict=True)
        if (wrong := broken_promise(end, outcome, SLOW_SITE_LIMIT_S))
    }
    assert broken == {}


@pytest.fixture(scope="module")
def scanner() -> Iterator[subprocess.Popen[str]]:
    """Yield a process that scans on request.

    It reports its peak memory.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "tests.targets.zoo_scan"],
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read from Linux' /proc")
@pytest.mark.parametrize("animal", HEAVY, ids=lambda animal: animal.name)
def test_memory_bomb_stays_below_limit(animal: Animal, scanner: subprocess.Popen[str]) -> None:
    assert scanner.stdin
    assert scanner.stdout
    with animal.start() as site:
        for scan_type, order in zip(animal.only, scan_requests(animal, site), strict=True):
            scanner.stdin.write(json.dumps(asdict(order)) + "\n")
            scanner.stdin.flush()
            outcome = Outcome(**json.loads(scanner.stdout.readline()))
            assert not broken_promise(animal.expected_end(scan_type), outcome, order.time_limit_s), scan_type
            assert outcome.peak_mib < MAX_PEAK_MIB, scan_type


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize(
    ("name", "status", "code", "says"),
    [
        ("silent", "failed", "TIMEOUT", ""),  # Either the page's limit or the limit of one read is reached first.
        ("tls-garbage", "failed", "TLS_FAILED", "The TLS handshake failed:"),
        ("redirect-to-private", "failed", "DOMAIN_BLOCKED", "not publicly accessible: 10.0.0.1"),
        ("nul-in-header", "failed", "BAD_RESPONSE", "The response's headers contain a NUL character."),
        ("endless-redirects", "failed", "TOO_MANY_REDIRECTS", "The site redirects more than 10 times."),
        ("slow-robots", "partial", "", "The scan's time was used up before this could be checked."),
        ("reopened-formatting", "completed", "", ""),
        ("nuls", "completed", "", ""),
    ],
)
def test_API_reports_end_of_hostile_scan(
    name: str, status: str, code: str, says: str, home: Member, settings: pytest_django.Settings
) -> None:
    settings.SCAN_ALLOWED_NETWORKS = NETWORKS
    animal = ANIMALS_BY_NAME[name]
    settings.SCAN_TIME_LIMIT_S = SLOW_SITE_LIMIT_S if animal.is_slow else SCAN_LIMIT_S
    with animal.start() as site:
        settings.SCAN_CA_BUNDLE = site.ca_file
        row = make_scan(home, url=animal.url(site), type="seo")
        run_scan(row.id)
    row = Scan.objects.get(id=row.id)
    response = home.api.get(f"/v1/scan/{row.id}").json()
    report = home.api.get(f"/v1/report/{row.id}")
    assert (row.status, row.error_code, response["status"]) == (status, code, status)
    if status == "failed":
        assert says in row.error_message
        assert response["error"] == {"code": code, "message": row.error_message}
        assert (report.status_code, report.json()["code"]) == (409, "SCAN_NOT_COMPLETE")
    else:
        assert response["error"] is None
        assert any(says in skipped["reason"] for skipped in response["skipped_checks"]) == (status == "partial")
        assert report.status_code == 200
