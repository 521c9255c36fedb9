"""Tests for the events and e-mails about list runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.mailing import topics
from accounts.models import Mail, User
from scans.models import Scan
from sites.lists import notices, runs
from sites.lists.changes import MAX_LISTED_CHANGES, MAX_URL_LENGTH
from tests.factories import Member, key_caller, member_of, person_of, register_webhook
from tests.sites.lists.running import (
    UNREACHABLE,
    FakeWorker,
    ScriptedResult,
    make_check,
    make_numbered_list,
    usual_result,
)
from webhooks.delivery.formats import message_content, sent_body
from webhooks.models import Delivery, Event
from website_scan.result import ScanError

pytestmark = pytest.mark.django_db

EVENTS = ["list.completed", "list.changed", "scan.completed", "audit.completed", "audit.scan"]


@pytest.fixture
def owner(db: None) -> Member:
    owner = member_of("Owner", "business")
    register_webhook(owner, "https://example.com/hook", EVENTS)
    return owner


@pytest.fixture
def ann(owner: Member) -> User:
    return person_of(owner, "owner", "ann@owner.test")


def event_bodies() -> list[dict[str, Any]]:
    return [json.loads(bytes(event.body)) for event in Event.objects.order_by("created_at", "id")]


def worse_result(scan: Scan) -> ScriptedResult:
    """Return a worse result for the first site.

    It has a lower score and one more failed check. Other sites have the usual result.
    """
    return (50, [make_check("hsts"), make_check("caa")]) if scan.host.startswith("site-0.") else usual_result(scan)


def test_run_sends_one_event(owner: Member) -> None:
    towns = make_numbered_list(owner, 3, types=["security", "seo"])
    run = FakeWorker(usual_result).run(towns)
    (body,) = event_bodies()
    assert body["event"] == "list.completed"
    data = body["data"]
    assert (data["list_id"], data["name"], data["list_url"]) == (towns.id, "Towns", towns.list_url)
    run_data = data["run"]
    assert (run_data["id"], run_data["status"], run_data["entries"], run_data["done"], run_data["error"]) == (
        run.id, "completed", 3, 3, None,
    )  # fmt: skip
    mean = {"judged": 3, "mean": 80.0, "grade": "B"}
    assert data["results"] == {"security": mean, "seo": mean}


def test_event_has_changed_sites_and_checks(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 3), FakeWorker(usual_result)
    first = script.run(towns)
    second = FakeWorker(worse_result, script.names).run(towns)
    _, completed, changed = event_bodies()
    assert (completed["event"], changed["event"]) == ("list.completed", "list.changed")
    changes = changed["data"]["changes"]
    assert (changes["run_id"], changes["with_run_id"]) == (second.id, first.id)
    assert changes["grades"] == {"better": 0, "worse": 1}
    (site,) = changes["worse"]
    assert (site["url"], site["change"]) == ("https://site-0.example.com/", -30.0)
    (more,) = changes["more_failures"]
    assert (more["check"], more["failed_before"], more["failed_after"]) == ("caa", 0, 1)
    assert changes["better"] == changes["fewer_failures"] == []


def unreachable_result(scan: Scan) -> ScriptedResult | ScanError:
    """Return an error for the first site.

    It does not answer. Other sites have the usual result.
    """
    return UNREACHABLE if scan.host.startswith("site-0.") else usual_result(scan)


def test_message_names_lost_sites(owner: Member, ann: User) -> None:
    towns, script = make_numbered_list(owner, 3, recipients=[ann.pk]), FakeWorker(usual_result)
    script.run(towns)
    for result_for, key, other, text in (
        (unreachable_result, "lost", "regained", "no longer reached"),
        (usual_result, "regained", "lost", "reached again"),
    ):
        FakeWorker(result_for, script.names).run(towns)
        body = event_bodies()[-1]
        assert body["event"] == "list.changed"
        changes = body["data"]["changes"]
        assert (changes[key], changes[other]) == (["https://site-0.example.com/"], [])
        assert changes["grades"] == {"better": 0, "worse": 0}
        mail = Mail.objects.latest("created_at")
        assert mail.subject == f"Towns: 1 site {text}"
        assert f"{text.capitalize()} (1)" in mail.text
        for content in (mail.text, mail.html):
            assert "site-0" in content
            assert "site-1" not in content
        message = message_content(body)
        assert message.headline == f"Towns: 1 site {text}"
        lines = ["".join(part.text for part in line) for lines in message.paragraphs for line in lines]
        assert lines[-2:] == [f"{text.capitalize()}:", "https://site-0.example.com/"]
    FakeWorker(usual_result, script.names).run(towns)
    assert event_bodies()[-1]["event"] == "list.completed", "it is told once"


def test_cancelled_run_sends_no_event(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 2), FakeWorker(usual_result)
    script.run(towns)
    run = runs.begin_run(list_id=towns.id)
    runs.cancel_run(caller=key_caller(owner.organization.id), list_id=towns.id, run_id=run.id)
    FakeWorker(usual_result, script.names).run(towns)
    assert [body["event"] for body in event_bodies()] == ["list.completed", "list.completed"]


def test_list_without_webhook_records_no_event(owner: Member) -> None:
    FakeWorker(usual_result).run(make_numbered_list(owner, 1, webhook_ids=[]))
    assert event_bodies() == []


def test_list_event_goes_only_to_chosen_webhooks(owner: Member) -> None:
    chosen, _ = register_webhook(owner, "https://example.com/chosen", EVENTS)
    towns = make_numbered_list(owner, 1, webhook_ids=[chosen.id])
    FakeWorker(usual_result).run(towns)
    assert [delivery.webhook_id for delivery in Delivery.objects.filter(event__site_list=towns)] == [chosen.id]


def test_event_size_is_limited(owner: Member) -> None:
    towns = make_numbered_list(owner, 60)
    for entry in towns.entries.all():
        entry.url = f"{entry.url}{'a' * 1_900}"
        entry.save()
    script = FakeWorker(usual_result)
    script.run(towns)
    FakeWorker(lambda _: (40, [make_check(f"check-{n}") for n in range(40)]), script.names).run(towns)
    changed = event_bodies()[-1]
    assert len(json.dumps(changed)) < 100_000
    assert len(changed["data"]["changes"]["worse"]) == MAX_LISTED_CHANGES
    assert changed["data"]["changes"]["sites"]["worse"] == 60
    assert all(len(site["url"]) <= MAX_URL_LENGTH for site in changed["data"]["changes"]["worse"])


@pytest.mark.parametrize("body_format", ["slack", "teams"])
def test_chat_webhooks_get_a_text_message(owner: Member, body_format: str) -> None:
    towns, script = make_numbered_list(owner, 3), FakeWorker(usual_result)
    script.run(towns)
    FakeWorker(worse_result, script.names).run(towns)
    for event in Event.objects.all():
        assert json.loads(sent_body(body_format, bytes(event.body)))
    completed, _, changed = (message_content(body) for body in event_bodies())
    assert completed.headline == "Towns: run completed"
    assert changed.headline == "Towns: 1 site with a worse grade"
    lines = ["".join(part.text for part in line) for lines in changed.paragraphs for line in lines]
    assert "3 of 3 sites judged" in lines
    assert "https://site-0.example.com/: -30 on average" in lines
    assert changed.links == [("Open the list", towns.list_url)]


def test_failed_run_reports_its_error(owner: Member, ann: User) -> None:
    FakeWorker(lambda _: UNREACHABLE).run(make_numbered_list(owner, 2, recipients=[ann.pk]))
    (body,) = event_bodies()
    assert (body["event"], body["data"]["run"]["status"]) == ("list.completed", "failed")
    assert body["data"]["run"]["error"]["code"] == "URL_NOT_REACHABLE"
    assert "The site did not answer." in str(message_content(body).paragraphs)
    assert "The site did not answer." in Mail.objects.get().text


def test_recipients_get_one_email_per_run(owner: Member, ann: User) -> None:
    stranger = person_of(member_of("Elsewhere"), "owner", "eve@elsewhere.test")
    towns, script = make_numbered_list(owner, 3, recipients=[ann.pk, stranger.pk]), FakeWorker(usual_result)
    run = script.run(towns)
    assert notices.mail_run_end(run, None) == 0, "each run once"
    (mail,) = Mail.objects.all()
    assert (mail.user, mail.subject) == (ann, "Towns: 3 of 3 sites judged")
    FakeWorker(worse_result, script.names).run(towns)
    changed = Mail.objects.exclude(id=mail.id).get()
    assert changed.subject == "Towns: 1 site with a worse grade"
    for text in (changed.text, changed.html):
        assert "Fails on more sites" in text
        assert towns.list_url in text
        assert "None" not in text
    assert "80.0 -&gt;" not in changed.html
    assert "Security: 80.0 -> 70.0 (C)" in changed.text
    topics.find_subscription(topics.token(ann, f"list:{towns.id}")).stop()  # type: ignore[union-attr]
    script.run(towns)
    assert Mail.objects.count() == 2


def test_mails_contain_no_clickable_names(owner: Member, ann: User) -> None:
    towns = make_numbered_list(owner, 1, recipients=[ann.pk], name="Look at www.evil.example.com")
    script = FakeWorker(usual_result)
    script.run(towns)
    FakeWorker(worse_result, script.names).run(towns)
    for mail in Mail.objects.all():
        for text in (mail.text, mail.html):
            assert "www.evil" not in text
            assert "https://site-0.example.com/" not in text


def test_email_subject_names_changed_checks(owner: Member, ann: User) -> None:
    towns, script = make_numbered_list(owner, 2, recipients=[ann.pk]), FakeWorker(usual_result)
    script.run(towns)
    FakeWorker(lambda _: (80, [make_check("hsts"), make_check("caa")]), script.names).run(towns)
    subject = Mail.objects.latest("created_at").subject
    assert subject in ("Towns: No HSTS header on more sites", "Towns: No CAA record on more sites")


def test_unsubscribe_topic_is_the_list() -> None:
    assert topics.words("list:lst_1", "Acme") == "about a list of sites of Acme"
