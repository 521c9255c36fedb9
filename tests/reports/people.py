"""Browsers of people, and what they see."""

from __future__ import annotations

from django.http import HttpResponse
from django.test import Client
from lxml import html

from accounts.models import Membership, Organization, User


def person(organization: Organization | None, role: str = "member") -> Client:
    """A browser in which somebody with this role has logged in; without an organization: a member of none."""
    user = User.objects.create_user(f"{role}-{User.objects.count()}@people.test")
    if organization is not None:
        Membership.objects.create(organization=organization, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def page_of(response: HttpResponse) -> html.HtmlElement:
    return html.fromstring(response.content.decode())


def text_of(response: HttpResponse) -> str:
    return " ".join(" ".join(page_of(response).itertext()).split())
