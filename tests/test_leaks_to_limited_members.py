"""Tests that pages show members with a limit to some sites nothing of other sites and other people.

The limited people see one of the sites of a populated organization. `test_who_sees_what` has the statuses of all pages
for a person who sees none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client
from msgspec import Struct
from pytest_django import DjangoDbBlocker

from accounts.models import ApiKey, Invitation, Membership, User
from reports.models import Mute
from scans.models import BlockedDomain, Scan
from sites.models import Audit, ListEntry, MaintenanceWindow, Monitor, SiteList, SiteState
from tests.factories import browser_of, person_of
from tests.populated import SITES, Populated, populate
from tests.responses import ClientResponse
from tests.router import address, routes
from tests.test_who_sees_what import FIELDS, SERVES_LIMITED
from webhooks.models import Webhook
from website_scan.urls import host_and_port_of

OWN, OTHER = SITES[0], SITES[1]
# Name of the monitor of OWN.
OWN_NAME = "Monitor of the bakery"
ORGANIZATION = "o/<slug:organization>/"
# Pages for people who have logged in. Others are public, or need a secret link.
PAGES = (
    ORGANIZATION,
    "report/<",
    "audit/<",
    "assessment/",
    "badge/",
    "account/",
    "organizations/",
    "dashboard/",
    "scan",
)
# Not secret: a site whose files the pages of OWN load, and the host in the placeholders of forms.
PUBLIC = {"www.example.org", "example.com"}
QUERIES = {
    "monitors/": ["", "?q=example", "?sort=name", "?sort=-scanned", "?state=failing", "?grade=A&type=seo", "?after=x"],
    "monitors/new": ["", f"?url=https://{OTHER}/", "?of={audit_id}", "?of={site_audit_id}", "?of={listed_audit_id}"],
    "scans/": ["", "?monitors=yes", "?q=example", "?status=failed", "?monitors=yes&status=partial"],
    "sites/": ["", "?q=example", "?sort=name", "?sort=-state", "?tag=coast", "?check=hsts", f"?after={OTHER}"],
    "sites/<str:host>": ["", f"?page=https://{OTHER}/", "?q=example"],
}


class Limited(Struct, frozen=True):
    """Populated organization with a member and a viewer who are limited to OWN.

    `secrets` are texts that they may not read: names of other sites, of rows of these sites, and of people.
    """

    populated: Populated
    cookies: dict[str, str]
    secrets: frozenset[str]

    def request(self, role: str, method: str, path: str, data: object = None) -> ClientResponse:
        """Send a request and roll back the changes."""
        client = Client()
        client.cookies["sessionid"] = self.cookies[role]
        with transaction.atomic():
            response: ClientResponse = getattr(client, method)(path, data)
            transaction.set_rollback(True)
        return response

    def leaks(self, response: ClientResponse) -> list[str]:
        """Return the secrets in a response, as words of their own."""
        content = b"".join(response) if response.streaming else response.content
        page = content.decode(errors="replace").replace("<wbr>", "")
        # Searching hundreds of words as patterns in each page would take most of the time of these tests.
        contained = [text for text in self.secrets if text in page]
        return sorted(text for text in contained if re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w-])", page))

    def path(self, route: str) -> str:
        return address(route, self.populated.ids)


@pytest.fixture(scope="module")
def limited_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Limited]:
    with django_db_blocker.unblock(), transaction.atomic():
        populated = populate(3)
        # No test opens connections.
        BlockedDomain.objects.create(domain="example.com")
        everybody = set(User.objects.values_list("email", flat=True))
        own = Monitor.objects.filter(id=populated.ids["monitor_id"])
        recipients = [populated.people[role].pk for role in ("owner", "admin")]
        webhook_ids = list(Webhook.objects.values_list("id", flat=True))
        own.update(name=OWN_NAME, pages=[f"https://{OWN}/"], recipients=recipients, webhook_ids=webhook_ids)
        ListEntry.objects.filter(site_list=populated.ids["list_id"]).update(tags=["Coastal customers"])
        cookies = {}
        for role in ("member", "viewer"):
            person = person_of(populated.home, role, f"limited-{role}@client.test")
            Membership.objects.filter(user=person).update(limited_to=[OWN])
            cookies[role] = browser_of(person).cookies["sessionid"].value
        yield Limited(populated, cookies, frozenset(everybody | names_of_rows() | other_sites()))
        transaction.set_rollback(True)


@pytest.fixture
def limited(limited_once: Limited, db: None) -> Limited:
    return limited_once


def names_of_rows() -> set[str]:
    names = {name for model in (SiteList, Webhook, ApiKey, MaintenanceWindow) for name in all_names(model)}
    names |= {monitor.name for monitor in Monitor.objects.all() if not is_own(*monitor.pages)}
    reasons = {line for mute in Mute.objects.all() for line in mute.reason.splitlines()}
    tags = {tag for tags in ListEntry.objects.values_list("tags", flat=True) for tag in tags}
    invited = set(Invitation.objects.values_list("email", flat=True))
    assert all((names, reasons, tags, invited))
    # The first API key has a name that is also a word in the texts of pages.
    return (names | reasons | tags | invited) - {"tests"}


def all_names(model: type[SiteList | Webhook | ApiKey | MaintenanceWindow]) -> set[str]:
    return set(model._default_manager.values_list("name", flat=True))


def other_sites() -> set[str]:
    hosts = {*SITES, *Scan.objects.values_list("host", flat=True), *ListEntry.objects.values_list("host", flat=True)}
    hosts |= {host_and_port_of(url) for monitor in Monitor.objects.all() for url in monitor.pages}
    hosts |= set(SiteState.objects.values_list("host", flat=True))
    return hosts - {OWN} - PUBLIC


def is_own(*urls: str) -> bool:
    return all(host_and_port_of(url) == OWN for url in urls)


def test_fixture_has_secrets_that_other_members_see(limited: Limited) -> None:
    owner = browser_of(limited.populated.people["owner"])
    pages = {
        "monitors/": "Out of reach",
        "lists/": "Municipal sites",
        "members/": limited.populated.people["admin"].email,
        "monitors/<str:monitor_id>": limited.populated.people["admin"].email,
        "mutes/": "See SEC-142.",
        "lists/<str:list_id>": "Coastal customers",
        "sites/": "museum.example.com",
    }
    for route, secret in pages.items():
        assert secret in limited.secrets
        assert secret in limited.leaks(owner.get(limited.path(ORGANIZATION + route))), route


@pytest.mark.parametrize("role", ["member", "viewer"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_page_shows_secrets_to_limited_people(limited: Limited, role: str, method: str) -> None:
    leaks = []
    served = set()
    for route in routes():
        if not route.startswith(PAGES):
            continue
        data = FIELDS.get(route) if method == "post" else None
        response = limited.request(role, method, limited.path(route), data)
        if response.status_code == 200:
            served.add(route)
        if found := limited.leaks(response):
            leaks.append(f"{route}: {found}")
    assert leaks == []
    if method == "get":
        assert {f"{ORGANIZATION}monitors/<str:monitor_id>", "report/<any:scan_id>", "audit/<any:audit_id>"} <= served


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_no_query_shows_secrets_to_limited_people(limited: Limited, role: str) -> None:
    for name, queries in QUERIES.items():
        assert ORGANIZATION + name in SERVES_LIMITED
        for query in queries:
            query_with_ids = query.format(**limited.populated.ids)
            response = limited.request(role, "get", limited.path(ORGANIZATION + name) + query_with_ids)
            assert response.status_code == (403 if name == "monitors/new" and role == "viewer" else 200), (name, query)
            # The form repeats the requested address.
            assert set(limited.leaks(response)) <= ({OTHER} if "url=" in query else set()), (name, query)


def test_form_names_no_secret_when_its_input_is_refused(limited: Limited) -> None:
    BlockedDomain.objects.all().delete()
    usual = {"type": "seo", "every": "day", "timezone": "UTC"}
    for scope, fields in {
        "page": {"url": f"https://{OTHER}/"},
        "site": {"url": f"https://{OTHER}/", "discover": "links"},
        "pages": {"pages": f"https://{OWN}/ https://{OTHER}/"},
    }.items():
        response = limited.request("member", "post", "/o/home/monitors/new", {**usual, "scope": scope, **fields})
        assert response.status_code == 400
        assert limited.leaks(response) == [OTHER], scope


def test_reports_and_audits_of_own_sites_show_no_secrets(limited: Limited) -> None:
    muted = read = 0
    paths = [f"/report/{scan.id}" for scan in Scan.objects.filter(host=OWN, status__in=Scan.REPORTED)]
    paths += [f"/audit/{audit.id}" for audit in Audit.objects.all() if is_own(audit.url)]
    for path in paths:
        for part in ("", "?show=pages", "/diff", "/export/json", "/export/sarif", "/export/csv", "/for-developer.txt"):
            response = limited.request("viewer", "get", path + part)
            read += response.status_code == 200
            assert limited.leaks(response) == [], path + part
            muted += not response.streaming and ">Muted" in response.text
    assert read > 50
    assert muted > 0
