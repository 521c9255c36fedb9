"""Tests for e-mails about monitors."""

from __future__ import annotations

import os
import re
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
from sites.models import Monitor, MonitorRun
from sites.monitors import notices
from sites.monitors.notices import mail_digests
from tests.e2e.pages import Window
from tests.factories import Member, person_of
from tests.sites.monitors.cast import make_monitor

BASE = "http://localhost:8000"
OUTAGE = {"since": "2026-11-21T07:15:00Z", "down_since": "2026-11-21T07:15:00Z", "recovered_at": "2026-11-21T09:00:00Z"}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (390, 700)


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "owner", "ann@home.test")


@pytest.fixture
def monitor(home: Member, ann: User) -> Monitor:
    return make_monitor(home, recipients=[ann.pk, person_of(home, "viewer", "ben@home.test").pk])


def create_run(monitor: Monitor) -> MonitorRun:
    now = timezone.now()
    return MonitorRun.objects.create(monitor=monitor, due_at=now, not_before=now)


def event_data(monitor: Monitor, **changes: Any) -> Any:
    """Return data with the fields of all monitor events.

    Keyword arguments override fields.
    """
    defaults = {
        "monitor_id": monitor.id,
        "name": monitor.name,
        "target": monitor.url,
        "monitor_url": monitor.monitor_url,
        "run": {"audit_id": "aud_1", "audit_url": f"{BASE}/audit/aud_1", "due_at": "2026-11-21T07:15:00Z"},
        "scores": {
            "security": {"before": 92, "after": 80, "grade": "B"},
            "seo": {"before": 97, "after": 97, "grade": "A+"},
        },
        "new": [make_finding("Git repository is public", "critical")],
        "worse": [make_finding("Images without a text alternative", "high", pages_affected=17)],
        "fixed": [make_finding("Cookies without SameSite", "low")],
        "better": [],
        "unreachable_pages": [],
        "reachable_pages": [],
        "more": dict.fromkeys(("new", "fixed", "worse", "better", "unreachable_pages", "reachable_pages"), 0),
        "certificate": None,
        "reasons": ["new_findings", "score_drop"],
    }
    return (
        defaults
        | OUTAGE
        | {"changes": None}
        | {"error": {"code": "TIMEOUT", "message": "example.com did not answer in time."}}
        | changes
    )


def make_finding(title: str, severity: str, pages_affected: int = 1, **changes: Any) -> dict[str, Any]:
    pages = [
        {
            "url": f"https://example.com/{n or ''}",
            "report_url": f"{BASE}/report/scan_2{n or ''}",
            "previous_report_url": f"{BASE}/report/scan_1{n or ''}",
        }
        for n in range(min(pages_affected, 5))
    ]
    message = {"message": "What was seen, in a sentence that has so many words that it takes more than one line."}
    defaults = {"type": "security", "check": "git-directory", "fix": "Refuse requests for it.", "said": ""}
    return {
        **defaults,
        **message,
        "title": title,
        "severity": severity,
        "pages_affected": pages_affected,
        "pages": pages,
    } | changes


CERTIFICATE = {"host": "example.com", "expires_at": "2026-12-01T00:00:00Z", "days_left": 10}


def record_request(urls: list[str], request: Request) -> None:
    urls.append(request.url)


def test_recipient_gets_one_mail(home: Member, monitor: Monitor) -> None:
    run = create_run(monitor)
    assert notices.mail_changes(run, event_data(monitor)) == 2
    assert notices.mail_changes(run, event_data(monitor)) == 0
    mail = Mail.objects.get(user__email="ann@home.test")
    assert mail.subject == "Shop: 1 new problem, 1 worse, 1 fixed"
    assert mail.topic == f"monitor:{monitor.id}"
    links = ("/report/scan_1", "/report/scan_2", "/audit/aud_1", "/o/home/mutes/new?scan=scan_2", "check=git-directory")
    for text in (mail.text, mail.html):
        for phrase in ("Critical", "Git repository is public", *links, monitor.monitor_url):
            assert phrase in text
    assert mail.text.count("/mutes/new") == 2, "what is fixed needs no mute"
    assert "92 -> 80 (B)" in mail.text


def test_mail_shows_three_report_links(monitor: Monitor) -> None:
    title = "Images without alt"
    worse = make_finding(title, "high", 17, type="accessibility", said="1 new place", message="4 images have none.")
    findings = [worse, make_finding(title, "high", type="seo", pages=worse["pages"][4:])]
    notices.mail_changes(create_run(monitor), event_data(monitor, new=[], fixed=[], worse=findings))
    mail = Mail.objects.first()
    assert mail is not None
    assert (
        f"""
- High: {title} (Accessibility)
  1 new place: 4 images have none.
  https://example.com/
    Report: {BASE}/report/scan_2
    Before: {BASE}/report/scan_1
  https://example.com/1
    Report: {BASE}/report/scan_21
    Before: {BASE}/report/scan_11
  https://example.com/2
    Report: {BASE}/report/scan_22
    Before: {BASE}/report/scan_12
  and 14 more pages
"""
        in mail.text
    )
    assert f"- High: {title} (SEO)\n" in mail.text
    assert "https://example.com/3" not in mail.text
    for phrase in (
        "Accessibility",
        "SEO",
        "https://example.com/2: ",
        "/report/scan_22",
        "/report/scan_12",
        "1 new place: 4",
    ):
        assert phrase in mail.html
    assert mail.html.count("and 14 more pages") == 1


