"""Tests for audit webhook events.

They are recorded when an audit ends.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Tier
from tests.factories import Member, attempt_deliveries, browser_of, key_caller, make_due, person_of
from tests.generated import assert_described
from tests.sites.audits.test_life import created, get_audit, page_urls, visit
from webhooks.delivery.schedule import PAUSES
from webhooks.examples import example
from webhooks.models import Delivery, Event, EventKind, Webhook
from webhooks.services import recover_failed
from website_scan.result import ScanError

FAILED = ScanError("TARGET_STATUS", "The page answers with status 404.")


@pytest.fixture
def receiver(home: Member, target: str) -> Webhook:
    Tier.objects.update(pages_per_audit=100)
    answer = home.api.post("/api/webhooks", {"url": target, "events": ["audit.completed", "audit.failed"]})
    assert answer.status_code == 201
    return Webhook.objects.get(id=answer.json()["id"])


def event_body(event: Event) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(bytes(event.body))
    return body


def test_ended_audit_sends_one_event(home: Member, receiver: Webhook) -> None:
    audit = created(home, {"pages": page_urls(2), "types": ["seo", "security"]})
    assert visit(home)
    assert not Event.objects.exists()
    assert visit(home, status="failed", score=None, grade=None, categories=(), error=FAILED)
    event = Event.objects.get()
    assert (event.kind, event.audit_id, event.is_test) == ("audit.completed", audit["id"], False)
    ended = get_audit(home, audit)
    body = event_body(event)
    assert body == {
        "event": "audit.completed",
        "timestamp": ended["completed_at"],
        "data": {
            "audit_id": audit["id"],
            "target": page_urls(1)[0],
            "types": ["security", "seo"],
            "status": "partial",
            "error": ended["error"],
            "pages": {"planned": 2, "done": 1, "failed": 1},
            "results": {scan_type: {"score": 71, "grade": "C"} for scan_type in ("security", "seo")},
            "audit_url": audit["audit_url"],
        },
    }
    assert Delivery.objects.get().webhook == receiver


def test_audit_without_results_sends_audit_failed(home: Member, receiver: Webhook) -> None:
    created(home, {"pages": page_urls(1), "types": ["seo"]})
    assert visit(home, status="failed", score=None, grade=None, categories=(), error=FAILED)
    body = event_body(Event.objects.get())
    assert (body["event"], body["data"]["status"]) == ("audit.failed", "failed")
    assert body["data"]["error"]["code"] == "TARGET_STATUS"
    assert body["data"]["results"] == {"seo": {"score": None, "grade": None}}


def test_cancelled_audit_sends_no_event(home: Member, receiver: Webhook) -> None:
    audit = created(home, {"pages": page_urls(3), "types": ["seo"]})
    assert home.api.delete(f"/v1/audits/{audit['id']}").json()["status"] == "cancelled"
    while visit(home):
        pass
    assert not Event.objects.exists()


def test_scan_subscriber_gets_no_audit_event(home: Member, target: str) -> None:
    home.api.post("/api/webhooks", {"url": target, "events": ["scan.completed"]})
    created(home, {"page": target, "types": ["seo", "security"]})
    assert visit(home)
    assert set(Event.objects.values_list("kind", flat=True)) == {"scan.completed"}
    assert Event.objects.count() == 2


def test_failed_delivery_is_retried(home: Member, receiver: Webhook) -> None:
    Webhook.objects.update(url="http://127.0.0.1:1/")  # No server listens on port 1.
    audit = created(home, {"pages": page_urls(1), "types": ["seo"]})
    assert visit(home)
    for _ in range(len(PAUSES)):
        make_due()
        assert len(attempt_deliveries()) == 1
        assert Delivery.objects.get().status == "pending"
    make_due()
    attempt_deliveries()
    assert Delivery.objects.get().status == "failed"
    (entry,) = home.api.get(f"/api/webhooks/{receiver.id}/deliveries").json()["deliveries"]
    assert (entry["audit_id"], entry["scan_id"], entry["test"]) == (audit["id"], None, False)
    Webhook.objects.update(enabled=True, disabled_at=None, disabled_reason="")
    since = timezone.now() - timedelta(days=1)
    assert recover_failed(caller=key_caller(home.organization.id), webhook_id=receiver.id, since=since) == 1
    assert Delivery.objects.get().status == "pending"


def test_delivery_log_links_to_the_audit(home: Member, receiver: Webhook) -> None:
    audit = created(home, {"pages": page_urls(1), "types": ["seo"]})
    assert visit(home)
    browser = browser_of(person_of(home, "admin", "admin@people.test"))
    page = browser.get(f"/o/{home.organization.slug}/webhooks/{receiver.id}").content.decode()
    assert f'href="/audit/{audit["id"]}"' in page
    assert '<span class="badge">test</span>' not in page


@pytest.mark.parametrize("kind", [EventKind.AUDIT_COMPLETED, EventKind.AUDIT_FAILED])
def test_test_event_has_the_fields_of_a_real_one(home: Member, receiver: Webhook, kind: EventKind) -> None:
    columns: dict[str, Any] = {"status": "failed", "score": None, "grade": None, "categories": (), "error": FAILED}
    created(home, {"pages": page_urls(1), "types": ["security", "seo"]})
    assert visit(home, **(columns if kind is EventKind.AUDIT_FAILED else {}))
    real = event_body(Event.objects.get())
    assert_described(real)
    example_body = json.loads(example(kind, timezone.now()))
    assert example_body.pop("test") is True
    assert example_body["data"].keys() == real["data"].keys()
    assert example_body["data"]["pages"].keys() == real["data"]["pages"].keys()
    answer = home.api.post(f"/api/webhooks/{receiver.id}/test", {"event": str(kind)})
    assert answer.status_code == 202, answer.content
    assert Event.objects.filter(kind=kind, audit=None).get().is_test
