"""Findings of an audit by priority: emergencies first in every output, one row a check, with points of all places."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Tier
from scans.models import Scan
from sites.audits import settling
from sites.audits.findings import in_order
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from tests.factories import Member, make_result
from tests.page_reading import browser_of, page_of
from tests.populated_audits import make_audit, release
from tests.results import check_of, elements
from tests.sites.audits.test_exports import exported
from tests.sites.audits.test_life import shown
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, Severity
from website_scan.priority import priority
from website_scan.result import AppliedCap, CategoryResult, CheckResult
from website_scan.scoring import Cap, score

SITE = "https://shop.example.com/"
EMERGENCIES = ["exposed-env", "exposed-git"]
CAP = Cap(49, "Secrets are public.", checks=frozenset(EMERGENCIES), count=1)


def check(id: str, severity: Severity = MEDIUM, status: str = "fail", *places: str, **changes: Any) -> CheckResult:
    title = f"{id} found"
    return check_of(id, id, title, status, severity, severity, f"{id} says.", "Mend it.", elements(*places), **changes)  # type: ignore[arg-type]  # a status


def judged(scan: Scan, checks: list[CheckResult], *caps: Cap) -> Any:
    """Return the result that the scorer makes of these checks, in one category."""
    found = score([CategoryResult("things", "Things", 10, tuple(checks))], caps)
    held = tuple(AppliedCap(each.limit, each.reason, is_of_origin=True) for each in found.held)
    return make_result(scan, score=found.value, grade=found.grade, categories=found.categories, caps=held)


def settle(audit: Audit, url: str, of_type: dict[str, tuple[list[CheckResult], tuple[Cap, ...]]]) -> None:
    """Count the visit of one more page, with the checks and caps of each type."""
    page = AuditPage.objects.create(audit=audit, position=audit.pages.count(), url=url, origin=SITE)
    Audit.objects.filter(id=audit.id).update(pages_planned=F("pages_planned") + 1)
    ended = [(scan, judged(scan, *_flat(of_type[scan.type]))) for scan in release(page, timezone.now())]
    for scan, result in ended:
        scan.score, scan.grade = result.score, result.grade
    settling.settle_page(ended=ended)
    audit.refresh_from_db()


def _flat(found: tuple[list[CheckResult], tuple[Cap, ...]]) -> tuple[Any, ...]:
    return found[0], *found[1]


def running(home: Member, *types: str) -> Audit:
    return make_audit(home, kind="site", url=SITE, max_pages=100, status="running", types=list(types))


@pytest.fixture
def hacked(home: Member) -> Audit:
    """Audit of six pages: `.env` and `.git` are public on all of them, beside 60 other findings with many points."""
    audit = running(home, "security", "seo")
    emergencies = [check(id, CRITICAL) for id in EMERGENCIES]
    security = [check(f"header-{n:02}", HIGH, "fail", f"#s{n}") for n in range(30)]
    passed = [replace(check(f"fine-{n:02}", HIGH), status="pass", severity=None) for n in range(60)]
    seo = [check(f"text-{n:02}", HIGH, "fail", f"#a{n}", f"#b{n}") for n in range(30)]
    for number in range(6):
        of_type = {"security": ([*security, *emergencies, *passed], (CAP,)), "seo": ([*seo, *passed], ())}
        settle(audit, f"{SITE}{number}", of_type)
    audit.status, audit.completed_at = Audit.Status.COMPLETED, timezone.now()
    audit.save()
    return audit


def ids(findings: list[dict[str, Any]]) -> list[str]:
    return [each["check"] for each in findings]


def test_emergencies_come_first_in_every_format(home: Member, hacked: Audit) -> None:
    at = {"id": hacked.id}
    for query in ("", "&type=security"):
        assert ids(shown(home, at, f"/findings?limit=100{query}")["findings"])[:2] == EMERGENCIES
    assert ids(json.loads(exported(home, at))["findings"])[:2] == EMERGENCIES
    assert ids(list(csv.DictReader(io.StringIO(exported(home, at, "csv")))))[:2] == EMERGENCIES
    security = json.loads(exported(home, at, "sarif"))["runs"][0]["results"]
    assert [each["ruleId"] for each in security][:2] == EMERGENCIES
    client = browser_of(home)
    for query in ("", "?type=security"):
        page = page_of(client.get(f"/audit/{hacked.id}{query}"))
        assert page.xpath("//ol[@class='findings']/li/@id")[:2] == [f"check-security-{id}" for id in EMERGENCIES]


def test_every_view_lists_emergencies_first_in_red(home: Member, hacked: Audit) -> None:
    client = browser_of(home)
    for query in ("", "?type=seo", "?show=pages"):
        page = page_of(client.get(f"/audit/{hacked.id}{query}"))
        (box,) = page.xpath("//section[@id='critical'][contains(@class, 'alarm')]")
        assert "2 critical failures" in box.text_content()
        assert "On all 6 pages" in box.text_content()
        links = box.xpath(".//a/@href")
        assert f"/audit/{hacked.id}#check-security-exposed-env" in links
        scans = Scan.objects.filter(audit_page__audit=hacked, type="security").order_by("audit_page__position")
        assert [each for each in links if each.startswith("/report/")][:3] == [
            f"/report/{scan.id}#check-exposed-env" for scan in scans[:3]
        ]
        assert not page.xpath("//section[@id='critical']/preceding::*[@id='findings' or @id='pages']")
        (badge,) = page.xpath("//header//a[@href='#critical']")
        assert badge.text == "2 critical"


def test_audit_of_one_page_lists_emergencies_of_all_types(home: Member) -> None:
    audit = make_audit(home, url=SITE, status="running", types=["seo", "security"])
    settle(audit, SITE, {"seo": ([check("text")], ()), "security": ([check("exposed-git", CRITICAL)], (CAP,))})
    page = page_of(browser_of(home).get(f"/audit/{audit.id}?type=seo"))
    scan = Scan.objects.get(audit_page__audit=audit, type="security")
    assert page.xpath("//section[@id='critical']//a/@href") == [f"/report/{scan.id}#check-exposed-git"]


def test_warning_is_no_emergency(home: Member) -> None:
    audit = running(home, "performance")
    settle(audit, f"{SITE}0", {"performance": ([check("lcp", CRITICAL, "warn"), check("js-weight", LOW)], ())})
    page = page_of(browser_of(home).get(f"/audit/{audit.id}"))
    assert not page.xpath("//*[@id='critical' or @href='#critical']")
    first = shown(home, {"id": audit.id}, "/findings")["findings"][0]
    assert (first["check"], first["critical_pages"], first["holds"]) == ("lcp", 0, False)


def test_emergency_on_one_page_precedes_warnings_of_the_check_on_others(home: Member) -> None:
    audit = running(home, "performance")
    for number, (severity, status) in enumerate(
        [(LOW, "fail"), (CRITICAL, "warn"), (CRITICAL, "fail"), (HIGH, "fail")]
    ):
        found = replace(check("lcp", severity, status), summary=f"Page {number}.")
        settle(audit, f"{SITE}{number}", {"performance": ([found], ())})
    (finding,) = shown(home, {"id": audit.id}, "/findings")["findings"]
    assert (finding["status"], finding["severity"], finding["message"]) == ("fail", "critical", "Page 2.")
    assert (finding["pages_affected"], finding["critical_pages"]) == (4, 1)
    assert [each["url"] for each in finding["sample_pages"]] == [f"{SITE}2"]
    page = page_of(browser_of(home).get(f"/audit/{audit.id}"))
    assert "On 1 of 4 pages" in page.xpath("string(//section[@id='critical'])")


def test_muted_emergency_is_not_highlighted(home: Member, hacked: Audit) -> None:
    for id in EMERGENCIES:
        rule = {"check": id, "host": "shop.example.com", "reason": "A trap for bots."}
        assert home.api.post("/v1/mutes", rule).status_code == 201
    page = page_of(browser_of(home).get(f"/audit/{hacked.id}"))
    assert not page.xpath("//*[@id='critical' or @href='#critical']")
    assert "exposed-git found" in page.xpath("string(//details[contains(@class, 'muted-findings')])")


# Rows and points


def test_check_is_one_row_with_its_most_frequent_places_first(home: Member) -> None:
    audit = running(home, "seo")
    for number in range(7):
        places = ["#all", *(["#odd"] if number % 2 else []), f"#only-{chr(97 + number)}"]
        settle(audit, f"{SITE}{number}", {"seo": ([check("alt", HIGH, "fail", *places)], ())})
    (finding,) = shown(home, {"id": audit.id}, "/findings")["findings"]
    assert (finding["pages_affected"], finding["places_total"]) == (7, 9)
    first, second, *others = finding["places"]
    assert (first["place"], first["pages_affected"], len(first["sample_pages"])) == ("#all", 7, 3)
    assert (second["place"], second["pages_affected"]) == ("#odd", 3)
    assert [each["url"] for each in second["sample_pages"]] == [f"{SITE}{n}" for n in (1, 3, 5)]
    assert {each["pages_affected"] for each in others} == {1}


def test_number_of_places_of_a_check_is_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AuditPlace, "MOST", 30)
    audit = running(home, "seo")
    for number in range(12):
        places = [f"#p{chr(97 + number)}{chr(97 + n)}" for n in range(5)]
        settle(audit, f"{SITE}{number}", {"seo": ([check("alt", HIGH, "fail", "#all", *places)], ())})
    (finding,) = shown(home, {"id": audit.id}, "/findings")["findings"]
    assert (finding["pages_affected"], len(finding["places"])) == (12, 10)
    assert 30 <= finding["places_total"] < 36  # one page may exceed the limit
    # A known place is counted on.
    assert (finding["places"][0]["place"], finding["places"][0]["pages_affected"]) == ("#all", 12)
    (row,) = page_of(browser_of(home).get(f"/audit/{audit.id}")).xpath("//ol[@class='findings']/li")
    assert f"and {finding['places_total'] - 5} more" in row.text_content()


def test_points_are_the_gain_of_the_audit_score_after_fixing_all_pages(home: Member) -> None:
    """Recompute each page's score without the check, and compare the means."""
    pages = [
        [check("exposed-git", CRITICAL), check("csp", HIGH, "fail", "#a", "#b", "#c"), check("hsts", MEDIUM, "warn")],
        [check("exposed-git", CRITICAL), check("hsts", MEDIUM, "warn"), check("cookie", LOW, "fail", "#d")],
        [check("csp", HIGH, "fail", "#a"), check("cookie", LOW, "fail", "#e")],
    ]
    audit = running(home, "security")
    for number, checks in enumerate(pages):
        settle(audit, f"{SITE}{number}", {"security": (_padded(checks), (CAP,))})

    def mean(mended: str = "", caps: tuple[Cap, ...] = (CAP,)) -> float:
        scores = [
            score([CategoryResult("things", "Things", 10, tuple(_padded(checks, mended)))], caps).value
            for checks in pages
        ]
        # The cap is one of the origin, so it applies to the page that does not tell it, too.
        is_capped = caps and mended != "exposed-git"
        return min(sum(scores) / len(scores), CAP.limit if is_capped else 100)

    for finding in shown(home, {"id": audit.id}, "/findings")["findings"]:
        gain, later = mean(finding["check"]) - mean(), mean(finding["check"], ()) - mean("", ())
        assert finding["points"] == pytest.approx(gain, abs=1), finding["check"]  # scores are whole numbers
        assert finding["later"] == pytest.approx(later, abs=1), finding["check"]
    assert ids(shown(home, {"id": audit.id}, "/findings")["findings"])[0] == "exposed-git"
    # The score of the first page is below the cap anyway.
    assert AuditFinding.objects.get(check_id="exposed-git").held_pages == 1


