"""Access control: every route, requested by every person, responds as permitted and leaks no data of other tenants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import ada_url
import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.test import Client
from pytest_django import DjangoDbBlocker

from accounts.models import ActivityEvent, User
from accounts.pages import login
from scans.models import BlockedDomain, Scan
from tests.factories import browser_of, member_of, register_webhook
from tests.populated import NAME, Populated, populate
from tests.responses import ClientResponse
from tests.router import ADMIN, API, address, routes

PEOPLE = ("owner", "admin", "member", "viewer", "outsider", "anonymous")
STRANGERS = PEOPLE[-2:]

ALL = "200 200 200 200 200 200"
NOT_ALLOWED = "405 405 405 405 405 405"
REDIRECT = "302 302 302 302 302 302"
NOT_FOUND = "404 404 404 404 404 404"
GONE = "410 410 410 410 410 410"
LOGGED_IN = "200 200 200 200 200 login"
FORBIDDEN = "403 403 403 403 403 login"
NOT_SET_UP = "404 404 404 404 404 login"
MEMBERS = "200 200 200 200 404 login"
ADMINS_ONLY = "200 200 403 403 404 login"
TO_ADMINS = "302 302 403 403 404 login"
TO_MEMBERS = "302 302 302 403 404 login"
TO_ALL = "302 302 302 302 302 login"

# Expected status for each of PEOPLE on GET and on POST, and the target of a redirect. `login` is a redirect to the
# login page with the way back. The outsider owns another organization, so IDs of `home` return 404.
TABLE: dict[str, tuple[str, str, str]] = {
    "": (ALL, NOT_ALLOWED, ""),
    "openapi.yaml": (ALL, NOT_ALLOWED, ""),
    "about-our-scans": (ALL, NOT_ALLOWED, ""),
    "robots.txt": (ALL, NOT_ALLOWED, ""),
    "favicon.ico": (REDIRECT, NOT_ALLOWED, "/static/img/favicon.ico"),
    "site.webmanifest": (ALL, NOT_ALLOWED, ""),
    "licence": (ALL, NOT_ALLOWED, ""),
    # Redirects to the form for a new scan if the role allows scans. Strangers must sign up first.
    "scan": (REDIRECT, NOT_ALLOWED, r"/o/(?:home|away)/scans/new\?url=|/signup/\?next=/scan.*"),
    "samples/": (ALL, NOT_ALLOWED, ""),
    "samples/<slug:slug>": (ALL, NOT_ALLOWED, ""),
    "docs/search-index.js": (ALL, NOT_ALLOWED, ""),
    "report/sample/<str:name>": (ALL, NOT_ALLOWED, ""),
    "report/sample/<str:name>/<path:path>": (ALL, NOT_ALLOWED, ""),
    # Each card has one URL, to which all other URLs redirect.
    "report/sample/<str:name>/card/<str:digest>.png": (
        REDIRECT,
        NOT_ALLOWED,
        r"/report/sample/[\w-]+/card/\w{{16}}\.png",
    ),
    "card/<str:digest>.png": (REDIRECT, NOT_ALLOWED, r"/card/\w{{16}}\.png"),
    "sitemap.xml": (ALL, NOT_ALLOWED, ""),
    # The operator has configured no contact.
    ".well-known/security.txt": ("404 404 404 404 404 404", NOT_ALLOWED, ""),
    "docs/": (ALL, NOT_ALLOWED, ""),
    "docs/checks/": (ALL, NOT_ALLOWED, ""),
    "docs/checks/<str:check_id>": (ALL, NOT_ALLOWED, ""),
    "docs/api/<slug:group>": (ALL, NOT_ALLOWED, ""),
    "docs/<slug:guide>": (ALL, NOT_ALLOWED, ""),
    "docs": (REDIRECT, REDIRECT, "/docs/"),
    "docs/checks": (REDIRECT, REDIRECT, "/docs/checks/"),
    "login": (REDIRECT, REDIRECT, "/login/"),
    "signup": (REDIRECT, REDIRECT, "/signup/"),
    "dashboard": (REDIRECT, REDIRECT, "/dashboard/"),
    "admin": (REDIRECT, REDIRECT, "/admin/"),
    "login/": ("302 302 302 302 302 200", "302 302 302 302 302 200", "/dashboard/"),
    # No person is between password and second factor.
    "login/code/": (REDIRECT, REDIRECT, "/dashboard/|/login/"),
    "login/passkey/": (REDIRECT, REDIRECT, "/dashboard/|/login/"),
    # No identity providers are configured.
    "login/with/<slug:provider_id>/": (NOT_ALLOWED, NOT_FOUND, ""),
    "login/with/<slug:provider_id>/callback/": (NOT_FOUND, NOT_ALLOWED, ""),
    "logout/": (NOT_ALLOWED, REDIRECT, "/"),
    "signup/": ("302 302 302 302 302 200", "302 302 302 302 302 200", "/dashboard/"),
    "signup/sent/": (ALL, NOT_ALLOWED, ""),
    "signup/<str:token>/": (ALL, ALL, ""),
    "password/": (ALL, ALL, ""),
    "password/sent/": (ALL, NOT_ALLOWED, ""),
    "password/<uidb64>/<token>/": (GONE, GONE, ""),
    # Anybody with the link may see who invites.
    "invite/<str:token>": (ALL, ALL, ""),
    # Anybody with the link may unsubscribe without a login.
    "unsubscribe/<str:token>": (ALL, ALL, ""),
    "unsubscribe/<str:token>/again": (NOT_ALLOWED, ALL, ""),
    "account/": (LOGGED_IN, LOGGED_IN, ""),
    "account/email/": (LOGGED_IN, LOGGED_IN, ""),
    "account/email/<str:key>/": (GONE, GONE, ""),
    # These people have no password or other means to authenticate again.
    "account/again/": (FORBIDDEN, FORBIDDEN, ""),
    "account/again/code/": (FORBIDDEN, FORBIDDEN, ""),
    "account/again/passkey/": (FORBIDDEN, FORBIDDEN, ""),
    "account/again/provider/": (LOGGED_IN, NOT_ALLOWED, ""),
    "account/security/": (LOGGED_IN, NOT_ALLOWED, ""),
    "account/security/app/": (LOGGED_IN, LOGGED_IN, ""),
    "account/security/app/remove/": (NOT_SET_UP, NOT_SET_UP, ""),
    "account/security/passkeys/add/": (LOGGED_IN, LOGGED_IN, ""),
    "account/security/passkeys/<int:pk>/": (NOT_SET_UP, NOT_SET_UP, ""),
    "account/security/passkeys/<int:pk>/remove/": (NOT_SET_UP, NOT_SET_UP, ""),
    "account/security/codes/": (NOT_SET_UP, "405 405 405 405 405 login", ""),
    "account/security/codes/new/": (LOGGED_IN, LOGGED_IN, ""),
    "account/security/codes/download/": (NOT_SET_UP, NOT_SET_UP, ""),
    "account/delete": (LOGGED_IN, LOGGED_IN, ""),
    "account/sessions/": (NOT_ALLOWED, TO_ALL, "/account/"),
    "account/sessions/<str:session_id>/end": (NOT_ALLOWED, "302 404 404 404 404 login", "/account/"),
    "dashboard/": ("302 302 302 302 302 login", NOT_ALLOWED, "/o/home/"),
    "o/<slug:organization>/": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/recent": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/scans/": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/scans/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/scans/<str:scan_id>/again": (NOT_ALLOWED, TO_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/scans/<str:scan_id>/cancel": (NOT_ALLOWED, TO_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/audits/<str:audit_id>/again": (NOT_ALLOWED, TO_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/audits/<str:audit_id>/cancel": (NOT_ALLOWED, TO_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/sites/": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/sites/<str:host>": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/sites/<str:host>/badge": (NOT_ALLOWED, TO_MEMBERS, r"/o/home/sites/[\w.]+\?page=.+"),
    "o/<slug:organization>/monitors/": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/monitors/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/monitors/<str:monitor_id>": (MEMBERS, NOT_ALLOWED, ""),
    # Requests without htmx are redirected to the page itself.
    "o/<slug:organization>/monitors/<str:monitor_id>/live": (
        *("302 302 302 302 404 login", NOT_ALLOWED),
        "/o/home/monitors/{monitor_id}",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/edit": (
        *("200 200 200 403 404 login", TO_MEMBERS),
        "/o/home/monitors/{monitor_id}",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/pause": (NOT_ALLOWED, TO_MEMBERS, "/o/home/monitors/{monitor_id}"),
    "o/<slug:organization>/monitors/<str:monitor_id>/run": (NOT_ALLOWED, TO_MEMBERS, "/o/home/monitors/{monitor_id}"),
    "o/<slug:organization>/monitors/<str:monitor_id>/delete": (
        *("200 200 200 403 404 login", TO_MEMBERS),
        "/o/home/monitors/",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/badge": (
        *(NOT_ALLOWED, TO_MEMBERS),
        "/o/home/monitors/{monitor_id}#badge",
    ),
    "o/<slug:organization>/lists/": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/lists/<str:list_id>": (MEMBERS, NOT_ALLOWED, ""),
    # Requests without htmx are redirected to the page itself.
    "o/<slug:organization>/lists/<str:list_id>/live": (
        *("302 302 302 302 404 login", NOT_ALLOWED),
        "/o/home/lists/{list_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/edit": (
        *("200 200 200 403 404 login", TO_MEMBERS),
        "/o/home/lists/{list_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/delete": ("200 200 200 403 404 login", TO_MEMBERS, "/o/home/lists/"),
    # No text was pasted.
    "o/<slug:organization>/lists/<str:list_id>/import": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/lists/<str:list_id>/entries": (NOT_ALLOWED, TO_MEMBERS, "/o/home/lists/{list_id}"),
    "o/<slug:organization>/lists/<str:list_id>/run": (NOT_ALLOWED, TO_MEMBERS, "/o/home/lists/{list_id}"),
    "o/<slug:organization>/lists/<str:list_id>/snapshot": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/adoption": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/sharing": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/sharing/new": (
        NOT_ALLOWED,
        TO_MEMBERS,
        "/o/home/lists/{list_id}/sharing",
    ),
    "o/<slug:organization>/lists/<str:list_id>/sharing/<str:share_id>/revoke": (
        *(NOT_ALLOWED, TO_MEMBERS),
        "/o/home/lists/{list_id}/sharing",
    ),
    "o/<slug:organization>/lists/<str:list_id>/runs": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/cancel": (
        *(NOT_ALLOWED, TO_MEMBERS),
        "/o/home/lists/{running_list_id}",
    ),
    # Without a check in the query, the view redirects to the snapshot.
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/sites": (
        *("302 302 302 302 404 login", NOT_ALLOWED),
        "/o/home/lists/{list_id}/runs/{run_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/compare": (MEMBERS, NOT_ALLOWED, ""),
    # This export format does not exist.
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/export/<str:export_format>": (
        "404 404 404 404 404 login",
        NOT_ALLOWED,
        "",
    ),
    "o/<slug:organization>/webhooks/": (MEMBERS, NOT_ALLOWED, ""),
    "o/<slug:organization>/webhooks/new": (
        "302 302 403 403 404 login",
        "400 400 403 403 404 login",
        "/o/home/webhooks/",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>": (MEMBERS, NOT_ALLOWED, ""),
    # GET redirects to the webhook's page without looking it up.
    "o/<slug:organization>/webhooks/<str:webhook_id>/edit": (
        *("302 302 403 403 404 login", "400 400 403 403 404 login"),
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/rotate": (
        *("302 302 403 403 404 login", "302 302 403 403 404 login"),
        "/o/home/webhooks/{webhook_id}(/secret)?",
    ),
    # Without a new secret, the view redirects to the webhook's page.
    "o/<slug:organization>/webhooks/<str:webhook_id>/secret": (
        *("302 302 403 403 404 login", NOT_ALLOWED),
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/enable": (NOT_ALLOWED, TO_ADMINS, "/o/home/webhooks/{webhook_id}"),
    "o/<slug:organization>/webhooks/<str:webhook_id>/disable": (
        NOT_ALLOWED,
        TO_ADMINS,
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/delete": (ADMINS_ONLY, TO_ADMINS, "/o/home/webhooks/"),
    "o/<slug:organization>/webhooks/<str:webhook_id>/test": (NOT_ALLOWED, TO_ADMINS, "/o/home/webhooks/{webhook_id}"),
    "o/<slug:organization>/webhooks/<str:webhook_id>/recover": (
        NOT_ALLOWED,
        TO_ADMINS,
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay": (
        *(NOT_ALLOWED, TO_ADMINS),
        "/o/home/webhooks/{webhook_id}",
    ),
    "organizations/": (LOGGED_IN, NOT_ALLOWED, ""),
    "organizations/new": (LOGGED_IN, TO_ALL, r"/o/one-more-\w+/"),
    "organizations/switch": (NOT_ALLOWED, "302 302 302 302 404 login", "/o/home/"),
    # Admin, member and viewer may leave. An owner may leave while there is another owner.
    "organizations/<int:organization_id>/leave": (
        *(MEMBERS, "302 302 302 302 404 login"),
        "/organizations/",
    ),
    "o/<slug:organization>/mutes/": (MEMBERS, NOT_ALLOWED, ""),
    # The request names no finding to mute.
    "o/<slug:organization>/mutes/new": ("404 404 404 403 404 login", "404 404 404 403 404 login", ""),
    "o/<slug:organization>/mutes/<str:mute_id>/end": (NOT_ALLOWED, TO_MEMBERS, "/o/home/mutes/"),
    "o/<slug:organization>/members/": (MEMBERS, "302 302 403 403 404 login", "/o/home/members/"),
    "o/<slug:organization>/members/<int:membership_id>/role": (NOT_ALLOWED, TO_ADMINS, "/o/home/members/"),
    "o/<slug:organization>/members/<int:membership_id>/remove": (ADMINS_ONLY, TO_ADMINS, "/o/home/members/"),
    "o/<slug:organization>/invitations/<str:invitation_id>/revoke": (NOT_ALLOWED, TO_ADMINS, "/o/home/members/"),
    "o/<slug:organization>/keys/": (
        *("200 200 403 403 404 login", "302 302 403 403 404 login"),
        r"/o/home/keys/\?shown=key_\w+",
    ),
    "o/<slug:organization>/keys/<str:key_id>/rename": (NOT_ALLOWED, TO_ADMINS, "/o/home/keys/"),
    "o/<slug:organization>/keys/<str:key_id>/regenerate": (
        *(ADMINS_ONLY, "302 302 403 403 404 login"),
        r"/o/home/keys/\?shown=key_\w+",
    ),
    "o/<slug:organization>/keys/<str:key_id>/former/<int:former_id>/end": (ADMINS_ONLY, TO_ADMINS, "/o/home/keys/"),
    "o/<slug:organization>/keys/<str:key_id>/revoke": (ADMINS_ONLY, TO_ADMINS, "/o/home/keys/"),
    "o/<slug:organization>/settings/": (MEMBERS, "302 403 403 403 404 login", "/o/home/settings/"),
    "o/<slug:organization>/settings/login": (NOT_ALLOWED, "302 403 403 403 404 login", "/o/home/settings/"),
    "o/<slug:organization>/settings/weekly-digest": (NOT_ALLOWED, "302 302 302 302 404 login", "/o/home/settings/"),
    "o/<slug:organization>/settings/export": (
        "200 403 403 403 404 login",
        "302 403 403 403 404 login",
        "/o/home/settings/export",
    ),
    # There is no export.
    "o/<slug:organization>/settings/export/<int:number>": (NOT_ALLOWED, "404 403 403 403 404 login", ""),
    # Without the typed confirmation, nothing is deleted.
    "o/<slug:organization>/settings/delete": ("200 403 403 403 404 login", "200 403 403 403 404 login", ""),
    "o/<slug:organization>/activity/": ("200 200 403 403 404 login", NOT_ALLOWED, ""),
    "o/<slug:organization>/activity/export/<str:export_format>": ("200 200 403 403 404 login", NOT_ALLOWED, ""),
    "report/<any:scan_id>": (MEMBERS, NOT_ALLOWED, ""),
    "report/<any:scan_id>/diff": (MEMBERS, NOT_ALLOWED, ""),
    # The scan has ended, and ran without a browser.
    "report/<any:scan_id>/progress": ("302 302 302 302 404 login", NOT_ALLOWED, "/report/{scan_id}"),
    "report/<any:scan_id>/screenshot.webp": ("404 404 404 404 404 login", NOT_ALLOWED, ""),
    "report/<any:scan_id>/page.webp": ("404 404 404 404 404 login", NOT_ALLOWED, ""),
    "report/<any:scan_id>/film/<int:number>.jpg": ("404 404 404 404 404 login", NOT_ALLOWED, ""),
    "report/<any:scan_id>/card/<str:digest>.png": (
        "302 302 302 302 404 login",
        NOT_ALLOWED,
        r"/report/{scan_id}/card/\w{{16}}\.png",
    ),
    "report/<any:scan_id>/export/<str:export_format>": (MEMBERS, NOT_ALLOWED, ""),
    "report/<any:scan_id>/share": (NOT_ALLOWED, TO_MEMBERS, r"/report/{scan_id}\?shared=now"),
    # Anybody with the address of a shared list sees its figures.
    "list/<str:share_id>": (ALL, NOT_ALLOWED, ""),
    "list/<str:share_id>.svg": (ALL, NOT_ALLOWED, ""),
    "list/<str:share_id>/card/<str:digest>.png": (REDIRECT, NOT_ALLOWED, r"/list/{share_id}/card/\w{{16}}\.png"),
    # Anybody with the address of a badge sees its grades.
    "badge/<str:badge_id>.svg": (ALL, NOT_ALLOWED, ""),
    "badge/<str:badge_id>.png": (ALL, NOT_ALLOWED, ""),
    # Members are redirected to the monitor, all others see the grades.
    "badge/<str:badge_id>": ("302 302 302 302 200 200", NOT_ALLOWED, "/o/home/monitors/{monitor_id}"),
    "audit/<any:audit_id>": (MEMBERS, NOT_ALLOWED, ""),
    # Requests without htmx are redirected to the page itself.
    "audit/<any:audit_id>/progress": ("302 302 302 302 404 login", NOT_ALLOWED, "/audit/{audit_id}"),
    "audit/<any:audit_id>/card/<str:digest>.png": (
        "302 302 302 302 404 login",
        NOT_ALLOWED,
        r"/audit/{audit_id}/card/\w{{16}}\.png",
    ),
    "audit/<any:audit_id>/export/<str:export_format>": (MEMBERS, NOT_ALLOWED, ""),
    "audit/<any:audit_id>/share": (NOT_ALLOWED, TO_MEMBERS, r"/audit/{audit_id}\?shared=now"),
}

# Form data with which a permitted POST changes something. POSTs to other routes have no data.
FIELDS: dict[str, dict[str, Any]] = {
    "o/<slug:organization>/sites/<str:host>/badge": {"page": "https://bakery.example.com/", "badge": "off"},
    "o/<slug:organization>/monitors/<str:monitor_id>/edit": {
        "name": "Another name",
        "scope": "page",
        "url": "https://www.example.org/",
        "type": "seo",
        "every": "day",
        "timezone": "UTC",
    },
    "o/<slug:organization>/monitors/<str:monitor_id>/pause": {"paused": "on"},
    "o/<slug:organization>/monitors/<str:monitor_id>/badge": {"badge": "off"},
    "o/<slug:organization>/lists/<str:list_id>/edit": {
        "name": "Another name",
        "type": "seo",
        "pages_per_entry": "1",
        "window_hours": "24",
        "timezone": "UTC",
    },
    "o/<slug:organization>/lists/<str:list_id>/entries": {"action": "tag", "entry": "{entry_id}", "tags": "coast"},
    "o/<slug:organization>/webhooks/<str:webhook_id>/test": {"event": "scan.completed"},
    "o/<slug:organization>/webhooks/<str:webhook_id>/recover": {"since": "2026-01-01T00:00"},
    "organizations/new": {"organization": "One more"},
    "organizations/switch": {"organization": "{organization_id}"},
    "o/<slug:organization>/members/": {"email": "fresh@people.test", "role": "viewer"},
    "o/<slug:organization>/members/<int:membership_id>/role": {"role": "viewer"},
    "o/<slug:organization>/keys/": {"name": "Another", "scope": "read", "lifetime": "30"},
    "o/<slug:organization>/keys/<str:key_id>/rename": {"name": "Another"},
    "o/<slug:organization>/keys/<str:key_id>/regenerate": {"replaces": "{key_prefix}", "lifetime": "30"},
    "o/<slug:organization>/settings/": {"name": "Another name"},
    "report/<any:scan_id>/share": {"shared": "on"},
    "audit/<any:audit_id>/share": {"shared": "on"},
}
# Routes on which the owner's POST changes nothing, although its response is like the response to a change.
UNCHANGING = {
    # There is no form, or the form concerns the owner's own e-mails and sessions instead of the organization.
    *("docs", "docs/checks", "login", "signup", "dashboard", "admin"),
    *("login/", "login/code/", "login/passkey/", "logout/", "signup/", "account/sessions/"),
    *("account/sessions/<str:session_id>/end", "o/<slug:organization>/settings/weekly-digest"),
    # The domain is blocked, so that the test opens no connection.
    *("o/<slug:organization>/scans/<str:scan_id>/again", "o/<slug:organization>/audits/<str:audit_id>/again"),
    # These forms do not concern this organization.
    *("organizations/new", "organizations/switch"),
    # There is no login requirement before and after, and the webhook is already enabled.
    *("o/<slug:organization>/settings/login", "o/<slug:organization>/webhooks/<str:webhook_id>/enable"),
}
# Only queued scans, unfinished audits and unfinished runs can be cancelled.
UNFINISHED_IDS = {
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/cancel": {
        "list_id": "running_list_id",
        "run_id": "running_list_run_id",
    },
    "o/<slug:organization>/scans/<str:scan_id>/cancel": {"scan_id": "queued_id"},
    "o/<slug:organization>/audits/<str:audit_id>/cancel": {"audit_id": "ahead_audit_id"},
}

EVIL = [
    "https://evil.test/",
    "//evil.test/",
    "///evil.test",
    "/\\evil.test",
    "\\\\evil.test",
    "/\t/evil.test",
    "http:evil.test",
    "https:/\\evil.test",
    "%2F%2Fevil.test",
    "/%09/evil.test",
    "javascript:alert(1)",
    "http://testserver@evil.test/",
    "http://testserver.evil.test/",
]


@dataclass
class Result:
    """Response, and the number of entries that the request has added to the activity log of the organization."""

    response: ClientResponse
    changes: int

    def outcome(self) -> str:
        """Return the status of the response, or `login` for a redirect to the login, as in TABLE."""
        location = self.response.headers.get("Location", "")
        return "login" if location.startswith("/login/?next=/") else str(self.response.status_code)

    def is_uncached(self) -> bool:
        """Return True if browsers must not cache the response (`no-store`), because the next user could see it."""
        return "no-store" in self.response.get("Cache-Control", "")

    def contains(self, text: str) -> bool:
        """Return True if the response with its headers contains the text, in any case."""
        response = self.response
        text_of_response = (
            "" if response.streaming else (response.serialize_headers() + response.content).decode(errors="replace")
        )
        return text.lower() in text_of_response.lower()


@dataclass
class World:
    """Populated organization, and the session cookie of each person."""

    populated: Populated
    cookies: Mapping[str, str | None]
    log_entries: QuerySet[ActivityEvent]
    log_size_before: int

    def request(self, who: str, method: str, path: str, data: object = None, **options: Any) -> Result:
        """Send a request as a person who has just logged in, and roll back the changes."""
        client = Client(**options)
        if cookie := self.cookies[who]:
            client.cookies["sessionid"] = cookie
        with transaction.atomic():
            response = getattr(client, method)(path, data)
            changes = self.log_entries.count() - self.log_size_before
            transaction.set_rollback(True)
        return Result(response, changes)

    def path(self, route: str) -> str:
        ids = self.populated.ids
        return address(
            route, {**ids} | {parameter: ids[name] for parameter, name in UNFINISHED_IDS.get(route, {}).items()}
        )

    def home_ids(self) -> list[str]:
        return [id for id in self.populated.ids.values() if re.fullmatch(r"[a-z]+_\w{22}", str(id))]

    def location_pattern(self, location: str, who: str) -> str:
        """Return a location of TABLE as a regular expression. Outsiders are redirected to their own organization."""
        pattern = location.format(**self.populated.ids)
        return "/o/away/" if who == "outsider" and pattern == "/o/home/" else pattern

    def fields(self, route: str) -> dict[str, str]:
        return {name: value.format(**self.populated.ids) for name, value in FIELDS.get(route, {}).items()}


@pytest.fixture(scope="module")
def populated_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """World whose sites are blocked, so that no test opens connections. Changes of each test are rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        populated = populate(3)
        BlockedDomain.objects.create(domain="example.com")
        cookies = {who: browser_of(person).cookies["sessionid"].value for who, person in populated.people.items()}
        log_entries = ActivityEvent.objects.filter(organization=populated.home.organization)
        yield World(populated, cookies | {"anonymous": None}, log_entries, log_entries.count())
        transaction.set_rollback(True)


