"""Tests for e-mails about monitors to members who are limited to some sites."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import members
from accounts.mailing import claims
from accounts.models import Mail, Membership, Unsubscription, User
from dashboard import attention
from infrastructure import encryption
from infrastructure.api.errors import InvalidParams
from sites.models import Monitor
from sites.monitors import notices
from sites.monitors.requests import MonitorRequest
from sites.monitors.services import change_monitor
from sites.recipients import alerts_topic, members_of, readers_of, recipients_of
from tests.factories import Member, key_caller, person_of
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.test_grouping import BAD, GOOD, HOUR, MINUTE, make_monitors, run_monitors, send_alerts
from tests.sites.monitors.watching import BEGIN, ScriptedSite
from webhooks.models import Webhook

OWN, OTHER = "www1.example.com", "www2.example.com"

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: Member) -> User:
    user = person_of(owner, "viewer", "client@people.test")
    limit(user, OWN)
    return user


def limit(user: User, *limits: str) -> None:
    Membership.objects.filter(user=user).update(limited_to=list(limits))


def alert_of_two_sites(owner: Member, site: ScriptedSite, *people: User) -> list[Monitor]:
    """Let monitors of both sites report the same critical finding."""
    monitors = make_monitors(owner, [f"https://{host}/" for host in (OWN, OTHER)], *people)
    for checks, now in ((GOOD, BEGIN), (BAD, BEGIN + HOUR)):
        site.default_checks = checks
        run_monitors(monitors, site, now)
    return monitors


def test_limited_recipient_is_alerted_of_visible_sites_only(owner: Member, client: User, site: ScriptedSite) -> None:
    ann = person_of(owner, "owner", "ann@owner.test")
    alert_of_two_sites(owner, site, ann, client)
    assert send_alerts(BEGIN + HOUR + 2 * MINUTE)
    mail, complete = (Mail.objects.get(user=person) for person in (client, ann))
    for text in (mail.text, mail.html):
        assert OWN in text
        assert OTHER not in text
        assert "/mutes/new" not in text
        assert "ann@owner.test" not in text
    assert mail.subject == f"Critical: env is bad \N{EN DASH} {OWN}"
    assert OTHER in complete.text
    assert "/mutes/new" in complete.text
    assert [claim.mail for claim in claims.claim(limit=9, now=timezone.now()) if claim.mail.user == client] == [mail]


def test_alert_that_waits_is_dropped_if_the_recipient_is_limited_meanwhile(
    owner: Member, client: User, site: ScriptedSite
) -> None:
    limit(client)
    alert_of_two_sites(owner, site, client)
    limit(client, "unrelated.example")
    send_alerts(BEGIN + HOUR + 2 * MINUTE)
    assert not Mail.objects.filter(user=client).exists()


def test_mails_that_wait_are_deleted_when_limits_change(owner: Member, client: User, site: ScriptedSite) -> None:
    boss = Membership.objects.get(user=person_of(owner, "owner", "ann@owner.test"))
    limit(client)
    alert_of_two_sites(owner, site, client)
    send_alerts(BEGIN + HOUR + 2 * MINUTE)
    assert Mail.objects.filter(user=client).exists()
    members.limit_member(actor=boss, subject=Membership.objects.get(user=client), limits=[OWN])
    assert not Mail.objects.filter(user=client).exists()


def test_reminders_and_pauses_reach_limited_recipients_of_visible_monitors(owner: Member, client: User) -> None:
    now = timezone.now()
    for host in (OWN, OTHER):
        monitor = make_monitor(
            owner,
            name=host,
            pages=[f"https://{host}/"],
            recipients=[client.pk],
            alert={"certificate_days": 14},
            certificate_host=host,
            certificate_expires_at=now + timedelta(days=2),
        )
        notices.mail_pause(monitor, now)
    notices.mail_certificate_reminders(now)
    subjects = list(Mail.objects.filter(user=client).values_list("subject", flat=True))
    assert len(subjects) == 2
    assert all(OWN in subject for subject in subjects)


def test_limited_member_gets_no_digest(owner: Member, client: User) -> None:
    make_monitor(owner, pages=[f"https://{OWN}/"], recipients=[client.pk])
    Membership.objects.filter(user=client).update(weekly_digest=True)
    assert notices.mail_digests(timezone.now()) == 0


def test_recipients_are_those_who_may_see_the_monitor(owner: Member, client: User) -> None:
    ann = person_of(owner, "owner", "ann@owner.test")
    own, other, mixed = (
        make_monitor(owner, pages=[f"https://{host}/" for host in hosts], recipients=[ann.pk, client.pk])
        for hosts in ((OWN,), (OTHER,), (OWN, OTHER))
    )
    recipients = recipients_of([own, other, mixed])
    assert recipients[own.id].emails == ("ann@owner.test", "client@people.test")
    assert recipients[other.id].emails == recipients[mixed.id].emails == ("ann@owner.test",)
    assert [{person.email for person in readers_of(monitor)} for monitor in (own, other)] == [
        {"ann@owner.test", "client@people.test"},
        {"ann@owner.test"},
    ]


def test_monitor_whose_only_recipient_may_not_see_it_notifies_nobody(owner: Member, client: User) -> None:
    own, other = (
        make_monitor(owner, pages=[f"https://{host}/"], recipients=[client.pk], webhook_ids=[]) for host in (OWN, OTHER)
    )
    assert [monitor.id for monitor in attention.silent_monitors([owner.organization.id])] == [other.id]
    assert recipients_of([own])[own.id].warning is None


def test_monitors_that_notify_nobody_are_those_with_a_warning(owner: Member, client: User) -> None:
    ann = person_of(owner, "member", "ann@owner.test")
    quiet = person_of(owner, "member", "quiet@owner.test")
    gone = person_of(owner, "member", "gone@owner.test")
    Unsubscription.objects.create(user=quiet, topic=alerts_topic(owner.organization.id))
    User.objects.filter(id=gone.pk).update(is_active=False)
    receiving, disabled, of_scans = (
        Webhook.objects.create(
            organization=owner.organization,
            url="https://receiver.test/",
            receiver="receiver.test:443",
            events=[event],
            enabled=enabled,
            encrypted_secret=encryption.encrypt("x"),
        )
        for event, enabled in (("monitor.changed", True), ("monitor.changed", False), ("scan.completed", True))
    )
    expected = set()
    for number, (recipients, has_reader) in enumerate(
        [([], False), ([ann.pk], True), ([quiet.pk], False), ([gone.pk], False), ([client.pk], True)]
    ):
        for choice in (None, [], [receiving.id], [disabled.id], [of_scans.id], ["wh_deleted"]):
            monitor = make_monitor(
                owner, name=f"{number}", pages=[f"https://{OWN}/"], recipients=recipients, webhook_ids=choice
            )
            if not has_reader and choice is not None and choice != [receiving.id]:
                expected.add(monitor.id)
            assert (recipients_of([monitor])[monitor.id].warning is not None) is (monitor.id in expected)
    assert {monitor.id for monitor in attention.silent_monitors([owner.organization.id])} == expected
    Webhook.objects.all().delete()
    names = [monitor.name for monitor in attention.silent_monitors([owner.organization.id])]
    assert names == ["0"] * 6 + ["2"] * 6 + ["3"] * 6


def test_change_that_adds_a_recipient_who_may_not_see_the_monitor_is_refused(owner: Member, client: User) -> None:
    own, other = (make_monitor(owner, name="Shop", pages=[f"https://{host}/"], recipients=[]) for host in (OWN, OTHER))
    caller, request = key_caller(owner.organization.id), MonitorRequest(columns={"recipients": [client.pk]})
    assert change_monitor(caller=caller, monitor=own, request=request).recipients == [client.pk]
    with pytest.raises(InvalidParams, match=r"client@people\.test is limited to some sites"):
        change_monitor(caller=caller, monitor=other, request=request)
    other.refresh_from_db()
    assert other.recipients == []


def test_limited_members_are_no_recipients_of_lists(owner: Member, client: User) -> None:
    with pytest.raises(InvalidParams, match="not the address of a member"):
        members_of(owner.organization.id, [client.email])
    assert members_of(owner.organization.id, [client.email], includes_limited=True) == [client.pk]
