"""Tests for the set-up pages of webhooks."""

from __future__ import annotations

import pytest

from tests.factories import Member, attempt_deliveries
from tests.page_reading import browser_of, page_of, text_of
from tests.targets.server import Answer, Site
from webhooks.models import Delivery, Webhook

CHAT_EVENTS = ["monitor.alert", "list.completed", "list.changed"]

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("body_format", "name"), [("slack", "Slack"), ("teams", "Microsoft Teams")])
def test_chat_set_up_sends_a_test(home: Member, receiver: Site, body_format: str, name: str) -> None:
    client, path = browser_of(home, "admin"), f"/o/home/webhooks/new/{body_format}"
    assert page_of(client.get(path)).xpath("//input[@name='event'][@checked]/@value") == CHAT_EVENTS
    added = client.post(path, {"url": f"{receiver.url}/hook", "event": CHAT_EVENTS})
    webhook = Webhook.objects.get()
    assert (webhook.format, webhook.name, webhook.events) == (body_format, name, CHAT_EVENTS)
    assert added["Location"] == f"/o/home/webhooks/{webhook.id}/ready"
    delivery = Delivery.objects.get()
    assert (delivery.event.is_test, delivery.event.kind) == (True, "monitor.alert")
    page = client.get(added["Location"])
    assert "Sending the test" in text_of(page)
    assert page_of(page).xpath("//*[@id='test']/@hx-get") == [added["Location"]]
    attempt_deliveries()
    page = client.get(added["Location"])
    assert "The test was accepted: status 200" in text_of(page)
    assert not page_of(page).xpath("//*[@hx-get]")


@pytest.mark.parametrize(("body_format", "has_secret"), [("slack", False), ("teams", False), ("standard", True)])
def test_only_own_receivers_show_a_secret(home: Member, receiver: Site, body_format: str, has_secret: bool) -> None:
    client, form = browser_of(home, "admin"), {"url": f"{receiver.url}/hook", "event": "scan.failed"}
    added = client.post(f"/o/home/webhooks/new/{body_format}", form)
    assert ("whsec_" in client.get(added["Location"]).content.decode()) == has_secret
    detail = page_of(client.get(f"/o/home/webhooks/{Webhook.objects.get().id}"))
    assert bool(detail.xpath("//form[contains(@action, '/rotate')]")) == has_secret


def test_failed_test_can_be_repeated(home: Member, receiver: Site) -> None:
    receiver.routes["/hook"] = Answer("no_service", 404)
    client, form = browser_of(home, "admin"), {"url": f"{receiver.url}/hook", "event": "monitor.changed"}
    ready = client.post("/o/home/webhooks/new/slack", form)["Location"]
    attempt_deliveries()
    page = client.get(ready)
    assert "The test failed. The receiver answered 404." in text_of(page)
    assert "no_service" in text_of(page)
    (again,) = page_of(page).xpath("//form[contains(@action, '/test')]")
    entered = {field.get("name"): field.get("value") for field in again.xpath(".//input[@name]")}
    receiver.routes["/hook"] = Answer("ok")
    assert client.post(again.get("action"), entered)["Location"] == ready
    attempt_deliveries()
    assert "The test was accepted" in text_of(client.get(ready))


def test_own_receiver_gets_its_secret_before_a_test(home: Member, receiver: Site) -> None:
    client, path = browser_of(home, "admin"), "/o/home/webhooks/new/standard"
    events = page_of(client.get(path)).xpath("//input[@name='event'][@checked]/@value")
    assert events == ["scan.completed", "scan.failed", "scan.partial"]
    added = client.post(path, {"url": f"{receiver.url}/hook", "event": "scan.failed"})
    (ready,) = page_of(client.get(added["Location"])).xpath("//a[contains(@href, '/ready')]/@href")
    assert "Send a test event when your receiver is ready." in text_of(client.get(ready))
    assert not Delivery.objects.exists()


def test_unknown_format_has_no_set_up_page(home: Member) -> None:
    assert browser_of(home, "admin").get("/o/home/webhooks/new/discord").status_code == 404


def test_full_plan_hides_the_set_up_form(home: Member, receiver: Site) -> None:
    client = browser_of(home, "admin")
    for n in range(3):
        form = {"url": f"{receiver.url}/{n}", "event": "scan.failed"}
        assert client.post("/o/home/webhooks/new/slack", form).status_code == 302
    page = client.get("/o/home/webhooks/new/slack")
    assert "All 3 webhooks of your plan are in use" in text_of(page)
    assert not page_of(page).xpath("//input[@name='url']")
