"""Sudo mode: every view that gives access beyond the session asks for the password or a factor again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.test import Client, override_settings
from django.views.generic import RedirectView

from accounts.models import Invitation, Membership, Organization, User
from infrastructure.environment import IdentityProvider
from sites.models import Badge
from tests.accounts.identity.people import PASSWORD, add_app, recovery_codes
from tests.factories import Member, browser_of, person_of
from tests.populated import Furnished, furnish
from tests.responses import ClientResponse
from tests.router import ADMIN, API, address, views
from tests.test_who_sees_what import FIELDS
from webhooks.models import Webhook

AGAIN = "/account/again/"
PROVIDER = IdentityProvider("acme", "Acme", "https://id.example.com", "wss", "secret")


def declared(view: Any) -> bool | None:
    """Return whether the view says that it asks again; None if it says nothing."""
    found = getattr(view, "fresh_login", getattr(getattr(view, "view_class", None), "fresh_login", None))
    assert found in (True, False, None)
    return found


def pages() -> Iterator[tuple[str, Any]]:
    """Yield routes and views of pages. The API accepts no session, and redirects change nothing."""
    for route, view in views():
        is_redirect = getattr(view, "view_class", None) is RedirectView
        if not route.startswith((ADMIN, *API)) and not is_redirect:
            yield route, view


def stale(person: User) -> Client:
    """Return a browser in which the person logged in longer ago than a proof counts."""
    client = browser_of(person)
    session = client.session
    at = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT - 1
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": at, "reauthenticated": True}]
    session.save()
    return client


def asks(response: ClientResponse) -> bool:
    return response.headers.get("Location", "").startswith(AGAIN)


@pytest.fixture
def furnished(db: None) -> Furnished:
    """Organization whose owner has a password and all factors."""
    found = furnish(3)
    owner = found.people["owner"]
    owner.set_password(PASSWORD)
    owner.is_staff = owner.is_superuser = True
    owner.save()
    add_app(owner)
    recovery_codes(owner)
    passkey = Authenticator.objects.create(user=owner, type="webauthn", data={"name": "Phone", "credential": {}})
    return Furnished(found.home, found.people, {**found.ids, "pk": passkey.pk})


def post(client: Client, path: str, fields: dict[str, Any]) -> ClientResponse:
    """Send a POST request and roll back its changes."""
    session = client.cookies["sessionid"].value if "sessionid" in client.cookies else None
    with transaction.atomic():
        response: ClientResponse = client.post(path, fields)
        transaction.set_rollback(True)
    if session:
        client.cookies["sessionid"] = session
    return response


@override_settings(OIDC_PROVIDERS=[PROVIDER])
def test_every_view_that_takes_a_post_declares_whether_it_asks_again(furnished: Furnished) -> None:
    undeclared, idle = [], []
    clients = Client(), stale(furnished.people["owner"])
    for route, view in pages():
        refused = 405 in {post(client, address(route, furnished.ids), {}).status_code for client in clients}
        if not refused and declared(view) is None:
            undeclared.append(route)
        if refused and declared(view) is not None:
            idle.append(route)
    assert (undeclared, idle) == ([], [])


def test_what_is_declared_is_what_happens(furnished: Furnished) -> None:
    client = stale(furnished.people["owner"])
    wrong = []
    for route, view in pages():
        if declared(view) is not None and not address(route, furnished.ids).startswith(AGAIN):
            fields = {name: value.format(**furnished.ids) for name, value in FIELDS.get(route, {}).items()}
            if asks(post(client, address(route, furnished.ids), fields)) != declared(view):
                wrong.append(route)
    assert wrong == []


def test_every_change_in_the_admin_asks_again(furnished: Furnished) -> None:
    client = stale(furnished.people["owner"])
    ids = {**furnished.ids, "object_id": 1, "id": 1, "content_type_id": 1}
    paths = {address(route, ids) for route, _ in views() if route.startswith(ADMIN)}
    ours = {"/admin/login/", "/admin/logout/", "/admin/password_change/"}
    assert {path for path in paths if not asks(post(client, path, {}))} == ours
    assert client.get("/admin/accounts/membership/").status_code == 200


@pytest.fixture
def owner(home: Member) -> User:
    found = person_of(home, "owner", "ada@people.test")
    found.set_password(PASSWORD)
    found.save()
    return found


def test_a_stolen_session_gives_nobody_lasting_access(home: Member, owner: User) -> None:
    member = person_of(home, "member", "eve@people.test")
    webhook = Webhook.objects.create(
        organization=home.organization, url="https://93.184.215.14/ours", receiver="", events=[], encrypted_secret=b""
    )
    client = stale(owner)
    membership = Membership.objects.get(user=member)
    asked = [
        client.post("/o/home/members/", {"email": "mallory@people.test", "role": "owner"}),
        client.post(f"/o/home/members/{membership.pk}/role", {"role": "owner"}),
        client.post(
            f"/o/home/webhooks/{webhook.id}/edit", {"url": "https://93.184.215.14/hers", "event": "scan.failed"}
        ),
        client.post("/o/home/settings/", {"name": "Home", "shares_reports": "on"}),
        client.post("/o/home/sites/example.com/badge", {"page": "https://example.com/", "badge": "on"}),
    ]
    assert all(map(asks, asked))
    assert not Invitation.objects.exists()
    assert not Badge.objects.exists()
    assert not Organization.objects.get(slug="home").shares_reports
    membership.refresh_from_db()
    webhook.refresh_from_db()
    assert (membership.role, webhook.url) == ("member", "https://93.184.215.14/ours")


def test_after_the_password_the_request_is_carried_out(home: Member, owner: User) -> None:
    client = stale(owner)
    asked = client.post("/o/home/members/", {"email": "bob@people.test", "role": "owner"})
    done = client.post(asked["Location"], {"password": PASSWORD})
    assert done["Location"] == "/o/home/members/"
    assert Invitation.objects.get().email == "bob@people.test"
    # For a quarter of an hour nothing asks again.
    client.post("/o/home/settings/", {"name": "Home", "shares_reports": "on"})
    assert Organization.objects.get(slug="home").shares_reports


def test_after_the_password_the_admin_carries_the_request_out(home: Member, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    client = Client(enforce_csrf_checks=True)
    client.cookies = stale(owner).cookies
    page = f"/admin/accounts/membership/{Membership.objects.get(user=owner).pk}/change/"
    client.get(page)
    token = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    asked = client.post(page, {"role": "admin"} | token)
    assert asks(asked)
    assert Membership.objects.get(user=owner).role == "owner"
    assert client.post(asked["Location"], {"password": PASSWORD} | token).status_code == 302
    assert Membership.objects.get(user=owner).role == "admin"


def test_a_proof_lasts_a_quarter_of_an_hour() -> None:
    assert timedelta(seconds=settings.ACCOUNT_REAUTHENTICATION_TIMEOUT) == timedelta(minutes=15)
