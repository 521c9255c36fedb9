"""Several organizations a person: which one a page is about, and how to get another."""

from __future__ import annotations

import pytest
import pytest_django
from django.test import Client
from django.urls import reverse

from accounts import services
from accounts.models import AuditEvent, Membership, Organization, User
from tests.world import Member, browser_of, person_of

ADA = "ada@people.test"

# The pages of an organization with the lowest role that gets in.
PAGES = {
    "/dashboard/members/": "viewer",
    "/dashboard/settings/": "viewer",
    "/dashboard/keys/": "admin",
    "/dashboard/audit/": "admin",
}
RANKS = ("viewer", "member", "admin", "owner")


@pytest.mark.parametrize("role", RANKS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_takes_a_role(home: Member, page: str, role: str) -> None:
    client = browser_of(person_of(home, role, ADA))
    response = client.get(page)
    allowed = RANKS.index(role) >= RANKS.index(PAGES[page])
    assert response.status_code == (200 if allowed else 403)
    assert "no-store" in response["Cache-Control"]
    if not allowed:
        assert f"in Home you are {role}" in response.content.decode()


@pytest.mark.parametrize("page", [*PAGES, "/account/", "/dashboard/organizations/", "/dashboard/organizations/new"])
def test_strangers_get_to_the_login_and_back(db: None, client: Client, page: str) -> None:
    response = client.get(page + "?a=b")
    assert response["Location"] == f"/login/?next={page}%3Fa%3Db"
    posted = client.post(page)
    assert posted.status_code in (302, 405)
    if posted.status_code == 302:
        assert posted["Location"] == "/login/?next=/dashboard/"


def test_a_fragment_is_not_answered_with_the_login_page(db: None, client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/dashboard/scans/?type=seo"}
    response = client.get("/dashboard/members/", headers=headers)
    assert response["HX-Redirect"] == "/login/?next=/dashboard/scans/%3Ftype%3Dseo"
    foreign = client.get("/dashboard/members/", headers=headers | {"HX-Current-URL": "https://evil.test/x"})
    assert foreign["HX-Redirect"] == "/login/?next=/dashboard/"


def test_the_first_organization_is_the_current_one_until_another_is_chosen(home: Member, stranger: Member) -> None:
    ada = person_of(home, "viewer", ADA)
    Membership.objects.create(organization=stranger.organization, user=ada, role="owner")
    client = browser_of(ada)
    assert "Home</title>" in client.get("/dashboard/members/").content.decode()
    switched = client.post("/dashboard/organizations/switch", {"organization": stranger.organization.pk})
    assert switched["Location"] == "/dashboard/"
    assert "Stranger</title>" in client.get("/dashboard/members/").content.decode()


@pytest.mark.parametrize("sent", ["", "x", "0", "-1", "9" * 30, "٣", None])
def test_nobody_switches_to_what_is_not_theirs(home: Member, stranger: Member, sent: str | None) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    chosen = str(stranger.organization.pk) if sent is None else sent
    assert client.post("/dashboard/organizations/switch", {"organization": chosen}).status_code == 404
    assert "Home</title>" in client.get("/dashboard/members/").content.decode()


def test_a_choice_that_is_no_longer_theirs_is_forgotten(home: Member, stranger: Member) -> None:
    ada = person_of(home, "viewer", ADA)
    other = Membership.objects.create(organization=stranger.organization, user=ada)
    client = browser_of(ada)
    client.post("/dashboard/organizations/switch", {"organization": stranger.organization.pk})
    other.delete()
    assert "Home</title>" in client.get("/dashboard/members/").content.decode()


def test_a_person_makes_another_organization(home: Member) -> None:
    client = browser_of(person_of(home, "viewer", ADA))
    response = client.post("/dashboard/organizations/new", {"organization": "Second", "tier": "enterprise"})
    assert response["Location"] == "/dashboard/"
    second = Organization.objects.get(name="Second")
    assert (second.tier_id, second.membership_set.get().role) == ("free", "owner")
    assert "Second</title>" in client.get("/dashboard/members/").content.decode()


def test_one_person_owns_a_bounded_number(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_OWNED_ORGANIZATIONS", 1)
    client = browser_of(person_of(home, "owner", ADA))
    page = client.post("/dashboard/organizations/new", {"organization": "Second"}).content.decode()
    assert "which is the most" in page
    assert not Organization.objects.filter(name="Second").exists()


def test_where_sign_up_is_closed_only_operators_make_organizations(
    home: Member, settings: pytest_django.fixtures.SettingsWrapper
) -> None:
    settings.SIGN_UP_OPEN = False
    ada = person_of(home, "owner", ADA)
    client = browser_of(ada)
    assert "made by the operator" in client.get("/dashboard/organizations/new").content.decode()
    assert client.post("/dashboard/organizations/new", {"organization": "Second"}).status_code == 403
    assert not Organization.objects.filter(name="Second").exists()
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    assert client.post("/dashboard/organizations/new", {"organization": "Second"}).status_code == 302


def test_who_belongs_nowhere_is_shown_how_to_begin(db: None) -> None:
    client = browser_of(User.objects.create_user(ADA))
    for page in PAGES:
        assert client.get(page)["Location"] == "/dashboard/organizations/new"
    assert client.get("/dashboard/organizations/new").status_code == 200
    assert "You belong to no organization" in client.get("/dashboard/organizations/").content.decode()


def test_leaving_takes_a_confirmation(home: Member) -> None:
    person_of(home, "owner", "owner@people.test")
    client = browser_of(person_of(home, "member", ADA))
    path = reverse("organization-leave", args=[home.organization.pk])
    assert "Leave Home?" in client.get(path).content.decode()
    assert home.organization.members.count() == 2
    assert client.post(path)["Location"] == "/dashboard/organizations/"
    assert home.organization.members.count() == 1
    assert client.get(path).status_code == 404


def test_the_last_owner_is_told_why_not(home: Member) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    page = client.post(reverse("organization-leave", args=[home.organization.pk]), follow=True).content.decode()
    assert "needs an owner" in page
    assert home.organization.members.count() == 1


def test_an_owner_changes_the_settings(home: Member) -> None:
    client = browser_of(person_of(home, "owner", ADA))
    form = {"name": "House", "shares_reports": "on", "tier": "enterprise", "slug": "x"}
    assert client.post("/dashboard/settings/", form)["Location"] == "/dashboard/settings/"
    home.organization.refresh_from_db()
    assert (home.organization.name, home.organization.shares_reports) == ("House", True)
    assert (home.organization.tier_id, home.organization.slug) == ("free", "home")
    event = AuditEvent.objects.latest("id")
    assert event.details == {"name": {"from": "Home", "to": "House"}, "shares_reports": {"from": False, "to": True}}
    client.post("/dashboard/settings/", form)
    assert AuditEvent.objects.latest("id") == event, "nothing changed, nothing is noted"


@pytest.mark.parametrize("role", ["admin", "member", "viewer"])
def test_others_only_see_them(home: Member, role: str) -> None:
    client = browser_of(person_of(home, role, ADA))
    page = client.get("/dashboard/settings/").content.decode()
    assert "0 of 100" in page
    assert 'name="shares_reports"' not in page
    assert client.post("/dashboard/settings/", {"name": "Mine"}).status_code == 403
    home.organization.refresh_from_db()
    assert home.organization.name == "Home"


def test_hostile_names_stay_text(home: Member) -> None:
    Organization.objects.filter(pk=home.organization.pk).update(name="<img src=x onerror=alert(1)>")
    client = browser_of(person_of(home, "owner", '"><b>"@people.test'))
    for page in [*PAGES, "/account/", "/dashboard/organizations/"]:
        shown = client.get(page).content.decode()
        assert "<img src=x" not in shown
        assert '"><b>' not in shown


@pytest.mark.parametrize("page", [*PAGES, "/account/", "/dashboard/organizations/"])
def test_pages_ask_few_queries(
    home: Member, stranger: Member, page: str, django_assert_max_num_queries: object
) -> None:
    ada = person_of(home, "owner", ADA)
    Membership.objects.create(organization=stranger.organization, user=ada)
    client = browser_of(ada)
    with django_assert_max_num_queries(7):  # type: ignore[operator]
        assert client.get(page).status_code == 200
