"""The baseline on edited pages: what changes by itself or harms nobody is no news, each new fault is."""

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
from website_scan.command.judged import ACCEPTED, IN_BASELINE
from website_scan.command.preview_findings import IN_PREVIEW
from website_scan.findings import ScanType
from website_scan.plan import origin_checks

LOOPBACK = ("--allow-network", "127.0.0.0/8")
TYPES = ("--type", "security", "--type", "accessibility", "--type", "seo")


def scan(site: Site, *arguments: str, paths: tuple[str, ...] = ("/",)) -> subprocess.CompletedProcess[str]:
    urls = [site.url_as("localhost") + each for each in paths]
    return run_here("scan", *urls, *arguments, *TYPES, *LOOPBACK, "--format", "csv", "--quiet")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "browser", lambda: None)
        yield running


@pytest.fixture(scope="module")
def known(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline of the page before any edit."""
    path = tmp_path_factory.mktemp("baseline") / "known.json"
    site.routes["/"] = answer(PAGE)
    written = scan(site, "--write-baseline", str(path))
    assert written.returncode == 0, written.stderr
    assert path.read_text("utf-8").count('"check"') > 20
    return path


def judged(site: Site, known: Path, page: str, **headers: str) -> subprocess.CompletedProcess[str]:
    site.routes["/"] = answer(page, **headers)
    return scan(site, "--baseline", str(known))


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_passes(site: Site, known: Path, edit: str) -> None:
    page = HARMLESS[edit](PAGE)
    assert page != PAGE
    ran = judged(site, known, page)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_all_harmless_edits_together_pass(site: Site, known: Path) -> None:
    ran = judged(site, known, reduce(lambda page, edit: edit(page), HARMLESS.values(), PAGE))
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_harmless_edit_leaves_the_lines_of_the_baseline_as_they_are(site: Site, known: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    edits = (edit for name, edit in HARMLESS.items() if name != "one entry less")
    site.routes["/"] = answer(reduce(lambda page, edit: edit(page), edits, PAGE))
    assert scan(site, "--write-baseline", str(again)).returncode == 0
    assert again.read_text("utf-8") == known.read_text("utf-8")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_new_fault_fails(site: Site, known: Path, fault: str) -> None:
    page = FAULTS[fault](PAGE)
    assert page != PAGE
    ran = judged(site, known, page)
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
def test_a_new_fault_of_a_header_fails(site: Site, known: Path, headers: dict[str, str]) -> None:
    ran = judged(site, known, PAGE, **headers)
    assert ran.returncode == 1, ran.stderr


def test_a_page_that_is_added_to_the_gate_has_the_findings_of_the_origin(site: Site, known: Path) -> None:
    site.routes["/"] = site.routes["/added"] = answer(PAGE)
    ran = scan(site, "--baseline", str(known), paths=("/", "/added"))
    rows = [each for each in csv.DictReader(io.StringIO(ran.stdout)) if each["url"].endswith("/added")]
    found = {each["id"]: each["accepted"] for each in rows if each["status"] != "pass"}
    of_origin = {each: found[each] for each in found if each in origin_checks(ScanType.SECURITY)}
    assert "https-available" in of_origin
    assert set(of_origin.values()) == {IN_BASELINE, IN_PREVIEW}
    assert not found["csp-unsafe-eval"]  # a fault of its own on each page
    assert found["image-alt"] == IN_BASELINE  # of the template


def test_a_named_outcome_fails_a_scan_also_as_a_warning(site: Site) -> None:
    site.routes["/"] = answer(PAGE)
    ran = scan(site, "--fail-on-outcome", "security-txt.missing", "--fail-on-outcome", "cookie-samesite.missing")
    assert ran.returncode == 1
    (complaint,) = ran.stderr.splitlines()
    assert complaint.startswith(f"Gate failed: security of {site.url_as('localhost')}/: 2 findings: ")
    assert scan(site, "--fail-on-outcome", "security-txt.expired").returncode == 0


def test_an_accepted_outcome_passes_the_gates_of_a_scan(site: Site, known: Path) -> None:
    outcomes = ("--accept", "title.missing", "--accept", "document-title.missing")
    site.routes["/"] = answer(FAULTS["no title"](PAGE))
    assert scan(site, "--baseline", str(known)).returncode == 1
    ran = scan(site, "--baseline", str(known), *outcomes)
    assert (ran.returncode, ran.stderr) == (0, "")
    accepted = {each["id"]: each["accepted"] for each in csv.DictReader(io.StringIO(ran.stdout)) if each["accepted"]}
    assert accepted["title"] == accepted["document-title"] == ACCEPTED
    assert accepted["image-alt"] == IN_BASELINE
    best = ("--baseline", str(known), "--fail-under", "seo=100")  # with all findings accepted
    assert scan(site, *best, "--accept", "title.missing").returncode == 0
    assert scan(site, *best, "--accept", "document-title.missing").returncode == 1


def test_a_baseline_leaves_a_named_outcome_to_fail_only_where_it_is_new(site: Site, known: Path) -> None:
    fails = ("--baseline", str(known), "--fail-on-outcome", "image-alt.missing")
    site.routes["/"] = answer(PAGE)
    assert scan(site, *fails).returncode == 0
    site.routes["/"] = answer(FAULTS["no title"](PAGE))
    assert scan(site, *fails).returncode == 0  # another outcome
    site.routes["/"] = answer(FAULTS["another image"](PAGE))
    ran = scan(site, *fails)
    assert ran.returncode == 1
    assert ": 1 new finding: " in ran.stderr