@pytest.fixture
def world(populated_once: World, db: None) -> World:
    return populated_once


def host_after(response: ClientResponse) -> str:
    """Return the host that a browser opens after the response, parsed by the URL Standard as in browsers."""
    return ada_url.URL(ada_url.join_url("http://testserver/somewhere", response.headers.get("Location", ""))).hostname


def pages() -> list[str]:
    """Return the routes of pages, without the routes of the admin and the API."""
    return [route for route in routes() if not route.startswith((ADMIN, *API))]


def test_every_page_has_a_row_in_the_table() -> None:
    assert set(pages()) == set(TABLE)
    assert set(FIELDS) | set(UNFINISHED_IDS) <= set(TABLE)


@pytest.mark.parametrize("method", ["get", "post"])
def test_every_person_gets_the_response_of_the_table(world: World, method: str) -> None:
    """Each request has a `next` on another host, to which no response may redirect."""
    wrong = []
    for route, (gets, posts, location) in TABLE.items():
        for who, expected in zip(PEOPLE, (gets if method == "get" else posts).split(), strict=True):
            path, fields = world.path(route), {"next": "/\\evil.test/"} | world.fields(route)
            if method == "get":
                path, fields = f"{path}?next=//evil.test/", {}
            result = world.request(who, method, path, fields)
            to = result.response.headers.get("Location", "")
            if result.outcome() != expected:
                wrong.append(f"{who} {route}: {result.outcome()}, not {expected}")
            elif expected == "302" and not re.fullmatch(world.location_pattern(location, who), to):
                wrong.append(f"{who} {route}: to {to}")
            elif expected == "login" and method == "get" and to != f"/login/?next={quote(path)}":
                wrong.append(f"{who} {route}: by way of {to}")
            if host_after(result.response) != "testserver":
                wrong.append(f"{who} {route}: away to {to}")
            if who in STRANGERS and not route.startswith(("invite/", "unsubscribe/")) and result.contains(NAME):
                wrong.append(f"{who} {route}: contains the name of an organization of others")
            if result.changes and (method == "get" or who in STRANGERS or expected not in ("302", "200")):
                wrong.append(f"{who} {route}: changes data")
            if (
                method == "post"
                and who == "owner"
                and expected == "302"
                and not result.changes
                and route not in UNCHANGING
            ):
                wrong.append(f"{who} {route}: changes nothing")
            if gets.endswith("login") and result.outcome() == "200" and not result.is_uncached():
                wrong.append(f"{who} {route}: is cached by browsers")
    assert wrong == []


