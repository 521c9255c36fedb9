"""Tests for a report's score history and comparison."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.usage import month_of
from infrastructure.web.time_zones import reading_in
from reports.models import Mute, Report
from reports.page import visible_report
from reports.page.cached.parts import history_html
from reports.page.history import History, history, scans_of_same_page
from reports.page.since import previous_report_time
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, make_result, make_scan
from tests.reports.people import page_of, person, text_of
from tests.results import check_of, stored
from website_scan.findings import HIGH
from website_scan.report.storage import stored_text


def history_of_scan(scan: Scan) -> History:
    report = Report.objects.get(scan=scan)
    return history(scan, lambda: report.export_json, timezone.now())


def scores_in_trend(past: History) -> list[int]:
    return [scan.score for scan in past.trend.newest_first] if past.trend else []


def scan_created_ago(member: Member, hours: int, score: int = 71, **columns: Any) -> Scan:
    """Create a finished scan that was created `hours` hours ago."""
    scan = make_scan(member, created_at=timezone.now() - timedelta(hours=hours), **columns)
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, score=score))
    return Scan.objects.get(id=scan.id)


def test_history_has_the_last_ten_scans(home: Member) -> None:
    scans = [scan_created_ago(home, hours, score=hours) for hours in range(12, 0, -1)]
    past = history_of_scan(scans[10])
    assert scores_in_trend(past) == list(range(2, 12))
    assert past.trend is not None
    current, *others = past.trend.newest_first
    assert (current.is_this_report, current.url) == (True, None)
    assert [earlier.url for earlier in others] == [f"/report/{scan.id}" for scan in reversed(scans[1:10])]
    assert past.newer_url == f"/report/{scans[11].id}"
    assert history_of_scan(scans[11]).newer_url is None


def test_history_counts_scans_of_the_same_page(home: Member, stranger: Member) -> None:
    scan_created_ago(home, 5, url="https://example.com/other")
    scan_created_ago(home, 5, type="seo")
    scan_created_ago(stranger, 5)
    make_scan(home, status="failed")
    make_scan(home, status="queued")
    past = history_of_scan(scan_created_ago(home, 1))
    assert (past.trend, past.previous, past.newer_url) == (None, None, None)


def test_history_keeps_the_score_of_an_expired_report(home: Member) -> None:
    old, scan = scan_created_ago(home, 24 * 31, score=50), scan_created_ago(home, 0)
    assert history_of_scan(scan).previous is None
    past = history_of_scan(scan)
    assert scores_in_trend(past) == [71, 50]
    assert past.trend is not None
    assert [earlier.url for earlier in past.trend.newest_first] == [None, None]
    text = text_of(person(home.organization).get(f"/report/{scan.id}"))
    assert "is no longer available" in text
    assert old.id not in text


def test_first_report_of_a_page_says_so(home: Member) -> None:
    text = text_of(person(home.organization).get(f"/report/{scan_created_ago(home, 0).id}"))
    assert "This is the first report of this page." in text


def change(scan: Scan, **changes: Any) -> None:
    """Change a scan's stored export, for example its check statuses."""
    report = Report.objects.get(scan=scan)
    export: Any = report.export_json
    statuses = changes.pop("statuses", {})
    checks = export["categories"][0]["checks"]
    for number, check in enumerate(checks):
        if status := statuses.get(check["id"]):
            severity = None if status == "pass" else HIGH
            title = check["title"]
            checks[number] = stored(check_of(check["id"], check["name"], title, status, severity, HIGH, "It is so."))
    Report.objects.filter(scan=scan).update(export=stored_text(export | changes))


def test_report_shows_changes_since_the_previous_one(home: Member) -> None:
    before, scan = scan_created_ago(home, 2, score=60), scan_created_ago(home, 1, score=71)
    change(before, statuses={"good": "fail", "bad": "pass", "meh": "fail"})
    response = person(home.organization).get(f"/report/{scan.id}")
    text, page = text_of(response), page_of(response)
    assert "+11 points since the report of" in text
    assert page.xpath(f"//section[@aria-labelledby='history']//a[@href='/report/{before.id}']")
    groups = {
        group.xpath("string(summary/h3/text())").strip(): group
        for group in page.xpath("//details[contains(@class, 'changed')]")
    }
    assert {name: group.xpath(".//a/@href") for name, group in groups.items()} == {
        "Fixed": ["#check-good"],
        "New": ["#check-bad"],
        "Better": ["#check-meh"],
    }
    assert "now only a warning, had failed" in text
    for anchor in ("check-good", "check-bad", "check-meh"):
        assert len(page.xpath(f"//*[@id='{anchor}']")) == 1


