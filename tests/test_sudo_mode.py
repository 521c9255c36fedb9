"""Tests for sudo mode.

Views that grant lasting access ask for the password or a second factor again.
"""

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
from tests.accounts.identity.people import PASSWORD, add_authenticator_app, recovery_codes
from tests.factories import Member, browser_of, person_of
from tests.populated import Populated, populate
from tests.responses import ClientResponse
from tests.router import ADMIN, API, address, views
from tests.test_who_sees_what import FIELDS
from webhooks.models import Webhook

AGAIN = "/account/again/"
PROVIDER = IdentityProvider("acme", "Acme", "https://id.example.com", "wss", "secret")


def declared_sudo_mode(view: Any) -> bool | None:
    """Return whether the view requires sudo mode.

    It is None if the view does not declare it.
    """
    declaration = getattr(view, "fresh_login", getattr(getattr(view, "view_class", None), "fresh_login", None))
    assert declaration in (True, False, None)
    return declaration


def pages() -> Iterator[tuple[str, Any]]:
    """Yield the routes and views of pages, without the API and redirects."""
    for route, view in views():
        is_redirect = getattr(view, "view_class", None) is RedirectView
        if not route.startswith((ADMIN, *API)) and not is_redirect:
            yield route, view


def browser_with_old_login(person: User) -> Client:
    """Return a client that is not in sudo mode.

    Its person has logged in too long ago.
    """
    client = browser_of(person)
    session = client.session
    at = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT - 1
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": at, "reauthenticated": True}]
    session.save()
    return client


def requires_password(response: ClientResponse) -> bool:
    return response.headers.get("Location", "").startswith(AGAIN)


@pytest.fixture
def populated(db: None) -> Populated:
    """Populated organization whose owner can enter sudo mode.

    The owner has a password and every second factor.
    """
    populated = populate(3)
    owner = populated.people["owner"]
    owner.set_password(PASSWORD)
    owner.is_staff = owner.is_superuser = True
    owner.save()
    add_authenticator_app(owner)
    recovery_codes(owner)
    passkey = Authenticator.objects.create(user=owner, type="webauthn", data={"name": "Phone", "credential": {}})
    return Populated(populated.home, populated.people, {**populated.ids, "pk": passkey.pk})


def post(client: Client, path: str, fields: dict[str, Any]) -> ClientResponse:
    """Send a POST request, and roll back its changes."""
    session = client.cookies["sessionid"].value if "sessionid" in client.cookies else None
    with transaction.atomic():
        response: ClientResponse = client.post(path, fields)
        transaction.set_rollback(True)
    if session:
        client.cookies["sessionid"] = session
    return response


@override_settings(OIDC_PROVIDERS=[PROVIDER])
def test_every_view_declares_its_sudo_mode(populated: Populated) -> None:
    undeclared, superfluous = [], []
    clients = Client(), browser_with_old_login(populated.people["owner"])
    for route, view in pages():
        is_refused = 405 in {post(client, address(route, populated.ids), {}).status_code for client in clients}
        if not is_refused and declared_sudo_mode(view) is None:
            undeclared.append(route)
        if is_refused and declared_sudo_mode(view) is not None:
            superfluous.append(route)
    assert (undeclared, superfluous) == ([], [])


def test_views_require_sudo_mode(populated: Populated) -> None:
    client = browser_with_old_login(populated.people["owner"])
    wrong = []
    for route, view in pages():
        if declared_sudo_mode(view) is not None and not address(route, populated.ids).startswith(AGAIN):
            fields = {name: value.format(**populated.ids) for name, value in FIELDS.get(route, {}).items()}
            if requires_password(post(client, address(route, populated.ids), fields)) != declared_sudo_mode(view):
                wrong.append(route)
    assert wrong == []


def test_admin_changes_require_sudo_mode(populated: Populated) -> None:
    client = browser_with_old_login(populated.people["owner"])
    ids = {**populated.ids, "object_id": 1, "id": 1, "content_type_id": 1}
    paths = {address(route, ids) for route, _ in views() if route.startswith(ADMIN)}
    exceptions = {"/admin/login/", "/admin/logout/", "/admin/password_change/"}
    assert {path for path in paths if not requires_password(post(client, path, {}))} == exceptions
    assert client.get("/admin/accounts/membership/").status_code == 200


@pytest.fixture
def owner(home: Member) -> User:
    owner = person_of(home, "owner", "ada@people.test")
    owner.set_password(PASSWORD)
    owner.save()
    return owner


def test_stolen_session_grants_no_lasting_access(home: Member, owner: User) -> None:
    member = person_of(home, "member", "eve@people.test")
    webhook = Webhook.objects.create(
        organization=home.organization, url="https://93.184.215.14/ours", receiver="", events=[], encrypted_secret=b""
    )
    client = browser_with_old_login(owner)
    membership = Membership.objects.get(user=member)
    responses = [
        client.post("/o/home/members/", {"email": "mallory@people.test", "role": "owner"}),
        client.post(f"/o/home/members/{membership.pk}/role", {"role": "owner"}),
        client.post(
            f"/o/home/webhooks/{webhook.id}/edit", {"url": "https://93.184.215.14/hers", "event": "scan.failed"}
        ),
        client.post("/o/home/settings/", {"name": "Home", "shares_reports": "on"}),
        client.post("/o/home/sites/example.com/badge", {"page": "https://example.com/", "badge": "on"}),
    ]
    assert all(map(requires_password, responses))
    assert not Invitation.objects.exists()
    assert not Badge.objects.exists()
    assert not Organization.objects.get(slug="home").shares_reports
    membership.refresh_from_db()
    webhook.refresh_from_db()
    assert (membership.role, webhook.url) == ("member", "https://93.184.215.14/ours")


def test_request_continues_after_the_password(home: Member, owner: User) -> None:
    client = browser_with_old_login(owner)
    redirect = client.post("/o/home/members/", {"email": "bob@people.test", "role": "owner"})
    final_response = client.post(redirect["Location"], {"password": PASSWORD})
    assert final_response["Location"] == "/o/home/members/"
    assert Invitation.objects.get().email == "bob@people.test"
    # For a quarter of an hour, no view requires the password again.
    client.post("/o/home/settings/", {"name": "Home", "shares_reports": "on"})
    assert Organization.objects.get(slug="home").shares_reports


def test_admin_request_continues_after_the_password(home: Member, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    client = Client(enforce_csrf_checks=True)
    client.cookies = browser_with_old_login(owner).cookies
    page = f"/admin/accounts/membership/{Membership.objects.get(user=owner).pk}/change/"
    client.get(page)
    token = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    redirect = client.post(page, {"role": "admin"} | token)
    assert requires_password(redirect)
    assert Membership.objects.get(user=owner).role == "owner"
    assert client.post(redirect["Location"], {"password": PASSWORD} | token).status_code == 302
    assert Membership.objects.get(user=owner).role == "admin"


def test_sudo_mode_lasts_15_minutes() -> None:
    assert timedelta(seconds=settings.ACCOUNT_REAUTHENTICATION_TIMEOUT) == timedelta(minutes=15)
