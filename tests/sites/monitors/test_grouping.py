"""Tests for grouped alerts: one message for each cause, person and channel."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any
from unittest import mock

import pytest

from accounts.mailing import topics
from accounts.models import Mail, QuietHours, Unsubscription, User
from sites.models import Alert, Cause, MaintenanceWindow, Monitor, MonitorRun
from sites.monitors.grouping import send_due_alerts
from sites.monitors.outcome import finish_run
from sites.monitors.runs import start_run
from tests.factories import Member, member_of, person_of, register_webhook
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import BEGIN, ScriptedSite, make_finding
from webhooks.delivery.formats import sent_body
from webhooks.models import Event, Webhook
from website_scan.findings import CRITICAL, HIGH
from website_scan.result import ScanError

UNREACHABLE = ScanError("URL_NOT_REACHABLE", "Nothing answers on port 443.")
GOOD, BAD = (make_finding("env", status="pass"),), (make_finding("env", CRITICAL, "#env"),)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
MONITOR_EVENTS = ["monitor.changed", "monitor.failed", "monitor.recovered"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(owner: Member) -> User:
    return person_of(owner, "owner", "ann@owner.test")


@pytest.fixture
def slack(owner: Member) -> Webhook:
    webhook, _ = register_webhook(owner, "https://example.com/slack", MONITOR_EVENTS)
    Webhook.objects.filter(id=webhook.id).update(format="slack")
    webhook.refresh_from_db()
    return webhook


def make_monitors(member: Member, urls: Iterable[str], *people: User, **columns: Any) -> list[Monitor]:
    recipients = [person.pk for person in people]
    return [
        make_monitor(member, name=f"Monitor {number}", pages=[url], recipients=recipients, every="hour", **columns)
        for number, url in enumerate(urls)
    ]


def run_monitor(monitor: Monitor, site: ScriptedSite, now: datetime) -> None:
    """Run a monitor with its second attempt, if one is due."""
    run = monitor.runs.create(due_at=now, not_before=now)
    while run.status == MonitorRun.Status.DUE:
        started_at = run.not_before
        assert start_run(run.id, monitor.id, started_at)
        run.refresh_from_db()
        assert run.audit is not None
        site.run_all_work(run.audit.id)
        assert finish_run(run.id, started_at)
        run.refresh_from_db()


def run_monitors(monitors: Iterable[Monitor], site: ScriptedSite, now: datetime) -> None:
    for monitor in monitors:
        run_monitor(monitor, site, now)


def send_alerts(now: datetime) -> int:
    return send_due_alerts(now, lambda: True)


def subjects(email: str = "ann@owner.test") -> list[str]:
    return list(Mail.objects.filter(user__email=email).order_by("created_at", "id").values_list("subject", flat=True))


def chat_headlines(webhook: Webhook) -> list[str]:
    """Return the headlines of all messages to a chat."""
    events = Event.objects.filter(deliveries__webhook=webhook).order_by("created_at", "id")
    return [json.loads(sent_body("slack", bytes(event.body)))["text"] for event in events]


def test_shared_finding_is_one_message(owner: Member, ann: User, slack: Webhook, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www{number}.example.com/" for number in range(19)], ann)
    site.default_checks = GOOD
    run_monitors(monitors, site, BEGIN)
    site.default_checks = BAD
    run_monitors(monitors, site, BEGIN + HOUR)
    assert send_alerts(BEGIN + HOUR + MINUTE) == 0
    assert send_alerts(BEGIN + HOUR + 2 * MINUTE) == 2
    assert send_alerts(BEGIN + HOUR + 4 * MINUTE) == 0
    headline = "Critical: env is bad \N{EN DASH} 19 sites"
    assert (subjects(), chat_headlines(slack)) == ([headline], [headline])
    mail = Mail.objects.get()
    for text in (mail.text, mail.html):
        assert "Do." in text, "the fix"
        assert text.count("www7.example.com") >= 1
        assert "/report/scan_" in text
    body = json.loads(bytes(Event.objects.get(kind="monitor.alert").body))
    (problem,) = body["data"]["problems"]
    assert (problem["sites_total"], len(problem["sites"]), problem["fix"]) == (19, 19, "Do.")
    assert "Fix: Do." in sent_body("slack", json.dumps(body).encode()).decode()
    assert Event.objects.filter(kind="monitor.changed").count() == 19, "programs receive one event per monitor"


@pytest.mark.slow
def test_host_outage_is_two_messages(owner: Member, ann: User, slack: Webhook, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www.example.com/{number}" for number in range(200)], ann)
    for monitor in monitors:
        site.results_by_path[f"/{monitor.url.rpartition('/')[2]}"] = UNREACHABLE
    for hour in (0, 1):
        if hour == 1:
            site.results_by_path.clear()
        for number, monitor in enumerate(monitors):
            now = BEGIN + hour * HOUR + number * timedelta(seconds=18)
            run_monitor(monitor, site, now)
            send_alerts(now)
    send_alerts(BEGIN + 3 * HOUR)
    for headlines in (subjects(), chat_headlines(slack)):
        down, up = headlines
        assert down.startswith("Unreachable: www.example.com")
        assert up.startswith("Reachable again: www.example.com")
    assert not Alert.objects.filter(settled_at=None).exists()
    assert Cause.objects.count() == 1


def test_simultaneous_outages_are_counted(owner: Member, ann: User, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www.example.com/{number}" for number in range(3)], ann)
    site.results_by_path = {f"/{number}": UNREACHABLE for number in range(3)}
    run_monitors(monitors, site, BEGIN)
    send_alerts(BEGIN + 10 * MINUTE)
    assert subjects() == ["Unreachable: www.example.com \N{EN DASH} 3 monitors"]


def test_later_sites_follow_after_an_hour(owner: Member, ann: User, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www{number}.example.com/" for number in range(3)], ann)
    site.default_checks = GOOD
    run_monitors(monitors, site, BEGIN)
    site.default_checks = BAD
    for number, monitor in enumerate(monitors):
        run_monitor(monitor, site, BEGIN + HOUR + number * 10 * MINUTE)
        send_alerts(BEGIN + HOUR + number * 10 * MINUTE + 5 * MINUTE)
    assert subjects() == ["Critical: env is bad \N{EN DASH} www0.example.com"]
    send_alerts(BEGIN + 2 * HOUR + 6 * MINUTE)
    assert subjects()[1:] == ["Critical: env is bad \N{EN DASH} 2 sites"]


def test_second_monitor_of_a_site_repeats_nothing(owner: Member, ann: User, site: ScriptedSite) -> None:
    first, second = make_monitors(owner, ["https://www.example.com/", "https://www.example.com/"], ann)
    site.default_checks = GOOD
    run_monitors((first, second), site, BEGIN)
    site.default_checks = BAD
    run_monitor(first, site, BEGIN + HOUR)
    send_alerts(BEGIN + HOUR + 5 * MINUTE)
    run_monitor(second, site, BEGIN + 3 * HOUR)
    send_alerts(BEGIN + 4 * HOUR)
    assert len(subjects()) == 1
    site.default_checks = GOOD
    run_monitors((first, second), site, BEGIN + 5 * HOUR)
    site.default_checks = BAD
    for hour in range(6, 10):  # A finding that has come and gone needs several runs.
        run_monitors((first, second), site, BEGIN + hour * HOUR)
    send_alerts(BEGIN + 11 * HOUR)
    assert len(subjects()) == 2, "the problem has returned"


def test_several_problems_have_one_subject(owner: Member, ann: User, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www{number}.example.com/" for number in range(4)], ann)
    site.default_checks = GOOD
    run_monitors(monitors, site, BEGIN)
    site.default_checks = tuple(make_finding(f"check{number}", HIGH) for number in range(3)) + BAD
    run_monitors(monitors, site, BEGIN + HOUR)
    send_alerts(BEGIN + 2 * HOUR)
    assert subjects() == ["Critical: env is bad, and 3 more problems \N{EN DASH} 4 sites"]


def test_page_that_stays_down_is_reported(owner: Member, ann: User, site: ScriptedSite) -> None:
    first, second = make_monitors(owner, ["https://www.example.com/a", "https://www.example.com/b"], ann)
    site.results_by_path = {"/a": UNREACHABLE, "/b": UNREACHABLE}
    run_monitors((first, second), site, BEGIN)
    send_alerts(BEGIN + 10 * MINUTE)
    del site.results_by_path["/a"]
    run_monitor(first, site, BEGIN + HOUR)
    send_alerts(BEGIN + HOUR + 5 * MINUTE)
    run_monitor(second, site, BEGIN + HOUR + 10 * MINUTE)
    send_alerts(BEGIN + HOUR + 15 * MINUTE)
    run_monitor(second, site, BEGIN + 2 * HOUR)
    send_alerts(BEGIN + 3 * HOUR)
    assert [subject.partition(":")[0] for subject in subjects()] == ["Unreachable", "Reachable again", "Unreachable"]


def test_killed_sender_loses_and_repeats_nothing(owner: Member, ann: User, slack: Webhook, site: ScriptedSite) -> None:
    (monitor,) = make_monitors(owner, ["https://www.example.com/"], ann)
    site.results_by_path["/"] = UNREACHABLE
    run_monitor(monitor, site, BEGIN)
    now = BEGIN + 10 * MINUTE
    for step in ("mail_alert", "events.record_for_webhook", "_settle"):
        with mock.patch(f"sites.monitors.grouping.{step}", side_effect=SystemExit), pytest.raises(SystemExit):
            send_alerts(now)
    send_alerts(now)
    send_alerts(now + HOUR)
    assert (len(subjects()), len(chat_headlines(slack))) == (1, 1)


def test_people_get_alerts_of_their_monitors(owner: Member, ann: User, site: ScriptedSite) -> None:
    ben = person_of(owner, "viewer", "ben@owner.test")
    urls = [f"https://www{number}.example.com/{number}" for number in range(3)]
    monitors = [*make_monitors(owner, urls[:1], ann), *make_monitors(owner, urls[1:2], ann, ben)]
    monitors += make_monitors(owner, urls[2:], ben)
    site.results_by_path = {f"/{number}": UNREACHABLE for number in range(3)}
    run_monitors(monitors, site, BEGIN)
    send_alerts(BEGIN + 10 * MINUTE)
    texts = {mail.user.email: mail.text for mail in Mail.objects.select_related("user")}
    for email, numbers in {"ann@owner.test": {0, 1}, "ben@owner.test": {1, 2}}.items():
        assert {number for number in range(3) if f"www{number}.example.com" in texts[email]} == numbers


def test_channels_get_alerts_of_monitors_that_chose_them(owner: Member, slack: Webhook, site: ScriptedSite) -> None:
    other, _ = register_webhook(owner, "https://example.com/other", ["monitor.alert"])
    urls = [f"https://www{number}.example.com/{number}" for number in range(3)]
    choices: tuple[list[str], ...] = ([slack.id], [other.id], [])
    monitors = [
        monitor
        for url, webhook_ids in zip(urls, choices, strict=True)
        for monitor in make_monitors(owner, [url], webhook_ids=webhook_ids)
    ]
    site.results_by_path = {f"/{number}": UNREACHABLE for number in range(3)}
    run_monitors(monitors, site, BEGIN)
    assert send_alerts(BEGIN + 10 * MINUTE) == 2
    assert chat_headlines(slack) == ["Unreachable: www0.example.com"]
    assert chat_headlines(other) == ["Unreachable: www1.example.com"]


def test_organizations_never_share_a_message(owner: Member, ann: User, site: ScriptedSite) -> None:
    other = member_of("Other", "business")
    other.organization.membership_set.create(user=ann, role="member")
    site.results_by_path["/"] = UNREACHABLE
    for member in (owner, other):
        run_monitors(make_monitors(member, ["https://www.example.com/"], ann), site, BEGIN)
    send_alerts(BEGIN + 10 * MINUTE)
    mails = Mail.objects.filter(user=ann)
    assert {mail.organization_id for mail in mails} == {owner.organization.id, other.organization.id}
    assert all(
        f"/o/{other.organization.slug}/" not in mail.text for mail in mails.filter(organization=owner.organization)
    )


def test_unsubscribed_topics_are_respected(owner: Member, ann: User, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www{number}.example.com/" for number in range(3)], ann)
    Unsubscription.objects.create(user=ann, topic=f"monitor:{monitors[0].id}")
    site.results_by_path["/"] = UNREACHABLE
    run_monitors(monitors, site, BEGIN)
    send_alerts(BEGIN + 10 * MINUTE)
    mail = Mail.objects.get()
    assert "www0.example.com" not in mail.text
    assert mail.topic == f"alerts:{owner.organization.id}"
    topics.Subscription(ann, mail.topic).stop()
    site.results_by_path.clear()
    run_monitors(monitors, site, BEGIN + HOUR)
    send_alerts(BEGIN + 2 * HOUR)
    assert len(subjects()) == 1


def quiet_hours(person: User, start: time, end: time, **columns: Any) -> None:
    values = {"days": [1, 2, 3, 4, 5, 6, 7], "timezone": "UTC", "allows_critical": False}
    QuietHours.objects.create(user=person, start=start, end=end, **values | columns)


@pytest.mark.parametrize(("allows_critical", "at_night"), [(False, 0), (True, 1)])
def test_quiet_hours_hold_alerts(
    owner: Member, ann: User, site: ScriptedSite, allows_critical: bool, at_night: int
) -> None:
    evening = BEGIN.replace(hour=21, minute=0, second=0) + timedelta(days=1)
    quiet_hours(ann, time(22), time(6), allows_critical=allows_critical)
    first, second = make_monitors(owner, ["https://a.example.com/a", "https://b.example.com/b"], ann)
    site.results_by_path = {"/a": UNREACHABLE, "/b": UNREACHABLE}
    run_monitors((first, second), site, evening + 3 * HOUR)
    send_alerts(evening + 4 * HOUR)
    assert len(subjects()) == at_night
    del site.results_by_path["/b"]
    run_monitors((first, second), site, evening + 5 * HOUR)
    send_alerts(evening + 8 * HOUR)
    if allows_critical:
        return
    assert subjects() == []
    send_alerts(evening + 9 * HOUR)
    assert subjects() == ["Unreachable: a.example.com"]
    assert "Began and ended since the last message" in Mail.objects.get().text
    assert "b.example.com, from" in Mail.objects.get().text


def maintenance(owner: Member, start: datetime, end: datetime, **columns: Any) -> MaintenanceWindow:
    return MaintenanceWindow.objects.create(
        organization=owner.organization, name="Deployment", starts_at=start, ends_at=end, **columns
    )


def test_maintenance_holds_what_ends_in_it(owner: Member, ann: User, slack: Webhook, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, ["https://a.example.com/a", "https://b.example.com/b"], ann)
    maintenance(owner, BEGIN, BEGIN + 2 * HOUR)
    site.results_by_path = {"/a": UNREACHABLE, "/b": UNREACHABLE}
    run_monitors(monitors, site, BEGIN + HOUR)
    send_alerts(BEGIN + HOUR + 30 * MINUTE)
    send_alerts(BEGIN + 2 * HOUR + MINUTE)
    assert subjects() == [], "the next run shows what still holds"
    del site.results_by_path["/b"]
    run_monitors(monitors, site, BEGIN + 2 * HOUR + 10 * MINUTE)
    send_alerts(BEGIN + 2 * HOUR + 20 * MINUTE)
    assert subjects() == chat_headlines(slack) == ["Unreachable: a.example.com"]
    assert "b.example.com, from" in Mail.objects.get().text


@pytest.mark.parametrize(
    ("scope", "is_held"),
    [({}, True), ({"sites": ["www.example.com"]}, True), ({"sites": ["other.example.com"]}, False)],
)
def test_maintenance_applies_to_its_scope(
    owner: Member, ann: User, site: ScriptedSite, scope: dict[str, Any], is_held: bool
) -> None:
    maintenance(owner, BEGIN, BEGIN + 2 * HOUR, **scope)
    maintenance(member_of("Other"), BEGIN, BEGIN + 9 * HOUR)
    site.results_by_path["/"] = UNREACHABLE
    run_monitors(make_monitors(owner, ["https://www.example.com/"], ann), site, BEGIN + HOUR)
    send_alerts(BEGIN + HOUR + 30 * MINUTE)
    assert bool(subjects()) is not is_held
    send_alerts(BEGIN + 3 * HOUR)
    assert len(subjects()) == 1, "after an hour without a run, what was held is sent"


def test_outage_before_maintenance_ends_after_it(owner: Member, ann: User, site: ScriptedSite) -> None:
    (monitor,) = make_monitors(owner, ["https://www.example.com/"], ann)
    site.results_by_path["/"] = UNREACHABLE
    run_monitor(monitor, site, BEGIN)
    send_alerts(BEGIN + 10 * MINUTE)
    window = maintenance(owner, BEGIN + HOUR, BEGIN + 3 * HOUR, monitors=[monitor.id])
    site.results_by_path.clear()
    run_monitor(monitor, site, BEGIN + 2 * HOUR)
    send_alerts(BEGIN + 2 * HOUR + 30 * MINUTE)
    assert len(subjects()) == 1
    run_monitor(monitor, site, window.ends_at + MINUTE)
    send_alerts(window.ends_at + 5 * MINUTE)
    assert subjects()[1:] == ["Reachable again: www.example.com"]


def test_programs_may_receive_grouped_alerts(owner: Member, site: ScriptedSite) -> None:
    webhook, _ = register_webhook(owner, "https://example.com/alerts", ["monitor.alert"])
    site.results_by_path["/"] = UNREACHABLE
    run_monitors(make_monitors(owner, ["https://a.example.com/", "https://b.example.com/"]), site, BEGIN)
    assert send_alerts(BEGIN + 10 * MINUTE) == 1
    (event,) = Event.objects.filter(deliveries__webhook=webhook)
    assert json.loads(bytes(event.body))["data"]["problems"][0]["sites_total"] == 2


def test_alerts_wait_five_minutes_at_most(owner: Member, ann: User, site: ScriptedSite) -> None:
    monitors = make_monitors(owner, [f"https://www{number}.example.com/" for number in range(4)], ann)
    site.default_checks = GOOD
    run_monitors(monitors, site, BEGIN)
    site.default_checks = BAD
    sent = []
    for number, monitor in enumerate(monitors):
        now = BEGIN + HOUR + number * timedelta(seconds=100)
        run_monitor(monitor, site, now)
        sent.append(send_alerts(now))
    assert sent == [0, 0, 0, 1]
