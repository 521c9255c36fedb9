"""Tests for runs, filters and recipients in the monitor API."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.mailing.topics import Subscription
from accounts.models import Membership, Tier
from sites.models import Monitor
from sites.recipients import receivers_of, warning_of
from tests.factories import Api, Member, person_of, register_webhook
from tests.queries import counted
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import EVENTS, HOOK, DailyMonitor, ScriptedSite, make_finding
from website_scan.ids import is_id

pytestmark = pytest.mark.django_db


def status_and_code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def monitor_names(response: Any) -> set[str]:
    answer = response.json()
    assert answer["total"] == len(answer["monitors"])
    return {monitor["name"] for monitor in answer["monitors"]}


def test_run_has_its_own_url(home: Member, stranger: Member) -> None:
    monitor = make_monitor(home)
    path = f"/v1/monitors/{monitor.id}/runs"
    started = home.api.post(path, {})
    run = started.json()
    assert is_id("run", run["id"])
    assert started["Location"] == f"{path}/{run['id']}"
    assert home.api.get(started["Location"]).json() == run
    assert home.api.get(path).json()["runs"] == [run]
    other = make_monitor(home)
    assert status_and_code(home.api.get(f"/v1/monitors/{other.id}/runs/{run['id']}")) == (404, "RUN_NOT_FOUND")
    for wrong in ("x", "run_1", run["id"].lower() + "0", "%00"):
        assert status_and_code(home.api.get(f"{path}/{wrong}")) == (404, "RUN_NOT_FOUND")
    assert status_and_code(stranger.api.get(started["Location"])) == (404, "MONITOR_NOT_FOUND")


def test_run_and_event_have_one_key_order(home: Member) -> None:
    register_webhook(home, HOOK, EVENTS)
    site = ScriptedSite()
    monitor = make_monitor(
        home, kind="pages", pages=["https://example.com/", "https://example.com/shop"], types=["seo", "security"]
    )
    daily_monitor = DailyMonitor(monitor, site.run_all_work)
    site.default_checks = (make_finding("thing", status="pass"),)
    daily_monitor.run_once()
    site.default_checks = (make_finding("thing"),)
    (event,) = daily_monitor.run_once()
    run = home.api.get(f"/v1/monitors/{monitor.id}/runs/{daily_monitor.run.id}").json()
    assert event["data"]["run"]["id"] == run["id"]
    changes = {name: value for name, value in event["data"].items() if name in run["news"]}
    assert len(changes) == 10
    assert json.dumps(run["news"]) == json.dumps(changes)
    assert list(run["results"]) == list(changes["scores"]) == ["security", "seo"]
    assert list(run["results"]["seo"]) == ["before", "score", "grade"]


def test_monitors_are_filtered_by_status(home: Member) -> None:
    now = timezone.now()
    make_monitor(home, name="ok", pages=["https://example.com/"])
    make_monitor(home, name="failing", pages=["https://shop.example.com/"], failing_since=now)
    make_monitor(home, name="paused", pages=["http://example.com:8080/a"], paused_at=now, failing_since=now)
    make_monitor(home, name="list", kind="pages", pages=["https://other.test/", "https://example.com/b?x=1"])
    listed = {
        query: monitor_names(home.api.get(f"/v1/monitors?{query}"))
        for query in (
            *("status=ok", "status=failing", "status=paused", "host=example.com", "host=example.com:8080"),
            *("host=other.test", "host=example", "host=.*", "host=%00", "status=ok&host=other.test"),
        )
    }
    assert listed == {
        "status=ok": {"ok", "list"},
        "status=failing": {"failing"},
        "status=paused": {"paused"},
        "host=example.com": {"ok", "list"},
        "host=example.com:8080": {"paused"},
        "host=other.test": {"list"},
        "host=example": set(),
        "host=.*": set(),
        "host=%00": set(),
        "status=ok&host=other.test": {"list"},
    }
    assert status_and_code(home.api.get("/v1/monitors?status=broken")) == (400, "INVALID_PARAMS")


def test_pending_retry_can_be_started_at_once(home: Member) -> None:
    monitor = make_monitor(home)
    now = timezone.now()
    at = now + timedelta(minutes=4)
    run = monitor.runs.create(due_at=now, not_before=at, attempts=1)
    path = f"/v1/monitors/{monitor.id}"
    waiting = home.api.get(f"{path}/runs/{run.id}").json()["next_try_at"]
    assert waiting == home.api.get(path).json()["next_try_at"] == f"{at:%Y-%m-%dT%H:%M:%SZ}"
    started = home.api.post(f"{path}/runs", {})
    assert (started.status_code, started.json()["id"], monitor.runs.count()) == (202, run.id, 1)
    assert started["Location"] == f"{path}/runs/{run.id}"
    run.refresh_from_db()
    assert run.not_before <= timezone.now()
    assert status_and_code(home.api.post(f"{path}/runs", {})) == (409, "MONITOR_RUNNING"), "it is about to start"
    monitor.runs.update(status="running")
    assert status_and_code(home.api.post(f"{path}/runs", {})) == (409, "MONITOR_RUNNING")
    assert home.api.get(path).json()["next_try_at"] is None


def test_api_marks_unsubscribed_recipients(home: Member) -> None:
    ann, ben = (person_of(home, "member", f"{name}@home.test") for name in ("ann", "ben"))
    monitor = make_monitor(home, recipients=[ben.pk, ann.pk], webhook_ids=[])
    other = make_monitor(home, recipients=[ann.pk])
    path = f"/v1/monitors/{monitor.id}"
    assert home.api.get(path).json()["unsubscribed"] == []
    Subscription(ann, f"monitor:{monitor.id}").stop()
    body = home.api.get(path).json()
    assert body["notify"] == {"emails": ["ann@home.test", "ben@home.test"], "webhooks": False}
    assert (body["unsubscribed"], body["warning"]) == (["ann@home.test"], None)
    assert home.api.get(f"/v1/monitors/{other.id}").json()["unsubscribed"] == []
    assert home.api.patch(path, {"notify": body["notify"]}).json()["unsubscribed"] == ["ann@home.test"]
    Subscription(ben, f"monitor:{monitor.id}").stop()
    assert home.api.get(path).json()["warning"] == warning_of(Monitor)


def test_creator_of_the_key_is_notified(home: Member, target: str) -> None:
    Tier.objects.update(schedules=10)
    ann = person_of(home, "member", "ann@home.test")
    key = Api(create_api_key(organization=home.organization, name="Ann's", created_by=ann)[1])
    body = {"page": target, "types": ["seo"], "every": "day"}
    created = key.post("/v1/monitors", body).json()
    assert (created["notify"]["emails"], created["warning"]) == (["ann@home.test"], None)
    named = key.post("/v1/monitors", body | {"notify": {"emails": []}}).json()
    assert (named["notify"]["emails"], named["warning"]) == ([], warning_of(Monitor))
    Membership.objects.filter(user=ann).delete()
    assert key.post("/v1/monitors", body).json()["notify"]["emails"] == [], "she has left"


@pytest.mark.parametrize(
    ("columns", "hook", "is_warned"),
    [
        pytest.param({}, [], True, id="no webhook"),
        pytest.param({}, ["scan.completed"], True, id="webhook for other events"),
        pytest.param({}, ["monitor.changed"], False, id="webhook for monitor events"),
        pytest.param({"webhook_ids": []}, ["monitor.changed"], True, id="monitor without webhook notifications"),
    ],
)
def test_monitor_without_recipients_has_a_warning(
    home: Member, columns: dict[str, Any], hook: list[str], is_warned: bool
) -> None:
    if hook:
        register_webhook(home, HOOK, hook)
    monitor = make_monitor(home, **columns)
    assert home.api.get(f"/v1/monitors/{monitor.id}").json()["warning"] == (warning_of(Monitor) if is_warned else None)


def test_monitor_chooses_its_webhooks(home: Member, target: str) -> None:
    slack, _ = register_webhook(home, HOOK, ["monitor.changed"])
    other, _ = register_webhook(home, HOOK, ["scan.completed"])
    body = {"page": target, "types": ["seo"], "every": "day", "notify": {"emails": [], "webhooks": [slack.id]}}
    created = home.api.post("/v1/monitors", body).json()
    monitor, path = Monitor.objects.get(), f"/v1/monitors/{created['id']}"
    assert (created["notify"]["webhooks"], created["warning"]) == ([slack.id], None)
    assert [webhook.id for webhook in receivers_of(monitor)] == [slack.id]
    changed = home.api.patch(path, {"notify": {"webhooks": [other.id]}}).json()
    assert (changed["notify"]["webhooks"], changed["warning"]) == ([other.id], warning_of(Monitor))
    assert home.api.patch(path, {"notify": {"webhooks": True}}).json()["notify"]["webhooks"] is True
    monitor.refresh_from_db()
    assert [webhook.id for webhook in receivers_of(monitor)] == [slack.id]


def test_deleted_webhook_vanishes_from_the_choice(home: Member) -> None:
    slack, other = (register_webhook(home, HOOK, ["monitor.changed"])[0] for _ in range(2))
    monitor = make_monitor(home, webhook_ids=[slack.id])
    path = f"/v1/monitors/{monitor.id}"
    assert home.api.get(path).json()["warning"] is None
    home.api.delete(f"/api/webhooks/{slack.id}")
    body = home.api.get(path).json()
    assert (body["notify"]["webhooks"], body["warning"]) == (False, warning_of(Monitor))
    assert list(receivers_of(monitor)) == []
    home.api.patch(path, {"notify": {"webhooks": [other.id]}})
    home.api.patch(f"/api/webhooks/{other.id}", {"enabled": False})
    assert home.api.get(path).json()["warning"] == warning_of(Monitor)


@pytest.mark.parametrize("webhooks", [None, "all", 1, {}, [1], ["wh_unknown"], "foreign"])
def test_monitor_refuses_unknown_webhooks(home: Member, stranger: Member, webhooks: object) -> None:
    if webhooks == "foreign":
        webhooks = [register_webhook(stranger, HOOK, ["monitor.changed"])[0].id]
    refused = home.api.patch(f"/v1/monitors/{make_monitor(home).id}", {"notify": {"webhooks": webhooks}})
    assert status_and_code(refused) == (400, "INVALID_PARAMS")
    assert refused.json()["error"].startswith("notify.webhooks")


def test_many_monitors_need_few_queries(home: Member) -> None:
    ann = person_of(home, "member", "ann@home.test")
    home.api.get("/v1/monitors")  # The first request with an API key stores when it was used.

    def queries(count: int) -> int:
        for _ in range(count):
            make_monitor(home, recipients=[ann.pk], webhook_ids=["wh_unknown"])
        with counted() as queries:
            assert home.api.get("/v1/monitors?limit=100").status_code == 200
        return len(queries)

    assert queries(1) == queries(20)
