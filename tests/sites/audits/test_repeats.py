"""Tests that an audit counts a fact of two types once."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from accounts.models import Tier
from scans.models import Scan
from scans.visits.claims import claim_next, finish_scan
from scans.visits.queue import Worker
from sites.audits.dispatch import dispatch_pages
from tests.factories import Member, make_result
from tests.page_reading import browser_of, page_of, text_of
from tests.results import check_of
from tests.sites.audits.test_exports import export_audit
from tests.sites.audits.test_life import created, get_audit, page_urls
from website_scan.findings import HIGH, LOW, ScanType
from website_scan.result import CategoryResult

BOTH = {"seo": "lang-present", "accessibility": "html-has-lang"}


def make_categories(id: str, *, weighs: bool = True) -> tuple[CategoryResult, ...]:
    severity = HIGH if id == "html-has-lang" else LOW
    check = check_of(
        id, id, f"{id} found", "fail", severity, severity, "No lang.", "Add lang.", points=2.0, weighs=weighs
    )
    return (CategoryResult("document", "Document", 10, (check,), 71),)


def finish_visit(member: Member, failed_checks: dict[str, str], *, weighs: bool = True) -> None:
    """Finish the next visit.

    `failed_checks` maps types to their failed check. Other types have no checks.
    """
    waiting = Scan.objects.visits().get(status="queued")
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim is not None
    scans = {ScanType(scan.type): scan for scan in Scan.objects.of_visit(claim.scan_id)}
    results = []
    for scan_type in claim.types:
        columns: dict[str, Any] = {
            "categories": make_categories(failed_checks[scan_type], weighs=weighs) if scan_type in failed_checks else ()
        }
        results.append(make_result(scans[scan_type], **columns))
    assert finish_scan(claim, *results)
    dispatch_pages(member.organization.id)


def run_audit(member: Member, *visits: dict[str, str], weighs: bool = True) -> dict[str, Any]:
    Tier.objects.update(pages_per_audit=100, concurrent_scans=2)
    audit = created(member, {"pages": page_urls(len(visits)), "types": ["seo", "accessibility"]})
    for checks in visits:
        finish_visit(member, checks, weighs=weighs)
    return audit


def list_findings(member: Member, audit: dict[str, Any], query: str = "") -> list[tuple[str, str | None, int]]:
    answer = get_audit(member, audit, f"/findings?limit=100{query}")
    assert answer["total"] == len(answer["findings"])
    return sorted((finding["check"], finding["told_by"], finding["pages_affected"]) for finding in answer["findings"])


def test_finding_of_two_types_is_listed_once(home: Member) -> None:
    audit = run_audit(home, BOTH, BOTH)
    assert list_findings(home, audit) == [("html-has-lang", None, 2)]


def test_type_lists_its_own_repeats(home: Member) -> None:
    audit = run_audit(home, BOTH)
    assert list_findings(home, audit, "&type=accessibility") == [("html-has-lang", None, 1)]
    assert list_findings(home, audit, "&type=seo") == [("lang-present", "html-has-lang", 1)]


def test_exports_contain_repeated_findings_once(home: Member) -> None:
    audit = run_audit(home, BOTH)
    assert [finding["check"] for finding in json.loads(export_audit(home, audit))["findings"]] == ["html-has-lang"]
    assert [row["check"] for row in csv.DictReader(io.StringIO(export_audit(home, audit, "csv")))] == ["html-has-lang"]
    runs = json.loads(export_audit(home, audit, "sarif"))["runs"]
    assert [result["ruleId"] for run in runs for result in run["results"]] == ["html-has-lang"]
    assert [rule["id"] for run in runs for rule in run["tool"]["driver"]["rules"]] == ["html-has-lang"]


def test_finding_is_reported_by_its_own_type(home: Member) -> None:
    audit = run_audit(home, BOTH, {"seo": "lang-present"})
    assert list_findings(home, audit) == [("html-has-lang", None, 1), ("lang-present", None, 2)]


def test_review_does_not_suppress_repeats(home: Member) -> None:
    audit = run_audit(home, BOTH, weighs=False)
    assert {check for check, _, _ in list_findings(home, audit)} == {"html-has-lang", "lang-present"}


def test_repeat_refers_to_the_other_type(home: Member) -> None:
    audit = run_audit(home, BOTH)
    client = browser_of(home)
    assert "lang-present found" not in text_of(client.get(f"/audit/{audit['id']}"))
    seo_page = text_of(client.get(f"/audit/{audit['id']}?type=seo"))
    assert "lang-present found" in seo_page
    assert "In the list of all types, this finding is under Accessibility ." in seo_page


def test_findings_of_two_types_link_to_each_other(home: Member) -> None:
    audit = run_audit(home, BOTH)
    address = f"/audit/{audit['id']}"
    lists = {type: f"{address}?type={type}#check-{type}-{check}" for type, check in BOTH.items()}
    client = browser_of(home)
    for own, other in (("seo", "accessibility"), ("accessibility", "seo")):
        page = page_of(client.get(lists[own]))
        (row,) = page.xpath(f"//li[@id='{lists[own].partition('#')[2]}']")
        assert lists[other] in row.xpath(".//a/@href")


def test_reports_of_one_visit_link_to_each_other(home: Member) -> None:
    run_audit(home, BOTH)
    scans = {scan.type: scan for scan in Scan.objects.all()}
    client = browser_of(home)
    for own, other in (("seo", "accessibility"), ("accessibility", "seo")):
        page = page_of(client.get(f"/report/{scans[own].id}"))
        (link,) = page.xpath(f"//li[@id='check-{BOTH[own]}']//a[starts-with(@href, '/report/')]")
        assert link.get("href") == f"/report/{scans[other].id}#check-{BOTH[other]}"
        assert link.text == f"{BOTH[other]} found"


def test_shared_report_links_to_no_other(home: Member, client: Any) -> None:
    run_audit(home, BOTH)
    scans = {scan.type: scan for scan in Scan.objects.all()}
    scans["seo"].report.shared_at = scans["seo"].created_at
    scans["seo"].report.save()
    assert scans["accessibility"].id not in client.get(f"/report/{scans['seo'].id}").content.decode()