def test_ids_of_home_are_not_found_below_another_organization(world: World) -> None:
    """The outsider has all permissions in their own organization, where IDs of `home` must not exist."""
    # Forms for new objects, and pages without an ID in their URL, are the outsider's own.
    redirecting = ("/edit", "/rotate", "/live")
    for route in TABLE:
        path = world.path(route).replace("/o/home/", "/o/away/")
        if route.startswith("o/") and route.count("<") > 1:
            for method in ("get", "post"):
                result = world.request("outsider", method, path, world.fields(route))
                other_status = "302" if method == "get" and route.endswith(redirecting) else "405"
                if method == "get" and route.endswith("/activity/export/<str:export_format>"):
                    other_status = "200"  # The log of the outsider's own organization.
                assert result.outcome() in ("404", other_status), f"{method} {path}: {result.outcome()}"
                assert result.changes == 0, path
                assert not result.contains(NAME), path
        elif route.startswith("o/"):
            result = world.request("outsider", "get", path)
            assert not any(result.contains(text) for text in (NAME, *world.home_ids())), path


def test_unknown_id_is_not_found(world: World) -> None:
    ids = world.populated.ids
    redirecting = ("/edit", "/rotate", "/live", "/progress")  # GET redirects to the page itself without a lookup.
    for route in pages():
        for parameter in re.findall(r"<(?:str|any):(\w+_id)>", route):
            for unknown_id in ("x", "%00", "key_" + "0" * 22):
                path = address(route, {**ids, parameter: unknown_id})
                for method in ("get", "post"):
                    result = world.request("owner", method, path, world.fields(route))
                    other_status = "302" if method == "get" and route.endswith(redirecting) else "405"
                    assert result.outcome() in ("404", other_status), f"{method} {path}: {result.outcome()}"


