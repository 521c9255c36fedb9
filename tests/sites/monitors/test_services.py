"""Tests for validation, access and limits in the monitor API."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Membership, Tier, User
from accounts.usage import month_of, next_month
from sites.models import Audit, Monitor, MonitorRun
from sites.monitors.alerts import DEFAULT_ALERT
from sites.monitors.runs import start_run
from tests.factories import Member
from tests.sites.monitors.cast import make_monitor

pytestmark = pytest.mark.django_db


def status_and_code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def create_monitor(member: Member, body: dict[str, Any]) -> dict[str, Any]:
    response = member.api.post("/v1/monitors", body)
    assert response.status_code == 201, response.content
    answer: dict[str, Any] = response.json()
    assert response["Location"] == f"/v1/monitors/{answer['id']}"
    return answer


def test_monitor_can_be_changed_and_deleted(home: Member, target: str) -> None:
    person = User.objects.create_user("ann@example.com")
    Membership.objects.create(organization=home.organization, user=person)
    body = {
        "page": target,
        "types": ["seo"],
        "name": " Shop  window ",
        "every": "week",
        "at": "06:00",
        "day": 1,
        "timezone": "Europe/Berlin",
        "alert": {"score_drop": None, "score_below": {"seo": 80}},
        "notify": {"emails": ["ANN@example.com"]},
    }
    monitor = create_monitor(home, body)
    assert {name: monitor[name] for name in ("page", "types", "name", "every", "at", "day", "timezone")} == {
        name: body[name] for name in ("page", "types", "every", "at", "day", "timezone")
    } | {"name": "Shop window"}
    assert monitor["alert"] == {**DEFAULT_ALERT, "score_drop": None, "score_below": {"seo": 80}}
    assert monitor["notify"] == {"emails": ["ann@example.com"], "webhooks": True}
    assert (monitor["status"], monitor["paused"], monitor["pause_reason"]) == ("ok", False, None)
    assert not {"pages", "site", "discover", "max_pages", "include", "exclude", "request"} & set(monitor)
    path = f"/v1/monitors/{monitor['id']}"
    assert home.api.get(path).json() == monitor
    listed = home.api.get("/v1/monitors").json()
    assert (listed["monitors"], listed["total"]) == ([monitor], 1)

    changed = home.api.patch(path, {"every": "day", "alert": {"fixed": True}, "notify": {"webhooks": False}}).json()
    assert (changed["every"], changed["at"], changed["day"]) == ("day", "06:00", None)
    assert changed["alert"] == monitor["alert"] | {"fixed": True}
    assert changed["notify"] == {"emails": ["ann@example.com"], "webhooks": False}
    assert home.api.delete(path).status_code == 204
    assert status_and_code(home.api.get(path)) == (404, "MONITOR_NOT_FOUND")
    assert status_and_code(home.api.delete(path)) == (404, "MONITOR_NOT_FOUND")


def test_monitor_has_the_requested_options(home: Member, target: str) -> None:
    body = {"site": target, "discover": ["links"], "max_pages": 5, "include": ["/docs/*"], "every": "day"}
    monitor = create_monitor(home, body)
    assert {name: monitor[name] for name in body} == body
    assert (monitor["exclude"], monitor["types"]) == ([], ["security", "performance", "accessibility", "seo"])
    changed = home.api.patch(f"/v1/monitors/{monitor['id']}", {"types": ["seo"]}).json()
    assert changed == monitor | {"types": ["seo"]}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_monitor_limit_holds_under_concurrency(home: Member, target: str) -> None:
    Tier.objects.filter(name="free").update(schedules=3)

    def create(number: int) -> int:
        try:
            body = {"page": target, "every": "day", "name": str(number)}
            return int(home.api.post("/v1/monitors", body).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = sorted(threads.map(create, range(8)))
    assert answers == [201] * 3 + [409] * 5
    assert status_and_code(home.api.post("/v1/monitors", {"page": target, "every": "day"})) == (409, "MONITOR_LIMIT")


def test_repeated_request_creates_one_monitor(home: Member, target: str) -> None:
    body = {"page": target, "every": "day"}
    first = home.api.post("/v1/monitors", body, Idempotency_Key="one")
    again = home.api.post("/v1/monitors", body, Idempotency_Key="one")
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    other = home.api.post("/v1/monitors", body | {"every": "week"}, Idempotency_Key="one")
    assert status_and_code(other) == (422, "IDEMPOTENCY_MISMATCH")
    assert Monitor.objects.count() == 1


def test_paused_monitor_is_not_due(home: Member) -> None:
    monitor = make_monitor(home)
    path = f"/v1/monitors/{monitor.id}"
    paused = home.api.patch(path, {"paused": True}).json()
    assert (paused["status"], paused["pause_reason"], paused["next_run_at"]) == ("paused", "requested", None)
    resumed = home.api.patch(path, {"paused": False}).json()
    assert (resumed["status"], resumed["pause_reason"]) == ("ok", None)
    monitor.refresh_from_db()
    assert monitor.next_run_at is not None
    assert timezone.now() < monitor.next_run_at < timezone.now() + timedelta(days=1, minutes=1)


def test_manual_runs_are_requested_one_at_a_time(home: Member) -> None:
    monitor = make_monitor(home, next_run_at=timezone.now() + timedelta(hours=5))
    path = f"/v1/monitors/{monitor.id}/runs"
    run = home.api.post(path, {})
    assert (run.status_code, run.json()["status"], run.json()["requested"]) == (202, "due", True)
    assert status_and_code(home.api.post(path, {})) == (409, "MONITOR_RUNNING")
    listed = home.api.get(path).json()
    assert (listed["total"], listed["runs"][0]["due_at"]) == (1, run.json()["due_at"])
    planned = monitor.next_run_at
    monitor.refresh_from_db()
    assert monitor.next_run_at == planned


SECRET = "s3cret-of-the-target"


def test_credentials_are_bound_to_their_origin(home: Member, target: str) -> None:
    request = {"headers": {"X-Api-Key": SECRET}}
    body = create_monitor(home, {"page": target, "every": "day", "request": request})
    path = f"/v1/monitors/{body['id']}"
    assert body["request"]["headers"] == ["X-Api-Key"]
    monitor = Monitor.objects.get()
    assert monitor.credentials is not None

    def has_credentials() -> bool:
        monitor.refresh_from_db()
        return monitor.encrypted_credentials is not None

    home.api.patch(path, {"every": "week"})
    home.api.patch(path, {"page": f"{target}other"})
    assert has_credentials()
    home.api.patch(path, {"page": "https://example.com/"})
    assert not has_credentials()
    home.api.patch(path, {"page": target, "request": request})
    assert has_credentials()
    assert "request" not in home.api.patch(path, {"request": None}).json()
    assert not has_credentials()
    assert SECRET not in home.api.get(path).content.decode()


def test_new_monitor_runs_at_once(home: Member, target: str) -> None:
    Tier.objects.update(schedules=5)
    body = {"page": target, "types": ["seo"], "every": "day"}
    create_monitor(home, body | {"paused": True})
    assert not MonitorRun.objects.exists()
    monitor = Monitor.objects.get(id=create_monitor(home, body)["id"])
    run = monitor.runs.get()
    assert (run.status, run.is_requested, run.due_at) == ("due", False, monitor.created_at)
    assert start_run(run.id, monitor.id, timezone.now())
    run.refresh_from_db()
    assert (run.status, run.audit and run.audit.run_of) == ("running", "monitor")


def test_first_run_without_quota_pauses_the_monitor(home: Member, target: str) -> None:
    Tier.objects.update(scans_per_month=0)
    monitor = Monitor.objects.get(id=create_monitor(home, {"page": target, "types": ["seo"], "every": "day"})["id"])
    assert start_run(monitor.runs.get().id, monitor.id, timezone.now())
    monitor.refresh_from_db()
    assert (monitor.pause_reason, monitor.runs.get().error_code) == ("quota", "QUOTA_EXCEEDED")


def make_finished_audit(home: Member, pages: list[str], **columns: Any) -> Audit:
    """Create an audit that ended a minute ago."""
    at = timezone.now() - timedelta(minutes=1)
    values = {"kind": "page", "url": pages[0], "types": ["seo"], "max_pages": len(pages), "status": "completed"}
    values |= {"created_at": at, "started_at": at, "completed_at": at}
    audit = Audit.objects.create(organization=home.organization, **values | columns)
    for position, url in enumerate(pages):
        audit.pages.create(url=url, position=position)
    return audit


def test_recent_audit_is_the_first_result(home: Member, target: str) -> None:
    Tier.objects.update(schedules=5)
    audit = make_finished_audit(home, [target])
    body = {"page": target, "types": ["seo"], "every": "day"}
    first, second = (MonitorRun.objects.get(monitor=create_monitor(home, body)["id"]) for _ in range(2))
    assert (first.status, first.audit, first.started_at) == ("running", audit, audit.started_at)
    assert (second.status, second.audit) == ("due", None)
    pages = [target, f"{target}b"]
    audit = make_finished_audit(home, pages, kind="pages")
    body = {"pages": pages[::-1], "types": ["seo"], "every": "day"}
    assert MonitorRun.objects.get(monitor=create_monitor(home, body)["id"]).audit is None
    run = MonitorRun.objects.get(monitor=create_monitor(home, body | {"pages": pages})["id"])
    assert run.audit == audit


@pytest.mark.parametrize(
    "columns",
    [
        {"types": ["seo", "security"]},
        {"completed_at": timezone.now() - timedelta(minutes=61)},
        {"status": "partial"},
        {"run_of": "list"},
        {"kind": "site"},
        {"credential_names": {"headers": ["X-Key"]}},
        {"viewing": {"widths": [412, 1440], "color_scheme": "dark"}},
    ],
    ids=["types", "age", "status", "run_of", "kind", "credentials", "viewing"],
)
def test_other_audit_is_no_first_result(home: Member, target: str, columns: dict[str, Any]) -> None:
    make_finished_audit(home, [target], **columns)
    create_monitor(home, {"page": target, "types": ["seo"], "every": "day"})
    assert MonitorRun.objects.get().audit is None


def test_audit_of_another_organization_is_not_used(home: Member, stranger: Member, target: str) -> None:
    make_finished_audit(stranger, [target])
    create_monitor(home, {"page": target, "types": ["seo"], "every": "day"})
    assert MonitorRun.objects.get().audit is None


def test_runs_are_deleted_with_their_monitor(home: Member) -> None:
    monitor = make_monitor(home)
    monitor.runs.create(due_at=timezone.now(), not_before=timezone.now())
    assert home.api.delete(f"/v1/monitors/{monitor.id}").status_code == 204
    assert not MonitorRun.objects.exists()


@pytest.mark.parametrize(("reason", "resumes"), [("quota", True), ("plan", False), ("requested", False)])
def test_new_schedule_keeps_the_reason_of_a_pause(home: Member, reason: str, resumes: bool) -> None:
    """Regression test: a monitor without quota never ran again after its schedule had changed."""
    now = timezone.now()
    monitor = make_monitor(home, every="day", paused_at=now, pause_reason=reason, next_run_at=now if resumes else None)
    response = home.api.patch(f"/v1/monitors/{monitor.id}", {"every": "week"})
    assert response.status_code == 200
    monitor.refresh_from_db()
    assert (monitor.paused_at, monitor.pause_reason, monitor.every) == (now, reason, "week")
    assert (monitor.next_run_at is not None) is resumes
    assert monitor.next_run_at is None or monitor.next_run_at >= datetime.combine(
        next_month(month_of(now)), time(), UTC
    )
