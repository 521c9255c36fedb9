"""History of a report: the trend of earlier scans of the page, and the diff to the previous report."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.usage import month_of
from reports.models import Mute, Report
from reports.page import visible_report
from reports.page.cached.parts import history_of
from reports.page.history import History, history, same_page
from reports.page.since import when_before
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, make_result, make_scan
from tests.reports.people import page_of, person, text_of
from tests.results import check_of, stored
from website_scan.findings import HIGH
from website_scan.report.storage import stored_text


def told(scan: Scan) -> History:
    report = Report.objects.get(scan=scan)
    return history(scan, lambda: report.export_json, timezone.now())


def scores_of(found: History) -> list[int]:
    return [each.score for each in found.trend.newest_first] if found.trend else []


def aged(member: Member, hours: int, score: int = 71, **columns: Any) -> Scan:
    """Return a scan that was created `hours` hours ago and has finished."""
    scan = make_scan(member, created_at=timezone.now() - timedelta(hours=hours), **columns)
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, score=score))
    return Scan.objects.get(id=scan.id)


def test_the_last_ten_up_to_this_one_are_told(home: Member) -> None:
    scans = [aged(home, hours, score=hours) for hours in range(12, 0, -1)]
    found = told(scans[10])
    assert scores_of(found) == list(range(2, 12))
    assert found.trend is not None
    this, *others = found.trend.newest_first
    assert (this.is_this, this.url) == (True, None)
    assert [each.url for each in others] == [f"/report/{scan.id}" for scan in reversed(scans[1:10])]
    assert found.newer_url == f"/report/{scans[11].id}"
    assert told(scans[11]).newer_url is None


def test_only_scans_of_thesame_page_and_type_with_a_result_count(home: Member, stranger: Member) -> None:
    aged(home, 5, url="https://example.com/other")
    aged(home, 5, type="seo")
    aged(stranger, 5)
    make_scan(home, status="failed")
    make_scan(home, status="queued")
    found = told(aged(home, 1))
    assert (found.trend, found.previous, found.newer_url) == (None, None, None)


def test_a_report_that_is_not_kept_any_more_has_its_score_only(home: Member) -> None:
    old, scan = aged(home, 24 * 31, score=50), aged(home, 0)
    assert told(scan).previous is None
    found = told(scan)
    assert scores_of(found) == [71, 50]
    assert found.trend is not None
    assert [each.url for each in found.trend.newest_first] == [None, None]
    text = text_of(person(home.organization).get(f"/report/{scan.id}"))
    assert "is no longer available" in text
    assert old.id not in text


def test_the_first_report_of_a_page_says_so(home: Member) -> None:
    text = text_of(person(home.organization).get(f"/report/{aged(home, 0).id}"))
    assert "This is the first report of this page." in text


def change(scan: Scan, **changes: Any) -> None:
    """Change a stored export, as if the scan had found something else."""
    report = Report.objects.get(scan=scan)
    document: Any = report.export_json
    statuses = changes.pop("statuses", {})
    checks = document["categories"][0]["checks"]
    for number, check in enumerate(checks):
        if status := statuses.get(check["id"]):
            severity = None if status == "pass" else HIGH
            title = check["title"]
            checks[number] = stored(check_of(check["id"], check["name"], title, status, severity, HIGH, "It is so."))
    Report.objects.filter(scan=scan).update(export=stored_text(document | changes))


def test_the_page_tells_what_has_changed(home: Member) -> None:
    before, scan = aged(home, 2, score=60), aged(home, 1, score=71)
    change(before, statuses={"good": "fail", "bad": "pass", "meh": "fail"})
    response = person(home.organization).get(f"/report/{scan.id}")
    text, page = text_of(response), page_of(response)
    assert "+11 points since the report of" in text
    assert page.xpath(f"//section[@aria-labelledby='history']//a[@href='/report/{before.id}']")
    groups = {
        each.xpath("string(summary/h3/text())").strip(): each
        for each in page.xpath("//details[contains(@class, 'changed')]")
    }
    assert {name: group.xpath(".//a/@href") for name, group in groups.items()} == {
        "Fixed": ["#check-good"],
        "New": ["#check-bad"],
        "Better": ["#check-meh"],
    }
    assert "now only a warning, had failed" in text
    for anchor in ("check-good", "check-bad", "check-meh"):
        assert len(page.xpath(f"//*[@id='{anchor}']")) == 1


def verdict_of(client: Client, scan: Scan) -> str:
    """Return the sentence of the verdict on the report before; empty without one."""
    (verdict,) = page_of(client.get(f"/report/{scan.id}")).xpath("//section[contains(@class, 'verdict')]")
    return " ".join(verdict.xpath("string(.//p[@class='since'])").split())


BACK = {"bad": "pass", "meh": "pass", "good": "fail"}  # the statuses before two faults came and one went


@pytest.mark.parametrize(
    ("score", "statuses", "points", "why"),
    [
        (78, {}, "7 points lower than", ", the same findings"),
        (71, {}, "The same score as", ", the same findings"),
        (78, BACK, "7 points lower than", ": 2 new findings (Meh thing found first), 1 fixed"),
        (60, BACK, "11 points higher than", ": 1 fixed (Good thing), 2 new findings"),
        (78, {"good": "fail"}, "7 points lower than", "; 1 fixed (Good thing)"),
    ],
)
def test_the_verdict_tells_whether_it_is_better_or_worse_and_why(
    home: Member, score: int, statuses: dict[str, str], points: str, why: str
) -> None:
    before, scan = aged(home, 24 * 7, score=score), aged(home, 0, score=71)
    change(before, statuses=statuses)
    client = person(home.organization, "viewer")
    said = f"{points} in the report of {when_before(before.created_at, scan.created_at)}{why}. Compare"
    assert verdict_of(client, scan) == said


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (datetime(2026, 11, 27, 0, 5, tzinfo=UTC), "00:05 UTC"),
        (datetime(2026, 11, 26, 23, 55, tzinfo=UTC), "26 November"),
        (datetime(2025, 11, 27, 1, 10, tzinfo=UTC), "27 November 2025"),
    ],
)
def test_the_report_before_is_named_by_its_time_or_day(before: datetime, said: str) -> None:
    assert when_before(before, datetime(2026, 11, 27, 1, 15, tzinfo=UTC)) == said


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
def test_the_verdict_claims_no_difference_that_may_not_be_the_pages(
    home: Member, changes: dict[str, Any], reason: str
) -> None:
    before, scan = aged(home, 2, score=60), aged(home, 1)
    change(before, statuses={"good": "fail"}, **changes)
    said = verdict_of(person(home.organization), scan)
    when = when_before(before.created_at, scan.created_at)
    assert said == f"Cannot be compared with the report of {when}: {reason}. Compare"


def test_what_is_muted_is_no_reason_in_the_verdict(home: Member) -> None:
    before, scan = aged(home, 2, score=78), aged(home, 1)
    change(before, statuses={"bad": "pass"})
    Mute.objects.create(
        organization=home.organization,
        check_id="bad",
        host="example.com",
        reason="We accept it.",
        expires_at=timezone.now() + timedelta(days=9),
    )
    said = verdict_of(person(home.organization), scan)
    assert said.endswith(", the same findings, apart from muted ones. Compare")
    assert "Bad" not in said


def test_a_stranger_learns_nothing_of_the_report_before(home: Member) -> None:
    before, scan = aged(home, 2, score=78), aged(home, 1)
    Report.objects.update(shared_at=timezone.now())
    assert verdict_of(person(home.organization), scan).startswith("7 points lower")
    assert verdict_of(person(home.organization), before) == ""
    assert verdict_of(Client(), scan) == ""
    assert before.id not in Client().get(f"/report/{scan.id}").content.decode()


def test_what_other_rules_found_is_not_told_as_a_change_of_the_page(home: Member) -> None:
    before, scan = aged(home, 2, score=60), aged(home, 1, score=71)
    change(before, statuses={"good": "fail", "bad": "pass"}, catalogue_version="2025.1")
    response = person(home.organization).get(f"/report/{scan.id}")
    text = text_of(response)
    assert "The rules changed since the report of" in text
    assert "catalogue 2025.1, now test" in text
    assert "Its score of 60 and those before it came from other rules" in text
    assert "points since" not in text
    titles = page_of(response).xpath("//details[contains(@class, 'changed')]/summary/h3/text()")
    assert {title.strip() for title in titles} == {"No longer found", "Found only now", "Still there"}


def test_the_same_findings_by_other_rules_are_told_as_such(home: Member) -> None:
    change(aged(home, 2), catalogue_version="2025.1")
    text = text_of(person(home.organization).get(f"/report/{aged(home, 1).id}"))
    assert "The findings are the same." in text
    assert "points since" not in text


def test_the_same_findings_again_are_told_as_such(home: Member) -> None:
    aged(home, 2)
    text = text_of(person(home.organization).get(f"/report/{aged(home, 1).id}"))
    assert "The same score since the report of" in text
    assert "and the same findings" in text
    assert "catalogue" not in text.partition("Things")[0].lower()


def test_a_browser_that_was_there_only_once_is_mentioned(home: Member) -> None:
    _, scan = aged(home, 2), aged(home, 1)
    change(scan, browser="Chromium 150.0")
    text = text_of(person(home.organization).get(f"/report/{scan.id}"))
    assert "The earlier report was made without a browser, this one with" in text


def test_an_index_serves_the_question(home: Member) -> None:
    """Without the index, the query would be too slow for an organization with 100,000 scans."""
    scan, now = aged(home, 0), timezone.now() - timedelta(hours=1)
    values = {"organization": home.organization, "type": "security", "status": "completed", "score": 1, "grade": "F"}
    Scan.objects.bulk_create(
        [
            Scan(url=f"https://example.com/{number}", created_at=now, period=month_of(now), **values)
            for number in range(2000)
        ]
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan")
    plan = same_page(scan).filter(created_at__lte=scan.created_at)[:10].explain()
    assert "Index Scan using scan_of_page" in plan, plan


def test_what_is_kept_of_a_page_follows_its_scans(home: Member) -> None:
    first, client = aged(home, 3, score=60), person(home.organization)
    assert "This is the first report of this page." in text_of(client.get(f"/report/{first.id}"))
    second = aged(home, 2, score=71)
    text = text_of(client.get(f"/report/{first.id}"))
    assert "newer report" in text
    assert "Compare with another report" in text
    assert "+11 points since" in text_of(client.get(f"/report/{second.id}"))
    assert "The last 2 scores" in text_of(client.get(f"/report/{second.id}"))
    # When the report of the earlier scan has expired, its score stays, without a link.
    Scan.objects.filter(id=first.id).update(kept_days=0, completed_at=timezone.now() - timedelta(hours=1))
    Report.objects.filter(scan=first).update(expires_at=timezone.now())
    response = client.get(f"/report/{second.id}")
    assert "is no longer available" in text_of(response)
    assert first.id not in response.content.decode()


def test_a_previous_report_that_goes_while_it_is_compared_is_no_longer_available(home: Member) -> None:
    before, scan = aged(home, 2), aged(home, 1)
    past = history(scan, lambda: Report.objects.get(scan=scan).export_json, timezone.now())
    Report.objects.filter(scan=before).delete()
    assert "is no longer available" in history_of(past, scan, key="gone")


def test_a_report_that_goes_while_it_is_read_is_not_found(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = aged(home, 1)

    def gone(*args: object, **kwargs: object) -> SafeString:
        Report.objects.filter(scan=scan).delete()
        return SafeString("")

    monkeypatch.setattr(visible_report, "history_of", gone)
    assert person(home.organization).get(f"/report/{scan.id}").status_code == 404
