"""Test that documents are those of the command, and that stored documents are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import website_scan
from tests.command_line import run_here
from tests.targets.server import Answer, Site
from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.command import local
from website_scan.command.formats import WRITERS
from website_scan.command.gate import CommandReport
from website_scan.findings import ScanType, Severity
from website_scan.library.results import page_results
from website_scan.places import Element

LOOPBACK = ("127.0.0.0/8",)
LOG_IN_PAGE = (
    "<!doctype html><html lang=en><title>Boats for hire at the old pier</title><main><h1>Sign in</h1><form>"
    "<label>User <input autocomplete=username></label><label>Password <input type=password></label></form></main>"
)
PAGES = {
    "one page": ["/"],
    "several pages": ["/", "/log-in", "/gone"],
    "one failed page": ["/gone"],
}


@pytest.fixture
def site() -> Iterator[Site]:
    routes = {
        "/": Answer("<!doctype html><html lang=en><title>Tea</title><h1>Tea</h1><img src=/tea.png>"),
        "/log-in": Answer.redirect("/sign-in.html"),
        "/sign-in.html": Answer(LOG_IN_PAGE),
        "/gone": Answer(status=503),
    }
    with Site(routes) as running:
        yield running


@pytest.fixture
def yielded(monkeypatch: pytest.MonkeyPatch) -> list[CommandReport]:
    """Reports that the command has written."""
    reports: list[CommandReport] = []
    scan_pages = local.scan_pages

    def record(*arguments: Any) -> Iterator[list[CommandReport]]:
        for page in scan_pages(*arguments):
            reports.extend(page)
            yield page

    monkeypatch.setattr(local, "scan_pages", record)
    monkeypatch.setattr(local, "browser", lambda: None)
    return reports


@pytest.mark.parametrize("paths", PAGES.values(), ids=PAGES)
def test_every_document_is_that_of_the_command(
    site: Site, yielded: list[CommandReport], tmp_path: Path, paths: Sequence[str]
) -> None:
    options = [word for name in website_scan.FORMATS for word in ("--format", name, "--output", str(tmp_path / name))]
    run_here("scan", *(f"{site.url}{path}" for path in paths), "--allow-network", *LOOPBACK, *options)
    results = page_results(yielded)
    assert len(results) == len(paths)
    for name in website_scan.FORMATS:
        written = (tmp_path / name).read_bytes().decode()
        assert website_scan.document(results, name) == written, name
    assert ("text", *WRITERS) == website_scan.FORMATS


def test_standard_and_level_of_a_document(site: Site) -> None:
    page = website_scan.scan(f"{site.url}/", "accessibility", browser=False, allow_networks=LOOPBACK)
    assert "EN 301 549" in website_scan.document(page, "conformance", standard="en301549", level="A")
    assert "WCAG 2.2, level AA" in website_scan.document(page, "conformance")


@pytest.mark.parametrize(
    "options", [{"format": "pdf"}, {"format": "earl", "standard": "x"}, {"format": "earl", "level": "B"}]
)
def test_unknown_formats_and_standards_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(website_scan.InvalidOption):
        website_scan.document(page_results([judged_report(check_result("hsts"))]), **options)
    with pytest.raises(website_scan.InvalidOption):
        website_scan.document([], "json")


REPORTS = (
    judged_report(
        check_result("hsts", "fail", Severity.HIGH, Element("img", "<img>"), Element("p", "<p>")),
        check_result("csp", "warn", Severity.LOW),
        check_result("cookies", "pass"),
    ),
    judged_report(check_result("lcp", "pass"), type=ScanType.PERFORMANCE, browser="Chromium 156.0"),
    judged_report(check_result("hsts"), url="https://example.com/shop"),
    failed_scan(),
)


@pytest.mark.parametrize("reports", [REPORTS, REPORTS[:1], REPORTS[3:]], ids=["several", "one", "failed"])
def test_read_returns_what_was_stored(reports: Sequence[CommandReport], tmp_path: Path) -> None:
    results = page_results(reports)
    text = website_scan.document(results, "full")
    path = tmp_path / "full.json"
    path.write_text(text, encoding="utf-8")
    for source in (text, text.encode(), b"\xef\xbb\xbf" + text.encode(), path):
        assert website_scan.read(source) == results
    again = website_scan.read(text)
    for name in set(website_scan.FORMATS) - {"html"}:
        assert website_scan.document(again, name) == website_scan.document(results, name), name


def test_accepted_findings_are_read(site: Site) -> None:
    page = website_scan.scan(f"{site.url}/", "security", browser=False, allow_networks=LOOPBACK)
    (again,) = website_scan.read(website_scan.document(page, "full"))
    accepted = {finding.check for finding in again.findings if finding.accepted}
    assert accepted == {"http-to-https-redirect", "https-available"}
    assert again == page
    score = again["security"].score
    assert score is not None
    assert (again["security"].accepted_score or 0) > score


def test_one_report_per_line_is_read() -> None:
    lines = [json.dumps(report.export) for report in REPORTS[:3]]
    assert website_scan.read("\n".join(lines) + "\n") == page_results(REPORTS[:3])


# Keys of reports and checks that documents of older versions do not have.
LATER_KEYS = {"final_url", "needs_log_in", "browser", "omitted_checks", "repeated_checks", "site_evidence_at"}
LATER_KEYS_OF_CHECKS = {"consequence", "needs_review", "includes", "why", "holds", "later", "details"}


def test_documents_of_older_versions_are_read() -> None:
    report = json.loads(website_scan.document(page_results(REPORTS[:1]), "full"))
    for key in LATER_KEYS:
        del report[key]
    for check in report["categories"][0]["checks"]:
        for key in LATER_KEYS_OF_CHECKS & check.keys():
            del check[key]
    (page,) = website_scan.read(json.dumps(report))
    first = page["security"].findings[0]
    assert (first.check, first.severity, first.consequence, first.later) == ("hsts", "high", "", first.points)
    assert (page["security"].browser, page["security"].omitted) == (None, ())
    for name in website_scan.FORMATS:
        assert website_scan.document(page, name)


def test_unknown_keys_of_newer_versions_are_ignored() -> None:
    report = json.loads(website_scan.document(page_results(REPORTS[:1]), "full"))
    report["mood"] = {"good": True}
    report["categories"][0]["checks"][0]["mood"] = 1
    assert website_scan.read(json.dumps(report)) == page_results(REPORTS[:1])


def changed(path: str, value: object) -> str:
    """Return a document with another value at a path, such as `categories.0.name`. `...` removes the key."""
    report: Any = json.loads(website_scan.document(page_results(REPORTS[:1]), "full"))
    *keys, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    part = report
    for key in keys:
        part = part[key]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return json.dumps(report)


CHECK = "categories.0.checks.0"
INVALID = {
    "text": "Hello",
    "empty": "",
    "array of numbers": "[1]",
    "no reports": '{"reports": []}',
    "deep": "[" * 100_000,
    "NaN": changed("score", float("nan")),
    "infinite points": changed(f"{CHECK}.points", float("inf")),
    "large points": changed(f"{CHECK}.points", 1).replace('"points": 1', '"points": 1e999'),
    "large number": '{"score": ' + "9" * 10_000 + "}",
    "missing type": changed("type", ...),
    "unknown type": changed("type", "speed"),
    "score": changed("score", 101),
    "no score": changed("score", None),
    "true score": changed("score", True),
    "grade": changed("grade", "Z"),
    "status": changed("status", "done"),
    "status of a failed scan": changed("status", "failed"),
    "unknown severity": changed(f"{CHECK}.severity", "dire"),
    "no severity": changed(f"{CHECK}.severity", ...),
    "title": changed(f"{CHECK}.title", ["x"]),
    "fix": changed(f"{CHECK}.how_to_fix", "Do it."),
    "fingerprint": changed(f"{CHECK}.places.0.fingerprints.0", "<script>"),
    "fingerprints": changed(f"{CHECK}.places.0.fingerprints", []),
    "short row": changed(f"{CHECK}.places.0.rows.0", []),
    "names": changed(f"{CHECK}.places.0.names", ["mood"]),
    "nested cell": changed(f"{CHECK}.places.0.rows.0.0", {"a": 1}),
    "time": changed("created_at", "yesterday"),
    "time without zone": changed("created_at", "2026-11-22T12:00:00"),
    "script address": changed("url", "javascript:alert(1)"),
    "broken address": changed("url", "http://[::1"),
    "accepted": changed("accepted", ["hsts"]),
}


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID)
def test_other_documents_are_refused(text: str) -> None:
    with pytest.raises(website_scan.InvalidDocument, match=re.escape("The document is no report")):
        website_scan.read(text)
    with pytest.raises(website_scan.InvalidDocument):
        website_scan.read(text.encode())


def test_bytes_that_are_not_text_are_refused() -> None:
    with pytest.raises(website_scan.InvalidDocument):
        website_scan.read(b"\xff\xfe{")


def test_message_names_the_invalid_part() -> None:
    with pytest.raises(website_scan.InvalidDocument, match=r"categories\[0\]\.checks\[0\]\.how_to_fix"):
        website_scan.read(INVALID["fix"])


def test_missing_file_raises_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        website_scan.read(tmp_path / "missing.json")
