"""Tests for the next steps on pages without data."""

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
def empty_organization(home: Member) -> Member:
    """Organization without scans, monitors or keys."""
    ApiKey.objects.all().delete()
    return home


def steps(client: Client) -> list[str]:
    titles = page_of(client.get("/o/home/")).xpath("//*[contains(@class, 'next-steps')]//h3/text()")
    return [str(title) for title in titles]


@pytest.mark.parametrize(
    ("role", "expected"),
    [("owner", ALL), ("admin", ALL), ("member", ["Scan a page", "Watch a site", "Gate a build"]), ("viewer", [])],
)
def test_next_steps_depend_on_the_role(empty_organization: Member, role: str, expected: list[str]) -> None:
    client = browser_of(empty_organization, role)
    assert steps(client) == expected
    for path in page_of(client.get("/o/home/")).xpath("//*[contains(@class, 'next-steps')]//a/@href"):
        assert path.startswith("#") or client.get(path).status_code == 200, path


def test_completed_step_is_hidden(empty_organization: Member) -> None:
    client = browser_of(empty_organization, "admin")
    ApiKey.objects.create(
        organization=empty_organization.organization, name="CI", prefix="wss_x", digest="x", scope="scan"
    )
    assert steps(client) == ["Scan a page", "Watch a site", "Gate a build"]
    empty_organization.key = ApiKey.objects.get()
    make_scan(empty_organization)
    assert steps(client) == ["Watch a site", "Gate a build"]
    make_monitor(empty_organization)
    assert steps(client) == ["Gate a build"]
    ApiKey.objects.update(last_used_at=timezone.now())
    assert steps(client) == []


def test_next_steps_disappear_after_30_days(empty_organization: Member) -> None:
    empty_organization.organization.created_at = timezone.now() - timedelta(days=31)
    empty_organization.organization.save()
    assert steps(browser_of(empty_organization, "owner")) == []


def test_tier_without_monitors_has_no_monitor_step(empty_organization: Member) -> None:
    Tier.objects.update(schedules=0)
    assert steps(browser_of(empty_organization, "member")) == ["Scan a page", "Gate a build"]


def test_next_steps_need_one_query(empty_organization: Member) -> None:
    client = browser_of(empty_organization, "owner")
    client.get("/o/home/")
    with counted() as young:
        client.get("/o/home/")
    empty_organization.organization.created_at = timezone.now() - timedelta(days=31)
    empty_organization.organization.save()
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
def test_empty_page_explains_its_purpose(empty_organization: Member, page: str, purpose: str, action: str) -> None:
    for role, is_offered in (("member", True), ("viewer", False)):
        response = browser_of(empty_organization, role).get(f"/o/home/{page}/")
        (card,) = page_of(response).xpath("//main//*[contains(@class, 'empty')]")
        assert purpose in " ".join(card.text_content().split())
        assert (action in card.xpath(".//a/@href")) == is_offered, role
        assert ("requires the role member" in card.text_content()) != is_offered, role


def test_empty_webhook_list_explains_webhooks(empty_organization: Member) -> None:
    text = text_of(browser_of(empty_organization, "member").get("/o/home/webhooks/"))
    assert "A webhook notifies your own server, Slack or Teams of each result." in text
    assert "curl" not in text
    links = page_of(browser_of(empty_organization, "admin").get("/o/home/webhooks/")).xpath("//main//a/@href")
    assert links == [f"/o/home/webhooks/new/{body_format}" for body_format in ("slack", "teams", "standard")]
