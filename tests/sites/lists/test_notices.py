"""Events and e-mails of lists: `list.completed` for each run, `list.changed` after changes, and one e-mail."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.mailing import topics
from accounts.models import Mail, User
from scans.models import Scan
from sites.lists import notices, runs
from sites.lists.changes import LISTED, URL_CHARACTERS
from tests.factories import Member, key_caller, member_of, person_of, register_webhook
from tests.sites.lists.running import UNREACHABLE, Found, Script, check, listed, usual
from webhooks.delivery.formats import message_content, sent_body
from webhooks.models import Event

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


def bodies() -> list[dict[str, Any]]:
    return [json.loads(bytes(each.body)) for each in Event.objects.order_by("created_at", "id")]


def worse(scan: Scan) -> Found:
    """Return checks that are worse than those of `usual` on the first site."""
    return (50, [check("hsts"), check("caa")]) if scan.host.startswith("site-0.") else usual(scan)


def test_ended_run_sends_one_event_and_none_for_its_scans(owner: Member) -> None:
    towns = listed(owner, 3, types=["security", "seo"])
    run = Script(usual).run(towns)
    (body,) = bodies()
    assert body["event"] == "list.completed"
    data = body["data"]
    assert (data["list_id"], data["name"], data["list_url"]) == (towns.id, "Towns", towns.list_url)
    shown = data["run"]
    assert (shown["id"], shown["status"], shown["entries"], shown["done"], shown["error"]) == (
        run.id, "completed", 3, 3, None,
    )  # fmt: skip
    mean = {"judged": 3, "mean": 80.0, "grade": "B"}
    assert data["results"] == {"security": mean, "seo": mean}


def test_list_changed_event_has_changed_sites_and_checks(owner: Member) -> None:
    towns, script = listed(owner, 3), Script(usual)
    first = script.run(towns)
    second = Script(worse, script.names).run(towns)
    _, completed, changed = bodies()
    assert (completed["event"], changed["event"]) == ("list.completed", "list.changed")
    changes = changed["data"]["changes"]
    assert (changes["run_id"], changes["with_run_id"]) == (second.id, first.id)
    assert changes["grades"] == {"better": 0, "worse": 1}
    (site,) = changes["worse"]
    assert (site["url"], site["change"]) == ("https://site-0.example.com/", -30.0)
    (more,) = changes["more_failures"]
    assert (more["check"], more["failed_before"], more["failed_after"]) == ("caa", 0, 1)
    assert changes["better"] == changes["fewer_failures"] == []


def test_cancelled_run_sends_no_event_and_is_not_compared(owner: Member) -> None:
    towns, script = listed(owner, 2), Script(usual)
    script.run(towns)
    run = runs.begin_run(list_id=towns.id)
    runs.cancel_run(caller=key_caller(owner.organization.id), list_id=towns.id, run_id=run.id)
    Script(usual, script.names).run(towns)
    assert [each["event"] for each in bodies()] == ["list.completed", "list.completed"]


def test_list_without_webhook_notification_records_no_events(owner: Member) -> None:
    Script(usual).run(listed(owner, 1, tells_webhooks=False))
    assert bodies() == []


def test_event_size_is_limited_for_many_changed_sites(owner: Member) -> None:
    towns = listed(owner, 60)
    for entry in towns.entries.all():
        entry.url = f"{entry.url}{'a' * 1_900}"
        entry.save()
    script = Script(usual)
    script.run(towns)
    Script(lambda _: (40, [check(f"check-{n}") for n in range(40)]), script.names).run(towns)
    changed = bodies()[-1]
    assert len(json.dumps(changed)) < 100_000
    assert len(changed["data"]["changes"]["worse"]) == LISTED
    assert changed["data"]["changes"]["sites"]["worse"] == 60
    assert all(len(each["url"]) <= URL_CHARACTERS for each in changed["data"]["changes"]["worse"])


@pytest.mark.parametrize("body_format", ["slack", "teams"])
def test_chat_webhooks_get_a_text_message(owner: Member, body_format: str) -> None:
    towns, script = listed(owner, 3), Script(usual)
    script.run(towns)
    Script(worse, script.names).run(towns)
    for event in Event.objects.all():
        assert json.loads(sent_body(body_format, bytes(event.body)))
    completed, _, changed = (message_content(each) for each in bodies())
    assert completed.headline == "Towns: run completed"
    assert changed.headline == "Towns: 1 site with a worse grade"
    lines = ["".join(part.text for part in line) for lines in changed.paragraphs for line in lines]
    assert "3 of 3 sites judged" in lines
    assert "https://site-0.example.com/: -30 on average" in lines
    assert changed.links == [("Open the list", towns.list_url)]


def test_failed_run_reports_its_error(owner: Member, ann: User) -> None:
    Script(lambda _: UNREACHABLE).run(listed(owner, 2, recipients=[ann.pk]))
    (body,) = bodies()
    assert (body["event"], body["data"]["run"]["status"]) == ("list.completed", "failed")
    assert body["data"]["run"]["error"]["code"] == "URL_NOT_REACHABLE"
    assert "The site did not answer." in str(message_content(body).paragraphs)
    assert "The site did not answer." in Mail.objects.get().text


def test_recipients_get_one_email_for_each_run(owner: Member, ann: User) -> None:
    stranger = person_of(member_of("Elsewhere"), "owner", "eve@elsewhere.test")
    towns, script = listed(owner, 3, recipients=[ann.pk, stranger.pk]), Script(usual)
    run = script.run(towns)
    assert notices.post_ended(run, None) == 0, "each run once"
    (mail,) = Mail.objects.all()
    assert (mail.user, mail.subject) == (ann, "Towns: 3 of 3 sites judged")
    Script(worse, script.names).run(towns)
    changed = Mail.objects.exclude(id=mail.id).get()
    assert changed.subject == "Towns: 1 site with a worse grade"
    for text in (changed.text, changed.html):
        assert "Fails on more sites" in text
        assert towns.list_url in text
        assert "None" not in text
    assert "80.0 -&gt;" not in changed.html
    assert "Security: 80.0 -> 70.0 (C)" in changed.text
    topics.subscription_of(topics.token(ann, f"list:{towns.id}")).stop()  # type: ignore[union-attr]
    script.run(towns)
    assert Mail.objects.count() == 2


def test_emails_contain_no_domains_of_list_names_and_sites(owner: Member, ann: User) -> None:
    towns = listed(owner, 1, recipients=[ann.pk], name="Look at www.evil.example.com")
    script = Script(usual)
    script.run(towns)
    Script(worse, script.names).run(towns)
    for mail in Mail.objects.all():
        for text in (mail.text, mail.html):
            assert "www.evil" not in text
            assert "https://site-0.example.com/" not in text


def test_email_subject_names_changed_checks_if_no_grade_changed(owner: Member, ann: User) -> None:
    towns, script = listed(owner, 2, recipients=[ann.pk]), Script(usual)
    script.run(towns)
    Script(lambda _: (80, [check("hsts"), check("caa")]), script.names).run(towns)
    subject = Mail.objects.latest("created_at").subject
    assert subject.startswith("Towns: “")
    assert subject.endswith("” fails on more sites")


def test_unsubscribe_topic_is_the_list() -> None:
    assert topics.words("list:lst_1", "Acme") == "about a list of sites of Acme"
