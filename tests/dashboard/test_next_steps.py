"""Next steps on the overview, and empty pages: by role, until a step is done."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey, Tier
from tests.factories import Member, make_scan
from tests.page_reading import browser_of, page_of, text_of
from tests.populated_monitors import make_monitor
from tests.queries import counted

ALL = ["Scan a page", "Watch a site", "Create an API key", "Gate a build"]


@pytest.fixture
def empty(home: Member) -> Member:
    """Organization without scans, monitors and keys."""
    ApiKey.objects.all().delete()
    return home


def steps(client: Client) -> list[str]:
    titles = page_of(client.get("/o/home/")).xpath("//*[contains(@class, 'next-steps')]//h3/text()")
    return [str(title) for title in titles]


@pytest.mark.parametrize(
    ("role", "expected"),
    [("owner", ALL), ("admin", ALL), ("member", ["Scan a page", "Watch a site", "Gate a build"]), ("viewer", [])],
)
def test_next_steps_depend_on_the_role(empty: Member, role: str, expected: list[str]) -> None:
    client = browser_of(empty, role)
    assert steps(client) == expected
    for path in page_of(client.get("/o/home/")).xpath("//*[contains(@class, 'next-steps')]//a/@href"):
        assert path.startswith("#") or client.get(path).status_code == 200, path


def test_done_step_is_no_longer_displayed(empty: Member) -> None:
    client = browser_of(empty, "admin")
    ApiKey.objects.create(organization=empty.organization, name="CI", prefix="wss_x", digest="x", scope="scan")
    assert steps(client) == ["Scan a page", "Watch a site", "Gate a build"]
    empty.key = ApiKey.objects.get()
    make_scan(empty)
    assert steps(client) == ["Watch a site", "Gate a build"]
    make_monitor(empty)
    assert steps(client) == ["Gate a build"]
    ApiKey.objects.update(last_used_at=timezone.now())
    assert steps(client) == []


def test_next_steps_disappear_after_30_days(empty: Member) -> None:
    empty.organization.created_at = timezone.now() - timedelta(days=31)
    empty.organization.save()
    assert steps(browser_of(empty, "owner")) == []


def test_tier_without_monitors_has_no_monitor_step(empty: Member) -> None:
    Tier.objects.update(schedules=0)
    assert steps(browser_of(empty, "member")) == ["Scan a page", "Gate a build"]


def test_next_steps_need_one_query(empty: Member) -> None:
    client = browser_of(empty, "owner")
    client.get("/o/home/")
    with counted() as young:
        client.get("/o/home/")
    empty.organization.created_at = timezone.now() - timedelta(days=31)
    empty.organization.save()
    with counted() as old:
        client.get("/o/home/")
    assert len(young) == len(old) + 1


@pytest.mark.parametrize(
    ("page", "purpose", "action"),
    [
        ("scans", "says what to fix first", "/o/home/scans/new"),
        ("sites", "how their scores change over time", "/o/home/scans/new"),
        ("monitors", "notifies you when something changes", "/o/home/monitors/new"),
        ("mutes", "a finding that you decide to accept", "/o/home/scans/"),
    ],
)
def test_empty_page_explains_its_purpose_and_first_step(empty: Member, page: str, purpose: str, action: str) -> None:
    for role, is_offered in (("member", True), ("viewer", False)):
        response = browser_of(empty, role).get(f"/o/home/{page}/")
        (card,) = page_of(response).xpath("//main//*[contains(@class, 'empty')]")
        assert purpose in " ".join(card.text_content().split())
        assert (action in card.xpath(".//a/@href")) == is_offered, role
        assert ("requires the role member" in card.text_content()) != is_offered, role


def test_empty_webhook_list_explains_webhooks(empty: Member) -> None:
    text = text_of(browser_of(empty, "member").get("/o/home/webhooks/"))
    assert "A webhook tells your own server, Slack or Teams about each result." in text
    assert "curl" not in text
    assert page_of(browser_of(empty, "admin").get("/o/home/webhooks/")).xpath("//main//form[.//*[@name='event']]")
