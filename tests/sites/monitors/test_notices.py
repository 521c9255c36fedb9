"""E-mails of monitors: sent once, to the recipients, with text and HTML that suit any mail program."""

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
from sites.monitors.notices import post_digests
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


def run_of(monitor: Monitor) -> MonitorRun:
    now = timezone.now()
    return MonitorRun.objects.create(monitor=monitor, due_at=now, not_before=now)


def data_of(monitor: Monitor, **given: Any) -> Any:
    """Return the data of any event of a monitor: each mail reads its own part of it."""
    usual = {
        "monitor_id": monitor.id,
        "name": monitor.name,
        "target": monitor.url,
        "monitor_url": monitor.monitor_url,
        "run": {"audit_id": "aud_1", "audit_url": f"{BASE}/audit/aud_1", "due_at": "2026-11-21T07:15:00Z"},
        "scores": {
            "security": {"before": 92, "after": 80, "grade": "B"},
            "seo": {"before": 97, "after": 97, "grade": "A+"},
        },
        "new": [finding("Git repository is public", "critical")],
        "worse": [finding("Images without a text alternative", "high", pages_affected=17)],
        "fixed": [finding("Cookies without SameSite", "low")],
        "better": [],
        "unreachable_pages": [],
        "reachable_pages": [],
        "more": dict.fromkeys(("new", "fixed", "worse", "better", "unreachable_pages", "reachable_pages"), 0),
        "certificate": None,
        "reasons": ["new_findings", "score_drop"],
    }
    return (
        usual
        | OUTAGE
        | {"changes": None}
        | {"error": {"code": "TIMEOUT", "message": "example.com did not answer in time."}}
        | given
    )


def finding(title: str, severity: str, pages_affected: int = 1, **given: Any) -> dict[str, Any]:
    pages = [
        {
            "url": f"https://example.com/{n or ''}",
            "report_url": f"{BASE}/report/scan_2{n or ''}",
            "previous_report_url": f"{BASE}/report/scan_1{n or ''}",
        }
        for n in range(min(pages_affected, 5))
    ]
    said = {"message": "What was seen, in a sentence that has so many words that it takes more than one line."}
    known = {"type": "security", "check": "git-directory", "fix": "Refuse requests for it.", "said": ""}
    return {
        **known,
        **said,
        "title": title,
        "severity": severity,
        "pages_affected": pages_affected,
        "pages": pages,
    } | given


CERTIFICATE = {"host": "example.com", "expires_at": "2026-12-01T00:00:00Z", "days_left": 10}


def note_request(asked: list[str], request: Request) -> None:
    asked.append(request.url)


def test_each_recipient_gets_one_mail_with_links_to_both_reports(home: Member, monitor: Monitor) -> None:
    run = run_of(monitor)
    assert notices.post_changed(run, data_of(monitor)) == 2
    assert notices.post_changed(run, data_of(monitor)) == 0
    mail = Mail.objects.get(user__email="ann@home.test")
    assert mail.subject == "Shop: 1 new problem, 1 worse, 1 fixed"
    assert mail.topic == f"monitor:{monitor.id}"
    links = ("/report/scan_1", "/report/scan_2", "/audit/aud_1", "/o/home/mutes/new?scan=scan_2", "check=git-directory")
    for text in (mail.text, mail.html):
        for said in ("Critical", "Git repository is public", *links, monitor.monitor_url):
            assert said in text
    assert mail.text.count("/mutes/new") == 2, "what is fixed needs no mute"
    assert "92 -> 80 (B)" in mail.text


def test_finding_in_mail_has_type_and_three_pages_with_reports(monitor: Monitor) -> None:
    title = "Images without alt"
    worse = finding(title, "high", 17, type="accessibility", said="1 new place", message="4 images have none.")
    found = [worse, finding(title, "high", type="seo", pages=worse["pages"][4:])]
    notices.post_changed(run_of(monitor), data_of(monitor, new=[], fixed=[], worse=found))
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
    for said in (
        "Accessibility",
        "SEO",
        "https://example.com/2: ",
        "/report/scan_22",
        "/report/scan_12",
        "1 new place: 4",
    ):
        assert said in mail.html
    assert mail.html.count("and 14 more pages") == 1


def test_unsubscribe_line_names_the_monitor(home: Member, monitor: Monitor) -> None:
    notices.post_failed(monitor, data_of(monitor))
    mail = Mail.objects.first()
    assert mail is not None
    for text in (mail.text, mail.html):
        assert "Unsubscribe from e-mails about the monitor Shop of Home" in text


