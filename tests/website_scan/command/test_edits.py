"""Test that a baseline accepts harmless edits of a page.

Every new fault must be reported.
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from tests.command_line import run_here
from tests.targets.server import Site
from tests.website_scan.command.edited_page import FAULTS, HARMLESS, PAGE, answer
from website_scan.command import local
from website_scan.command.gate import ACCEPTED, BASELINE_REASON
from website_scan.command.preview_findings import PREVIEW_REASON
from website_scan.findings import ScanType
from website_scan.plan import origin_checks

LOOPBACK = ("--allow-network", "127.0.0.0/8")
TYPES = ("--type", "security", "--type", "accessibility", "--type", "seo")


def scan(site: Site, *arguments: str, paths: tuple[str, ...] = ("/",)) -> subprocess.CompletedProcess[str]:
    urls = [site.url_as("localhost") + path for path in paths]
    return run_here("scan", *urls, *arguments, *TYPES, *LOOPBACK, "--format", "csv", "--quiet")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "browser", lambda: None)
        yield running


@pytest.fixture(scope="module")
def baseline(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a baseline for the unedited page."""
    path = tmp_path_factory.mktemp("baseline") / "known.json"
    site.routes["/"] = answer(PAGE)
    written = scan(site, "--write-baseline", str(path))
    assert written.returncode == 0, written.stderr
    assert path.read_text("utf-8").count('"check"') > 20
    return path


def scan_edited_page(site: Site, baseline: Path, page: str, **headers: str) -> subprocess.CompletedProcess[str]:
    site.routes["/"] = answer(page, **headers)
    return scan(site, "--baseline", str(baseline))


@pytest.mark.parametrize("edit", HARMLESS)
def test_harmless_edit_passes(site: Site, baseline: Path, edit: str) -> None:
    page = HARMLESS[edit](PAGE)
    assert page != PAGE
    ran = scan_edited_page(site, baseline, page)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_all_harmless_edits_together_pass(site: Site, baseline: Path) -> None:
    ran = scan_edited_page(site, baseline, reduce(lambda page, edit: edit(page), HARMLESS.values(), PAGE))
    assert (ran.returncode, ran.stderr) == (0, "")


def test_harmless_edits_do_not_change_the_baseline(site: Site, baseline: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    edits = (edit for name, edit in HARMLESS.items() if name != "one entry less")
    site.routes["/"] = answer(reduce(lambda page, edit: edit(page), edits, PAGE))
    assert scan(site, "--write-baseline", str(again)).returncode == 0
    assert again.read_text("utf-8") == baseline.read_text("utf-8")


@pytest.mark.parametrize("fault", FAULTS)
def test_new_fault_fails_the_gate(site: Site, baseline: Path, fault: str) -> None:
    page = FAULTS[fault](PAGE)
    assert page != PAGE
    ran = scan_edited_page(site, baseline, page)
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.startswith("Gate failed")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Content-Type-Options": "sniff"},
        {"Set-Cookie": "login=1; SameSite=None"},
        {"Content-Security-Policy": "script-src *"},
        {"X-Powered-By": "PHP/5.6.1"},
    ],
)
def test_new_header_fault_fails_the_gate(site: Site, baseline: Path, headers: dict[str, str]) -> None:
    ran = scan_edited_page(site, baseline, PAGE, **headers)
    assert ran.returncode == 1, ran.stderr


def test_origin_findings_are_accepted_on_a_new_page(site: Site, baseline: Path) -> None:
    site.routes["/"] = site.routes["/added"] = answer(PAGE)
    ran = scan(site, "--baseline", str(baseline), paths=("/", "/added"))
    rows = [row for row in csv.DictReader(io.StringIO(ran.stdout)) if row["url"].endswith("/added")]
    accepted_by_check = {row["id"]: row["accepted"] for row in rows if row["status"] != "pass"}
    of_origin = {id: reason for id, reason in accepted_by_check.items() if id in origin_checks(ScanType.SECURITY)}
    assert "https-available" in of_origin
    assert set(of_origin.values()) == {BASELINE_REASON, PREVIEW_REASON}
    assert not accepted_by_check["csp-unsafe-eval"]  # A finding about the whole page is new on a new page.
    assert accepted_by_check["image-alt"] == BASELINE_REASON  # The image belongs to the site's template.


def test_fail_on_outcome_applies_to_warnings(site: Site) -> None:
    site.routes["/"] = answer(PAGE)
    ran = scan(site, "--fail-on-outcome", "security-txt.missing", "--fail-on-outcome", "cookie-samesite.missing")
    assert ran.returncode == 1
    (complaint,) = ran.stderr.splitlines()
    assert complaint.startswith(f"Gate failed: security of {site.url_as('localhost')}/: 2 findings: ")
    assert scan(site, "--fail-on-outcome", "security-txt.expired").returncode == 0


def test_accepted_outcome_passes_the_gate(site: Site, baseline: Path) -> None:
    outcomes = ("--accept", "title.missing", "--accept", "document-title.missing")
    site.routes["/"] = answer(FAULTS["no title"](PAGE))
    assert scan(site, "--baseline", str(baseline)).returncode == 1
    ran = scan(site, "--baseline", str(baseline), *outcomes)
    assert (ran.returncode, ran.stderr) == (0, "")
    accepted = {row["id"]: row["accepted"] for row in csv.DictReader(io.StringIO(ran.stdout)) if row["accepted"]}
    assert accepted["title"] == accepted["document-title"] == ACCEPTED
    assert accepted["image-alt"] == BASELINE_REASON
    best = ("--baseline", str(baseline), "--fail-under", "seo=100")  # If all findings are accepted, the score is 100.
    assert scan(site, *best, "--accept", "title.missing").returncode == 0
    assert scan(site, *best, "--accept", "document-title.missing").returncode == 1


def test_baseline_limits_fail_on_outcome_to_new_findings(site: Site, baseline: Path) -> None:
    fails = ("--baseline", str(baseline), "--fail-on-outcome", "image-alt.missing")
    site.routes["/"] = answer(PAGE)
    assert scan(site, *fails).returncode == 0
    site.routes["/"] = answer(FAULTS["no title"](PAGE))
    assert scan(site, *fails).returncode == 0  # Findings with another outcome do not fail the gate.
    site.routes["/"] = answer(FAULTS["another image"](PAGE))
    ran = scan(site, *fails)
    assert ran.returncode == 1
    assert ": 1 new finding: " in ran.stderr
