"""Tests for the report page, including hostile text from the site."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, ClassVar, cast

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from accounts.models import Membership, User
from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, finished_scan, make_result, make_scan
from tests.populated_journeys import JPEG
from tests.reports.people import page_of, person, text_of
from tests.responses import ClientResponse
from tests.results import check_of, stored, stored_finding
from website_scan.findings import CRITICAL, HIGH, LOW
from website_scan.judging import NOT_JUDGED
from website_scan.places import Column, Identity, Place, as_written
from website_scan.report.explanations import GRADES
from website_scan.report.report_page import report_page
from website_scan.report.waterfall import waterfall
from website_scan.report_json import ExportedFinding
from website_scan.result import (
    AppliedCap,
    CategoryResult,
    CheckStatus,
    OmittedCheck,
    Waterfall,
    WaterfallRow,
)
from website_scan.stored_data import StoredWaterfall

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&<b style=color:red>"
EVIL_URL = "javascript:alert(document.domain)"


class Link(Place, frozen=True):
    """Place of a finding with a text and a URL from the site."""

    kind: ClassVar[str] = "link"

    value: Annotated[str, Identity(as_written), Column("Value", "mono")]
    link: Annotated[str | None, Column("Link", "address")]


def hostile_scan(member: Member) -> Scan:
    """Create a finished scan with hostile values.

    They are wherever the site controls the data.
    """
    scan = make_scan(member)
    check = check_of(
        "evil",
        "Evil thing",
        "Evil thing",
        "fail",
        CRITICAL,
        HIGH,
        EVIL,
        EVIL,
        [Link(EVIL, EVIL_URL), Link(EVIL, None)],
        (EVIL_URL, EVIL, "https://example.com/a?b='\"<c>", "CWE-79"),
        12.5,
    )
    result = make_result(
        scan,
        categories=(CategoryResult("things", EVIL, 10, (check,), 0),),
        caps=(AppliedCap(39, EVIL),),
        facts={"final_url": EVIL_URL, "server": EVIL, EVIL: EVIL},
        score=0,
        grade="F",
    )
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, replace(result, url=EVIL_URL))
    return scan


def page_text_without_csrf_token(response: ClientResponse) -> bytes:
    return re.sub(rb'name="csrfmiddlewaretoken" value="\w+"', b"", response.content)


def test_foreign_report_looks_like_a_missing_one(home: Member, stranger: Member) -> None:
    scan = finished_scan(home)
    missing_id = "scan_" + "0" * 22
    for outsider in (person(stranger.organization, "owner"), person(None)):
        existing, missing = (outsider.get(f"/report/{scan_id}") for scan_id in (scan.id, missing_id))
        assert existing.status_code == missing.status_code == 404
        assert page_text_without_csrf_token(existing) == page_text_without_csrf_token(missing)
        assert "There is no report at this address" in text_of(existing)


def test_superuser_has_no_access_to_reports(home: Member) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root@people.test"))
    assert client.get(f"/report/{finished_scan(home).id}").status_code == 404


def test_former_member_has_no_access_to_reports(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization)
    Membership.objects.all().delete()
    assert member.get(f"/report/{scan.id}").status_code == 404


def test_print_version_starts_with_critical_findings(home: Member) -> None:
    scan = make_scan(home)
    critical_checks = tuple(
        check_of(f"c{number}", f"Check {number}", f"Fault {number}", "fail", CRITICAL, CRITICAL, "Seen.", "Fix.")
        for number in range(7)
    )
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(
        claim, make_result(scan, categories=(CategoryResult("things", "Things", 10, critical_checks, 0),))
    )
    page = page_of(person(home.organization).get(f"/report/{scan.id}"))
    listed = page.xpath("//ol[@class='first']/li/a/text()")
    more = page.xpath("//section[contains(@class, 'on-paper')]//li/text()")
    assert len(listed) == 5
    assert sorted(listed + more) == [f"Fault {number}" for number in range(7)]


@pytest.mark.parametrize("status", ["completed", "partial"])
def test_report_shows_score_and_findings(home: Member, status: str) -> None:
    scan = finished_scan(home, status)
    response = person(home.organization).get(f"/report/{scan.id}")
    text = text_of(response)
    for expected in ("71 / 100", "Things", "Bad thing", "It is <b>bad</b>.", "Mend it.", "=1+1"):
        assert expected in text
    for expected in (scan.id, scan.report.id, "Catalogue version test", scan.url, "RFC 9110"):
        assert expected in text
    assert ("Gone thing The site did not answer in time." in text) is (status == "partial")
    statuses = page_of(response).xpath("//li[contains(@class, 'check is-')]/@class")
    assert [css_class.split()[1] for css_class in statuses][:3] == ["is-fail", "is-warn", "is-pass"]


def test_hostile_site_cannot_inject_markup(home: Member) -> None:
    response = person(home.organization).get(f"/report/{hostile_scan(home).id}")
    assert response.status_code == 200
    page = page_of(response)
    assert page.xpath("//script/@src") == [f"/static/js/{name}.js" for name in ("site", "report", "findings")]
    assert page.xpath("//script[not(@src)] | //style | //img | //b") == []
    assert page.xpath("//@style | //@onerror") == []
    hrefs = page.xpath("//@href")
    assert not [href for href in hrefs if not href.startswith(("/", "#", "?", "https://"))]
    assert "https://cwe.mitre.org/data/definitions/79.html" in hrefs
    assert "https://example.com/a?b='\"<c>" in hrefs
    # Hostile text is displayed as text everywhere.
    assert page.text_content().count("<script>alert(1)</script>") >= 8
    assert EVIL_URL in page.text_content()


def test_hostile_url_is_escaped(home: Member) -> None:
    scan = make_scan(home, url=EVIL_URL + EVIL, status="failed", error_code="X", error_message=EVIL)
    page = page_of(person(home.organization).get(f"/report/{scan.id}"))
    assert page.xpath("//body//script | //style | //img | //b") == []
    assert page.xpath("//main//a/@href") == []
    assert page.text_content().count("<script>alert(1)</script>") >= 3


@pytest.mark.parametrize("status", ["completed", "failed", "queued"])
def test_report_expires_after_its_retention(home: Member, status: str) -> None:
    old = timedelta(days=30, seconds=1)
    scan = (
        finished_scan(home, age=old)
        if status == "completed"
        else make_scan(home, status=status, created_at=timezone.now() - old)
    )
    response = person(home.organization).get(f"/report/{scan.id}")
    assert response.status_code == 404
    assert "reports are kept for 30 days" in text_of(response)


EXPORT: Any = {  # The page reads only these keys.
    "type": "security",
    "score": 3,
    "grade": "F",
    "caps": [],
    "held": "",
    "skipped_checks": [],
    "summary": {"total_checks": 4, "critical": 0, "high": 3, "medium": 0, "low": 1},
    "url": "https://example.com/",
    "created_at": "2026-11-21T07:15:00Z",
    "completed_at": "2026-11-21T07:15:09Z",
}


def test_failed_checks_are_sorted_by_points() -> None:
    def check(id: str, status: CheckStatus, points: float) -> ExportedFinding:
        return stored_finding(id, status=status, severity=LOW, points=points, later=points)

    checks = [check("a", "fail", 1), check("b", "warn", 4), check("c", "fail", 2), check("d", "fail", 0)]
    export = EXPORT | {"categories": [{"name": "Things", "score": 3, "checks": checks}]}
    # The page omits the last fact.
    facts: Any = {"document_bytes": 2048, "duration_s": 1.5, "first_paint_ms": 9}
    page = report_page(export, facts)
    (category,) = page.categories
    assert [check.id for check in category.failed] == ["c", "a", "d"]
    assert [finding.id for finding in page.first] == ["b", "c", "a"]
    assert [(option.value, option.count) for option in page.filters.severities] == [("low", 4)]
    assert [(fact.label, fact.value) for fact in page.facts] == [
        ("Document size", "2.0 kB"),
        ("Duration of the scan", "1.5 s"),
    ]


def test_categories_with_failed_checks_come_first() -> None:
    checks = {
        "pass": stored(check_of("a", "A", "A", "pass", None, LOW, "It is so.")),
        "warn": stored_finding("a", status="warn", severity=LOW),
        "fail": stored_finding("a", severity=LOW),
    }
    categories = [
        {"name": states, "score": 50, "checks": [checks[status] for status in states.split()]}
        for states in ("pass", "warn", "pass fail", "warn fail")
    ]
    page = report_page(EXPORT | {"categories": categories}, {})
    assert [category.name for category in page.categories] == ["pass fail", "warn fail", "warn", "pass"]


WATERFALL = Waterfall(
    rows=(
        WaterfallRow("https://example.com/", "document", 0, 100, 200, 5000, 200, False, False, False),
        WaterfallRow(f"https://evil.test/{EVIL}", "script", 200, 300, 1000, 40_000, 404, True, True, True),
    ),
    marks=(("First paint", 500), ("Loaded", 1000)),
    total_ms=1000,
    left_out=3,
)


def scan_with_browser(member: Member) -> Scan:
    """Create a finished scan with the data that a browser records."""
    scan = make_scan(member)
    facts = {"checks_planned": 9, "checks_known": 9, "browser": "Chromium 150"}
    claim = claim_scan(scan.id)
    assert claim is not None
    result = make_result(scan, facts=facts, waterfall=WATERFALL, screenshot=b"RIFF....WEBP")
    assert finish_scan(claim, result)
    return scan


def test_waterfall_shows_each_request_of_the_load(home: Member) -> None:
    page = page_of(person(home.organization).get(f"/report/{scan_with_browser(home).id}"))
    rows = page.xpath("//ol[@class='waterfall']/li")
    assert len(rows) == 2
    (waits,) = rows[1].xpath(".//*[local-name()='rect'][@class='wait']")
    assert (waits.get("x"), waits.get("width")) == ("200", "100")
    (receives,) = rows[1].xpath(".//*[local-name()='rect'][@class='receive']")
    assert (receives.get("x"), receives.get("width")) == ("300", "700")
    text = " ".join(rows[1].text_content().split())
    assert "evil.test" in text
    assert "blocks" in text
    assert "failed" in text
    assert not page.xpath("//img[@onerror]")
    assert "3 more requests" in page.text_content()
    assert "First paint" in page.text_content()
    assert [row.get("class") for row in rows] == ["kind-document", "kind-script is-failed third-party"]
    assert "of a third party" in rows[1].text_content()
    axis = page.xpath("//div[@class='waterfall-axis']//*[local-name()='text']")
    assert [(label.text, label.get("x")) for label in axis] == [
        *(("0 s", "0.0%"), ("0.2 s", "20.0%"), ("0.4 s", "40.0%"), ("0.6 s", "60.0%"), ("0.8 s", "80.0%")),
    ]


def stored_load(load: Waterfall) -> StoredWaterfall:
    """Return the waterfall of a page load in the format of stored reports."""
    return cast("StoredWaterfall", to_builtins(load))


def test_old_waterfall_is_drawn() -> None:
    stored_waterfall: Any = stored_load(WATERFALL)
    for row in stored_waterfall["rows"]:
        del row["is_third_party"]
    drawn = waterfall(stored_waterfall)
    assert drawn is not None
    assert drawn.third_parties == 0


def test_bidi_override_in_a_file_name_is_visible() -> None:
    row = replace(WATERFALL.rows[0], url="https://example.com/a/%E2%80%AEgnp.exe")
    drawn = waterfall(stored_load(replace(WATERFALL, rows=(row,))))
    assert drawn is not None
    assert drawn.bars[0].name == "[U+202E]gnp.exe"


@given(st.integers(min_value=1, max_value=10**8))
def test_time_axis_has_round_times(total_ms: int) -> None:
    drawn = waterfall(stored_load(replace(WATERFALL, total_ms=total_ms)))
    assert drawn is not None
    places = [tick.at for tick in drawn.ticks]
    assert 1 <= len(places) <= 7
    assert places[0] == 0
    assert places == sorted(places)
    assert max(places) <= 950


def test_only_members_see_the_screenshot(home: Member, stranger: Member) -> None:
    scan = scan_with_browser(home)
    member = person(home.organization)
    (source,) = page_of(member.get(f"/report/{scan.id}")).xpath("//figure//img/@src")
    picture = member.get(source)
    assert picture.status_code == 200
    assert picture["Content-Type"] == "image/webp"
    assert picture["X-Content-Type-Options"] == "nosniff"
    assert picture["Cache-Control"].startswith("private")
    assert picture.content == b"RIFF....WEBP"
    assert person(stranger.organization).get(source).status_code == 404
    assert Client().get(source).status_code == 302
    assert member.get("/report/scan_x/screenshot").status_code == 404


def test_screenshot_of_a_state_is_a_jpeg(home: Member) -> None:
    scan = scan_with_browser(home)
    Report.objects.filter(scan=scan).update(screenshot=JPEG)
    picture = person(home.organization).get(f"/report/{scan.id}/screenshot")
    assert (picture["Content-Type"], picture.content) == ("image/jpeg", JPEG)


def test_report_without_a_browser_has_no_pictures(home: Member) -> None:
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(
        claim,
        make_result(
            scan,
            facts={"checks_planned": 79, "checks_known": 96},
            omitted_checks=(OmittedCheck("color-contrast", "Text has sufficient contrast"),),
        ),
    )
    client = person(home.organization)
    response = client.get(f"/report/{scan.id}")
    assert "Judged without a browser: 79 of 96 checks." in text_of(response)
    assert "Left out without a browser 1 Text has sufficient contrast" in " ".join(text_of(response).split())
    assert not page_of(response).xpath("//figure | //ol[@class='waterfall']")
    assert client.get(f"/report/{scan.id}/screenshot").status_code == 404


def test_skipped_checks_do_not_count_as_passed(home: Member) -> None:
    """Skipped checks must not count as passed checks.

    Regression test: a report said that all checks passed, although 35 checks could not run.
    """
    scan = make_scan(home, type="performance")
    checks = (check_of("good", "Good thing", "Good thing", "pass", None, HIGH, "All is well."),)
    result = make_result(
        scan,
        "partial",
        score=79,
        grade="C",
        categories=(CategoryResult("things", "Things", 10, checks, 100),),
        facts={
            "notice": f"A bot protection answered the browser instead of the site. {NOT_JUDGED}",
            "unseen": "bot-protection",
        },
    )
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, result)
    member = person(home.organization)
    text = text_of(member.get(f"/report/{scan.id}"))
    assert "A bot protection answered the browser instead of the site." in text
    assert not [meaning for meaning in GRADES["performance"].values() if meaning in text]
    assert "Nothing: all checks that ran passed." in text
    member.post(f"/report/{scan.id}/share", {"shared": "on"})
    (description,) = page_of(Client().get(f"/report/{scan.id}")).xpath("//meta[@property='og:description']/@content")
    assert description == result.facts["notice"]


@pytest.mark.parametrize(
    "path", ["/report/{}", "/report/scan_9HL138KtxIQ0RFYcK87bb6", "/audit/aud_9HL138KtxIQ0RFYcK87bb6"]
)
def test_login_page_says_that_a_report_may_be_private(home: Member, client: Client, path: str) -> None:
    """The sentence is the same for reports that do not exist."""
    response = client.get(path.format(finished_scan(home).id), follow=True)
    assert response.redirect_chain[0][0].startswith("/login/?next=")
    assert "This report may be private." in text_of(response)
    assert "This report may be private." not in text_of(client.get("/login/?next=/dashboard/"))