def test_addresses_copied_from_a_mail_are_exact(monitor: Monitor) -> None:
    said = "ul.rolls > li:nth-child(2) > img:hover, https://example.com/rolls.png?v=1.2, see example.com."
    notices.post_changed(
        run_of(monitor), data_of(monitor, new=[finding("jquery@3.6.0 and app.js", "high", message=said)])
    )
    mail = Mail.objects.first()
    assert mail is not None
    assert "\u2060" not in mail.text
    assert said in mail.text
    assert "jquery@3.6.0 and app.js" in mail.text


def test_long_list_in_a_mail_is_cut_with_a_count(monitor: Monitor) -> None:
    new = [finding(f"Finding {n}.", "low") for n in range(500)]
    notices.post_changed(run_of(monitor), data_of(monitor, new=new))
    mail = Mail.objects.first()
    assert mail is not None
    assert mail.subject.startswith("Shop: 500 new problems")
    for text in (mail.text, mail.html):
        assert "Finding 9." in text
        assert "Finding 10." not in text
        assert "and 490 more" in text
        assert len(text) < 30_000


def test_mail_counts_findings_that_the_event_omits(monitor: Monitor) -> None:
    data = data_of(monitor, unreachable_pages=[{"url": "https://example.com/shop"}])
    notices.post_changed(run_of(monitor), data | {"more": data["more"] | {"new": 40}})
    mail = Mail.objects.first()
    assert mail is not None
    assert mail.subject == "Shop: 41 new problems, 1 worse, 1 fixed, 1 page unreachable"
    assert "and 40 more" in mail.text
    assert "https://example.com/shop" in mail.text
    assert "/shop" in mail.html


def test_expiring_certificate_has_its_own_mail(monitor: Monitor) -> None:
    nothing: dict[str, Any] = {"new": [], "worse": [], "fixed": [], "reasons": ["certificate"]}
    notices.post_changed(run_of(monitor), data_of(monitor, certificate=CERTIFICATE, **nothing))
    mail = Mail.objects.first()
    assert mail is not None
    assert mail.subject == "Shop: the certificate of example.com expires in 10 days"
    assert "2026-12-01" in mail.text


def test_outage_and_recovery_send_one_mail_each(monitor: Monitor) -> None:
    assert notices.post_failed(monitor, data_of(monitor)) == 2
    assert notices.post_failed(monitor, data_of(monitor)) == 0
    Mail.objects.update(sent_at=timezone.now())
    assert notices.post_recovered(monitor, data_of(monitor)) == 2
    subjects = set(Mail.objects.values_list("subject", flat=True))
    assert subjects == {"Shop: unreachable", "Shop: reachable again"}


def test_mail_of_a_recovery_lists_changes_during_the_outage(monitor: Monitor) -> None:
    notices.post_recovered(monitor, data_of(monitor, changes=data_of(monitor)))
    mail = Mail.objects.first()
    assert mail is not None
    assert "Changes in the meantime: 1 new problem, 1 worse, 1 fixed." in mail.text
    assert "/audit/aud_1" in mail.html


def test_used_up_quota_is_reported_once_a_month(monitor: Monitor) -> None:
    now = timezone.now()
    assert [notices.post_paused(monitor, now + timedelta(seconds=n)) for n in range(2)] == [2, 0]


def test_former_members_get_no_mail(home: Member, monitor: Monitor) -> None:
    home.organization.membership_set.filter(user__email="ben@home.test").delete()
    assert notices.post_failed(monitor, data_of(monitor)) == 1


def test_texts_of_a_site_are_escaped_in_mails(monitor: Monitor) -> None:
    hostile = '<img src="http://evil.example/x"><a href="http://evil.example">click</a> www.evil.example'
    new = [finding(hostile, "high") | {"message": hostile}]
    monitor.name = hostile[:100]
    notices.post_changed(run_of(monitor), data_of(monitor, new=new))
    mail = Mail.objects.first()
    assert mail is not None
    assert "<img" not in mail.html
    for text in (mail.text, mail.html):
        assert "evil.example" not in text
        assert not re.search(r"https?://(?!localhost:8000/|example\.com/|www\.w3\.org/)", text)


