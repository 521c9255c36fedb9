"""Tests for filters of the activity log by person, key and days, and for its CSV and JSON exports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts import activity
from accounts.activity import EventFilter, first_event_id_since
from accounts.models import ActivityEvent, Tier, User
from accounts.pages import activity_exports
from tests.factories import Member, browser_of, key_caller, person_of
from tests.page_reading import page_of, parsed
from tests.queries import counted

LOG = "/o/home/activity/"


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "admin", "ann@people.test")


@pytest.fixture
def admin(ann: User) -> Client:
    ActivityEvent.objects.all().delete()
    return browser_of(ann)


def download(client: Client, path: str) -> bytes:
    answer = client.get(path)
    assert answer.status_code == 200
    streamed: Any = answer
    return b"".join(streamed.streaming_content)


def rows(client: Client, query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(download(client, f"{LOG}export/csv{query}").decode())))


def events(client: Client, query: str = "") -> list[dict[str, Any]]:
    exported: list[dict[str, Any]] = json.loads(download(client, f"{LOG}export/json{query}"))["events"]
    return exported


def test_csv_and_json_exports_contain_all_events(
    home: Member, stranger: Member, ann: User, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_exports, "BATCH", 2)
    for number in range(5):
        activity.record(home.organization, ann, "key.created", f"key {number}", scope="read")
    activity.record_by_caller(key_caller(home.organization.id), "scan.created", "https://example.com/", type="seo")
    activity.record(stranger.organization, None, "key.created", "not for home")
    exported = events(admin)
    assert [event["target"] for event in exported] == ["https://example.com/", *(f"key {n}" for n in range(4, -1, -1))]
    assert exported[0] | {"id": 0, "at": ""} == {
        "id": 0,
        "at": "",
        "actor": None,
        "api_key": home.key.id,
        "action": "scan.created",
        "target": "https://example.com/",
        "details": {"type": "seo", "api_key": "tests"},
    }
    table = rows(admin)
    assert [row["target"] for row in table] == [event["target"] for event in exported]
    assert table[0]["event"] == "started a scan of https://example.com/ (seo)"
    assert (table[1]["actor"], table[1]["api_key"]) == ("ann@people.test", "")
    assert json.loads(table[1]["details"]) == {"scope": "read"}


def test_empty_activity_log_can_be_exported(admin: Client) -> None:
    assert events(admin) == []
    assert rows(admin) == []


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_csv_cells_are_not_formulas(home: Member, ann: User, admin: Client, start: str) -> None:
    name = f"{start}HYPERLINK(1)"
    activity.record(home.organization, ann, name, name, a=name)
    User.objects.filter(id=ann.pk).update(email=f"{start}x@people.test")
    ActivityEvent.objects.update(actor_email=name)
    (row,) = rows(admin)
    assert row["target"] == f"'{name}"
    assert not any(str(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in row.values())
    (event,) = events(admin)
    assert event["target"] == name


def test_activity_log_is_filtered_by_person_or_key(home: Member, ann: User, admin: Client) -> None:
    bob = person_of(home, "owner", "bob+x@people.test")
    for actor in (ann, bob, None):
        activity.record(home.organization, actor, "key.created", f"by {actor}")
    activity.record_by_caller(key_caller(home.organization.id), "scan.created", "by the key")
    activity.record(home.organization, bob, "key.revoked", "by bob again")
    page = page_of(admin.get(LOG))
    links = {element.get("aria-label"): element.get("href") for element in page.xpath("//ol//a[@aria-label]")}
    filter_by_bob = links["Only actions of bob+x@people.test"]
    assert [event["target"] for event in events(admin, filter_by_bob)] == ["by bob again", "by bob+x@people.test"]
    assert [event["target"] for event in events(admin, f"{filter_by_bob}&action=key.revoked")] == ["by bob again"]
    assert [event["target"] for event in events(admin, links["Only actions of The API key tests"])] == ["by the key"]
    page_text = admin.get(f"{LOG}{filter_by_bob}").content.decode()
    assert "by the key" not in page_text
    assert "/o/home/activity/export/csv?person=bob%2Bx%40people.test" in page_text
    assert "Show all" in page_text


def test_expired_events_are_hidden_before_deletion(home: Member, ann: User, admin: Client) -> None:
    Tier.objects.filter(name="free").update(activity_kept_days=30)
    old = activity.record(home.organization, ann, "key.created", "old")
    activity.record(home.organization, ann, "key.created", "young")
    ActivityEvent.objects.filter(id=old.pk).update(created_at=timezone.now() - timedelta(days=30, seconds=5))
    assert [event["target"] for event in events(admin)] == ["young"]
    assert ">old<" not in admin.get(LOG).content.decode()


def test_unknown_export_format_returns_404(admin: Client) -> None:
    assert admin.get(f"{LOG}export/xml").status_code == 404


def test_events_of_a_person_need_one_query(home: Member, ann: User) -> None:
    with counted() as queries:
        activity.fetch_events_page(home.organization, EventFilter(email=ann.email))
    assert len([query for query in queries if "accounts_activityevent" in query]) == 1


@pytest.fixture
def november_events(home: Member, ann: User, admin: Client) -> datetime:
    """Create an event every six hours and return the start of the first day in UTC.

    The name of an event's object is the number of hours.
    """
    start = datetime(2026, 11, 1, tzinfo=UTC)
    for hours in range(0, 120, 6):
        event = activity.record(home.organization, ann, "key.created", str(hours))
        ActivityEvent.objects.filter(id=event.pk).update(created_at=start + timedelta(hours=hours))
    return start


@pytest.mark.usefixtures("november_events")
@pytest.mark.parametrize(
    ("query", "hours"),
    [
        ("from=2026-11-02&to=2026-11-02", range(24, 48, 6)),
        ("from=2026-11-04", range(72, 120, 6)),
        ("to=2026-11-01", range(0, 24, 6)),
        ("from=2026-11-06&to=2026-11-30", ()),
        ("from=0001-01-01&to=9999-12-31", range(0, 120, 6)),
        ("from=2026-11-03&to=2026-11-03&action=key.revoked", ()),
        ("from=2026-11-03&to=2026-11-03&person=ann@people.test", range(48, 72, 6)),
    ],
)
def test_activity_log_is_filtered_by_days_in_utc(admin: Client, query: str, hours: Sequence[int]) -> None:
    expected = [str(hour) for hour in reversed(hours)]
    assert [event["target"] for event in events(admin, f"?{query}")] == expected
    assert [row["target"] for row in rows(admin, f"?{query}")] == expected
    page = page_of(admin.get(f"{LOG}?{query}"))
    assert page.xpath("//ol[contains(@class, 'activity-log')]//p/strong/text()") == expected


@pytest.mark.usefixtures("november_events")
def test_links_to_pages_and_files_keep_the_day_filter(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "PAGE_SIZE", 2)
    page = admin.get(f"{LOG}?from=2026-11-02&to=2026-11-03").content.decode()
    links = parsed(page).xpath("//main//@href")
    assert sum("from=2026-11-02&to=2026-11-03" in link for link in links) == 5, "two events', older ones', two files'"
    (older,) = (link for link in links if "before=" in link)
    older_page = page_of(admin.get(f"{LOG}{older}"))
    assert older_page.xpath("//ol//p/strong/text()") == ["54", "48"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("from=yesterday", "Enter a day such as"),
        ("to=2026-02-30", "Enter a day such as"),
        ("from=2026-11-02&to=2026-11-01", "This day is before the first one."),
    ],
)
def test_invalid_days_show_no_events_and_an_error(
    home: Member, ann: User, admin: Client, query: str, message: str
) -> None:
    activity.record(home.organization, ann, "key.created", "made on some day")
    answer = admin.get(f"{LOG}?{query}&action=key.created")
    page = answer.content.decode()
    assert answer.status_code == 400
    assert message in page
    assert "made on some day" not in page
    assert 'value="key.created" selected' in page, "valid fields keep their value"
    for kind in ("csv", "json"):
        refused = admin.get(f"{LOG}export/{kind}?{query}&action=key.created")
        assert refused["Location"] == f"{LOG}?{query}&action=key.created"


def test_first_event_id_since_finds_the_exact_event(home: Member, stranger: Member, november_events: datetime) -> None:
    """The binary search finds each event exactly, so no events after the requested days are read."""
    activity.record(stranger.organization, None, "key.created")
    ids = {int(event.object_name): event.pk for event in ActivityEvent.objects.filter(organization=home.organization)}
    for hours, event_id in ids.items():
        moment = november_events + timedelta(hours=hours)
        assert first_event_id_since(home.organization, moment) == event_id
        assert first_event_id_since(home.organization, moment, timedelta(hours=-1)) == event_id
        assert first_event_id_since(home.organization, moment, timedelta(hours=1)) == event_id + 1
    assert first_event_id_since(home.organization, november_events - timedelta(days=400)) == min(ids.values())
    ActivityEvent.objects.filter(organization=stranger.organization).delete()
    assert first_event_id_since(stranger.organization, november_events) == 0


def test_events_recorded_out_of_order_are_found_on_their_day(
    home: Member, ann: User, admin: Client, november_events: datetime
) -> None:
    midnight = november_events + timedelta(days=2)
    for seconds in (-20, 20, -10, 10):
        event = activity.record(home.organization, ann, "key.created", f"{seconds} s")
        ActivityEvent.objects.filter(id=event.pk).update(created_at=midnight + timedelta(seconds=seconds))
    ActivityEvent.objects.exclude(object_name__endswith="s").delete()
    assert [row["target"] for row in events(admin, "?to=2026-11-02")] == ["-10 s", "-20 s"]
    assert [row["target"] for row in events(admin, "?from=2026-11-03")] == ["10 s", "20 s"]
