"""Test helpers for logged-in clients and for parsing pages."""

from __future__ import annotations

from django.test import Client
from lxml import html

from accounts.models import Membership, Organization, User
from tests.responses import ClientResponse


def person(organization: Organization | None, role: str = "member") -> Client:
    """Return a client that is logged in with this role.

    Without a role, its user has no organization.
    """
    user = User.objects.create_user(f"{role}-{User.objects.count()}@people.test")
    if organization is not None:
        Membership.objects.create(organization=organization, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def page_of(response: ClientResponse) -> html.HtmlElement:
    return html.fromstring(response.content.decode())


def text_of(response: ClientResponse) -> str:
    return " ".join(" ".join(page_of(response).itertext()).split())
