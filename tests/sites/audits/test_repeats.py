"""A fact that checks of two types find is counted once in an audit."""

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
from tests.sites.audits.test_exports import exported
from tests.sites.audits.test_life import created, pages, shown
from website_scan.findings import HIGH, LOW, ScanType
from website_scan.result import CategoryResult

BOTH = {"seo": "lang-present", "accessibility": "html-has-lang"}


def category(id: str, *, weighs: bool = True) -> tuple[CategoryResult, ...]:
    severity = HIGH if id == "html-has-lang" else LOW
    check = check_of(
        id, id, f"{id} found", "fail", severity, severity, "No lang.", "Add lang.", points=2.0, weighs=weighs
    )
    return (CategoryResult("document", "Document", 10, (check,), 71),)


def visit(member: Member, found: dict[str, str], *, weighs: bool = True) -> None:
    """Finish the next visit. `found` has the failed check of each type; the other types fail as a whole."""
    waiting = Scan.objects.visits().get(status="queued")
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim is not None
    scans = {ScanType(each.type): each for each in Scan.objects.of_visit(claim.scan_id)}
    results = []
    for each in claim.types:
        columns: dict[str, Any] = {"categories": category(found[each], weighs=weighs) if each in found else ()}
        results.append(make_result(scans[each], **columns))
    assert finish_scan(claim, *results)
    dispatch_pages(member.organization.id)


def audited(member: Member, *visits: dict[str, str], weighs: bool = True) -> dict[str, Any]:
    Tier.objects.update(pages_per_audit=100, concurrent_scans=2)
    audit = created(member, {"pages": pages(len(visits)), "types": ["seo", "accessibility"]})
    for each in visits:
        visit(member, each, weighs=weighs)
    return audit


def listed(member: Member, audit: dict[str, Any], query: str = "") -> list[tuple[str, str | None, int]]:
    answer = shown(member, audit, f"/findings?limit=100{query}")
    assert answer["total"] == len(answer["findings"])
    return sorted((each["check"], each["told_by"], each["pages_affected"]) for each in answer["findings"])


def test_finding_of_two_types_is_listed_once(home: Member) -> None:
    audit = audited(home, BOTH, BOTH)
    assert listed(home, audit) == [("html-has-lang", None, 2)]


def test_findings_of_a_type_include_repeats_that_lower_its_score(home: Member) -> None:
    audit = audited(home, BOTH)
    assert listed(home, audit, "&type=accessibility") == [("html-has-lang", None, 1)]
    assert listed(home, audit, "&type=seo") == [("lang-present", "html-has-lang", 1)]


def test_exports_have_repeated_findings_once(home: Member) -> None:
    audit = audited(home, BOTH)
    assert [each["check"] for each in json.loads(exported(home, audit))["findings"]] == ["html-has-lang"]
    assert [each["check"] for each in csv.DictReader(io.StringIO(exported(home, audit, "csv")))] == ["html-has-lang"]
    runs = json.loads(exported(home, audit, "sarif"))["runs"]
    assert [each["ruleId"] for run in runs for each in run["results"]] == ["html-has-lang"]
    assert [rule["id"] for run in runs for rule in run["tool"]["driver"]["rules"]] == ["html-has-lang"]


def test_finding_of_only_one_type_on_a_page_is_reported_by_that_type(home: Member) -> None:
    audit = audited(home, BOTH, {"seo": "lang-present"})
    assert listed(home, audit) == [("html-has-lang", None, 1), ("lang-present", None, 2)]


def test_finding_that_needs_review_does_not_suppress_repeats(home: Member) -> None:
    audit = audited(home, BOTH, weighs=False)
    assert {check for check, _, _ in listed(home, audit)} == {"html-has-lang", "lang-present"}


def test_audit_page_shows_a_repeat_once_and_mentions_the_other_type(home: Member) -> None:
    audit = audited(home, BOTH)
    client = browser_of(home)
    assert "lang-present found" not in text_of(client.get(f"/audit/{audit['id']}"))
    of_type = text_of(client.get(f"/audit/{audit['id']}?type=seo"))
    assert "lang-present found" in of_type
    assert "The list of all types has this once, under Accessibility ." in of_type


def test_findings_of_two_types_link_to_each_other(home: Member) -> None:
    audit = audited(home, BOTH)
    address = f"/audit/{audit['id']}"
    lists = {type: f"{address}?type={type}#check-{type}-{check}" for type, check in BOTH.items()}
    client = browser_of(home)
    for own, other in (("seo", "accessibility"), ("accessibility", "seo")):
        page = page_of(client.get(lists[own]))
        (row,) = page.xpath(f"//li[@id='{lists[own].partition('#')[2]}']")
        assert lists[other] in row.xpath(".//a/@href")


def test_reports_of_one_visit_link_to_each_other(home: Member) -> None:
    audited(home, BOTH)
    scans = {each.type: each for each in Scan.objects.all()}
    client = browser_of(home)
    for own, other in (("seo", "accessibility"), ("accessibility", "seo")):
        page = page_of(client.get(f"/report/{scans[own].id}"))
        (link,) = page.xpath(f"//li[@id='check-{BOTH[own]}']//a[starts-with(@href, '/report/')]")
        assert link.get("href") == f"/report/{scans[other].id}#check-{BOTH[other]}"
        assert link.text == f"{BOTH[other]} found"


def test_report_that_is_shared_alone_links_to_no_other_report(home: Member, client: Any) -> None:
    audited(home, BOTH)
    scans = {each.type: each for each in Scan.objects.all()}
    scans["seo"].report.shared_at = scans["seo"].created_at
    scans["seo"].report.save()
    assert scans["accessibility"].id not in client.get(f"/report/{scans['seo'].id}").content.decode()