def test_session_does_not_authenticate_api_requests(world: World) -> None:
    ids = world.populated.ids
    for route in routes():
        if route.startswith(API):
            for who in ("owner", "anonymous"):
                for method in ("get", "post", "delete"):
                    result = world.request(who, method, address(route, ids))
                    assert result.outcome() == ("404" if "(?" in route else "401"), f"{method} {route} as {who}"
                    assert not result.contains(NAME)


def test_api_key_shows_no_data_of_another_organization(world: World) -> None:
    ids = world.populated.ids
    key = {"Authorization": f"Bearer {member_of('Away').plaintext}"}
    for route in routes():
        if route.startswith(API) and "(?" not in route:
            result = world.request("anonymous", "get", address(route, ids), headers=key)
            refusal = "400" if "<str:ending>" in route else "404"  # The format does not exist, independent of the ID.
            assert result.outcome() in ((refusal, "405") if "<" in route else ("200", "405")), route
            assert not any(result.contains(text) for text in (NAME, *world.home_ids())), route
            if result.outcome() == "200":
                body = result.response.json()
                assert not (body if isinstance(body, list) else body.get("total")), route


def test_admin_is_for_staff_only(world: World) -> None:
    ids = {**world.populated.ids, "object_id": 1, "id": 1, "content_type_id": 1}
    for route in routes():
        if route.startswith(ADMIN):
            path = address(route, ids)
            for who in ("owner", "anonymous"):
                for method in ("get", "post"):
                    result = world.request(who, method, path)
                    assert not result.contains(NAME)
                    if path == "/admin/login/":
                        assert result.outcome() == ("login" if who == "anonymous" else "403")
                    elif path == "/admin/logout/":  # A view of the service.
                        assert result.outcome() == ("405" if method == "get" else "302")
                    elif path == "/admin/password_change/":  # A view of the service.
                        assert result.response["Location"] == "/account/"
                    else:
                        assert result.response["Location"].startswith("/admin/login/?next=/admin/"), path


