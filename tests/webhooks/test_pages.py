"""Tests for the webhook pages of the dashboard."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from accounts.models import ActivityEvent, Membership, Tier, User
from infrastructure import encryption
from tests.factories import Member, finished_scan, register_webhook
from tests.page_reading import browser_of, page_of, text_of
from tests.sites.lists.cast import make_list
from tests.sites.monitors.cast import make_monitor
from webhooks import services
from webhooks.delivery.schedule import PAUSES
from webhooks.models import Attempt, Delivery, Event, FormerSecret, Webhook

EVIL = "<script>alert(1)</script>\"'&"


@pytest.fixture
def receiver(home: Member, target: str) -> Webhook:
    """Return a webhook of the organization Home that receives all events."""
    return register_webhook(home, f"{target}hook")[0]


def create_delivery(webhook: Webhook, member: Member, **columns: object) -> Delivery:
    """Return the delivery for a finished scan, with these column values."""
    finished_scan(member)
    delivery = webhook.deliveries.latest("created_at")
    Delivery.objects.filter(id=delivery.id).update(**columns)
    delivery.refresh_from_db()
    return delivery


def failed_delivery(webhook: Webhook, member: Member, **columns: object) -> Delivery:
    return create_delivery(webhook, member, **{"status": "failed", "finished_at": timezone.now()} | columns)


def actions(member: Member) -> list[str]:
    """Return the users' actions in the activity log.

    Actions on API keys are left out.
    """
    events = ActivityEvent.objects.filter(organization=member.organization, actor_key="").order_by("id")
    return [event.action for event in events if not event.action.startswith("key.")]


@pytest.mark.parametrize("role", Membership.Role.values)
def test_every_member_may_view_webhooks(home: Member, receiver: Webhook, role: str) -> None:
    failed_delivery(receiver, home)
    client = browser_of(home, role)
    assert receiver.name in text_of(client.get("/o/home/webhooks/"))
    page = client.get(f"/o/home/webhooks/{receiver.id}")
    assert page.status_code == 200
    assert "scan.completed" in text_of(page)
    posts = page_of(page).xpath("//main//form[@method='post']")
    assert bool(posts) == (role in ("owner", "admin"))


@pytest.mark.parametrize("body_format", ["slack", "teams"])
def test_activity_log_and_admin_hide_chat_tokens(home: Member, body_format: str) -> None:
    secret = "T1/B2/s3cret"
    client = browser_of(home, "admin")
    form = {"url": f"https://93.184.215.14/services/{secret}", "event": "scan.completed", "format": body_format}
    client.post(f"/o/home/webhooks/new/{body_format}", form)
    webhook = Webhook.objects.get()
    client.post(f"/o/home/webhooks/{webhook.id}/edit", form | {"url": f"https://93.184.215.14/other/{secret}"})
    events = ActivityEvent.objects.filter(action__startswith="webhook.")
    assert [event.action for event in events] == ["webhook.changed", "webhook.tested", "webhook.created"]
    assert not [event for event in events if secret in event.object_name + str(event.details)]
    assert events[0].details["url"] == dict.fromkeys(("from", "to"), "https://93.184.215.14:443/…")
    viewer = User.objects.create_user("viewer@people.test", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    staff = Client()
    staff.force_login(viewer)
    delivery = create_delivery(webhook, home)
    pages = [f"webhooks/webhook/{quote(webhook.id)}/change/", "webhooks/webhook/", "webhooks/delivery/"]
    pages += [f"webhooks/delivery/{quote(delivery.id)}/change/", "accounts/activityevent/"]
    for page in pages:
        response = staff.get(f"/admin/{page}")
        assert response.status_code == 200, page
        assert secret not in response.content.decode(), page
    assert "93.184.215.14:443" in staff.get("/admin/webhooks/webhook/").content.decode()


def test_organizations_share_the_limit_of_a_receiver(
    home: Member, stranger: Member, receiver: Webhook, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_SENT_PER_RECEIVER", 2)
    monkeypatch.setattr(services, "MAX_RECOVERED_PER_RECEIVER", 1)
    other = register_webhook(stranger, f"{target.replace('127.0.0.1', 'localhost')}another-name")[0]
    delivery = failed_delivery(receiver, home)
    home_path, stranger_path = f"/api/webhooks/{receiver.id}", f"/api/webhooks/{other.id}"
    assert home.api.post(f"{home_path}/test", b"").status_code == 202
    assert stranger.api.post(f"{stranger_path}/test", b"").status_code == 202
    refused = stranger.api.post(f"{stranger_path}/test", b"")
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert int(refused["Retry-After"]) >= 1
    assert home.api.post(f"{home_path}/deliveries/{delivery.id}/replay", b"").status_code == 429
    client, since = browser_of(home, "admin"), {"since": "2026-01-01T00:00"}
    path = f"/o/home/webhooks/{receiver.id}/recover"
    assert "1 failed delivery is being sent again." in text_of(client.post(path, since, follow=True))
    assert "Too many events" in text_of(client.post(path, since, follow=True))


@pytest.mark.parametrize("body_format", ["slack", "teams"])
def test_only_admins_see_the_whole_chat_url(home: Member, receiver: Webhook, body_format: str) -> None:
    Webhook.objects.update(url="https://hooks.slack.com/services/T1/B2/s3cret", receiver="hooks.slack.com:443")
    Webhook.objects.update(format=body_format)
    readers = {role: browser_of(home, role) for role in ("member", "admin")}
    assert "s3cret" not in readers["admin"].get("/o/home/webhooks/").content.decode()
    path = f"/o/home/webhooks/{receiver.id}"
    page = readers["member"].get(path)
    assert "s3cret" not in page.content.decode()
    assert "https://hooks.slack.com:443/…" in text_of(page)
    assert "s3cret" in text_of(readers["admin"].get(path))


@pytest.mark.parametrize("role", Membership.Role.values)
def test_only_admins_see_the_query_of_a_url(home: Member, receiver: Webhook, role: str) -> None:
    Webhook.objects.update(url="https://example.com/hook?token=s3cret&channel=7")
    create_delivery(receiver, home)
    client = browser_of(home, role)
    assert "s3cret" not in client.get("/o/home/webhooks/").content.decode()
    page = client.get(f"/o/home/webhooks/{receiver.id}")
    assert ("s3cret" in page.content.decode()) == (role in ("owner", "admin"))
    assert "https://example.com/hook?" in text_of(page)
    if role in ("viewer", "member"):
        assert "https://example.com/hook?…" in text_of(page)


def test_new_secret_is_displayed_once(home: Member, target: str) -> None:
    client = browser_of(home, "admin")
    form = {"url": f"{target}hook", "event": ["scan.failed", "scan.partial"]}
    added = client.post("/o/home/webhooks/new/standard", form)
    webhook = Webhook.objects.get()
    assert added["Location"] == f"/o/home/webhooks/{webhook.id}/secret"
    assert "whsec_" not in str(client.session.items()) + str(added.cookies)
    assert client.head(added["Location"]).status_code == 405  # A HEAD request must not delete the secret.
    page = client.get(added["Location"])
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    assert webhook.events == ["scan.failed", "scan.partial"]
    (secret,) = page_of(page).xpath("//*[@id='plaintext']/text()")
    assert secret == encryption.decrypt(bytes(webhook.encrypted_secret))
    assert page_of(page).xpath("//button[@data-copy='plaintext']")
    for path in ("/o/home/webhooks/", f"/o/home/webhooks/{webhook.id}"):
        assert "whsec_" not in client.get(path).content.decode()
    again = client.get(added["Location"], follow=True)
    assert "whsec_" not in again.content.decode()
    assert "The secret has been shown already." in text_of(again)
    event = ActivityEvent.objects.get(action="webhook.created", actor_key="")
    assert (event.object_name, "whsec_" in str(event.details)) == (webhook.name, False)


def test_secrets_of_two_tabs_are_separate(home: Member, target: str) -> None:
    client = browser_of(home, "admin")
    forms = [{"name": f"Receiver {n}", "url": f"{target}{n}", "event": "scan.failed"} for n in range(2)]
    pages = [client.post("/o/home/webhooks/new/standard", form) for form in forms]
    for n, page in enumerate(pages):
        secret_page = client.get(page["Location"])
        assert f"Receiver {n}" in text_of(secret_page)
        webhook = Webhook.objects.get(url=f"{target}{n}")
        secret = encryption.decrypt(bytes(webhook.encrypted_secret))
        assert page_of(secret_page).xpath("//*[@id='plaintext']/text()") == [secret]


def test_secret_page_requires_the_admin_role(
    home: Member, stranger: Member, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = browser_of(home, "admin")
    form = {"url": target, "event": "scan.failed"}
    path = client.post("/o/home/webhooks/new/standard", form)["Location"]
    Membership.objects.filter(organization=home.organization).update(role="member")
    assert client.get(path).status_code == 403
    Membership.objects.filter(organization=home.organization).update(role="admin")
    Membership.objects.create(organization=stranger.organization, user=User.objects.get(), role="admin")
    assert client.get(path.replace("/home/", "/stranger/")).status_code == 404
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 601)
    assert "whsec_" not in client.get(path, follow=True).content.decode()


def test_form_without_format_keeps_the_format(home: Member, target: str) -> None:
    client = browser_of(home, "admin")
    form = {"url": target, "event": "scan.failed"}
    client.post("/o/home/webhooks/new/standard", form)
    webhook = Webhook.objects.get()
    assert webhook.format == "standard"
    client.post(f"/o/home/webhooks/{webhook.id}/edit", form | {"format": "teams"})
    client.post(f"/o/home/webhooks/{webhook.id}/edit", form)
    webhook.refresh_from_db()
    assert webhook.format == "teams"
    page = page_of(client.get(f"/o/home/webhooks/{webhook.id}"))
    assert page.xpath("//input[@name='format'][@checked]/@value") == ["teams"]
    assert client.post(f"/o/home/webhooks/{webhook.id}/edit", form | {"format": "x"}).status_code == 400


@pytest.mark.parametrize(
    ("url", "events", "field"),
    [
        ("", ["scan.failed"], "url"),
        ("example.com", ["scan.failed"], "url"),
        ("http://localhost/", ["scan.failed"], "url"),
        ("https://example.com/", [], "event"),
        ("https://example.com/", ["scan.deleted"], "event"),
    ],
)
def test_form_displays_api_errors_beside_the_field(home: Member, url: str, events: list[str], field: str) -> None:
    refused = home.api.post("/api/webhooks", {"url": url, "events": events})
    response = browser_of(home, "admin").post("/o/home/webhooks/new/standard", {"url": url, "event": events})
    assert response.status_code == refused.status_code
    (problem,) = page_of(response).xpath("//form//*[@role='alert']")
    assert (problem.text, problem.get("id")) == (refused.json()["error"], f"id_{field}_error")
    assert page_of(response).xpath("string(//input[@name='url']/@value)") == url
    assert not Webhook.objects.exists()
    assert actions(home) == []


def test_form_refuses_webhooks_over_the_plan_limit(home: Member, target: str) -> None:
    for n in range(3):
        register_webhook(home, f"{target}{n}")
    response = browser_of(home, "admin").post("/o/home/webhooks/new/standard", {"url": target, "event": "scan.failed"})
    assert response.status_code == 409
    assert "Your plan allows 3 webhooks." in text_of(response)


def test_webhook_form_changes_are_logged(home: Member, receiver: Webhook, target: str) -> None:
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    form = {"url": f"{target}new", "event": ["scan.failed"], "enabled": "false", "secret": "x"}
    assert client.post(f"{path}/edit", form)["Location"] == path
    receiver.refresh_from_db()
    assert (receiver.url, receiver.events, receiver.enabled) == (f"{target}new", ["scan.failed"], True)
    event = ActivityEvent.objects.get(action="webhook.changed")
    assert event.details["url"] == {"from": f"{target}hook", "to": f"{target}new"}
    assert event.details["events"] == {"from": "scan.completed, scan.failed, scan.partial", "to": "scan.failed"}
    refused = client.post(f"{path}/edit", {"url": "http://10.0.0.1/", "event": ["scan.failed"]})
    assert refused.status_code == 403
    assert page_of(refused).xpath("//input[@name='url']/@value") == ["http://10.0.0.1/"]
    # The activity log does not record a change to the same values.
    client.post(f"{path}/edit", form)
    assert ActivityEvent.objects.filter(action="webhook.changed").count() == 1


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("requested", "by a member or over the API"),
        ("gone", "responded with 410 Gone"),
        ("failing", "every attempt failed for five days"),
    ],
)
def test_disabled_webhook_has_an_enable_button(home: Member, receiver: Webhook, reason: str, words: str) -> None:
    Webhook.objects.update(enabled=False, disabled_at=timezone.now(), disabled_reason=reason, failures=9)
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    assert words in text_of(client.get(path))
    assert not page_of(client.get(path)).xpath("//form[contains(@action, '/test') or contains(@action, '/recover')]")
    (form,) = page_of(client.get(path)).xpath("//form[contains(@action, '/enable')]")
    client.post(form.get("action"))
    receiver.refresh_from_db()
    assert (receiver.enabled, receiver.failures) == (True, 0)
    assert words not in text_of(client.get(path))


def test_disable_button_disables_webhook(home: Member, receiver: Webhook) -> None:
    client = browser_of(home, "admin")
    client.post(f"/o/home/webhooks/{receiver.id}/disable")
    receiver.refresh_from_db()
    assert (receiver.enabled, receiver.disabled_reason) == (False, "requested")
    assert actions(home) == ["webhook.changed"]
    # Old browser tabs may still have buttons that need an enabled webhook.
    client.post(f"/o/home/webhooks/{receiver.id}/test", {"event": "scan.failed"})
    assert "The webhook is disabled. Enable it first." in text_of(client.get(f"/o/home/webhooks/{receiver.id}"))


def test_failing_webhook_shows_its_first_failure(home: Member, receiver: Webhook) -> None:
    Webhook.objects.update(failing_since=timezone.now(), failures=3)
    client = browser_of(home, "viewer")
    assert "Failing" in text_of(client.get("/o/home/webhooks/"))
    assert "Every attempt has failed since" in text_of(client.get(f"/o/home/webhooks/{receiver.id}"))


def test_deletion_of_webhook_requires_confirmation(home: Member, receiver: Webhook) -> None:
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}/delete"
    assert receiver.name in text_of(client.get(path))
    assert Webhook.objects.exists()
    assert client.post(path)["Location"] == "/o/home/webhooks/"
    assert not Webhook.objects.exists()
    assert ActivityEvent.objects.get(action="webhook.deleted").object_name == receiver.name


def test_rotated_secret_is_displayed_once(home: Member, receiver: Webhook) -> None:
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    page = client.post(f"{path}/rotate", follow=True)
    receiver.refresh_from_db()
    assert page_of(page).xpath("//*[@id='plaintext']/text()") == [encryption.decrypt(bytes(receiver.encrypted_secret))]
    assert "stays valid for 24 hours" in text_of(page)
    assert FormerSecret.objects.count() == 1
    detail = client.get(path)
    assert "A former secret is valid until" in text_of(detail)
    assert "whsec_" not in detail.content.decode()
    assert client.get(f"{path}/rotate")["Location"] == path
    for _ in range(3):
        client.post(f"{path}/rotate")
    assert client.post(f"{path}/rotate")["Location"] == path
    assert "4 former secrets are still valid" in text_of(client.get(path))
    assert actions(home) == ["webhook.secret_rotated"] * 4


def test_page_refreshes_until_the_test_event_is_delivered(home: Member, receiver: Webhook) -> None:
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    assert not page_of(client.get(path)).xpath("//*[@hx-trigger]")
    client.post(f"{path}/test", {"event": "scan.partial"})
    delivery = Delivery.objects.get()
    assert (delivery.event.kind, delivery.event.is_test) == ("scan.partial", True)
    page = client.get(path)
    assert page_of(page).xpath("//*[@id='log']/@hx-select") == ["#log"]
    assert "scan.partial test" in text_of(page)
    Delivery.objects.update(status="delivered", finished_at=timezone.now())
    assert not page_of(client.get(path)).xpath("//*[@hx-trigger]")
    client.post(f"{path}/test", {"event": "scan.deleted"})
    assert Delivery.objects.count() == 1
    assert actions(home) == ["webhook.tested"]


def test_pages_share_the_rate_limit_of_the_api(home: Member, receiver: Webhook) -> None:
    Tier.objects.update(requests_per_minute=4)  # The registration of the receiver counts as one request.
    client = browser_of(home, "admin")
    assert home.api.get("/v1/usage").status_code == 200
    for _ in range(5):
        client.post(f"/o/home/webhooks/{receiver.id}/test", {"event": "scan.failed"})
    assert Delivery.objects.count() == 2
    assert "Too many requests in this minute." in text_of(client.get(f"/o/home/webhooks/{receiver.id}"))


def test_log_lists_attempts_and_escapes_responses(home: Member, receiver: Webhook) -> None:
    delivery = failed_delivery(receiver, home)
    now = timezone.now()
    Attempt.objects.create(
        delivery=delivery, at=now - timedelta(minutes=5), latency_ms=1500, response_status=500, response_body=EVIL,
        error_code="RECEIVER_STATUS", error_message="The receiver answered 500.",
    )  # fmt: skip
    Attempt.objects.create(
        delivery=delivery, at=now, latency_ms=7, error_code="DOMAIN_BLOCKED", error_message="Not public.", blocked=True
    )
    page = browser_of(home, "viewer").get(f"/o/home/webhooks/{receiver.id}")
    text = text_of(page)
    assert "2 attempts" in text
    assert "status 500 after 1500 ms: The receiver answered 500. RECEIVER_STATUS" in text
    assert "Not public. DOMAIN_BLOCKED Nothing was sent." in text
    assert b"<script>alert" not in page.content
    assert page_of(page).xpath("//ol[@class='attempts']//pre/code/text()") == [EVIL]


def test_log_shows_the_next_attempt(home: Member, receiver: Webhook) -> None:
    now = timezone.now()
    retried = create_delivery(receiver, home, attempts_made=1, next_attempt_at=now + timedelta(minutes=30))
    Attempt.objects.create(delivery=retried, at=now, latency_ms=8, response_status=503, response_body="Later")
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    page = page_of(client.get(path))
    (badge,) = page.xpath("//*[@class='entry']/span[contains(@class, 'badge')]")
    assert (badge.text, badge.get("class")) == (f"Retrying, 2 of {len(PAUSES) + 1}", "badge warn")
    assert "503 in 8 ms, next try in 30 minutes" in text_of(client.get(path))
    # The page displays the sent body and the response.
    sent_body, response_body = page.xpath("//*[@class='exchange']//pre/code/text()")
    assert json.loads(sent_body) == json.loads(bytes(retried.event.body))
    assert response_body == "Later"
    (button,) = page.xpath("//*[@class='entry']//button")
    assert button.text == "Retry now"
    assert client.post(button.getparent().get("action")).status_code == 302
    retried.refresh_from_db()
    assert retried.next_attempt_at <= timezone.now()


@pytest.mark.parametrize(
    ("columns", "words", "tone"),
    [
        ({"status": "delivered"}, "Delivered", "good"),
        ({"status": "failed"}, "Failed", "bad"),
        ({"attempts_made": 0}, "Waiting", ""),
        ({"lease_expires_at": datetime(2999, 1, 1, tzinfo=UTC)}, "Sending", "accent"),
    ],
)
def test_every_delivery_state_has_its_own_badge(
    home: Member, receiver: Webhook, columns: dict[str, object], words: str, tone: str
) -> None:
    create_delivery(receiver, home, **columns)
    page = page_of(browser_of(home, "viewer").get(f"/o/home/webhooks/{receiver.id}"))
    (badge,) = page.xpath("//*[@class='entry']/span[contains(@class, 'badge')]")
    assert (badge.text, badge.get("class").split()[1:]) == (words, [tone] if tone else [])


def test_log_truncates_long_payload(home: Member, receiver: Webhook) -> None:
    body = json.dumps({"text": "é" * 5000}, ensure_ascii=False).encode()
    Event.objects.filter(deliveries=create_delivery(receiver, home)).update(body=body)
    page = page_of(browser_of(home, "viewer").get(f"/o/home/webhooks/{receiver.id}"))
    (payload,) = page.xpath("//*[@class='exchange']//pre/code/text()")
    assert payload.startswith('{"text": "é')
    assert payload.endswith("é…")
    assert 4000 < len(payload.encode()) <= 4096 + 3


def test_log_lists_only_last_ten_attempts(home: Member, receiver: Webhook) -> None:
    delivery = failed_delivery(receiver, home)
    Attempt.objects.bulk_create(
        Attempt(delivery=delivery, at=timezone.now() - timedelta(minutes=n), latency_ms=n, response_status=500)
        for n in range(30)
    )
    page = browser_of(home, "viewer").get(f"/o/home/webhooks/{receiver.id}")
    attempts = [item.text_content() for item in page_of(page).xpath("//ol[@class='attempts']/li/p")]
    assert len(attempts) == 10
    assert "after 0 ms" in attempts[0]


def test_log_page_is_filtered_and_paged(home: Member, receiver: Webhook) -> None:
    failed_delivery(receiver, home)
    create_delivery(receiver, home, status="delivered")
    client = browser_of(home, "viewer")

    def entries(query: str) -> list[str]:
        page = page_of(client.get(f"/o/home/webhooks/{receiver.id}?{query}"))
        return [badge.text for badge in page.xpath("//ul[contains(@class, 'log')]/li/div/span[1]")]

    assert entries("") == ["Delivered", "Failed"]
    assert entries("status=failed") == ["Failed"]
    assert entries("event=scan.completed&status=delivered") == ["Delivered"]
    assert entries("event=scan.partial") == []
    assert entries("status=nope") == ["Delivered", "Failed"]
    delivery = Delivery.objects.first()
    assert delivery is not None
    event = delivery.event
    Delivery.objects.bulk_create(
        Delivery(webhook=receiver, event=event, status="delivered", created_at=timezone.now() - timedelta(hours=n))
        for n in range(1, 26)
    )
    page = page_of(client.get(f"/o/home/webhooks/{receiver.id}?status=delivered"))
    (older,) = page.xpath("//a[@rel='next']/@href")
    assert (len(entries("status=delivered")), len(entries(older[1:]))) == (20, 6)


def test_replay_button_sends_delivery_again(home: Member, receiver: Webhook) -> None:
    delivery = failed_delivery(receiver, home)
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    (form,) = page_of(client.get(path)).xpath("//form[contains(@action, '/replay')]")
    assert client.post(form.get("action"))["Location"] == path
    delivery.refresh_from_db()
    assert delivery.status == "pending"
    event = ActivityEvent.objects.get(action="delivery.replayed")
    assert (event.object_name, event.details) == (delivery.id, {"webhook": receiver.id})


def test_recover_form_resends_failed_deliveries(home: Member, receiver: Webhook) -> None:
    now = timezone.now()
    old = failed_delivery(receiver, home, created_at=now - timedelta(days=2))
    young = failed_delivery(receiver, home, created_at=now - timedelta(hours=2))
    client = browser_of(home, "admin")
    path = f"/o/home/webhooks/{receiver.id}"
    (since,) = page_of(client.get(path)).xpath("//input[@name='since']/@value")
    client.post(f"{path}/recover", {"since": since})  # The default time in the form is a day ago.
    assert "1 failed delivery is being sent again." in text_of(client.get(path))
    old.refresh_from_db()
    young.refresh_from_db()
    assert (old.status, young.status) == ("failed", "pending")
    client.post(f"{path}/recover", {"since": since})
    assert "No delivery has failed since then." in text_of(client.get(path))


@pytest.mark.parametrize("since", ["", "yesterday", "2026-13-01T00:00", "9" * 99, "\0"])
def test_recover_form_refuses_an_invalid_time(home: Member, receiver: Webhook, since: str) -> None:
    failed_delivery(receiver, home)
    client = browser_of(home, "admin")
    client.post(f"/o/home/webhooks/{receiver.id}/recover", {"since": since})
    assert "Enter a date and a time" in text_of(client.get(f"/o/home/webhooks/{receiver.id}"))
    assert Delivery.objects.get().status == "failed"


def test_hostile_webhook_url_is_escaped(home: Member, receiver: Webhook) -> None:
    Webhook.objects.update(url=f"https://example.com/{EVIL}")
    client = browser_of(home, "admin")
    for path in (
        "/o/home/webhooks/",
        f"/o/home/webhooks/{receiver.id}",
        f"/o/home/webhooks/{receiver.id}/delete",
    ):
        assert b"<script>alert" not in client.get(path).content, path


def test_log_names_the_monitor_or_list_and_marks_only_tests_as_test(home: Member, receiver: Webhook) -> None:
    """Regression test: alerts of monitors and lists were labelled "test"."""
    monitor, site_list = make_monitor(home, name="Town <hall>"), make_list(home, name="Schools")
    for sources in ({"monitor": monitor}, {"site_list": site_list}, {}):
        event = Event.objects.create(organization=home.organization, kind="monitor_failed", body=b"{}", **sources)
        Delivery.objects.create(webhook=receiver, event=event)
    page = page_of(browser_of(home).get(f"/o/home/webhooks/{receiver.id}"))
    entries = page.xpath("//*[@class='what']")
    assert sorted(entry.text_content() for entry in entries) == [
        "monitor_failed Schools",
        "monitor_failed Town <hall>",
        "monitor_failed test",
    ]
    links = {link.text_content(): link.get("href") for entry in entries for link in entry.xpath("a")}
    assert links == {
        "Town <hall>": f"/o/home/monitors/{monitor.id}",
        "Schools": f"/o/home/lists/{site_list.id}",
    }
