"""Tests for the time zone of a person's pages and e-mails."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.mailing import filters, outbox
from accounts.models import LoginSession, Mail, User
from infrastructure.time_zones import time_zones
from infrastructure.web.time_zones import reader_zone, reading_in, with_zone
from tests.accounts.mailing.conftest import CONTEXT
from tests.factories import Member, browser_of, person_of

WINTER = datetime(2026, 11, 29, 13, 5, tzinfo=UTC)


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "owner", "ann@home.test")


@pytest.fixture
def browser(ann: User) -> Client:
    return browser_of(ann)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Europe/Berlin", "2026-11-29 14:05 CET"),
        ("America/Sao_Paulo", "2026-11-29 10:05 UTC-03"),
        ("UTC", "2026-11-29 13:05 UTC"),
        ("", "2026-11-29 13:05 UTC"),
        ("Nowhere/City", "2026-11-29 13:05 UTC"),
    ],
)
def test_times_name_the_reader_time_zone(zone: str, text: str) -> None:
    with reading_in(zone):
        assert with_zone(WINTER) == text
        assert filters.minute("2026-11-29T13:05:00Z") == text
    assert reader_zone() == ""


def test_mail_shows_times_in_the_recipient_time_zone(home: Member, ann: User) -> None:
    ann.time_zone = "Europe/Berlin"
    ann.save()
    topic = f"webhooks:{home.organization.pk}"
    outbox.post(
        to=ann,
        template="webhook_disabled",
        subject="News",
        topic=topic,
        organization=home.organization,
        context=CONTEXT,
    )
    mail = Mail.objects.get()
    assert "2026-11-21 08:15 CET" in mail.text
    assert "2026-11-21 08:15 CET" in mail.html


def test_account_page_saves_the_time_zone(ann: User, browser: Client) -> None:
    response = browser.post("/account/time-zone", {"time_zone": "Asia/Kolkata"}, follow=True)
    page = response.content.decode()
    assert "The time zone has been saved." in page
    assert 'data-time-zone="Asia/Kolkata"' in page
    assert User.objects.get(id=ann.pk).time_zone == "Asia/Kolkata"


def test_account_page_refuses_unknown_time_zones(ann: User, browser: Client) -> None:
    response = browser.post("/account/time-zone", {"time_zone": "../../etc/passwd"}, follow=True)
    assert "Choose a time zone from the list." in response.content.decode()
    assert User.objects.get(id=ann.pk).time_zone == ""


def test_pages_show_times_in_the_chosen_time_zone(ann: User, browser: Client) -> None:
    User.objects.filter(id=ann.pk).update(time_zone="Europe/Berlin")
    LoginSession.objects.update(created_at=WINTER)
    page = browser.get("/account/").content.decode()
    assert '<time datetime="2026-11-29T13:05:00Z" title="2026-11-29 14:05 CET">2026-11-29 14:05</time>' in page
    assert "Since (CE" in page


def test_next_request_does_not_inherit_the_time_zone(ann: User, browser: Client) -> None:
    User.objects.filter(id=ann.pk).update(time_zone="Europe/Berlin")
    assert b"data-time-zone" in browser.get("/account/").content
    browser.logout()
    assert b"data-time-zone" not in browser.get("/login/").content


@pytest.mark.parametrize("path", ["monitors/new", "lists/new"])
def test_new_forms_start_with_the_person_time_zone(home: Member, ann: User, browser: Client, path: str) -> None:
    User.objects.filter(id=ann.pk).update(time_zone="Asia/Tokyo")
    page = browser.get(f"/o/{home.organization.slug}/{path}").content.decode()
    assert "<option selected>Asia/Tokyo</option>" in page


def test_list_of_time_zones_has_no_machine_aliases() -> None:
    assert "Europe/Berlin" in time_zones()
    assert "localtime" not in time_zones()