@pytest.mark.parametrize("state", ["queued", "running", "failed", "partial", "expired", "seo", "never"])
def test_strangers_learn_nothing_about_a_scan_in_any_state(world: World, state: str) -> None:
    scan_id = {**world.populated.ids, "never_id": "scan_" + "0" * 22}[f"{state}_id"]
    for route in [route for route in pages() if route.startswith("report/<")]:
        path = address(route, {"export_format": "csv", "number": 0, "digest": "0", "scan_id": scan_id})
        for who, expected in (("outsider", "404"), ("anonymous", "login")):
            method, data = ("post", {"shared": "on"}) if route.endswith("/share") else ("get", None)
            result = world.request(who, method, path, data)
            assert (result.outcome(), result.changes) == (expected, 0)
            assert not result.contains("example.org")
            assert not result.contains(NAME)


@pytest.mark.parametrize(
    "state", ["audit", "running_audit", "discovering_audit", "failed_audit", "expired_audit", "never"]
)
def test_strangers_learn_nothing_about_an_audit_in_any_state(world: World, state: str) -> None:
    audit_id = {**world.populated.ids, "never_id": "aud_" + "0" * 22}[f"{state}_id"]
    for route in [route for route in pages() if route.startswith("audit/")]:
        path = address(route, {"export_format": "csv", "number": 0, "digest": "0", "audit_id": audit_id})
        for who, expected in (("outsider", "404"), ("anonymous", "login")):
            method, data = ("post", {"shared": "on"}) if route.endswith("/share") else ("get", None)
            result = world.request(who, method, path, data)
            assert (result.outcome(), result.changes) == (expected, 0)
            assert not result.contains("bakery.example.com")
            assert not result.contains(NAME)


