"""Helpers that log in members and parse pages."""

from __future__ import annotations

from django.test import Client
from lxml import html

from accounts.models import MonthlyUsage, User
from tests.factories import Member, person_of
from tests.responses import ClientResponse


def browser_of(member: Member, role: str = "member") -> Client:
    """Return a test client that is logged in as a person with this role."""
    client = Client()
    client.force_login(person_of(member, role, f"{role}-{User.objects.count()}@people.test"))
    return client


def page_of(response: ClientResponse) -> html.HtmlElement:
    return parsed(response.content.decode())


def parsed(markup: str) -> html.HtmlElement:
    """Return the root of an HTML document or fragment.

    lxml's stubs only cover XML elements.
    """
    return html.fromstring(markup)


def strings(tree: html.HtmlElement, path: str) -> list[str]:
    """Return the texts or attributes that an XPath expression selects.

    They are in document order.
    """
    return [str(value) for value in tree.xpath(path)]


def text_of(response: ClientResponse) -> str:
    """Return the page's text without line-break hints in URLs."""
    tree = parsed(response.content.decode().replace("<wbr>", ""))
    for link in tree.find_class("url"):
        link.text, link[:] = link.text_content(), ()
    return " ".join(" ".join(tree.itertext()).split())


def rows_of(response: ClientResponse) -> list[str]:
    """Return the URLs in the table of scans, from top to bottom."""
    cells = page_of(response).xpath("//table[contains(@class, 'graded')]//tbody//th/*[contains(@class, 'address')]")
    return [cell.text_content().strip() for cell in cells]


def used(member: Member) -> int:
    row = MonthlyUsage.objects.filter(organization=member.organization).first()
    return row.used if row else 0