def test_unsubscribe_line_names_the_monitor(home: Member, monitor: Monitor) -> None:
    notices.mail_outage(monitor, event_data(monitor))
    mail = Mail.objects.first()
    assert mail is not None
    for text in (mail.text, mail.html):
        assert "Unsubscribe from e-mails about the monitor Shop of Home" in text


def test_addresses_in_mails_can_be_copied(monitor: Monitor) -> None:
    message = "ul.rolls > li:nth-child(2) > img:hover, https://example.com/rolls.png?v=1.2, see example.com."
    notices.mail_changes(
        create_run(monitor), event_data(monitor, new=[make_finding("jquery@3.6.0 and app.js", "high", message=message)])
    )
    mail = Mail.objects.first()
    assert mail is not None
    assert "\u2060" not in mail.text
    assert message in mail.text
    assert "jquery@3.6.0 and app.js" in mail.text


def test_mail_shortens_a_long_list(monitor: Monitor) -> None:
    new = [make_finding(f"Finding {n}.", "low") for n in range(500)]
    notices.mail_changes(create_run(monitor), event_data(monitor, new=new))
    mail = Mail.objects.first()
    assert mail is not None
    assert mail.subject.startswith("Shop: 500 new problems")
    for text in (mail.text, mail.html):
        assert "Finding 9." in text
        assert "Finding 10." not in text
        assert "and 490 more" in text
        assert len(text) < 30_000


def test_mail_counts_omitted_findings(monitor: Monitor) -> None:
    data = event_data(monitor, unreachable_pages=[{"url": "https://example.com/shop"}])
    notices.mail_changes(create_run(monitor), data | {"more": data["more"] | {"new": 40}})
    mail = Mail.objects.first()
    assert mail is not None
    assert mail.subject == "Shop: 41 new problems, 1 worse, 1 fixed, 1 page unreachable"
    assert "and 40 more" in mail.text
    assert "https://example.com/shop" in mail.text
    assert "/shop" in mail.html


def test_expiring_certificate_has_its_own_mail(monitor: Monitor) -> None:
    no_findings: dict[str, Any] = {"new": [], "worse": [], "fixed": [], "reasons": ["certificate"]}
    notices.mail_changes(create_run(monitor), event_data(monitor, certificate=CERTIFICATE, **no_findings))
    mail = Mail.objects.first()
    assert mail is not None
    assert mail.subject == "Shop: the certificate of example.com expires in 10 days"
    assert "2026-12-01" in mail.text


def test_outage_and_recovery_send_one_mail(monitor: Monitor) -> None:
    assert notices.mail_outage(monitor, event_data(monitor)) == 2
    assert notices.mail_outage(monitor, event_data(monitor)) == 0
    Mail.objects.update(sent_at=timezone.now())
    assert notices.mail_recovery(monitor, event_data(monitor)) == 2
    subjects = set(Mail.objects.values_list("subject", flat=True))
    assert subjects == {"Shop: unreachable", "Shop: reachable again"}


def test_recovery_mail_lists_changes(monitor: Monitor) -> None:
    notices.mail_recovery(monitor, event_data(monitor, changes=event_data(monitor)))
    mail = Mail.objects.first()
    assert mail is not None
    assert "Changes in the meantime: 1 new problem, 1 worse, 1 fixed." in mail.text
    assert "/audit/aud_1" in mail.html


def test_used_up_quota_is_reported_monthly(monitor: Monitor) -> None:
    now = timezone.now()
    assert [notices.mail_pause(monitor, now + timedelta(seconds=n)) for n in range(2)] == [2, 0]


def test_former_members_get_no_mail(home: Member, monitor: Monitor) -> None:
    home.organization.membership_set.filter(user__email="ben@home.test").delete()
    assert notices.mail_outage(monitor, event_data(monitor)) == 1


def test_site_texts_are_escaped_in_mails(monitor: Monitor) -> None:
    hostile = '<img src="http://evil.example/x"><a href="http://evil.example">click</a> www.evil.example'
    new = [make_finding(hostile, "high") | {"message": hostile}]
    monitor.name = hostile[:100]
    notices.mail_changes(create_run(monitor), event_data(monitor, new=new))
    mail = Mail.objects.first()
    assert mail is not None
    assert "<img" not in mail.html
    for text in (mail.text, mail.html):
        assert "evil.example" not in text
        assert not re.search(r"https?://(?!localhost:8000/|example\.com/|www\.w3\.org/)", text)


def mails_of_every_kind(home: Member, monitor: Monitor, ann: User) -> Mapping[str, str]:
    """Return the HTML of one mail of every kind, by subject."""
    no_findings: dict[str, Any] = {"new": [], "worse": [], "fixed": [], "reasons": ["certificate"]}
    notices.mail_changes(
        create_run(monitor), event_data(monitor, certificate=CERTIFICATE, name="A shop with a rather long name")
    )
    notices.mail_changes(create_run(monitor), event_data(monitor, certificate=CERTIFICATE, **no_findings))
    notices.mail_outage(monitor, event_data(monitor))
    Mail.objects.update(sent_at=timezone.now())
    notices.mail_recovery(monitor, event_data(monitor))
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
    assert len(mails) == 7

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