def test_strangers_see_only_a_shared_audit_and_its_reports(world: World) -> None:
    ids = world.populated.ids
    page, pages_audit = f"/audit/{ids['shared_audit_id']}", f"/audit/{ids['listed_audit_id']}"
    reports = Scan.objects.filter(audit_page__audit=ids["shared_audit_id"], status__in=Scan.REPORTED)
    assert reports.count() == 3
    paths = [page, f"{page}?type=seo", f"{page}/export/csv", pages_audit, f"{pages_audit}?show=pages"]
    paths += [f"/report/{scan.id}" for scan in reports]
    for who in STRANGERS:
        for path in paths:
            result = world.request(who, "get", path)
            assert result.outcome() == "200", path
            assert not result.contains(NAME), path
            assert not result.contains(ids["audit_id"]), path
        result = world.request(who, "post", f"{page}/share", {"shared": "off"})
        assert (result.outcome(), result.changes) == ("403", 0)


def test_strangers_see_only_a_shared_report(world: World) -> None:
    path = f"/report/{world.populated.ids['shared_id']}"
    for who in STRANGERS:
        for page in (path, f"{path}/export/json", f"{path}/export/sarif", f"{path}/export/csv"):
            result = world.request(who, "get", page)
            assert result.outcome() == "200"
            assert not result.contains(NAME)
            assert not result.contains(world.populated.ids["partial_id"])
        result = world.request(who, "post", f"{path}/share", {"shared": "off"})
        assert (result.outcome(), result.changes) == ("403", 0)