def everything(home: Member, monitor: Monitor, ann: User) -> Mapping[str, str]:
    """Return the HTML of one mail of every kind, by its template."""
    nothing: dict[str, Any] = {"new": [], "worse": [], "fixed": [], "reasons": ["certificate"]}
    notices.post_changed(
        run_of(monitor), data_of(monitor, certificate=CERTIFICATE, name="A shop with a rather long name")
    )
    notices.post_changed(run_of(monitor), data_of(monitor, certificate=CERTIFICATE, **nothing))
    notices.post_failed(monitor, data_of(monitor))
    Mail.objects.update(sent_at=timezone.now())
    notices.post_recovered(monitor, data_of(monitor))
    notices.post_paused(monitor, timezone.now())
    Membership.objects.filter(user=ann).update(weekly_digest=True)
    scores: Any = {"security": {"score": 80, "grade": "B"}, "seo": {"score": None, "grade": None}}
    monitor.scores = scores
    monitor.failing_since = monitor.certificate_expires_at = timezone.now()
    monitor.save()
    post_digests(timezone.now())
    attempt = {"at": timezone.now(), "error_message": "The receiver answered 500."}
    webhook = {
        "id": "wh_1",
        "url": "https://hooks.example.com/a/rather/long/path/that/has/no/blank",
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
def test_mails_are_readable_in_both_themes_on_narrow_screens(
    browser: Window, home: Member, monitor: Monitor, ann: User
) -> None:
    mails = everything(home, monitor, ann)
    assert len(mails) == 7

    def look(chromium: Browser) -> dict[str, object]:
        found: dict[str, object] = {}
        for number, (subject, html) in enumerate(mails.items()):
            for theme in THEMES:
                page = chromium.new_page(color_scheme=theme)
                asked: list[str] = []
                page.on("request", partial(note_request, asked))
                page.set_content(html)
                for width in WIDTHS:
                    page.set_viewport_size({"width": width, "height": 900})
                    name = f"{subject}, {theme} at {width}"
                    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                        found[name] = "scrolls sideways"
                    if pictures := os.environ.get("MAIL_PICTURES"):
                        page.screenshot(path=Path(pictures) / f"{number}-{width}-{theme}.png", full_page=True)
                page.evaluate(AXE_SCRIPT)
                # A mail is embedded in a mail program's page, so it needs no landmarks.
                options = {"rules": {"region": {"enabled": False}, "landmark-one-main": {"enabled": False}}}
                results = page.evaluate("options => axe.run(document, options)", options)
                if results["violations"]:
                    found[f"{subject}, {theme}"] = [
                        (each["id"], each["nodes"][0]["html"]) for each in results["violations"]
                    ]
                if asked:
                    found[f"{subject} loads"] = asked
                page.close()
        return found

    assert browser.do(look) == {}


def certified(monitor: Monitor, now: datetime, days: float, **columns: Any) -> None:
    """Set the monitor's certificate as if a run had seen one that expires in `days`."""
    monitor.alert = {"certificate_days": 21} | columns.pop("alert", {})
    monitor.certificate_host, monitor.certificate_expires_at = "example.com", now + timedelta(days=days)
    for name, value in columns.items():
        setattr(monitor, name, value)
    monitor.save()


def test_each_reminder_of_an_expiring_certificate_is_sent_once(monitor: Monitor) -> None:
    now = timezone.now()
    seen = monitor.runs.create(due_at=now, not_before=now, status="done", ended_at=now - timedelta(days=2))
    certified(monitor, now, 20)
    sent = {}
    for hour in range(20 * 24 + 48):
        if written := notices.post_certificates(now + timedelta(hours=hour)):
            sent[hour] = written
    assert sent == {6 * 24 + 1: 2, 17 * 24 + 1: 2}
    first, last = (mail.text for mail in Mail.objects.filter(user__email="ann@home.test").order_by("created_at"))
    assert "The certificate of" in first
    assert "expires in 13 days" in first
    assert "expires in 2 days" in last
    assert f"The monitor last saw it on {seen.ended_at:%Y-%m-%d %H:%M} UTC." in last


def test_renewed_certificate_has_its_own_reminders(monitor: Monitor) -> None:
    now = timezone.now()
    certified(monitor, now, 2)
    assert notices.post_certificates(now) == 2
    certified(monitor, now, 90)
    assert notices.post_certificates(now) == 0
    assert notices.post_certificates(now + timedelta(days=80)) == 2


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"alert": {"certificate_days": None}}, id="they want no calls"),
        pytest.param({"alert": {"certificate_days": 14}}, id="the run tells on that day"),
        pytest.param({"paused_at": timezone.now()}, id="nobody looks whether it was renewed"),
        pytest.param({"days": -1}, id="it has ended, which the report says"),
        pytest.param({"days": 15}, id="there is time"),
    ],
)
def test_renewed_certificate_cancels_the_reminder(monitor: Monitor, columns: dict[str, Any]) -> None:
    now = timezone.now()
    certified(monitor, now, columns.pop("days", 10), **columns)
    assert notices.post_certificates(now) == 0


def test_recipient_notified_by_a_run_today_gets_no_reminder(monitor: Monitor) -> None:
    now = timezone.now()
    certified(monitor, now, 2)
    news: Any = {"certificate": {"host": "example.com"}}
    run = monitor.runs.create(due_at=now, not_before=now, status="done", ended_at=now, news=news)
    assert notices.post_certificates(now + timedelta(hours=1)) == 0
    run.news = {"certificate": None}
    run.save()
    assert notices.post_certificates(now + timedelta(hours=1)) == 2
