"""Tests for e-mails about certificates and pauses, and for the appearance of all e-mails about monitors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.utils import timezone
from playwright.sync_api import Browser, Request

from accounts.mailing import outbox
from accounts.models import Mail, Membership, User
from sites.models import Monitor
from sites.monitors import notices
from sites.monitors.alert_messages import mail_alert
from sites.monitors.notices import mail_digests
from tests.e2e.pages import Window
from tests.factories import Member, person_of
from tests.sites.monitors.alerted import make_alert, make_problem
from tests.sites.monitors.cast import make_monitor

BASE = "http://localhost:8000"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (390, 700)


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "owner", "ann@home.test")


@pytest.fixture
def monitor(home: Member, ann: User) -> Monitor:
    return make_monitor(home, recipients=[ann.pk, person_of(home, "viewer", "ben@home.test").pk])


def record_request(urls: list[str], request: Request) -> None:
    urls.append(request.url)


def test_used_up_quota_is_reported_monthly(monitor: Monitor) -> None:
    now = timezone.now()
    assert [notices.mail_pause(monitor, now + timedelta(seconds=n)) for n in range(2)] == [2, 0]


def mails_of_every_kind(home: Member, monitor: Monitor, ann: User) -> Mapping[str, str]:
    """Return the HTML of one mail of every kind, by subject."""
    hosts = ["shop.example.com", "a-shop-with-a-rather-long-name.example.com"]
    problems = [
        make_problem("Git repository is public", "critical", *hosts),
        make_problem("Images without a text alternative", "high", *hosts),
    ]
    ended = [make_problem("Unreachable", "critical", "example.com", kind="outage", ended_at="2026-11-21T08:15:00Z")]
    mail_alert(ann, home.organization, [monitor], make_alert(problems, ended, ended))
    set_certificate(monitor, timezone.now(), 2)
    notices.mail_certificate_reminders(timezone.now())
    notices.mail_pause(monitor, timezone.now())
    Membership.objects.filter(user=ann).update(weekly_digest=True)
    scores: Any = {"security": {"score": 80, "grade": "B"}, "seo": {"score": None, "grade": None}}
    monitor.scores = scores
    monitor.failing_since = monitor.certificate_expires_at = timezone.now()
    monitor.save()
    mail_digests(timezone.now())
    attempt = {"at": timezone.now(), "error_message": "The receiver answered 500."}
    webhook = {
        "id": "wh_1",
        "name": "hooks.a-rather-long-name-that-has-no-blank.example.com",
        "failing_since": timezone.now(),
        "disabled_at": timezone.now(),
    }
    context = {"webhook": webhook, "attempt": attempt, "is_gone": False, "days": 5, "retention_days": 30}
    outbox.post(
        to=ann,
        template="webhook_disabled",
        subject="A webhook of Home was disabled",
        topic=f"webhooks:{home.organization.pk}",
        organization=home.organization,
        context={**context, "page_url": BASE},
    )
    return {mail.subject: mail.html for mail in Mail.objects.filter(user=ann)}


@pytest.mark.slow
def test_mails_are_readable_on_narrow_screens(browser: Window, home: Member, monitor: Monitor, ann: User) -> None:
    mails = mails_of_every_kind(home, monitor, ann)
    assert len(mails) == 5

    def inspect_mails(chromium: Browser) -> dict[str, object]:
        problems: dict[str, object] = {}
        for number, (subject, html) in enumerate(mails.items()):
            for theme in THEMES:
                page = chromium.new_page(color_scheme=theme)
                requested_urls: list[str] = []
                page.on("request", partial(record_request, requested_urls))
                page.set_content(html)
                for width in WIDTHS:
                    page.set_viewport_size({"width": width, "height": 900})
                    name = f"{subject}, {theme} at {width}"
                    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                        problems[name] = "scrolls sideways"
                    if pictures := os.environ.get("MAIL_PICTURES"):
                        page.screenshot(path=Path(pictures) / f"{number}-{width}-{theme}.png", full_page=True)
                page.evaluate(AXE_SCRIPT)
                # Mail programs embed a mail in their page, so it needs no landmarks.
                options = {"rules": {"region": {"enabled": False}, "landmark-one-main": {"enabled": False}}}
                results = page.evaluate("options => axe.run(document, options)", options)
                if results["violations"]:
                    problems[f"{subject}, {theme}"] = [
                        (violation["id"], violation["nodes"][0]["html"]) for violation in results["violations"]
                    ]
                if requested_urls:
                    problems[f"{subject} loads"] = requested_urls
                page.close()
        return problems

    assert browser.do(inspect_mails) == {}


def set_certificate(monitor: Monitor, now: datetime, days: float, **columns: Any) -> None:
    """Set the monitor's certificate to expire in `days` days."""
    monitor.alert = {"certificate_days": 21} | columns.pop("alert", {})
    monitor.certificate_host, monitor.certificate_expires_at = "example.com", now + timedelta(days=days)
    for name, value in columns.items():
        setattr(monitor, name, value)
    monitor.save()


def test_certificate_reminder_is_sent_once(monitor: Monitor) -> None:
    now = timezone.now()
    last_run = monitor.runs.create(due_at=now, not_before=now, status="done", ended_at=now - timedelta(days=2))
    set_certificate(monitor, now, 20)
    sent = {}
    for hour in range(20 * 24 + 48):
        if written := notices.mail_certificate_reminders(now + timedelta(hours=hour)):
            sent[hour] = written
    assert sent == {6 * 24 + 1: 2, 17 * 24 + 1: 2}
    first, last = (mail.text for mail in Mail.objects.filter(user__email="ann@home.test").order_by("created_at"))
    assert "The certificate of" in first
    assert "expires in 13 days" in first
    assert "expires in 2 days" in last
    assert f"The monitor last saw it on {last_run.ended_at:%Y-%m-%d %H:%M} UTC." in last


def test_renewed_certificate_gets_new_reminders(monitor: Monitor) -> None:
    now = timezone.now()
    set_certificate(monitor, now, 2)
    assert notices.mail_certificate_reminders(now) == 2
    set_certificate(monitor, now, 90)
    assert notices.mail_certificate_reminders(now) == 0
    assert notices.mail_certificate_reminders(now + timedelta(days=80)) == 2


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"alert": {"certificate_days": None}}, id="certificate alerts disabled"),
        pytest.param({"alert": {"certificate_days": 14}}, id="reported by a run"),
        pytest.param({"paused_at": timezone.now()}, id="paused monitor"),
        pytest.param({"days": -1}, id="expired certificate"),
        pytest.param({"days": 15}, id="15 days left"),
    ],
)
def test_unneeded_certificate_reminder_is_not_sent(monitor: Monitor, columns: dict[str, Any]) -> None:
    now = timezone.now()
    set_certificate(monitor, now, columns.pop("days", 10), **columns)
    assert notices.mail_certificate_reminders(now) == 0


def test_certificate_alert_prevents_a_reminder(monitor: Monitor) -> None:
    now = timezone.now()
    set_certificate(monitor, now, 2)
    news: Any = {"certificate": {"host": "example.com"}}
    run = monitor.runs.create(due_at=now, not_before=now, status="done", ended_at=now, news=news)
    assert notices.mail_certificate_reminders(now + timedelta(hours=1)) == 0
    run.news = {"certificate": None}
    run.save()
    assert notices.mail_certificate_reminders(now + timedelta(hours=1)) == 2
