"""Tests for the order of audit findings.

Emergencies come first in every output.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from accounts.models import Tier
from scans.models import Scan
from sites.audits import settling
from sites.audits.findings import in_order
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from tests.factories import Member, make_result
from tests.page_reading import browser_of, page_of
from tests.populated_audits import make_audit, release
from tests.results import check_of, elements
from tests.sites.audits.test_exports import export_audit
from tests.sites.audits.test_life import get_audit
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, Severity
from website_scan.priority import priority
from website_scan.result import AppliedCap, CategoryResult, CheckResult
from website_scan.scoring import Cap, score

SITE = "https://shop.example.com/"
EMERGENCIES = ["exposed-env", "exposed-git"]
CAP = Cap(49, "Secrets are public.", checks=frozenset(EMERGENCIES), count=1)


def make_check(id: str, severity: Severity = MEDIUM, status: str = "fail", *places: str, **changes: Any) -> CheckResult:
    title = f"{id} found"
    return check_of(id, id, title, status, severity, severity, f"{id} says.", "Mend it.", elements(*places), **changes)  # type: ignore[arg-type]  # a status


def scored_result(scan: Scan, checks: list[CheckResult], *caps: Cap) -> Any:
    """Return a scan result whose only category has these checks.

    The score follows from them.
    """
    scored = score([CategoryResult("things", "Things", 10, tuple(checks))], caps)
    applied_caps = tuple(AppliedCap(cap.limit, cap.reason, applies_to_whole_origin=True) for cap in scored.held)
    return make_result(scan, score=scored.value, grade=scored.grade, categories=scored.categories, caps=applied_caps)


def count_page(audit: Audit, url: str, checks_by_type: dict[str, tuple[list[CheckResult], tuple[Cap, ...]]]) -> None:
    """Add a page to the audit and count its results.

    `checks_by_type` has the checks and caps of each type.
    """
    page = AuditPage.objects.create(audit=audit, position=audit.pages.count(), url=url, origin=SITE)
    Audit.objects.filter(id=audit.id).update(pages_planned=F("pages_planned") + 1)
    finished = [
        (scan, scored_result(scan, *_flatten(checks_by_type[scan.type]))) for scan in release(page, timezone.now())
    ]
    for scan, result in finished:
        scan.score, scan.grade = result.score, result.grade
    settling.settle_page(ended=finished)
    audit.refresh_from_db()


def _flatten(checks_and_caps: tuple[list[CheckResult], tuple[Cap, ...]]) -> tuple[Any, ...]:
    return checks_and_caps[0], *checks_and_caps[1]


def running_audit(home: Member, *types: str) -> Audit:
    return make_audit(home, kind="site", url=SITE, max_pages=100, status="running", types=list(types))


@pytest.fixture
def hacked_audit(home: Member) -> Audit:
    """Audit of six pages that expose `.env` and `.git`.

    Sixty other findings have many points.
    """
    audit = running_audit(home, "security", "seo")
    emergencies = [make_check(id, CRITICAL) for id in EMERGENCIES]
    security = [make_check(f"header-{n:02}", HIGH, "fail", f"#s{n}") for n in range(30)]
    passed = [replace(make_check(f"fine-{n:02}", HIGH), status="pass", severity=None) for n in range(60)]
    seo = [make_check(f"text-{n:02}", HIGH, "fail", f"#a{n}", f"#b{n}") for n in range(30)]
    for number in range(6):
        checks_by_type = {"security": ([*security, *emergencies, *passed], (CAP,)), "seo": ([*seo, *passed], ())}
        count_page(audit, f"{SITE}{number}", checks_by_type)
    audit.status, audit.completed_at = Audit.Status.COMPLETED, timezone.now()
    audit.save()
    return audit


def check_ids(findings: list[dict[str, Any]]) -> list[str]:
    return [finding["check"] for finding in findings]


def test_emergencies_come_first_in_exports(home: Member, hacked_audit: Audit) -> None:
    audit_reference = {"id": hacked_audit.id}
    for query in ("", "&type=security"):
        assert check_ids(get_audit(home, audit_reference, f"/findings?limit=100{query}")["findings"])[:2] == EMERGENCIES
    assert check_ids(json.loads(export_audit(home, audit_reference))["findings"])[:2] == EMERGENCIES
    assert check_ids(list(csv.DictReader(io.StringIO(export_audit(home, audit_reference, "csv")))))[:2] == EMERGENCIES
    security = json.loads(export_audit(home, audit_reference, "sarif"))["runs"][0]["results"]
    assert [result["ruleId"] for result in security][:2] == EMERGENCIES
    client = browser_of(home)
    for query in ("", "?type=security"):
        page = page_of(client.get(f"/audit/{hacked_audit.id}{query}"))
        assert page.xpath("//ol[@class='findings']/li/@id")[:2] == [f"check-security-{id}" for id in EMERGENCIES]


def test_every_view_lists_emergencies_first(home: Member, hacked_audit: Audit) -> None:
    client = browser_of(home)
    for query in ("", "?type=seo", "?show=pages"):
        page = page_of(client.get(f"/audit/{hacked_audit.id}{query}"))
        (box,) = page.xpath("//section[@id='critical'][contains(@class, 'alarm')]")
        assert "2 critical failures" in box.text_content()
        assert "On all 6 pages" in box.text_content()
        links = box.xpath(".//a/@href")
        assert f"/audit/{hacked_audit.id}#check-security-exposed-env" in links
        scans = Scan.objects.filter(audit_page__audit=hacked_audit, type="security").order_by("audit_page__position")
        assert [link for link in links if link.startswith("/report/")][:3] == [
            f"/report/{scan.id}#check-exposed-env" for scan in scans[:3]
        ]
        assert not page.xpath("//section[@id='critical']/preceding::*[@id='findings' or @id='pages']")
        (badge,) = page.xpath("//header//a[@href='#critical']")
        assert badge.text == "2 critical"


def test_emergencies_of_all_types_are_listed(home: Member) -> None:
    audit = make_audit(home, url=SITE, status="running", types=["seo", "security"])
    count_page(
        audit, SITE, {"seo": ([make_check("text")], ()), "security": ([make_check("exposed-git", CRITICAL)], (CAP,))}
    )
    page = page_of(browser_of(home).get(f"/audit/{audit.id}?type=seo"))
    scan = Scan.objects.get(audit_page__audit=audit, type="security")
    assert page.xpath("//section[@id='critical']//a/@href") == [f"/report/{scan.id}#check-exposed-git"]


def test_critical_warning_is_not_an_emergency(home: Member) -> None:
    audit = running_audit(home, "performance")
    count_page(
        audit, f"{SITE}0", {"performance": ([make_check("lcp", CRITICAL, "warn"), make_check("js-weight", LOW)], ())}
    )
    page = page_of(browser_of(home).get(f"/audit/{audit.id}"))
    assert not page.xpath("//*[@id='critical' or @href='#critical']")
    first = get_audit(home, {"id": audit.id}, "/findings")["findings"][0]
    assert (first["check"], first["critical_pages"], first["holds"]) == ("lcp", 0, False)


def test_one_emergency_outranks_warnings(home: Member) -> None:
    audit = running_audit(home, "performance")
    for number, (severity, status) in enumerate(
        [(LOW, "fail"), (CRITICAL, "warn"), (CRITICAL, "fail"), (HIGH, "fail")]
    ):
        checked = replace(make_check("lcp", severity, status), summary=f"Page {number}.")
        count_page(audit, f"{SITE}{number}", {"performance": ([checked], ())})
    (finding,) = get_audit(home, {"id": audit.id}, "/findings")["findings"]
    assert (finding["status"], finding["severity"], finding["message"]) == ("fail", "critical", "Page 2.")
    assert (finding["pages_affected"], finding["critical_pages"]) == (4, 1)
    assert [page["url"] for page in finding["sample_pages"]] == [f"{SITE}2"]
    page = page_of(browser_of(home).get(f"/audit/{audit.id}"))
    assert "On 1 of 4 pages" in page.xpath("string(//section[@id='critical'])")


def test_muted_emergency_is_not_highlighted(home: Member, hacked_audit: Audit) -> None:
    for id in EMERGENCIES:
        rule = {"check": id, "host": "shop.example.com", "reason": "A trap for bots."}
        assert home.api.post("/v1/mutes", rule).status_code == 201
    page = page_of(browser_of(home).get(f"/audit/{hacked_audit.id}"))
    assert not page.xpath("//*[@id='critical' or @href='#critical']")
    assert "exposed-git found" in page.xpath("string(//details[contains(@class, 'muted-findings')])")


# Tests for rows and points:


def test_check_is_one_row_with_top_places_first(home: Member) -> None:
    audit = running_audit(home, "seo")
    for number in range(7):
        places = ["#all", *(["#odd"] if number % 2 else []), f"#only-{chr(97 + number)}"]
        count_page(audit, f"{SITE}{number}", {"seo": ([make_check("alt", HIGH, "fail", *places)], ())})
    (finding,) = get_audit(home, {"id": audit.id}, "/findings")["findings"]
    assert (finding["pages_affected"], finding["places_total"]) == (7, 9)
    first, second, *others = finding["places"]
    assert (first["place"], first["pages_affected"], len(first["sample_pages"])) == ("#all", 7, 3)
    assert (second["place"], second["pages_affected"]) == ("#odd", 3)
    assert [page["url"] for page in second["sample_pages"]] == [f"{SITE}{n}" for n in (1, 3, 5)]
    assert {place["pages_affected"] for place in others} == {1}


def test_number_of_stored_places_is_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AuditPlace, "MOST", 30)
    audit = running_audit(home, "seo")
    for number in range(12):
        places = [f"#p{chr(97 + number)}{chr(97 + n)}" for n in range(5)]
        count_page(audit, f"{SITE}{number}", {"seo": ([make_check("alt", HIGH, "fail", "#all", *places)], ())})
    (finding,) = get_audit(home, {"id": audit.id}, "/findings")["findings"]
    assert (finding["pages_affected"], len(finding["places"])) == (12, 10)
    assert 30 <= finding["places_total"] < 36  # The page that reaches the limit may exceed it.
    # Pages with a place that is already stored are still counted.
    assert (finding["places"][0]["place"], finding["places"][0]["pages_affected"]) == ("#all", 12)
    (row,) = page_of(browser_of(home).get(f"/audit/{audit.id}")).xpath("//ol[@class='findings']/li")
    assert f"and {finding['places_total'] - 5} more" in row.text_content()


def test_points_equal_the_score_gain(home: Member) -> None:
    """Compare the points with the gain in the mean score.

    The gain assumes that every page passes the check.
    """
    pages = [
        [
            make_check("exposed-git", CRITICAL),
            make_check("csp", HIGH, "fail", "#a", "#b", "#c"),
            make_check("hsts", MEDIUM, "warn"),
        ],
        [
            make_check("exposed-git", CRITICAL),
            make_check("hsts", MEDIUM, "warn"),
            make_check("cookie", LOW, "fail", "#d"),
        ],
        [make_check("csp", HIGH, "fail", "#a"), make_check("cookie", LOW, "fail", "#e")],
    ]
    audit = running_audit(home, "security")
    for number, checks in enumerate(pages):
        count_page(audit, f"{SITE}{number}", {"security": (_add_passed_checks(checks), (CAP,))})

    def mean_score(fixed_check: str = "", caps: tuple[Cap, ...] = (CAP,)) -> float:
        scores = [
            score([CategoryResult("things", "Things", 10, tuple(_add_passed_checks(checks, fixed_check)))], caps).value
            for checks in pages
        ]
        # A cap of the origin also applies to a page that passed the check.
        is_score_capped = caps and fixed_check != "exposed-git"
        return min(sum(scores) / len(scores), CAP.limit if is_score_capped else 100)

    for finding in get_audit(home, {"id": audit.id}, "/findings")["findings"]:
        gain, later = mean_score(finding["check"]) - mean_score(), mean_score(finding["check"], ()) - mean_score("", ())
        assert finding["points"] == pytest.approx(gain, abs=1), finding["check"]  # Scores are rounded to whole numbers.
        assert finding["later"] == pytest.approx(later, abs=1), finding["check"]
    assert check_ids(get_audit(home, {"id": audit.id}, "/findings")["findings"])[0] == "exposed-git"
    # Only one of the two pages with the finding would have a score above the cap.
    assert AuditFinding.objects.get(check_id="exposed-git").held_pages == 1


def _add_passed_checks(checks: list[CheckResult], fixed_check: str = "") -> list[CheckResult]:
    """Add passed checks, so that every page has the same checks.

    `fixed_check` passes as well.
    """
    failed_checks = {check.id: check for check in checks if check.id != fixed_check}
    severities = {"exposed-git": CRITICAL, "csp": HIGH, "hsts": MEDIUM, "cookie": LOW, "other": HIGH, "more": HIGH}
    return [
        failed_checks.get(id) or check_of(id, id, id, "pass", None, severity, "Fine.")
        for id, severity in severities.items()
    ]


def test_fix_under_another_cap_gains_nothing(home: Member) -> None:
    """A later cap must also lower the first page's score.

    A cap for the whole origin may be found on the second page.
    """
    audit = running_audit(home, "security")
    count_page(audit, f"{SITE}0", {"security": (_add_passed_checks([make_check("hsts", MEDIUM)]), ())})
    count_page(
        audit,
        f"{SITE}1",
        {"security": (_add_passed_checks([make_check("hsts", MEDIUM), make_check("exposed-git", CRITICAL)]), (CAP,))},
    )
    assert audit.scores["security"]["score"] == 49
    hsts = AuditFinding.objects.get(check_id="hsts")
    git = AuditFinding.objects.get(check_id="exposed-git")
    assert hsts.points > 0
    assert audit.gain(hsts) == 0.0
    assert audit.gain(git) > 0.0


# Tests for the sort order:

rows = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["security", "seo"]),
            "status": st.sampled_from(["fail", "warn"]),
            "severity": st.sampled_from([str(severity) for severity in Severity]),
            "held_pages": st.integers(0, 2),
            "points": st.floats(0, 300),
            "later": st.floats(0, 300),
            "told_by": st.sampled_from(["", "", "other"]),
        }
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(findings=rows)
def test_findings_are_ordered_by_priority(home: Member, findings: list[dict[str, Any]]) -> None:
    Tier.objects.update(requests_per_minute=1_000_000)
    total: Any = {"pages": 3, "sum": 150, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}
    totals = {"security": total, "seo": total}
    audit = make_audit(home, kind="site", types=["security", "seo"], totals=totals)
    AuditFinding.objects.bulk_create(
        AuditFinding(
            audit=audit,
            check_id=f"check-{number}",
            pages_affected=3,
            critical_pages=columns["status"] == "fail" and columns["severity"] == "critical",
            **columns,
        )
        for number, columns in enumerate(findings)
    )
    for type in ("", "seo"):
        listed = get_audit(home, {"id": audit.id}, f"/findings?limit=100{f'&type={type}' if type else ''}")["findings"]
        keys = [
            priority(**{name: finding[name] for name in ("status", "severity", "holds", "points", "later")})
            for finding in listed
        ]
        assert keys == sorted(keys)
        expected_findings = [
            finding for finding in findings if (finding["type"] == type if type else not finding["told_by"])
        ]
        assert len(listed) == len(in_order(audit, type)) == len(expected_findings)
    audit.delete()


def test_types_are_sorted_by_possible_gain(home: Member) -> None:
    """A finding weighs more in a type with fewer pages.

    One type has one scanned page, and the other has ten.
    """
    totals: dict[str, Any] = {
        "security": {"pages": 10, "sum": 500, "flawless": 0, "gaps": 0, "cap": None, "caps": {}},
        "seo": {"pages": 1, "sum": 50, "flawless": 0, "gaps": 0, "cap": None, "caps": {}},
    }
    audit = make_audit(home, kind="site", types=["security", "seo"], totals=totals)
    for type, points in (("security", 20.0), ("seo", 5.0)):
        AuditFinding.objects.create(
            audit=audit, type=type, check_id=type, status="fail", severity="high", pages_affected=1, points=points
        )
    assert [type_result.type for type_result in in_order(audit)] == ["seo", "security"]