def comparison_sentence(client: Client, scan: Scan) -> str:
    """Return the sentence that compares two reports.

    It is "" without a previous report.
    """
    (verdict,) = page_of(client.get(f"/report/{scan.id}")).xpath("//section[contains(@class, 'verdict')]")
    return " ".join(verdict.xpath("string(.//p[@class='since'])").split())


# Two faults appeared and one was fixed, with statuses before and after.
BACK = {"bad": "pass", "meh": "pass", "good": "fail"}


@pytest.mark.parametrize(
    ("score", "statuses", "points", "named"),
    [
        (78, {}, "7 points lower than", "2 left: Meh thing found, Bad thing found."),
        (71, {}, "The same score as", "2 left: Meh thing found, Bad thing found."),
        (78, BACK, "7 points lower than", "1 fixed: Good thing. 2 new: Meh thing found, Bad thing found."),
        (60, BACK, "11 points higher than", "1 fixed: Good thing. 2 new: Meh thing found, Bad thing found."),
        (78, {"good": "fail"}, "7 points lower than", "1 fixed: Good thing. 2 left: Meh thing found, Bad thing found."),
        (
            *(60, {"meh": "fail", "bad": "pass"}, "11 points higher than"),
            "1 left: Meh thing found (now only a warning, had failed; now low, was high). 1 new: Bad thing found.",
        ),
    ],
)
def test_sentence_names_fixed_and_new_findings(
    home: Member, score: int, statuses: dict[str, str], points: str, named: str
) -> None:
    before, scan = scan_created_ago(home, 24 * 7, score=score), scan_created_ago(home, 0, score=71)
    change(before, statuses=statuses)
    client = person(home.organization, "viewer")
    expected = f"{points} in the report of {previous_report_time(before.created_at, scan.created_at)}. {named} Compare"
    assert comparison_sentence(client, scan) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (datetime(2026, 11, 27, 0, 5, tzinfo=UTC), "00:05 UTC"),
        (datetime(2026, 11, 26, 23, 55, tzinfo=UTC), "26 November"),
        (datetime(2025, 11, 27, 1, 10, tzinfo=UTC), "27 November 2025"),
    ],
)
def test_previous_report_is_named_by_its_time(before: datetime, expected: str) -> None:
    assert previous_report_time(before, datetime(2026, 11, 27, 1, 15, tzinfo=UTC)) == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Europe/Berlin", "00:55 CET"),
        ("America/Sao_Paulo", "20:55 UTC-03"),
        ("", "31 December 2026"),
        ("Asia/Kolkata", "05:25 IST"),
    ],
)
def test_previous_report_is_named_in_the_time_zone_of_the_reader(zone: str, expected: str) -> None:
    before = datetime(2026, 12, 31, 23, 55, tzinfo=UTC)
    with reading_in(zone):
        assert previous_report_time(before, datetime(2027, 1, 1, 1, 15, tzinfo=UTC)) == expected


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"catalogue_version": "2025.1"}, "the rules changed"),
        ({"browser": "Chromium 150.0"}, "only one of the two was made in a browser"),
        (
            {"skipped_checks": [{"id": "odd", "name": "Odd", "reason": "timeout"}]},
            "not the same checks could run",
        ),
    ],
)
def test_sentence_says_why_reports_are_not_compared(home: Member, changes: dict[str, Any], reason: str) -> None:
    before, scan = scan_created_ago(home, 2, score=60), scan_created_ago(home, 1)
    change(before, statuses={"good": "fail"}, **changes)
    sentence = comparison_sentence(person(home.organization), scan)
    when = previous_report_time(before.created_at, scan.created_at)
    assert sentence == f"Cannot be compared with the report of {when}: {reason}. Compare"


def test_muted_findings_do_not_explain_the_score(home: Member) -> None:
    before, scan = scan_created_ago(home, 2, score=78), scan_created_ago(home, 1)
    change(before, statuses={"bad": "pass"})
    Mute.objects.create(
        organization=home.organization,
        check_id="bad",
        host="example.com",
        reason="We accept it.",
        expires_at=timezone.now() + timedelta(days=9),
    )
    sentence = comparison_sentence(person(home.organization), scan)
    assert sentence.endswith(". 1 left: Meh thing found. Compare")
    assert "Bad" not in sentence