def test_id_of_home_below_an_id_of_another_organization_is_not_found(world: World) -> None:
    other = member_of("Away")
    webhook, _ = register_webhook(other, "https://8.8.8.8/hook")
    path = f"/o/away/webhooks/{webhook.id}"
    assert world.request("outsider", "get", path).outcome() == "200"
    result = world.request("outsider", "post", f"{path}/deliveries/{world.populated.ids['delivery_id']}/replay")
    assert (result.outcome(), result.changes) == ("404", 0)


def test_every_form_needs_its_csrf_token(world: World) -> None:
    # Mail programs post without cookies. The token in the URL is for one person and topic, and cannot be guessed.
    forms = [route for route in pages() if not route.startswith("unsubscribe/")]
    for route in [*forms, "admin/operations/", "admin/login/", "admin/accounts/organization/add/"]:
        result = world.request("owner", "post", world.path(route), world.fields(route), enforce_csrf_checks=True)
        assert (result.outcome(), result.changes) == ("403", 0), route
        assert result.contains("The form has expired"), route


def test_next_redirects_only_to_the_own_host(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "ATTEMPTS_PER_ACCOUNT", 100)
    person = User.objects.create_user("late@people.test", "correct horse 9")
    credentials = {"login": person.email, "password": "correct horse 9"}
    again_route, cancel_route = (
        "o/<slug:organization>/scans/<str:scan_id>/again",
        "o/<slug:organization>/scans/<str:scan_id>/cancel",
    )
    for evil in EVIL:
        results = [
            world.request("anonymous", "post", "/login/", credentials | {"next": evil}),
            world.request("owner", "get", "/login/", {"next": evil}),
            *(
                world.request("member", "post", world.path(route), {"next": evil})
                for route in (again_route, cancel_route)
            ),
            *(world.request(who, "get", "/admin/login/", {"next": evil}) for who in STRANGERS),
        ]
        for result in results:
            assert result.response.status_code in (302, 403), evil
            assert host_after(result.response) == "testserver", evil
