"""Tests that pages explain reached limits instead of showing a form.

The limits are those of the tier or the service.
"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import Membership, Tier, User
from accounts.pages import keys, organization, person, security
from tests.factories import Member, person_of, register_webhook
from tests.factories import browser_of as browser_of_person
from tests.page_reading import browser_of, page_of, text_of
from tests.populated_monitors import make_monitor

OPERATOR = "The operator of this service sets the plan of Home: ask them for a larger one."


def forms(client: Client, path: str, field: str) -> int:
    """Count the page's forms with this field."""
    return len(page_of(client.get(path)).xpath(f"//main//form[@method='post'][.//*[@name='{field}']]"))


def test_monitor_limit_replaces_the_form(home: Member) -> None:
    client = browser_of(home, "member")
    assert forms(client, "/o/home/monitors/new", "every") == 1
    make_monitor(home)
    for path in ("/o/home/monitors/new", "/o/home/monitors/"):
        text = text_of(client.get(path))
        assert "All 1 monitor of your plan are in use" not in text
        assert "The only monitor of your plan is in use" in text, path
        assert f"Delete one to add another. {OPERATOR}" in text, path
    assert forms(client, "/o/home/monitors/new", "every") == 0
    assert "in use" not in text_of(browser_of(home, "viewer").get("/o/home/monitors/")).split("monitor in your plan")[0]


def test_webhook_limit_replaces_the_form(home: Member, target: str) -> None:
    client = browser_of(home, "admin")
    for n in range(3):
        assert forms(client, "/o/home/webhooks/new/standard", "event") == 1
        register_webhook(home, f"{target}{n}")
    assert forms(client, "/o/home/webhooks/new/standard", "event") == 0
    for path in ("/o/home/webhooks/", "/o/home/webhooks/new/standard"):
        text = text_of(client.get(path))
        assert f"All 3 webhooks of your plan are in use Delete one to add another. {OPERATOR}" in text
    refused = client.post("/o/home/webhooks/new/standard", {"url": f"{target}late", "event": "scan.failed"})
    assert page_of(refused).xpath("string(//input[@name='url']/@value)") == f"{target}late", "the input stays"


@pytest.mark.parametrize("things", ["monitors", "webhooks"])
def test_page_says_if_the_tier_has_no_monitors(home: Member, things: str) -> None:
    Tier.objects.filter(name="free").update(schedules=0, webhooks=0)
    text = text_of(browser_of(home, "admin").get(f"/o/home/{things}/"))
    assert f"Your plan has no {things}" in text
    assert OPERATOR in text


def test_limits_link_staff_to_the_admin(home: Member, target: str) -> None:
    make_monitor(home)
    operator = person_of(home, "owner", "operator@people.test")
    link = f"/admin/accounts/organization/{home.organization.pk}/change/"
    pages = ("/o/home/monitors/new", "/o/home/settings/")
    assert [link in browser_of_person(operator).get(path).content.decode() for path in pages] == [False, False]
    operator.is_staff = True
    operator.save()
    operator.user_permissions.add(Permission.objects.get(codename="change_organization"))
    assert [link in browser_of_person(operator).get(path).content.decode() for path in pages] == [True, True]


def test_service_limits_hide_forms(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "MAX_ACTIVE_KEYS", 1)
    monkeypatch.setattr(organization, "MAX_OPEN_INVITATIONS", 0)
    monkeypatch.setattr(person, "MAX_OWNED_ORGANIZATIONS", 1)
    monkeypatch.setattr(security, "MAX_PASSKEYS", 0)
    client = browser_of(home, "owner")
    assert "Revoke one to create another." in text_of(client.get("/o/home/keys/"))
    assert forms(client, "/o/home/keys/", "scope") == 0
    assert forms(client, "/o/home/members/", "email") == 0
    assert "You own 1 organizations" not in text_of(client.get("/organizations/new"))
    assert "which is the maximum" in text_of(client.get("/organizations/new"))
    assert forms(client, "/organizations/new", "organization") == 0
    assert "/account/security/passkeys/add/" not in client.get("/account/security/").content.decode()
    assert Membership.objects.filter(user=User.objects.get()).count() == 1


def test_settings_list_the_limits_of_the_tier(home: Member) -> None:
    text = text_of(browser_of(home, "viewer").get("/o/home/settings/"))
    assert "Monitors 1, each run at most every day" in text
    assert "Pages per scan of a site 10" in text
    assert "The operator of this service sets the plan." in text
