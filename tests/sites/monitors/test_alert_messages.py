"""Tests for the texts of grouped alerts."""

from __future__ import annotations

import re

import pytest

from accounts.models import Mail
from sites.monitors.alert_messages import mail_alert
from sites.monitors.alert_schemas import AlertData, AlertProblem
from sites.monitors.headlines import headline_of
from tests.factories import Member, person_of
from tests.sites.monitors.alerted import make_alert, make_problem
from tests.sites.monitors.cast import make_monitor

WWW = "www.example.com"
ENV, GIT = ("Environment file is public", "critical"), ("Git repository is public", "critical")
OUTAGE = make_problem("Unreachable", "critical", WWW, kind="outage")


@pytest.mark.parametrize(
    ("sections", "headline"),
    [
        (([make_problem(*ENV, WWW)], [], []), "Critical: environment file is public \N{EN DASH} www.example.com"),
        (([make_problem(*ENV, *"abcd")], [], []), "Critical: environment file is public \N{EN DASH} 4 sites"),
        (
            (
                [make_problem(*ENV, *"abc"), make_problem(*GIT, *"cd"), make_problem("No HSTS header", "high", "a")],
                [],
                [],
            ),
            "Critical: environment file is public, and 2 more problems \N{EN DASH} 4 sites",
        ),
        (
            ([make_problem("HSTS max-age is short", "low", WWW)], [], []),
            "Low: HSTS max-age is short \N{EN DASH} www.example.com",
        ),
        (([{**OUTAGE, "monitors_total": 200}], [], []), "Unreachable: www.example.com \N{EN DASH} 200 monitors"),
        (([make_problem(*GIT, WWW)], [], []), "Critical: Git repository is public \N{EN DASH} www.example.com"),
        (([OUTAGE, make_problem(*ENV, "a")], [], []), "Unreachable: www.example.com, and 1 more problem"),
        (([], [{**OUTAGE, "monitors_total": 3}], []), "Reachable again: www.example.com \N{EN DASH} 3 monitors"),
        (
            ([], [make_problem(*ENV, WWW, ended_at="2026-11-21T08:00:00Z")], []),
            "Fixed: environment file is public \N{EN DASH} www.example.com",
        ),
        (([], [make_problem(*ENV, WWW)], []), "Better: environment file is public \N{EN DASH} www.example.com"),
        (
            ([], [], [make_problem(*ENV, WWW)]),
            "Fixed meanwhile: environment file is public \N{EN DASH} www.example.com",
        ),
    ],
)
def test_headline_names_the_worst_problem(
    sections: tuple[list[AlertProblem], list[AlertProblem], list[AlertProblem]], headline: str
) -> None:
    assert headline_of(*sections) == headline


def mail_of(home: Member, data: AlertData) -> Mail:
    """Return the e-mail of an alert to a member."""
    ann = person_of(home, "owner", "ann@home.test")
    assert mail_alert(ann, home.organization, [make_monitor(home, recipients=[ann.pk])], data) == 1
    return Mail.objects.get()


@pytest.mark.django_db
def test_mail_contains_fix_and_links(home: Member) -> None:
    mail = mail_of(home, make_alert([make_problem(*ENV, WWW)]))
    links = ("/report/scan_2", "/o/home/mutes/new?scan=scan_2", "check=exposed-git", "/o/home/monitors/1")
    for text in (mail.text, mail.html):
        for phrase in ("Critical", "Environment file is public", "Refuse requests for it.", WWW, *links):
            assert phrase in text
        assert "Unsubscribe from e-mails about the monitor Shop of Home" in text
    assert mail.subject == f"Critical: environment file is public \N{EN DASH} {WWW}"


@pytest.mark.django_db
def test_mail_has_no_mute_link_for_ends(home: Member) -> None:
    fixed = make_problem(*ENV, WWW, ended_at="2026-11-21T08:00:00Z")
    mail = mail_of(home, make_alert([], [fixed], [fixed]))
    assert mail.text.count(f"{WWW}, from 2026-11-21 07:15 UTC to 2026-11-21 08:00 UTC") == 2
    assert "/mutes/new" not in mail.text + mail.html


@pytest.mark.django_db
def test_mail_counts_omitted_problems(home: Member) -> None:
    problem: AlertProblem = {**make_problem(*ENV, WWW), "sites_total": 71}
    data = make_alert([problem])
    data["more"]["problems"] = 4
    mail = mail_of(home, data)
    for text in (mail.text, mail.html):
        assert "and 70 more sites" in text
        assert "and 4 more problems" in text


@pytest.mark.django_db
def test_site_texts_are_escaped_in_mails(home: Member) -> None:
    hostile = '<img src="http://evil.example/x"><a href="http://evil.example">click</a> www.evil.example'
    mail = mail_of(home, make_alert([make_problem(hostile, "high", WWW, note=hostile)]))
    assert "<img" not in mail.html
    for text in (mail.text, mail.html):
        assert "evil.example" not in text
        assert not re.search(r"https?://(?!localhost:8000/|www\.w3\.org/)", text)


@pytest.mark.django_db
def test_addresses_in_mails_can_be_copied(home: Member) -> None:
    note = "ul.rolls > li:nth-child(2) > img:hover, https://www.example.com/rolls.png?v=1.2."
    mail = mail_of(home, make_alert([make_problem("jquery@3.6.0 and app.js", "high", WWW, note=note)]))
    assert "\u2060" not in mail.text
    assert note in mail.text
