"""Tests for an organization's login requirements."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django import Settings

from accounts.models import ActivityEvent, Organization, User
from infrastructure.environment import IdentityProvider
from tests.accounts.identity.people import EMAIL, PASSWORD, add_authenticator_app, path_of
from tests.factories import Member, browser_of, finished_scan, person_of

ACME = IdentityProvider("acme", "Acme", "https://id.acme.test", "wss", "secret")
SETTINGS, LOGIN = "/o/home/settings/", "/o/home/settings/login"


@pytest.fixture
def owner(home: Member) -> User:
    return person_of(home, "owner", EMAIL)


@pytest.fixture
def member(home: Member) -> User:
    return person_of(home, "member", "bob@people.test")


def client_of_provider(user: User, provider: str = "acme") -> Client:
    """Return a client that is logged in with the identity provider."""
    client = browser_of(user)
    session = client.session
    session["account_authentication_methods"] = [
        {"method": "socialaccount", "at": session.get("at", 0), "provider": provider, "uid": "1"}
    ]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    return client


def test_owner_needs_a_second_factor_before_requiring_one(home: Member, owner: User) -> None:
    client = browser_of(owner)
    refused = client.post(LOGIN, {"login-second_factor": "on"}).content.decode()
    assert "to your own account first" in refused
    assert not Organization.objects.get(slug="home").second_factor_required
    add_authenticator_app(owner)
    owner.set_password(PASSWORD)
    owner.save()
    client = Client()
    client.post("/login/", {"login": EMAIL, "password": PASSWORD})
    from tests.accounts.identity.people import code

    client.post("/login/code/", {"code": code()})
    assert client.post(LOGIN, {"login-second_factor": "on"})["Location"] == SETTINGS
    assert Organization.objects.get(slug="home").second_factor_required
    event = ActivityEvent.objects.latest("id")
    assert event.details == {"second_factor_required": {"from": False, "to": True}}
    assert client.get(SETTINGS).status_code == 200


def test_member_without_required_second_factor_is_redirected(home: Member, member: User) -> None:
    scan = finished_scan(home)
    Organization.objects.filter(slug="home").update(second_factor_required=True)
    client = browser_of(member)
    for path in ("/o/home/", "/o/home/scans/", f"/report/{scan.id}", f"/report/{scan.id}/export/json"):
        answer = client.get(path)
        assert path_of(answer) == "/account/security/", path
    assert client.post("/o/home/scans/new", {}).status_code == 302
    assert "Home requires a second factor" in client.get("/account/security/").content.decode()
    assert client.get("/organizations/").status_code == 200
    assert client.get("/o/home/", headers={"HX-Request": "true"})["HX-Redirect"] == "/account/security/"
    assert home.api.get("/v1/usage").status_code == 200, "keys are no people"
    add_authenticator_app(member)
    assert client.get("/o/home/").status_code == 200
    Authenticator.objects.exclude(type="recovery_codes").delete()
    assert client.get("/o/home/").status_code == 302


def test_login_requirement_is_hidden_from_outsiders(home: Member, stranger: Member) -> None:
    Organization.objects.update(second_factor_required=True)
    outsider = browser_of(person_of(stranger, "owner", "eve@people.test"))
    assert outsider.get("/o/home/").status_code == 404


def test_shared_report_needs_no_second_factor(home: Member, member: User) -> None:
    scan = finished_scan(home)
    browser_of(member).post(f"/report/{scan.id}/share", {"shared": "on"})
    Organization.objects.filter(slug="home").update(second_factor_required=True)
    assert browser_of(member).get(f"/report/{scan.id}").status_code == 200


def test_members_of_the_login_domain_must_use_the_provider(home: Member, member: User, settings: Settings) -> None:
    settings.OIDC_PROVIDERS = [ACME]
    Organization.objects.filter(slug="home").update(login_provider="acme", login_domain="people.test")
    answer = browser_of(member).get("/o/home/scans/")
    assert answer["Location"] == "/account/again/provider/?provider=acme&next=%2Fo%2Fhome%2Fscans%2F"
    page = browser_of(member).get(answer["Location"]).content.decode()
    assert "Log in with Acme" in page
    assert 'value="/o/home/scans/"' in page
    assert client_of_provider(member).get("/o/home/scans/").status_code == 200
    assert client_of_provider(member, "other").get("/o/home/scans/").status_code == 302
    guest = person_of(home, "member", "guest@elsewhere.test")
    assert browser_of(guest).get("/o/home/scans/").status_code == 200
    settings.OIDC_PROVIDERS = []
    assert "Ask the operator" in browser_of(member).get(answer["Location"]).content.decode()


def test_owner_must_use_the_provider_before_requiring_it(home: Member, owner: User, settings: Settings) -> None:
    form = {"login-provider": "acme", "login-domain": "People.test"}
    settings.OIDC_PROVIDERS = [ACME]
    for client, domain in ((browser_of(owner), "people.test"), (client_of_provider(owner), "ople.test")):
        assert "yourself before you require it" in client.post(LOGIN, form | {"login-domain": domain}).content.decode()
    assert "Enter the domain" in client_of_provider(owner).post(LOGIN, form | {"login-domain": ""}).content.decode()
    assert client_of_provider(owner).post(LOGIN, form)["Location"] == SETTINGS
    organization = Organization.objects.get(slug="home")
    assert (organization.login_provider, organization.login_domain) == ("acme", "people.test")
    assert client_of_provider(owner).post(LOGIN, {"login-provider": ""})["Location"] == SETTINGS
    organization.refresh_from_db()
    assert (organization.login_provider, organization.login_domain) == ("", "")


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/o/home/keys/", {"name": "x", "scope": "read", "lifetime": ""}),
        ("/o/home/webhooks/new/standard", {"url": "https://example.com/x", "event": "scan.completed"}),
        ("/o/home/settings/delete", {"confirmation": "home"}),
        ("/o/home/settings/export", {}),
        (LOGIN, {}),
        ("/account/delete", {"confirmation": EMAIL}),
    ],
)
def test_sensitive_forms_require_reauthentication(home: Member, owner: User, path: str, form: dict[str, str]) -> None:
    owner.set_password(PASSWORD)
    owner.save()
    client = browser_of(owner)
    redirected = client.post(path, form)
    assert path_of(redirected) == "/account/again/"
    response = client.post(redirected["Location"], {"password": PASSWORD})
    assert response.status_code in (200, 302)
    assert client.post(path, form | {"x": ""}).get("Location", "") != redirected["Location"]
