"""Tests for people who belong to several organizations."""

from __future__ import annotations

import pytest
import pytest_django
from django.test import Client
from django.urls import reverse

from accounts import services
from accounts.closing.services import close_organization
from accounts.models import ActivityEvent, ApiKey, Invitation, Membership, Organization, User
from accounts.pages import person
from tests.factories import Member, browser_of, finished_scan, person_of
from tests.page_reading import page_of
from tests.responses import ClientResponse

ADA = "ada@people.test"

PAGES = ("/o/home/members/", "/o/home/settings/", "/o/home/keys/", "/o/home/activity/")


@pytest.mark.parametrize("role", ["viewer", "member"])
def test_refusal_names_the_role(home: Member, role: str) -> None:
    response = browser_of(person_of(home, role, ADA)).get("/o/home/keys/")
    assert f"your role in Home is {role}" in response.content.decode()
    assert "no-store" in response["Cache-Control"]


def test_post_after_session_end_redirects_to_login(db: None, client: Client) -> None:
    assert client.post("/account/")["Location"] == "/login/?next=/dashboard/"


def test_htmx_request_without_session_redirects(db: None, client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/o/home/scans/?type=seo"}
    response = client.get("/o/home/members/", headers=headers)
    assert response["HX-Redirect"] == "/login/?next=/o/home/scans/%3Ftype%3Dseo"
    foreign = client.get("/o/home/members/", headers=headers | {"HX-Current-URL": "https://evil.test/x"})
    assert foreign["HX-Redirect"] == "/login/?next=/dashboard/"


def client_of_both_organizations(home: Member, stranger: Member) -> Client:
    """Return a client of a person who owns both organizations.

    The person joined Home first.
    """
    ada = person_of(home, "owner", ADA)
    Membership.objects.create(organization=stranger.organization, user=ada, role="owner")
    return browser_of(ada)


def test_dashboard_opens_the_selected_organization(home: Member, stranger: Member) -> None:
    client = client_of_both_organizations(home, stranger)
    assert client.get("/dashboard/")["Location"] == "/o/home/"
    switched = client.post("/organizations/switch", {"organization": stranger.organization.pk})
    assert switched["Location"] == "/o/stranger/"
    assert client.get("/dashboard/")["Location"] == "/o/stranger/"


def test_form_ignores_a_switch_in_another_tab(home: Member, stranger: Member) -> None:
    client = client_of_both_organizations(home, stranger)
    one = page_of(client.get("/o/home/members/"))
    (invites,) = one.xpath("//form[.//input[@name='email']]")
    keys = page_of(client.get("/o/home/keys/")).xpath("//form[.//input[@name='name']]/@action")
    settings_page = "/o/home/settings/"
    client.get(settings_page)
    # The other tab switches the organization by the menu and by a report's link.
    client.post("/organizations/switch", {"organization": stranger.organization.pk})
    client.get(f"/report/{finished_scan(stranger).id}")
    address = invites.get("action") or "/o/home/members/"
    client.post(address, {"email": "contractor@alpha.test", "role": "admin"})
    assert Invitation.objects.get().organization == home.organization
    client.post(keys[0], {"name": "CI", "scope": "scan", "lifetime": ""})
    assert ApiKey.objects.get(name="CI").organization == home.organization
    client.post(settings_page, {"name": "Renamed", "shares_reports": "on"})
    assert set(Organization.objects.values_list("name", "shares_reports")) == {("Renamed", True), ("Stranger", False)}


def test_get_request_does_not_switch_organization(home: Member, stranger: Member) -> None:
    client = client_of_both_organizations(home, stranger)
    for page in ("/o/stranger/", "/o/stranger/keys/", f"/report/{finished_scan(stranger).id}", "/organizations/"):
        assert client.get(page).status_code == 200
        assert client.get("/dashboard/")["Location"] == "/o/home/", page


@pytest.mark.parametrize("slug", ["stranger", "nobody-has-this"])
def test_foreign_organization_returns_404(home: Member, stranger: Member, slug: str) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    page = client.get(f"/o/{slug}/members/")
    assert page.status_code == 404
    assert "Stranger" not in page.content.decode()


@pytest.mark.parametrize("sent", ["", "x", "0", "-1", "9" * 30, "٣", None])
def test_switch_to_foreign_organization_returns_404(home: Member, stranger: Member, sent: str | None) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    organization_id = str(stranger.organization.pk) if sent is None else sent
    assert client.post("/organizations/switch", {"organization": organization_id}).status_code == 404
    assert client.get("/dashboard/")["Location"] == "/o/home/"


def test_left_organization_is_no_longer_selected(home: Member, stranger: Member) -> None:
    ada = person_of(home, "viewer", ADA)
    other = Membership.objects.create(organization=stranger.organization, user=ada)
    client = browser_of(ada)
    client.post("/organizations/switch", {"organization": stranger.organization.pk})
    other.delete()
    assert client.get("/dashboard/")["Location"] == "/o/home/"


def test_person_creates_another_organization(home: Member) -> None:
    client = browser_of(person_of(home, "viewer", ADA))
    response = client.post("/organizations/new", {"organization": "Second", "tier": "enterprise"})
    second = Organization.objects.get(name="Second")
    assert response["Location"] == f"/o/{second.slug}/"
    assert (second.tier_id, second.membership_set.get().role) == ("free", "owner")
    assert "Second</title>" in client.get(f"/o/{second.slug}/members/").content.decode()
    assert client.get("/dashboard/")["Location"] == f"/o/{second.slug}/"


def test_owned_organizations_are_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_OWNED_ORGANIZATIONS", 1)
    client = browser_of(person_of(home, "owner", ADA))
    page = client.post("/organizations/new", {"organization": "Second"}).content.decode()
    assert "which is the maximum" in page
    assert not Organization.objects.filter(name="Second").exists()


def test_new_organizations_per_day_are_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "MAX_ORGANIZATIONS_PER_DAY", 2)
    ada = person_of(home, "owner", ADA)
    client = browser_of(ada)

    def create() -> ClientResponse:
        return client.post("/organizations/new", {"organization": "Again"})

    for _ in range(2):
        assert create().status_code == 302
        close_organization(Organization.objects.get(name="Again", closed_at=None))
    refused = create()
    assert (refused.status_code, refused["Retry-After"]) == (429, "86400")
    assert "Try again in a day." in refused.content.decode()
    ada.email = "ada+2@people.test"
    ada.save()
    assert create().status_code == 429
    other = browser_of(person_of(home, "owner", "bob@people.test"))
    assert other.post("/organizations/new", {"organization": "Bob's"}).status_code == 302