def test_strangers_do_not_see_the_previous_report(home: Member) -> None:
    before, scan = scan_created_ago(home, 2, score=78), scan_created_ago(home, 1)
    Report.objects.update(shared_at=timezone.now())
    assert comparison_sentence(person(home.organization), scan).startswith("7 points lower")
    assert comparison_sentence(person(home.organization), before) == ""
    assert comparison_sentence(Client(), scan) == ""
    assert before.id not in Client().get(f"/report/{scan.id}").content.decode()


def test_report_says_that_the_rules_changed(home: Member) -> None:
    before, scan = scan_created_ago(home, 2, score=60), scan_created_ago(home, 1, score=71)
    change(before, statuses={"good": "fail", "bad": "pass"}, catalogue_version="2025.1")
    response = person(home.organization).get(f"/report/{scan.id}")
    text = text_of(response)
    assert "The rules changed since the report of" in text
    assert "catalogue 2025.1, now test" in text
    assert "Its score of 60 and those before it came from other rules" in text
    assert "points since" not in text
    titles = page_of(response).xpath("//details[contains(@class, 'changed')]/summary/h3/text()")
    assert {title.strip() for title in titles} == {"No longer found", "Found only now", "Still there"}


def test_history_compares_despite_changed_rules(home: Member) -> None:
    change(scan_created_ago(home, 2), catalogue_version="2025.1")
    text = text_of(person(home.organization).get(f"/report/{scan_created_ago(home, 1).id}"))
    assert "The findings are the same." in text
    assert "points since" not in text


def test_history_says_that_nothing_changed(home: Member) -> None:
    scan_created_ago(home, 2)
    text = text_of(person(home.organization).get(f"/report/{scan_created_ago(home, 1).id}"))
    assert "The same score since the report of" in text
    assert "and the same findings" in text
    assert "catalogue" not in text.partition("Things")[0].lower()


def test_history_mentions_a_scan_without_browser(home: Member) -> None:
    _, scan = scan_created_ago(home, 2), scan_created_ago(home, 1)
    change(scan, browser="Chromium 150.0")
    text = text_of(person(home.organization).get(f"/report/{scan.id}"))
    assert "The earlier report was made without a browser, this one with" in text


def test_history_query_uses_an_index(home: Member) -> None:
    """The history query must use the index.

    Without it, an organization with 100,000 scans would wait too long.
    """
    scan, now = scan_created_ago(home, 0), timezone.now() - timedelta(hours=1)
    values = {"organization": home.organization, "type": "security", "status": "completed", "score": 1, "grade": "F"}
    Scan.objects.bulk_create(
        [
            Scan(url=f"https://example.com/{number}", created_at=now, period=month_of(now), **values)
            for number in range(2000)
        ]
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    plan = scans_of_same_page(scan).filter(created_at__lte=scan.created_at)[:10].explain()
    assert "Index Scan using scan_of_page" in plan, plan


def test_cached_history_is_updated_by_later_scans(home: Member) -> None:
    first, client = scan_created_ago(home, 3, score=60), person(home.organization)
    assert "This is the first report of this page." in text_of(client.get(f"/report/{first.id}"))
    second = scan_created_ago(home, 2, score=71)
    text = text_of(client.get(f"/report/{first.id}"))
    assert "newer report" in text
    assert "Compare with another report" in text
    assert "+11 points since" in text_of(client.get(f"/report/{second.id}"))
    assert "The last 2 scores" in text_of(client.get(f"/report/{second.id}"))
    # The score of an expired report remains, without a link.
    Scan.objects.filter(id=first.id).update(kept_days=0, completed_at=timezone.now() - timedelta(hours=1))
    Report.objects.filter(scan=first).update(expires_at=timezone.now())
    response = client.get(f"/report/{second.id}")
    assert "is no longer available" in text_of(response)
    assert first.id not in response.content.decode()


def test_deleted_previous_report_is_unavailable(home: Member) -> None:
    before, scan = scan_created_ago(home, 2), scan_created_ago(home, 1)
    past = history(scan, lambda: Report.objects.get(scan=scan).export_json, timezone.now())
    Report.objects.filter(scan=before).delete()
    assert "is no longer available" in history_html(past, scan, key="gone")


def test_report_deleted_meanwhile_is_not_found(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = scan_created_ago(home, 1)

    def delete_report(*args: object, **kwargs: object) -> SafeString:
        Report.objects.filter(scan=scan).delete()
        return SafeString("")

    monkeypatch.setattr(visible_report, "history_html", delete_report)
    assert person(home.organization).get(f"/report/{scan.id}").status_code == 404
