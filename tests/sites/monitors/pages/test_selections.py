"""Tests for actions on all monitors that match the filters of the table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ActivityEvent, Membership, Tier
from infrastructure.web import selections
from sites.models import Monitor, MonitorRun, SiteState
from sites.monitors import bulk
from tests import factories
from tests.factories import Member, person_of
from tests.page_reading import browser_of, page_of, text_of
from tests.populated_monitors import add_runs, make_monitor
from tests.queries import counted
from website_scan.urls import host_and_port_of

ALL = "/o/home/selected-monitors"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def post(client: Client, action: str, back: str = "", **fields: Any) -> Any:
    return client.post(ALL, {"action": action, "all": "yes", "back": back, **fields})


def make_monitors(member: Member, number: int, name: str = "Shop", **columns: Any) -> list[Monitor]:
    return [make_monitor(member, name=f"{name} {n}", **columns) for n in range(number)]


def paused_names() -> list[str]:
    return list(Monitor.objects.exclude(paused_at=None).order_by("name").values_list("name", flat=True))


def test_table_offers_all_matching_monitors(client: Client, home: Member) -> None:
    make_monitors(home, 30)
    make_monitors(home, 2, "Kiosk")
    for query, label in (
        ("", "All 32 monitors, on every page"),
        ("?q=shop", "All 30 monitors that match the filters, on every page"),
        ("?q=kiosk", "All 2 monitors that match the filters"),
    ):
        page = page_of(client.get(f"/o/home/monitors/{query}"))
        (box,) = page.xpath("//form[@id='ticked']//input[@type='checkbox'][@name='all']/..")
        assert " ".join(box.text_content().split()) == label
    assert not page_of(client.get("/o/home/monitors/?q=kiosk+1")).xpath("//input[@name='all']")
    assert not page_of(browser_of(home, "viewer").get("/o/home/monitors/")).xpath("//input[@name='all']")


def test_action_reaches_matching_monitors_on_every_page(client: Client, home: Member, stranger: Member) -> None:
    make_monitors(home, 30)
    other = make_monitor(home, name="Bakery")
    make_monitors(stranger, 2)
    (older,) = page_of(client.get("/o/home/monitors/?q=shop")).xpath("//a[@rel='next']/@href")
    response = post(client, "pause", older.removeprefix("?"), monitor=[other.id])
    assert response["Location"] == f"/o/home/monitors/{older}"
    assert "30 monitors were paused." in text_of(client.get("/o/home/monitors/"))
    assert paused_names() == sorted(f"Shop {n}" for n in range(30))
    assert Monitor.objects.filter(organization=stranger.organization, paused_at=None).count() == 2
    events = ActivityEvent.objects.filter(action="monitor.paused")
    assert events.count() == 30
    assert {event.actor for event in events} == {client.get("/o/home/monitors/").wsgi_request.user}
    assert {event.details["monitor"] for event in events} == set(
        Monitor.objects.exclude(paused_at=None).values_list("id", flat=True)
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["Bare", "Down", "Held", "Low"]),
        ("state=failing", ["Down"]),
        ("state=ok", ["Bare", "Low"]),
        ("site=critical", ["Low"]),
        ("grade=F", ["Low"]),
        ("type=performance", ["Bare"]),
        ("type=seo&grade=F", ["Low"]),
        ("q=nowhere", []),
        ("state=unknown&after=mon_x", ["Bare", "Down", "Held", "Low"]),
    ],
)
def test_action_reaches_what_the_table_shows(client: Client, home: Member, query: str, names: list[str]) -> None:
    now = timezone.now()
    make_monitor(home, name="Down", types=["seo"], failing_since=now)
    make_monitor(home, name="Held", types=["seo"], paused_at=now)
    make_monitor(home, name="Bare", types=["performance"])
    low = ["https://low.example.com/"]
    make_monitor(home, name="Low", types=["seo"], pages=low, scores={"seo": {"score": 9, "grade": "F"}})
    SiteState.objects.create(
        organization=home.organization, host="low.example.com", url=low[0], scanned_at=now, urgency=9, critical=1
    )
    post(client, "schedule", query, every="month")
    changed = Monitor.objects.filter(every="month").order_by("name").values_list("name", flat=True)
    assert list(changed) == names
    shown = page_of(client.get(f"/o/home/monitors/?{query}")).xpath("//tbody//th/a")
    assert sorted(link.text_content() for link in shown) == names


def test_deletion_of_all_is_confirmed(client: Client, home: Member) -> None:
    make_monitors(home, 30)
    kept = make_monitor(home, name="Bakery")
    add_runs(Monitor.objects.filter(name="Shop 1").get(), 3, timezone.now())
    confirmation = post(client, "delete", "q=shop")
    assert "Delete 30 monitors?" in text_of(confirmation)
    assert "and 5 more" in text_of(confirmation)
    fields = {str(box.get("name")): str(box.get("value")) for box in page_of(confirmation).xpath("//main//input")}
    late = make_monitor(home, name="Shop at the corner")
    again = client.post(ALL, {**fields, "action": "deleted"})
    assert "Nothing was deleted" in text_of(again)
    assert "Delete 31 monitors?" in text_of(again)
    late.delete()
    assert client.post(ALL, {**fields, "action": "deleted"})["Location"] == "/o/home/monitors/?q=shop"
    assert list(Monitor.objects.all()) == [kept]
    assert not MonitorRun.objects.exists()
    assert ActivityEvent.objects.filter(action="monitor.deleted").count() == 30


def test_all_are_deleted_only_with_the_digest_of_the_confirmation(client: Client, home: Member) -> None:
    make_monitors(home, 2)
    post(client, "deleted")
    post(client, "deleted", digest="0" * 64)
    assert Monitor.objects.count() == 2


def test_all_are_run_unless_a_run_is_in_progress(client: Client, home: Member) -> None:
    now = timezone.now()
    idle, waiting, busy = make_monitors(home, 3)
    later = now + timedelta(minutes=9)
    MonitorRun.objects.create(monitor=waiting, due_at=now, not_before=later, attempts=1)
    MonitorRun.objects.create(monitor=busy, due_at=now, not_before=now, status="running")
    post(client, "run")
    assert "2 monitors were started." in text_of(client.get("/o/home/monitors/"))
    assert idle.runs.get().is_requested
    assert waiting.runs.get().not_before < later
    assert busy.runs.get().status == "running"
    assert ActivityEvent.objects.filter(action="monitor.run").count() == 2


def test_number_of_statements_is_bounded(client: Client, home: Member) -> None:
    """A run that waits for its second attempt starts at once, so the last action starts the same runs again."""
    numbers: dict[str, list[int]] = {}
    for monitors, every in ((2, "week"), (23, "month")):
        MonitorRun.objects.all().delete()
        make_monitors(home, monitors)
        for step in ("pause", "resume", "schedule", "run", "run again", "deleted"):
            selected = Monitor.objects.values_list("id", flat=True)
            with counted() as queries:
                if step == "deleted":
                    client.post(ALL, {"action": step, "monitor": list(selected)})
                else:
                    post(client, step.partition(" ")[0], every=every)
            numbers.setdefault(step, []).append(len(queries))
            if step.startswith("run"):
                assert MonitorRun.objects.filter(not_before__lte=timezone.now()).count() == monitors
                MonitorRun.objects.update(not_before=timezone.now() + timedelta(minutes=9), attempts=1)
        assert not Monitor.objects.exists()
    assert ActivityEvent.objects.filter(action="monitor.run").count() == 2 * (2 + 23)
    for step, (few, many) in numbers.items():
        assert many <= few + 2, (step, numbers)


def test_more_than_a_batch_are_changed(client: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    make_monitors(home, 5)
    post(client, "pause")
    assert len(paused_names()) == 5


def test_action_stops_when_it_takes_too_long(client: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    monkeypatch.setattr(selections, "MAX_BATCHES_S", -1.0)
    make_monitors(home, 3)
    post(client, "pause")
    assert "They were not. There are too many of them" in text_of(client.get("/o/home/monitors/"))
    assert not paused_names()


@pytest.mark.parametrize("is_limited", [False, True])
def test_viewers_change_nothing(home: Member, is_limited: bool) -> None:
    (monitor, _) = make_monitors(home, 2)
    user = person_of(home, "viewer", "client@people.test")
    if is_limited:
        Membership.objects.filter(user=user).update(limited_to=[host_and_port_of(monitor.url)])
    for action in ("pause", "delete", "deleted"):
        assert post(factories.browser_of(user), action).status_code == 403
    assert not paused_names()
    assert Monitor.objects.count() == 2


def test_interval_beyond_the_plan_changes_nothing(client: Client, home: Member) -> None:
    Tier.objects.update(shortest_interval="day")
    make_monitors(home, 2)
    post(client, "schedule", every="hour")
    assert "Nothing was changed." in text_of(client.get("/o/home/monitors/"))
    assert set(Monitor.objects.values_list("every", flat=True)) == {"day"}