def test_closed_sign_up_prevents_new_organizations(home: Member, settings: pytest_django.Settings) -> None:
    settings.SIGN_UP_OPEN = False
    ada = person_of(home, "owner", ADA)
    client = browser_of(ada)
    assert "The operator of this service creates organizations" in client.get("/organizations/new").content.decode()
    assert client.post("/organizations/new", {"organization": "Second"}).status_code == 403
    assert not Organization.objects.filter(name="Second").exists()
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    assert client.post("/organizations/new", {"organization": "Second"}).status_code == 302


def test_person_without_organization_is_redirected(db: None) -> None:
    client = browser_of(User.objects.create_user(ADA))
    assert client.get("/dashboard/")["Location"] == "/organizations/new"
    assert client.get("/organizations/new").status_code == 200
    assert "You are not in any organization" in client.get("/organizations/").content.decode()


def test_leaving_requires_confirmation(home: Member) -> None:
    person_of(home, "owner", "owner@people.test")
    client = browser_of(person_of(home, "member", ADA))
    path = reverse("organization-leave", args=[home.organization.pk])
    assert "Leave Home?" in client.get(path).content.decode()
    assert home.organization.members.count() == 2
    assert client.post(path)["Location"] == "/organizations/"
    assert home.organization.members.count() == 1
    assert client.get(path).status_code == 404


def test_last_owner_cannot_leave_on_the_page(home: Member) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    page = client.post(reverse("organization-leave", args=[home.organization.pk]), follow=True).content.decode()
    assert "needs an owner" in page
    assert home.organization.members.count() == 1


def test_owner_changes_the_settings(home: Member) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    form = {"name": "House", "shares_reports": "on", "tier": "enterprise", "slug": "x"}
    assert client.post("/o/home/settings/", form)["Location"] == "/o/home/settings/"
    home.organization.refresh_from_db()
    assert (home.organization.name, home.organization.shares_reports) == ("House", True)
    assert (home.organization.tier_id, home.organization.slug) == ("free", "home")
    event = ActivityEvent.objects.latest("id")
    assert event.details == {"name": {"from": "Home", "to": "House"}, "shares_reports": {"from": False, "to": True}}
    client.post("/o/home/settings/", form)
    assert ActivityEvent.objects.latest("id") == event, "nothing changed, nothing is noted"


@pytest.mark.parametrize("role", ["admin", "member", "viewer"])
def test_other_roles_cannot_change_the_settings(home: Member, role: str) -> None:
    client = browser_of(person_of(home, role, ADA))
    page = client.get("/o/home/settings/").content.decode()
    assert "0 of 100" in page
    assert 'name="shares_reports"' not in page


def test_hostile_organization_name_is_escaped_on_pages(home: Member) -> None:
    Organization.objects.filter(pk=home.organization.pk).update(name="<img src=x onerror=alert(1)>")
    client = browser_of(person_of(home, "owner", '"><b>"@people.test'))
    for page in [*PAGES, "/account/", "/organizations/"]:
        text = client.get(page).content.decode()
        assert "<img src=x" not in text
        assert '"><b>' not in text