def _padded(checks: list[CheckResult], mended: str = "") -> list[CheckResult]:
    """Add passed checks, and let `mended` pass, so that each page has the same checks."""
    found = {each.id: each for each in checks if each.id != mended}
    every = {"exposed-git": CRITICAL, "csp": HIGH, "hsts": MEDIUM, "cookie": LOW, "other": HIGH, "more": HIGH}
    return [found.get(id) or check_of(id, id, id, "pass", None, severity, "Fine.") for id, severity in every.items()]


def test_findings_win_no_points_below_a_remaining_cap(home: Member) -> None:
    """A cap of the origin that a later page tells lowers the score of pages that were judged before."""
    audit = running(home, "security")
    settle(audit, f"{SITE}0", {"security": (_padded([check("hsts", MEDIUM)]), ())})
    settle(audit, f"{SITE}1", {"security": (_padded([check("hsts", MEDIUM), check("exposed-git", CRITICAL)]), (CAP,))})
    assert audit.scores["security"]["score"] == 49
    hsts = AuditFinding.objects.get(check_id="hsts")
    git = AuditFinding.objects.get(check_id="exposed-git")
    assert hsts.points > 0
    assert audit.gain(hsts) == 0.0
    assert audit.gain(git) > 0.0


# Order

rows = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["security", "seo"]),
            "status": st.sampled_from(["fail", "warn"]),
            "severity": st.sampled_from([str(each) for each in Severity]),
            "held_pages": st.integers(0, 2),
            "points": st.floats(0, 300),
            "later": st.floats(0, 300),
            "told_by": st.sampled_from(["", "", "other"]),
        }
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=rows)
def test_random_findings_are_ordered_by_priority(home: Member, found: list[dict[str, Any]]) -> None:
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
        for number, columns in enumerate(found)
    )
    for type in ("", "seo"):
        listed = shown(home, {"id": audit.id}, f"/findings?limit=100{f'&type={type}' if type else ''}")["findings"]
        keys = [
            priority(**{name: each[name] for name in ("status", "severity", "holds", "points", "later")})
            for each in listed
        ]
        assert keys == sorted(keys)
        is_listed = [each for each in found if (each["type"] == type if type else not each["told_by"])]
        assert len(listed) == len(in_order(audit, type)) == len(is_listed)
    audit.delete()


def test_types_are_ordered_by_the_gain_of_their_scores(home: Member) -> None:
    """A type whose scans mostly failed has few pages, on which a finding may weigh more."""
    totals: dict[str, Any] = {
        "security": {"pages": 10, "sum": 500, "flawless": 0, "gaps": 0, "cap": None, "caps": {}},
        "seo": {"pages": 1, "sum": 50, "flawless": 0, "gaps": 0, "cap": None, "caps": {}},
    }
    audit = make_audit(home, kind="site", types=["security", "seo"], totals=totals)
    for type, points in (("security", 20.0), ("seo", 5.0)):
        AuditFinding.objects.create(
            audit=audit, type=type, check_id=type, status="fail", severity="high", pages_affected=1, points=points
        )
    assert [each.type for each in in_order(audit)] == ["seo", "security"]
