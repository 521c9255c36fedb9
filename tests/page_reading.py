"""Browsers of an organization's people, and what a test reads on a page."""

from __future__ import annotations

from django.http import HttpResponse
from django.test import Client
from lxml import html

from accounts.models import MonthlyUsage, User
from tests.world import Member, person_of


def browser_of(member: Member, role: str = "member") -> Client:
    """Return a browser that is logged in as a person with this role."""
    client = Client()
    client.force_login(person_of(member, role, f"{role}-{User.objects.count()}@people.test"))
    return client


def page_of(response: HttpResponse) -> html.HtmlElement:
    return html.fromstring(response.content.decode())


def text_of(response: HttpResponse) -> str:
    """Return the page's text, with URLs in one piece."""
    whole = html.fromstring(response.content.decode().replace("<wbr>", ""))
    for each in whole.find_class("url"):
        each.text, each[:] = each.text_content(), ()
    return " ".join(" ".join(whole.itertext()).split())


def rows_of(response: HttpResponse) -> list[str]:
    """Return the URLs in the table of scans, from top to bottom."""
    found = page_of(response).xpath("//table[contains(@class, 'graded')]//tbody//th/*[contains(@class, 'address')]")
    return [each.text_content().strip() for each in found]


def used(member: Member) -> int:
    row = MonthlyUsage.objects.filter(organization=member.organization).first()
    return row.used if row else 0
