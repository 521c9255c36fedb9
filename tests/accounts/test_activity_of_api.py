"""Tests that the activity log records API writes, but no reads.

An entry names the key of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.activity import record_all_by_caller
from accounts.models import ActivityEvent, Tier
from sites.assessments.refreshing import copy_results
from sites.models import AssessmentEvent, AssessmentFinding, Audit, ListEntry
from tests.factories import Member, attempt_deliveries, finished_scan, key_caller
from tests.router import views
from tests.sites.assessments.cast import museum_audit
from tests.targets.server import Answer, Site
from tests.website_scan.net.loopback import NETWORKS
from webhooks.models import Delivery

WRITES = ("post", "put", "patch", "delete")


@pytest.fixture
def responding_receiver_url() -> Iterator[str]:
    """Return the URL of a receiver that responds.

    A receiver without a response would delay each test by a timeout.
    """
    with Site({"/hook": Answer("ok")}) as site:
        yield f"{site.url}/hook"


def recorded_events(home: Member) -> list[tuple[str, str, str]]:
    events = ActivityEvent.objects.filter(organization=home.organization).exclude(actor_key="").order_by("id")
    return [(event.action, event.actor_key, event.details["api_key"]) for event in events]


@pytest.mark.django_db
def test_api_write_is_recorded_with_its_key(
    home: Member, target: str, responding_receiver_url: str, settings: Settings
) -> None:
    Tier.objects.update(concurrent_scans=50, webhooks=5, schedules=5)
    api = home.api
    tested_writes: set[tuple[str, str]] = set()
    last: dict[str, Any] = {}

    def write(method: str, route: str, path: str, body: object, *actions: str) -> None:
        before = len(recorded_events(home))
        call: Callable[..., Any] = getattr(api, method)
        answer = call(path) if method == "delete" else call(path, body)
        assert answer.status_code < 300, (path, answer.content)
        last.clear()
        if answer.content:
            last.update(answer.json())
        assert recorded_events(home)[before:] == [(action, home.key.id, home.key.name) for action in actions], path
        tested_writes.add((method, route))

    write("post", "v1/scan", "/v1/scan", {"url": target, "type": "security"}, "scan.created")
    write("post", "v1/audits", "/v1/audits", {"page": target, "types": ["seo"]}, "audit.created")
    audit_id = last["id"]
    write("delete", "v1/audits/<any:audit_id>", f"/v1/audits/{audit_id}", None, "audit.cancelled")
    mute = {"check": "hsts", "host": "example.com", "reason": "Known"}
    mute["expires_at"] = f"{timezone.now() + timedelta(days=9):%Y-%m-%dT%H:%M:%SZ}"
    write("post", "v1/mutes", "/v1/mutes", mute, "mute.created")
    write("delete", "v1/mutes/<any:mute_id>", f"/v1/mutes/{last['id']}", None, "mute.ended")
    monitor = {"page": target, "types": ["seo"], "every": "day", "name": "Home", "paused": True}
    write("post", "v1/monitors", "/v1/monitors", monitor, "monitor.created")
    path = f"/v1/monitors/{last['id']}"
    write("patch", "v1/monitors/<any:monitor_id>", path, {"name": "Start"}, "monitor.changed")
    write("post", "v1/monitors/<any:monitor_id>/runs", f"{path}/runs", {}, "monitor.run")
    write("post", "v1/badges", "/v1/badges", {"monitor": path.rpartition("/")[2]}, "badge.created")
    write("delete", "v1/badges/<any:badge_id>", f"/v1/badges/{last['id']}", None, "badge.deleted")
    write("delete", "v1/monitors/<any:monitor_id>", path, None, "monitor.deleted")
    window = {"name": "Move", "starts_at": "2030-01-01T00:00:00Z", "ends_at": "2030-01-01T02:00:00Z"}
    write("post", "v1/maintenance", "/v1/maintenance", window, "maintenance.created")
    path, one = f"/v1/maintenance/{last['id']}", "v1/maintenance/<any:window_id>"
    write("patch", one, path, {"name": "Move again"}, "maintenance.changed")
    write("delete", one, path, None, "maintenance.deleted")
    write("post", "v1/lists", "/v1/lists", {"name": "Towns", "types": ["seo"]}, "list.created")
    path, one = f"/v1/lists/{last['id']}", "v1/lists/<any:list_id>"
    write("patch", one, path, {"name": "Cities"}, "list.changed")
    write("put", f"{one}/entries", f"{path}/entries", {"entries": [{"url": target}]}, "list.imported")
    write("post", f"{one}/entries", f"{path}/entries", {"entries": [{"url": f"{target}?2"}]}, "list.imported")
    part = {"entries": [{"url": target}, {"url": f"{target}?3"}]}
    write("post", f"{one}/entries", f"{path}/entries?import=a", part, "list.imported")
    write("delete", f"{one}/entries", f"{path}/entries?import=a", None, "list.entries_deleted")
    entry = f"{path}/entries/{ListEntry.objects.earliest('url').id}"
    entry_path = f"{one}/entries/<any:entry_id>"
    write("patch", entry_path, entry, {"note": "Ours"}, "list.entry_changed")
    write("post", f"{entry_path}/scan", f"{entry}/scan", {}, "list.scanned")
    write("delete", entry_path, entry, None, "list.entry_deleted")
    write("post", f"{one}/runs", f"{path}/runs", {}, "list.run")
    write("delete", f"{one}/runs/<any:run_id>", f"{path}/runs/{last['id']}", None, "list.run_cancelled")
    write("post", f"{one}/shares", f"{path}/shares", {"table": True}, "list.shared")
    write("delete", f"{one}/shares/<any:share_id>", f"{path}/shares/{last['id']}", None, "list.unshared")
    write("delete", one, path, None, "list.deleted")
    audit = museum_audit(home)
    body = {"audit": audit.id, "name": "Museum"}
    write("post", "v1/assessments", "/v1/assessments", body, "assessment.created")
    path, one = f"/v1/assessments/{last['id']}", "v1/assessments/<any:assessment_id>"
    copy_results(last["id"])
    write("patch", one, path, {"name": "Gallery"}, "assessment.changed")
    write("post", f"{one}/refresh", f"{path}/refresh", {"audit": audit.id}, "assessment.refreshed")
    # Changes of the sample and of results are in the assessment's own log.
    page = f"{one}/pages/<any:number>"
    write("post", f"{one}/pages", f"{path}/pages", {"url": "https://example.com/gallery"})
    write("patch", page, f"{path}/pages/4", {"name": "Start"})
    write("delete", page, f"{path}/pages/4", None)
    write("post", f"{one}/criteria/<any:criterion>", f"{path}/criteria/2.4.3", {"result": "passed"})
    result = {"version": 0, "result": "passed"}
    write("put", f"{page}/results/<any:criterion>", f"{path}/pages/1/results/2.1.1", result)
    assert AssessmentEvent.objects.filter(api_key=home.key).count() == 8
    dispute = f"{path}/findings/{AssessmentFinding.objects.get(has_failed=True).id}/dispute"
    dispute_route = f"{one}/findings/<any:finding_id>/dispute"
    # The finding has two places, each of which is muted.
    write("put", dispute_route, dispute, {"reason": "Decoration."}, "mute.created", "mute.created")
    write("delete", dispute_route, dispute, None, "mute.ended", "mute.ended")
    write("delete", one, path, None, "assessment.deleted")
    settings.SCAN_BROWSER, settings.SCAN_JOURNEY_NETWORKS = "auto", NETWORKS
    write("post", "v1/journeys", "/v1/journeys", {"steps": "open /", "start": target}, "journey.created")
    path, one = f"/v1/journeys/{last['id']}", "v1/journeys/<any:journey_id>"
    write("patch", one, path, {"name": "Start"}, "journey.changed")
    write("post", f"{one}/proof", f"{path}/proof", {}, "journey.proven")
    write("post", f"{one}/proof", f"{path}/proof", {})
    write("post", f"{one}/runs", f"{path}/runs", {}, "journey.run")
    write("post", f"{one}/dry-run", f"{path}/dry-run", {}, "journey.dry_run")
    write("delete", one, path, None, "journey.deleted")
    hook = {"url": responding_receiver_url, "events": ["scan.completed"]}
    write("post", "api/webhooks", "/api/webhooks", hook, "webhook.created")
    path = f"/api/webhooks/{last['id']}"
    one = "api/webhooks/<any:webhook_id>"
    write("patch", one, path, {"events": ["scan.failed", "scan.completed"]}, "webhook.changed")
    write("post", f"{one}/test", f"{path}/test", {}, "webhook.tested")
    write("post", f"{one}/rotate-secret", f"{path}/rotate-secret", {}, "webhook.secret_rotated")
    finished_scan(home)
    attempt_deliveries()
    delivery = Delivery.objects.latest("created_at").id
    replay = f"{one}/deliveries/<any:delivery_id>/replay"
    write("post", replay, f"{path}/deliveries/{delivery}/replay", {}, "delivery.replayed")
    write("delete", one, path, None, "webhook.deleted")

    assert tested_writes == set(api_writes()), "the API has learned something that this test does not know"
    assert Audit.objects.exists()


def api_writes() -> list[tuple[str, str]]:
    """Return the methods and routes of all API endpoints that write."""
    return [
        (method, route)
        for route, view in views()
        if route.startswith(("v1/", "api/"))
        for method in WRITES
        if hasattr(view.view_class, method)
    ]


def test_refused_writes_are_not_recorded(home: Member, target: str) -> None:
    body = {"url": target, "type": "security"}
    assert home.api.post("/v1/scan", body | {"type": "nonsense"}).status_code == 400
    assert recorded_events(home) == []
    for _ in range(2):
        assert home.api.post("/v1/scan", body, Idempotency_Key="once").status_code == 201
    assert [action for action, _, _ in recorded_events(home)] == ["scan.created"]
    assert home.api.get("/v1/scans").status_code == 200
    assert len(recorded_events(home)) == 1


def test_renamed_key_changes_no_recorded_event(home: Member, target: str) -> None:
    home.api.post("/v1/scan", {"url": target, "type": "security"})
    home.key.name = "Another"
    home.key.save()
    home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert [name for _, _, name in recorded_events(home)] == ["tests", "Another"]


def test_several_events_of_a_key_are_recorded_with_it(home: Member) -> None:
    events = [("monitor.paused", name, {"monitor": "mon_1"}) for name in ("Shop", "x" * 400)]
    record_all_by_caller(key_caller(home.organization.id), events)
    assert recorded_events(home) == [("monitor.paused", home.key.id, "tests")] * 2
    last = ActivityEvent.objects.latest("id")
    assert (last.object_name, last.actor, last.actor_email) == ("x" * 300, None, "")
    assert last.details == {"monitor": "mon_1", "api_key": "tests"}
