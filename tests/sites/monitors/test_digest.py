"""Tests for the weekly digest, which members can enable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.mailing.topics import digest_of
from accounts.models import Mail, Membership, User
from sites.models import MonitorRun
from sites.models.stored_json import RunScore
from sites.monitors.notices import mail_digests
from tests.factories import Member, browser_of, person_of
from tests.populated_monitors import finding, news
from tests.sites.monitors.cast import make_monitor

MONDAY = datetime(2026, 11, 23, 7, tzinfo=UTC)


@pytest.fixture
def ann(home: Member) -> User:
    user = person_of(home, "viewer", "ann@home.test")
    Membership.objects.filter(user=user).update(weekly_digest=True)
    person_of(home, "owner", "ben@home.test")
    return user


def create_run(monitor_id: str, days_ago: int, before: int, new: int, more: int = 0) -> None:
    due_at = MONDAY - timedelta(days=days_ago)
    scores: dict[str, RunScore] = {"seo": {"before": before, "score": before - 1, "grade": "B"}}
    changes = news(new=[finding("Slow")] * new, fixed=[finding("Pale")], more=more)
    MonitorRun.objects.create(
        monitor_id=monitor_id, due_at=due_at, not_before=due_at, status="done", scores=scores, news=changes
    )


def test_digest_is_sent_once_a_week(home: Member, stranger: Member, ann: User) -> None:
    now = {"scores": {"seo": {"score": 80, "grade": "B"}}, "certificate_host": "example.com"}
    monitor = make_monitor(home, **now, certificate_expires_at=MONDAY + timedelta(days=20))
    make_monitor(home, name="Down", failing_since=MONDAY - timedelta(hours=5))
    make_monitor(stranger, name="Not ours")
    create_run(monitor.id, 8, before=50, new=9)
    create_run(monitor.id, 6, before=97, new=2, more=3)
    create_run(monitor.id, 1, before=90, new=1)
    assert mail_digests(MONDAY) == 1
    assert mail_digests(MONDAY + timedelta(hours=3)) == 0, "the same week"
    mail = Mail.objects.get()
    assert (mail.user, mail.topic) == (ann, f"digest:{home.organization.pk}")
    assert mail.subject == "Home: weekly summary of your monitors"
    down = "Down: unreachable since 2026-11-23 02:00 UTC"
    for phrase in ("6 new, 2 fixed", "SEO: 97 -> 80 (B)", "expires on 2026-12-13", down):
        assert phrase in mail.text
    assert "Not ours" not in mail.text + mail.html
    assert "97 →" in mail.html
    assert mail_digests(MONDAY + timedelta(days=7)) == 1


def test_digest_needs_a_monitor(ann: User) -> None:
    assert mail_digests(MONDAY) == 0


def test_digest_can_be_turned_on_again(home: Member, ann: User) -> None:
    make_monitor(home)
    browser = browser_of(ann)
    path = "/o/home/settings/weekly-digest"
    digest_of(Membership.objects.get(user=ann)).stop()
    assert "Turn on" in browser.get("/o/home/settings/").content.decode()
    assert mail_digests(MONDAY) == 0
    browser.post(path, {"digest": "on"})
    assert "Turn off" in browser.get("/o/home/settings/").content.decode()
    assert mail_digests(MONDAY) == 1
    browser.post(path)
    assert mail_digests(MONDAY + timedelta(days=7)) == 0
