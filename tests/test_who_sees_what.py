"""Tests that every route answers as permitted.

No route may leak data of other tenants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import ada_url
import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.test import Client
from msgspec import Struct
from pytest_django import DjangoDbBlocker

from accounts.models import RANKS, ActivityEvent, Membership, User
from accounts.pages import login
from accounts.pages.role_table import TASKS
from scans.models import BlockedDomain, Scan
from tests.factories import browser_of, member_of, person_of, register_webhook
from tests.populated import NAME, SITES, Populated, populate
from tests.responses import ClientResponse
from tests.router import ADMIN, API, address, routes

PEOPLE = ("owner", "admin", "member", "viewer", "outsider", "anonymous")
STRANGERS = PEOPLE[-2:]

ALL = "200 200 200 200 200 200"
METHOD_NOT_ALLOWED = "405 405 405 405 405 405"
REDIRECT = "302 302 302 302 302 302"
NOT_FOUND = "404 404 404 404 404 404"
GONE = "410 410 410 410 410 410"
OK_IF_LOGGED_IN = "200 200 200 200 200 login"
FORBIDDEN = "403 403 403 403 403 login"
NOT_FOUND_FEATURE_DISABLED = "404 404 404 404 404 login"
MEMBERS = "200 200 200 200 404 login"
OK_FOR_ADMINS = "200 200 403 403 404 login"
REDIRECT_FOR_ADMINS = "302 302 403 403 404 login"
REDIRECT_FOR_MEMBERS = "302 302 302 403 404 login"
REDIRECT_FOR_ALL = "302 302 302 302 302 login"

# Expected GET and POST statuses by person, and the redirect target. The outsider gets 404 for IDs of `home`. `login`
# is a redirect to the login page with a `next` parameter.
TABLE: dict[str, tuple[str, str, str]] = {
    "": (ALL, METHOD_NOT_ALLOWED, ""),
    "openapi.yaml": (ALL, METHOD_NOT_ALLOWED, ""),
    "about-our-scans": (ALL, METHOD_NOT_ALLOWED, ""),
    "robots.txt": (ALL, METHOD_NOT_ALLOWED, ""),
    "favicon.ico": (REDIRECT, METHOD_NOT_ALLOWED, "/static/img/favicon.ico"),
    "site.webmanifest": (ALL, METHOD_NOT_ALLOWED, ""),
    "licence": (ALL, METHOD_NOT_ALLOWED, ""),
    # The view redirects to the form for a new scan, and strangers to the sign-up.
    "scan": (REDIRECT, METHOD_NOT_ALLOWED, r"/o/(?:home|away)/scans/new\?url=|/signup/\?next=/scan.*"),
    "samples/": (ALL, METHOD_NOT_ALLOWED, ""),
    "samples/<slug:slug>": (ALL, METHOD_NOT_ALLOWED, ""),
    "docs/search-index.js": (ALL, METHOD_NOT_ALLOWED, ""),
    "report/sample/<str:name>": (ALL, METHOD_NOT_ALLOWED, ""),
    "report/sample/<str:name>/<path:path>": (ALL, METHOD_NOT_ALLOWED, ""),
    # Each card has one URL, to which all other URLs redirect.
    "report/sample/<str:name>/card/<str:digest>.png": (
        REDIRECT,
        METHOD_NOT_ALLOWED,
        r"/report/sample/[\w-]+/card/\w{{16}}\.png",
    ),
    "card/<str:digest>.png": (REDIRECT, METHOD_NOT_ALLOWED, r"/card/\w{{16}}\.png"),
    "sitemap.xml": (ALL, METHOD_NOT_ALLOWED, ""),
    # The operator has not configured a security contact.
    ".well-known/security.txt": ("404 404 404 404 404 404", METHOD_NOT_ALLOWED, ""),
    "docs/": (ALL, METHOD_NOT_ALLOWED, ""),
    "docs/checks/": (ALL, METHOD_NOT_ALLOWED, ""),
    "docs/checks/<str:check_id>": (ALL, METHOD_NOT_ALLOWED, ""),
    "docs/api/<slug:group>": (ALL, METHOD_NOT_ALLOWED, ""),
    "docs/<slug:guide>": (ALL, METHOD_NOT_ALLOWED, ""),
    "docs": (REDIRECT, REDIRECT, "/docs/"),
    "docs/checks": (REDIRECT, REDIRECT, "/docs/checks/"),
    "login": (REDIRECT, REDIRECT, "/login/"),
    "signup": (REDIRECT, REDIRECT, "/signup/"),
    "dashboard": (REDIRECT, REDIRECT, "/dashboard/"),
    "admin": (REDIRECT, REDIRECT, "/admin/"),
    "login/": ("302 302 302 302 302 200", "302 302 302 302 302 200", "/dashboard/"),
    # No person here still has to enter the second factor.
    "login/code/": (REDIRECT, REDIRECT, "/dashboard/|/login/"),
    "login/passkey/": (REDIRECT, REDIRECT, "/dashboard/|/login/"),
    # The tests configure no identity providers.
    "login/with/<slug:provider_id>/": (METHOD_NOT_ALLOWED, NOT_FOUND, ""),
    "login/with/<slug:provider_id>/callback/": (NOT_FOUND, METHOD_NOT_ALLOWED, ""),
    "logout/": (METHOD_NOT_ALLOWED, REDIRECT, "/"),
    "signup/": ("302 302 302 302 302 200", "302 302 302 302 302 200", "/dashboard/"),
    "signup/sent/": (ALL, METHOD_NOT_ALLOWED, ""),
    "signup/<str:token>/": (ALL, ALL, ""),
    "password/": (ALL, ALL, ""),
    "password/sent/": (ALL, METHOD_NOT_ALLOWED, ""),
    "password/<uidb64>/<token>/": (GONE, GONE, ""),
    # Anybody with the link may see who sent the invitation.
    "invite/<str:token>": (ALL, ALL, ""),
    # Anybody with the link may unsubscribe without a login.
    "unsubscribe/<str:token>": (ALL, ALL, ""),
    "unsubscribe/<str:token>/again": (METHOD_NOT_ALLOWED, ALL, ""),
    "account/": (OK_IF_LOGGED_IN, OK_IF_LOGGED_IN, ""),
    # A form without values is refused.
    "account/quiet-hours/": (OK_IF_LOGGED_IN, "400 400 400 400 400 login", ""),
    "account/email/": (OK_IF_LOGGED_IN, OK_IF_LOGGED_IN, ""),
    "account/email/<str:key>/": (GONE, GONE, ""),
    # People without a password or another factor cannot authenticate again.
    "account/again/": (FORBIDDEN, FORBIDDEN, ""),
    "account/again/code/": (FORBIDDEN, FORBIDDEN, ""),
    "account/again/passkey/": (FORBIDDEN, FORBIDDEN, ""),
    "account/again/provider/": (OK_IF_LOGGED_IN, METHOD_NOT_ALLOWED, ""),
    "account/security/": (OK_IF_LOGGED_IN, METHOD_NOT_ALLOWED, ""),
    "account/security/app/": (OK_IF_LOGGED_IN, OK_IF_LOGGED_IN, ""),
    "account/security/app/remove/": (NOT_FOUND_FEATURE_DISABLED, NOT_FOUND_FEATURE_DISABLED, ""),
    "account/security/passkeys/add/": (OK_IF_LOGGED_IN, OK_IF_LOGGED_IN, ""),
    "account/security/passkeys/<int:pk>/": (NOT_FOUND_FEATURE_DISABLED, NOT_FOUND_FEATURE_DISABLED, ""),
    "account/security/passkeys/<int:pk>/remove/": (NOT_FOUND_FEATURE_DISABLED, NOT_FOUND_FEATURE_DISABLED, ""),
    "account/security/codes/": (NOT_FOUND_FEATURE_DISABLED, "405 405 405 405 405 login", ""),
    "account/security/codes/new/": (OK_IF_LOGGED_IN, OK_IF_LOGGED_IN, ""),
    "account/security/codes/download/": (NOT_FOUND_FEATURE_DISABLED, NOT_FOUND_FEATURE_DISABLED, ""),
    "account/delete": (OK_IF_LOGGED_IN, OK_IF_LOGGED_IN, ""),
    "account/sessions/": (METHOD_NOT_ALLOWED, REDIRECT_FOR_ALL, "/account/"),
    "logo/<str:logo_id>": (ALL, METHOD_NOT_ALLOWED, ""),
    "account/time-zone": (METHOD_NOT_ALLOWED, REDIRECT_FOR_ALL, "/account/"),
    "account/sessions/<str:session_id>/end": (METHOD_NOT_ALLOWED, "302 404 404 404 404 login", "/account/"),
    "dashboard/": ("302 302 302 302 302 login", METHOD_NOT_ALLOWED, "/o/home/"),
    "o/<slug:organization>/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # The requests select nothing.
    "o/<slug:organization>/selected-sites": (METHOD_NOT_ALLOWED, "400 400 400 403 404 login", ""),
    "o/<slug:organization>/selected-monitors": (METHOD_NOT_ALLOWED, "400 400 400 403 404 login", ""),
    "o/<slug:organization>/recent": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/scans/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/scans/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/scans/<str:scan_id>/again": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/scans/<str:scan_id>/cancel": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/audits/<str:audit_id>/again": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/audits/<str:audit_id>/cancel": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, "/o/home/scans/"),
    "o/<slug:organization>/sites/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/sites/<str:host>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/sites/<str:host>/badge": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        r"/o/home/sites/[\w.]+\?page=.+",
    ),
    "o/<slug:organization>/monitors/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/monitors/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/monitors/<str:monitor_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # Requests without htmx are redirected to the page itself.
    "o/<slug:organization>/monitors/<str:monitor_id>/live": (
        *("302 302 302 302 404 login", METHOD_NOT_ALLOWED),
        "/o/home/monitors/{monitor_id}",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/edit": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/monitors/{monitor_id}",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/pause": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/monitors/{monitor_id}",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/run": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/monitors/{monitor_id}",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/delete": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/monitors/",
    ),
    "o/<slug:organization>/monitors/<str:monitor_id>/badge": (
        *(METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS),
        "/o/home/monitors/{monitor_id}#badge",
    ),
    "o/<slug:organization>/lists/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/lists/<str:list_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # Requests without htmx are redirected to the page itself.
    "o/<slug:organization>/lists/<str:list_id>/live": (
        *("302 302 302 302 404 login", METHOD_NOT_ALLOWED),
        "/o/home/lists/{list_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/edit": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/lists/{list_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/delete": (
        "200 200 200 403 404 login",
        REDIRECT_FOR_MEMBERS,
        "/o/home/lists/",
    ),
    # The request does not contain any pasted text.
    "o/<slug:organization>/lists/<str:list_id>/import": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/lists/<str:list_id>/entries": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/lists/{list_id}",
    ),
    # The request has neither tags nor a note, so both are removed.
    "o/<slug:organization>/lists/<str:list_id>/entries/<str:entry_id>": (
        *(MEMBERS, REDIRECT_FOR_MEMBERS),
        "/o/home/lists/{list_id}/entries/{entry_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/run": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/lists/{list_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/snapshot": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/adoption": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/conformance": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/targets": (
        *(METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS),
        "/o/home/lists/{list_id}/adoption#targets",
    ),
    "o/<slug:organization>/lists/<str:list_id>/sharing": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/sharing/new": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/lists/{list_id}/sharing",
    ),
    "o/<slug:organization>/lists/<str:list_id>/sharing/<str:share_id>/revoke": (
        *(METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS),
        "/o/home/lists/{list_id}/sharing",
    ),
    "o/<slug:organization>/lists/<str:list_id>/runs": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/cancel": (
        *(METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS),
        "/o/home/lists/{running_list_id}",
    ),
    # Without a check in the query, the view redirects to the snapshot.
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/sites": (
        *("302 302 302 302 404 login", METHOD_NOT_ALLOWED),
        "/o/home/lists/{list_id}/runs/{run_id}",
    ),
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/compare": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # The export format in the URL does not exist.
    "o/<slug:organization>/lists/<str:list_id>/runs/<str:run_id>/export/<str:export_format>": (
        "404 404 404 404 404 login",
        METHOD_NOT_ALLOWED,
        "",
    ),
    "o/<slug:organization>/webhooks/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/webhooks/new/<str:webhook_format>": (OK_FOR_ADMINS, "400 400 403 403 404 login", ""),
    "o/<slug:organization>/webhooks/<str:webhook_id>/ready": (OK_FOR_ADMINS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/webhooks/<str:webhook_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # GET redirects to the page of the webhook without looking up the webhook.
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
        *("302 302 403 403 404 login", METHOD_NOT_ALLOWED),
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/enable": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_ADMINS,
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/disable": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_ADMINS,
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/delete": (OK_FOR_ADMINS, REDIRECT_FOR_ADMINS, "/o/home/webhooks/"),
    "o/<slug:organization>/webhooks/<str:webhook_id>/test": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_ADMINS,
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/recover": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_ADMINS,
        "/o/home/webhooks/{webhook_id}",
    ),
    "o/<slug:organization>/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay": (
        *(METHOD_NOT_ALLOWED, REDIRECT_FOR_ADMINS),
        "/o/home/webhooks/{webhook_id}",
    ),
    "organizations/": (OK_IF_LOGGED_IN, METHOD_NOT_ALLOWED, ""),
    "organizations/new": (OK_IF_LOGGED_IN, REDIRECT_FOR_ALL, r"/o/one-more-\w+/"),
    "organizations/switch": (METHOD_NOT_ALLOWED, "302 302 302 302 404 login", "/o/home/"),
    # Admin, member and viewer may leave. An owner may leave if another owner remains.
    "organizations/<int:organization_id>/leave": (
        *(MEMBERS, "302 302 302 302 404 login"),
        "/organizations/",
    ),
    "o/<slug:organization>/journeys/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/journeys/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/journeys/<str:journey_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/journeys/<str:journey_id>/recording.json": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/journeys/<str:journey_id>/steps": (
        *("200 200 200 403 404 login", "400 400 400 403 404 login"),
        "",
    ),
    "o/<slug:organization>/journeys/<str:journey_id>/edit": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/journeys/{journey_id}",
    ),
    # Its domain is blocked, so control of it cannot be proven.
    "o/<slug:organization>/journeys/<str:journey_id>/check": (
        *("302 302 302 403 404 login", "200 200 200 403 404 login"),
        "/o/home/journeys/{journey_id}#proof",
    ),
    "o/<slug:organization>/journeys/<str:journey_id>/run": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/journeys/{journey_id}",
    ),
    "o/<slug:organization>/journeys/<str:journey_id>/dry-run": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/journeys/{journey_id}",
    ),
    "o/<slug:organization>/journeys/<str:journey_id>/delete": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/journeys/",
    ),
    "o/<slug:organization>/assessments/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/assessments/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/assessments/<str:assessment_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/assessments/<str:assessment_id>/texts": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/assessments/{assessment_id}/texts",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/log": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/assessments/<str:assessment_id>/status": (
        "200 200 200 403 404 login",
        REDIRECT_FOR_MEMBERS,
        "/o/home/assessments/{assessment_id}",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/share": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        r"/o/home/assessments/{assessment_id}\?shared=now",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/refresh": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/assessments/{assessment_id}",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/delete": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/assessments/",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/criteria/<str:criterion>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/assessments/<str:assessment_id>/criteria/<str:criterion>/remaining": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/assessments/{assessment_id}/criteria/{criterion}",
    ),
    # The domain is blocked, so its findings cannot be muted.
    "o/<slug:organization>/assessments/<str:assessment_id>/findings/<int:finding_id>/dispute": (
        "200 200 200 403 404 login",
        "400 400 400 403 404 login",
        "",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/findings/<int:finding_id>/withdraw": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/assessments/{assessment_id}/criteria/{criterion}#result-2-1-1-1",
    ),
    # The request has no address.
    "o/<slug:organization>/assessments/<str:assessment_id>/pages": (MEMBERS, "400 400 400 403 404 login", ""),
    "o/<slug:organization>/assessments/<str:assessment_id>/pages/<int:page_number>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/assessments/<str:assessment_id>/pages/<int:page_number>/rename": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/assessments/{assessment_id}/pages",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/pages/<int:page_number>/remove": (
        *("200 200 200 403 404 login", REDIRECT_FOR_MEMBERS),
        "/o/home/assessments/{assessment_id}/pages",
    ),
    "o/<slug:organization>/assessments/<str:assessment_id>/pages/<int:page_number>/results/<str:criterion>": (
        *(MEMBERS, REDIRECT_FOR_MEMBERS),
        "/o/home/assessments/{assessment_id}/criteria/{criterion}#result-2-1-1-1",
    ),
    "o/<slug:organization>/maintenance/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/maintenance/new": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/maintenance/<str:window_id>": ("200 200 200 403 404 login", "400 400 400 403 404 login", ""),
    "o/<slug:organization>/maintenance/<str:window_id>/delete": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_MEMBERS,
        "/o/home/maintenance/",
    ),
    "o/<slug:organization>/mutes/": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # The request has no finding to mute.
    "o/<slug:organization>/mutes/new": ("404 404 404 403 404 login", "404 404 404 403 404 login", ""),
    "o/<slug:organization>/mutes/<str:mute_id>/end": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, "/o/home/mutes/"),
    "o/<slug:organization>/members/": (MEMBERS, "302 302 403 403 404 login", "/o/home/members/"),
    "o/<slug:organization>/members/<int:membership_id>/role": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_ADMINS,
        "/o/home/members/",
    ),
    # The member is an owner, whom admins cannot change.
    "o/<slug:organization>/members/<int:membership_id>/sites": (
        OK_FOR_ADMINS,
        "302 400 403 403 404 login",
        "/o/home/members/",
    ),
    "o/<slug:organization>/members/<int:membership_id>/remove": (
        OK_FOR_ADMINS,
        REDIRECT_FOR_ADMINS,
        "/o/home/members/",
    ),
    "o/<slug:organization>/invitations/<str:invitation_id>/revoke": (
        METHOD_NOT_ALLOWED,
        REDIRECT_FOR_ADMINS,
        "/o/home/members/",
    ),
    "o/<slug:organization>/keys/": (
        *("200 200 403 403 404 login", "302 302 403 403 404 login"),
        r"/o/home/keys/\?shown=key_\w+",
    ),
    "o/<slug:organization>/keys/<str:key_id>/rename": (METHOD_NOT_ALLOWED, REDIRECT_FOR_ADMINS, "/o/home/keys/"),
    "o/<slug:organization>/keys/<str:key_id>/regenerate": (
        *(OK_FOR_ADMINS, "302 302 403 403 404 login"),
        r"/o/home/keys/\?shown=key_\w+",
    ),
    "o/<slug:organization>/keys/<str:key_id>/former/<int:former_id>/end": (
        OK_FOR_ADMINS,
        REDIRECT_FOR_ADMINS,
        "/o/home/keys/",
    ),
    "o/<slug:organization>/keys/<str:key_id>/revoke": (OK_FOR_ADMINS, REDIRECT_FOR_ADMINS, "/o/home/keys/"),
    "o/<slug:organization>/settings/": (MEMBERS, "302 403 403 403 404 login", "/o/home/settings/"),
    "o/<slug:organization>/settings/branding": (METHOD_NOT_ALLOWED, "302 403 403 403 404 login", "/o/home/settings/"),
    "o/<slug:organization>/settings/login": (METHOD_NOT_ALLOWED, "302 403 403 403 404 login", "/o/home/settings/"),
    "o/<slug:organization>/settings/weekly-digest": (
        METHOD_NOT_ALLOWED,
        "302 302 302 302 404 login",
        "/o/home/settings/",
    ),
    "o/<slug:organization>/settings/export": (
        "200 403 403 403 404 login",
        "302 403 403 403 404 login",
        "/o/home/settings/export",
    ),
    # The organization has not requested an export.
    "o/<slug:organization>/settings/export/<int:number>": (METHOD_NOT_ALLOWED, "404 403 403 403 404 login", ""),
    # Without the typed confirmation, nothing is deleted.
    "o/<slug:organization>/settings/delete": ("200 403 403 403 404 login", "200 403 403 403 404 login", ""),
    "o/<slug:organization>/activity/": ("200 200 403 403 404 login", METHOD_NOT_ALLOWED, ""),
    "o/<slug:organization>/activity/export/<str:export_format>": ("200 200 403 403 404 login", METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # The scan is of security.
    "report/<any:scan_id>/conformance": ("404 404 404 404 404 login", METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>/diff": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # The scan has ended, and ran without a browser.
    "report/<any:scan_id>/progress": ("302 302 302 302 404 login", METHOD_NOT_ALLOWED, "/report/{scan_id}"),
    "report/<any:scan_id>/screenshot": ("404 404 404 404 404 login", METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>/page.webp": ("404 404 404 404 404 login", METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>/film/<int:number>.jpg": ("404 404 404 404 404 login", METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>/card/<str:digest>.png": (
        "302 302 302 302 404 login",
        METHOD_NOT_ALLOWED,
        r"/report/{scan_id}/card/\w{{16}}\.png",
    ),
    "report/<any:scan_id>/export/<str:export_format>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>/for-developer.txt": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "report/<any:scan_id>/share": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, r"/report/{scan_id}\?shared=now"),
    # Anybody with the URL of a shared list sees its statistics.
    "list/<str:share_id>": (ALL, METHOD_NOT_ALLOWED, ""),
    # The page has no password.
    "list/<str:share_id>/password": (METHOD_NOT_ALLOWED, "404 404 404 404 404 404", ""),
    "list/<str:share_id>.svg": (ALL, METHOD_NOT_ALLOWED, ""),
    "list/<str:share_id>/card/<str:digest>.png": (REDIRECT, METHOD_NOT_ALLOWED, r"/list/{share_id}/card/\w{{16}}\.png"),
    # Anybody with the URL of a badge sees its grades.
    "badge/<str:badge_id>.svg": (ALL, METHOD_NOT_ALLOWED, ""),
    "badge/<str:badge_id>.png": (ALL, METHOD_NOT_ALLOWED, ""),
    # Members are redirected to the monitor, and others see the grades.
    "badge/<str:badge_id>": ("302 302 302 302 200 200", METHOD_NOT_ALLOWED, "/o/home/monitors/{monitor_id}"),
    "assessment/<str:assessment_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "assessment/<str:assessment_id>/statement": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "assessment/<str:assessment_id>/export/<str:export_format>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "audit/<any:audit_id>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # Requests without htmx are redirected to the page itself.
    "audit/<any:audit_id>/progress": ("302 302 302 302 404 login", METHOD_NOT_ALLOWED, "/audit/{audit_id}"),
    "audit/<any:audit_id>/card/<str:digest>.png": (
        "302 302 302 302 404 login",
        METHOD_NOT_ALLOWED,
        r"/audit/{audit_id}/card/\w{{16}}\.png",
    ),
    "audit/<any:audit_id>/export/<str:export_format>": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "audit/<any:audit_id>/for-developer.txt": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    "audit/<any:audit_id>/conformance": (MEMBERS, METHOD_NOT_ALLOWED, ""),
    # An audit of one page has no steps.
    "audit/<any:audit_id>/steps/<int:number>/picture": ("404 404 404 404 404 login", METHOD_NOT_ALLOWED, ""),
    "audit/<any:audit_id>/share": (METHOD_NOT_ALLOWED, REDIRECT_FOR_MEMBERS, r"/audit/{audit_id}\?shared=now"),
}

# Statuses of GET and POST for a member who is limited to a site without rows, on pages that serve limited members. All
# other pages of the organization answer them with 403.
SERVES_LIMITED: dict[str, tuple[str, str]] = {
    "o/<slug:organization>/": ("302", "405"),
    "o/<slug:organization>/scans/": ("200", "405"),
    "o/<slug:organization>/scans/new": ("200", "400"),
    "o/<slug:organization>/scans/<str:scan_id>/again": ("405", "404"),
    "o/<slug:organization>/scans/<str:scan_id>/cancel": ("405", "404"),
    "o/<slug:organization>/audits/<str:audit_id>/again": ("405", "404"),
    "o/<slug:organization>/audits/<str:audit_id>/cancel": ("405", "404"),
    "o/<slug:organization>/sites/": ("200", "405"),
    "o/<slug:organization>/sites/<str:host>": ("404", "405"),
    "o/<slug:organization>/monitors/": ("200", "405"),
    "o/<slug:organization>/monitors/new": ("200", "400"),
    # The request selects nothing.
    "o/<slug:organization>/selected-monitors": ("405", "400"),
    "o/<slug:organization>/monitors/<str:monitor_id>": ("404", "405"),
    # Requests without htmx are redirected to the page itself.
    "o/<slug:organization>/monitors/<str:monitor_id>/live": ("302", "405"),
    "o/<slug:organization>/monitors/<str:monitor_id>/edit": ("404", "404"),
    "o/<slug:organization>/monitors/<str:monitor_id>/pause": ("405", "404"),
    "o/<slug:organization>/monitors/<str:monitor_id>/run": ("405", "404"),
    "o/<slug:organization>/monitors/<str:monitor_id>/delete": ("404", "404"),
}

# A permitted POST with these form data changes something.
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
    "o/<slug:organization>/journeys/<str:journey_id>/edit": {
        "name": "Another name",
        "type": "seo",
        "judge": "end",
    },
    "o/<slug:organization>/assessments/<str:assessment_id>/texts": {"name": "Another name"},
    "o/<slug:organization>/assessments/<str:assessment_id>/status": {"status": "finished"},
    "o/<slug:organization>/assessments/<str:assessment_id>/share": {"shared": "on"},
    "o/<slug:organization>/assessments/<str:assessment_id>/refresh": {"audit": "{museum_audit_id}"},
    "o/<slug:organization>/assessments/<str:assessment_id>/criteria/<str:criterion>/remaining": {"result": "passed"},
    "o/<slug:organization>/assessments/<str:assessment_id>/findings/<int:finding_id>/dispute": {
        "reason": "Decoration."
    },
    "o/<slug:organization>/assessments/<str:assessment_id>/pages/<int:page_number>/results/<str:criterion>": {
        "version": "0",
        "result": "failed",
        "note": "It fails.",
    },
    "o/<slug:organization>/monitors/<str:monitor_id>/badge": {"badge": "off"},
    "o/<slug:organization>/lists/<str:list_id>/edit": {
        "name": "Another name",
        "type": "seo",
        "pages_per_entry": "1",
        "window_hours": "24",
        "timezone": "UTC",
    },
    "o/<slug:organization>/lists/<str:list_id>/targets": {"goal": "hsts", "percent": "95", "by": "2030-06-30"},
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
    "o/<slug:organization>/settings/branding": {"name": "Another name"},
    "report/<any:scan_id>/share": {"shared": "on"},
    "audit/<any:audit_id>/share": {"shared": "on"},
}
# POST routes that change nothing, although the response looks like success.
UNCHANGING = {
    # Pages without a form, or with a form for the owner's own account.
    *("docs", "docs/checks", "login", "signup", "dashboard", "admin"),
    *("login/", "login/code/", "login/passkey/", "logout/", "signup/", "account/sessions/", "account/time-zone"),
    *("account/sessions/<str:session_id>/end", "o/<slug:organization>/settings/weekly-digest"),
    # The domain is blocked, so that the test opens no connection.
    *("o/<slug:organization>/scans/<str:scan_id>/again", "o/<slug:organization>/audits/<str:audit_id>/again"),
    "o/<slug:organization>/journeys/<str:journey_id>/run",
    "o/<slug:organization>/journeys/<str:journey_id>/dry-run",
    # Their changes are in the log of the assessment.
    *(
        f"o/<slug:organization>/assessments/<str:assessment_id>/{rest}"
        for rest in (
            *("criteria/<str:criterion>/remaining", "findings/<int:finding_id>/withdraw"),
            *("pages/<int:page_number>/rename", "pages/<int:page_number>/remove"),
            "pages/<int:page_number>/results/<str:criterion>",
        )
    ),
    # Forms that do not concern this organization.
    *("organizations/new", "organizations/switch"),
    # The member is an owner, who cannot be limited.
    "o/<slug:organization>/members/<int:membership_id>/sites",
    # The login requirement stays disabled, and the webhook is already enabled.
    *("o/<slug:organization>/settings/login", "o/<slug:organization>/webhooks/<str:webhook_id>/enable"),
}
# Only queued scans and unfinished audits or runs can be cancelled.
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


class Result(Struct):
    """Response to a request, and the new activity log entries.

    The entries are counted.
    """

    response: ClientResponse
    changes: int

    def status_or_login(self) -> str:
        """Return the status in the notation of TABLE.

        There, `login` is a redirect to the login page.
        """
        location = self.response.headers.get("Location", "")
        return "login" if location.startswith("/login/?next=/") else str(self.response.status_code)

    def is_uncached(self) -> bool:
        """Return True if browsers must not cache the response.

        Without `no-store`, the next user could see it.
        """
        return "no-store" in self.response.get("Cache-Control", "")

    def has_text(self, text: str) -> bool:
        """Return True if the response contains the text.

        Headers count, and case does not matter.
        """
        response = self.response
        text_of_response = (
            "" if response.streaming else (response.serialize_headers() + response.content).decode(errors="replace")
        )
        return text.lower() in text_of_response.lower()


class World(Struct):
    """Populated organization with everybody's session cookies."""

    populated: Populated
    cookies: Mapping[str, str | None]
    log_entries: QuerySet[ActivityEvent]
    log_size_before: int

    def request(self, who: str, method: str, path: str, data: object = None, **options: Any) -> Result:
        """Send a request and roll back the changes.

        The person has just logged in.
        """
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

    def home_object_ids(self) -> list[str]:
        return [id for id in self.populated.ids.values() if re.fullmatch(r"[a-z]+_\w{22}", str(id))]

    def location_pattern(self, location: str, who: str) -> str:
        """Return a location in TABLE as a regular expression.

        Outsiders go to their own organization.
        """
        pattern = location.format(**self.populated.ids)
        return "/o/away/" if who == "outsider" and pattern == "/o/home/" else pattern

    def fields(self, route: str) -> dict[str, str]:
        return {name: value.format(**self.populated.ids) for name, value in FIELDS.get(route, {}).items()}


@pytest.fixture(scope="module")
def populated_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Populated organization whose sites are blocked.

    So no test opens connections.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        populated = populate(3)
        BlockedDomain.objects.create(domain="example.com")
        limited = person_of(populated.home, "member", "limited@people.test")
        Membership.objects.filter(user=limited).update(limited_to=["own.example.net", "tag:none"])
        people = {**populated.people, "limited": limited}
        cookies = {who: browser_of(person).cookies["sessionid"].value for who, person in people.items()}
        log_entries = ActivityEvent.objects.filter(organization=populated.home.organization)
        yield World(populated, cookies | {"anonymous": None}, log_entries, log_entries.count())
        transaction.set_rollback(True)


@pytest.fixture
def world(populated_once: World, db: None) -> World:
    return populated_once


def host_opened_by_browser(response: ClientResponse) -> str:
    """Return the host that a browser would open next.

    The URL Standard determines it.
    """
    return ada_url.URL(ada_url.join_url("http://testserver/somewhere", response.headers.get("Location", ""))).hostname


def pages() -> list[str]:
    """Return all routes except those of the admin and the API."""
    return [route for route in routes() if not route.startswith((ADMIN, *API))]


def test_every_page_has_a_row_in_the_table() -> None:
    assert set(pages()) == set(TABLE)
    assert set(FIELDS) | set(UNFINISHED_IDS) <= set(TABLE)


@pytest.mark.parametrize("method", ["get", "post"])
def test_limited_member_sees_nothing_of_other_sites(world: World, method: str) -> None:
    wrong = []
    for route, (gets, posts, _) in TABLE.items():
        outsider = (gets if method == "get" else posts).split()[PEOPLE.index("outsider")]
        is_of_organization = route.startswith("o/<slug:organization>/")
        expected = "403" if is_of_organization and outsider == "404" else outsider
        if route in SERVES_LIMITED:
            expected = SERVES_LIMITED[route][method == "post"]
        result = world.request("limited", method, world.path(route), world.fields(route) if method == "post" else None)
        if (is_of_organization or route.startswith(("report/<", "audit/<"))) and result.status_or_login() != expected:
            wrong.append(f"{route}: {result.status_or_login()}, not {expected}")
        if result.changes and not route.startswith(("account/", "organizations/")):
            wrong.append(f"{route}: changes data")
        wrong += [f"{route}: contains {site}" for site in SITES if outsider != "200" and result.has_text(site)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("method", ["get", "post"])
def test_routes_answer_people_as_expected(world: World, method: str) -> None:
    """Every request has a `next` parameter with another host.

    No response may redirect there.
    """
    wrong = []
    for route, (gets, posts, location) in TABLE.items():
        for who, expected in zip(PEOPLE, (gets if method == "get" else posts).split(), strict=True):
            path, fields = world.path(route), {"next": "/\\evil.test/"} | world.fields(route)
            if method == "get":
                path, fields = f"{path}?next=//evil.test/", {}
            result = world.request(who, method, path, fields)
            to = result.response.headers.get("Location", "")
            if result.status_or_login() != expected:
                wrong.append(f"{who} {route}: {result.status_or_login()}, not {expected}")
            elif expected == "302" and not re.fullmatch(world.location_pattern(location, who), to):
                wrong.append(f"{who} {route}: to {to}")
            elif expected == "login" and method == "get" and to != f"/login/?next={quote(path)}":
                wrong.append(f"{who} {route}: by way of {to}")
            if host_opened_by_browser(result.response) != "testserver":
                wrong.append(f"{who} {route}: away to {to}")
            if who in STRANGERS and not route.startswith(("invite/", "unsubscribe/")) and result.has_text(NAME):
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
            if gets.endswith("login") and result.status_or_login() == "200" and not result.is_uncached():
                wrong.append(f"{who} {route}: is cached by browsers")
    assert wrong == []


# A route for each task of the table on the members page, and the method that does it. No route only appoints owners.
ROUTES_OF_TASKS = {
    "See scans, reports, sites, monitors, lists, journeys, assessments and webhooks": ("webhooks/", "get"),
    "Start, repeat and cancel scans and audits": ("scans/<str:scan_id>/cancel", "post"),
    "Create, change and delete monitors, lists, journeys, assessments and badges": (
        "monitors/<str:monitor_id>/edit",
        "post",
    ),
    "Share reports, and mute findings": ("mutes/<str:mute_id>/end", "post"),
    "Create, test and delete webhooks": ("webhooks/<str:webhook_id>/test", "post"),
    "Create and revoke API keys": ("keys/<str:key_id>/revoke", "post"),
    "Invite and remove people, and change their roles": ("members/<int:membership_id>/role", "post"),
    "See the activity log": ("activity/", "get"),
    "Rename the organization, and set its log-in requirement": ("settings/", "post"),
    "Export or delete the organization": ("settings/export", "post"),
}


def test_table_of_roles_agrees_with_the_table_of_routes() -> None:
    assert {task for task, _ in TASKS} == {*ROUTES_OF_TASKS, "Appoint owners"}
    for task, lowest in TASKS[:-1]:
        route, method = ROUTES_OF_TASKS[task]
        statuses = TABLE[f"o/<slug:organization>/{route}"][method == "post"].split()
        allowed = [role for role, status in zip(reversed(RANKS), statuses, strict=False) if status != "403"]
        assert allowed[-1] == lowest, task


def test_foreign_ids_are_not_found(world: World) -> None:
    """IDs of `home` do not exist for outsiders.

    They have all permissions in their own organization.
    """
    # GET requests to these routes redirect without looking up the ID.
    redirecting = ("/edit", "/rotate", "/live")
    for route in TABLE:
        path = world.path(route).replace("/o/home/", "/o/away/")
        if route.startswith("o/") and route.count("<") > 1:
            for method in ("get", "post"):
                result = world.request("outsider", method, path, world.fields(route))
                other_status = "302" if method == "get" and route.endswith(redirecting) else "405"
                if method == "get" and route.endswith("/activity/export/<str:export_format>"):
                    other_status = "200"  # The URL has no ID, so this is the outsider's own log.
                if route.endswith("/webhooks/new/<str:webhook_format>"):
                    other_status = "200" if method == "get" else "400"  # The URL has no ID.
                assert result.status_or_login() in ("404", other_status), f"{method} {path}: {result.status_or_login()}"
                assert result.changes == 0, path
                assert not result.has_text(NAME), path
        elif route.startswith("o/"):
            result = world.request("outsider", "get", path)
            assert not any(result.has_text(text) for text in (NAME, *world.home_object_ids())), path


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
                    assert result.status_or_login() in ("404", other_status), (
                        f"{method} {path}: {result.status_or_login()}"
                    )


def test_api_refuses_session_cookies(world: World) -> None:
    ids = world.populated.ids
    for route in routes():
        if route.startswith(API):
            for who in ("owner", "anonymous"):
                for method in ("get", "post", "delete"):
                    result = world.request(who, method, address(route, ids))
                    assert result.status_or_login() == ("404" if "(?" in route else "401"), f"{method} {route} as {who}"
                    assert not result.has_text(NAME)


def test_api_key_shows_no_foreign_data(world: World) -> None:
    ids = world.populated.ids
    # The plan free allows fewer requests a minute than there are routes.
    key = {"Authorization": f"Bearer {member_of('Away', 'pro').plaintext}"}
    for route in routes():
        if route.startswith(API) and "(?" not in route:
            result = world.request("anonymous", "get", address(route, ids), headers=key)
            # The requested export format does not exist, whatever the ID is.
            refusal = "400" if "<str:ending>" in route else "404"
            assert result.status_or_login() in ((refusal, "405") if "<" in route else ("200", "405")), route
            assert not any(result.has_text(text) for text in (NAME, *world.home_object_ids())), route
            if result.status_or_login() == "200":
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
                    assert not result.has_text(NAME)
                    if path == "/admin/login/":
                        assert result.status_or_login() == ("login" if who == "anonymous" else "403")
                    elif path == "/admin/logout/":  # The service replaces this view of the admin with its own.
                        assert result.status_or_login() == ("405" if method == "get" else "302")
                    elif path == "/admin/password_change/":  # The service replaces this view of the admin with its own.
                        assert result.response["Location"] == "/account/"
                    else:
                        assert result.response["Location"].startswith("/admin/login/?next=/admin/"), path


@pytest.mark.parametrize("state", ["queued", "running", "failed", "partial", "expired", "seo", "never"])
def test_strangers_learn_nothing_about_scans(world: World, state: str) -> None:
    scan_id = {**world.populated.ids, "never_id": "scan_" + "0" * 22}[f"{state}_id"]
    for route in [route for route in pages() if route.startswith("report/<")]:
        path = address(route, {"export_format": "csv", "number": 0, "digest": "0", "scan_id": scan_id})
        for who, expected in (("outsider", "404"), ("anonymous", "login")):
            method, data = ("post", {"shared": "on"}) if route.endswith("/share") else ("get", None)
            result = world.request(who, method, path, data)
            assert (result.status_or_login(), result.changes) == (expected, 0)
            assert not result.has_text("example.org")
            assert not result.has_text(NAME)


@pytest.mark.parametrize(
    "state", ["audit", "running_audit", "discovering_audit", "failed_audit", "expired_audit", "never"]
)
def test_strangers_learn_nothing_about_audits(world: World, state: str) -> None:
    audit_id = {**world.populated.ids, "never_id": "aud_" + "0" * 22}[f"{state}_id"]
    for route in [route for route in pages() if route.startswith("audit/")]:
        path = address(route, {"export_format": "csv", "number": 0, "digest": "0", "audit_id": audit_id})
        for who, expected in (("outsider", "404"), ("anonymous", "login")):
            method, data = ("post", {"shared": "on"}) if route.endswith("/share") else ("get", None)
            result = world.request(who, method, path, data)
            assert (result.status_or_login(), result.changes) == (expected, 0)
            assert not result.has_text("bakery.example.com")
            assert not result.has_text(NAME)


def test_strangers_only_see_the_shared_audit(world: World) -> None:
    ids = world.populated.ids
    page, pages_audit = f"/audit/{ids['shared_audit_id']}", f"/audit/{ids['listed_audit_id']}"
    reports = Scan.objects.filter(audit_page__audit=ids["shared_audit_id"], status__in=Scan.REPORTED)
    assert reports.count() == 3
    paths = [
        page,
        f"{page}?type=seo",
        f"{page}/export/csv",
        f"{page}/for-developer.txt",
        f"{page}/conformance",
        f"{page}/conformance?format=earl",
        pages_audit,
        f"{pages_audit}?show=pages",
    ]
    paths += [f"/report/{scan.id}" for scan in reports]
    for who in STRANGERS:
        for path in paths:
            result = world.request(who, "get", path)
            assert result.status_or_login() == "200", path
            assert not result.has_text(NAME), path
            assert not result.has_text(ids["audit_id"]), path
        result = world.request(who, "post", f"{page}/share", {"shared": "off"})
        assert (result.status_or_login(), result.changes) == ("403", 0)


def test_strangers_only_see_the_shared_report(world: World) -> None:
    path = f"/report/{world.populated.ids['shared_id']}"
    for who in STRANGERS:
        for page in (path, f"{path}/export/json", f"{path}/export/sarif", f"{path}/export/csv"):
            result = world.request(who, "get", page)
            assert result.status_or_login() == "200"
            assert not result.has_text(NAME)
            assert not result.has_text(world.populated.ids["partial_id"])
        result = world.request(who, "post", f"{path}/share", {"shared": "off"})
        assert (result.status_or_login(), result.changes) == ("403", 0)


def test_delivery_needs_its_own_webhook(world: World) -> None:
    other = member_of("Away")
    webhook, _ = register_webhook(other, "https://8.8.8.8/hook")
    path = f"/o/away/webhooks/{webhook.id}"
    assert world.request("outsider", "get", path).status_or_login() == "200"
    result = world.request("outsider", "post", f"{path}/deliveries/{world.populated.ids['delivery_id']}/replay")
    assert (result.status_or_login(), result.changes) == ("404", 0)


def test_every_form_needs_its_csrf_token(world: World) -> None:
    # E-mail programs POST without cookies, and the token is for one person and topic.
    forms = [route for route in pages() if not route.startswith("unsubscribe/")]
    for route in [*forms, "admin/operations/", "admin/login/", "admin/accounts/organization/add/"]:
        result = world.request("owner", "post", world.path(route), world.fields(route), enforce_csrf_checks=True)
        assert (result.status_or_login(), result.changes) == ("403", 0), route
        assert result.has_text("The form has expired"), route


def test_next_never_redirects_to_another_host(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT", 100)
    person = User.objects.create_user("late@people.test", "correct horse 9")
    credentials = {"login": person.email, "password": "correct horse 9"}
    scan_again_route, cancel_route = (
        "o/<slug:organization>/scans/<str:scan_id>/again",
        "o/<slug:organization>/scans/<str:scan_id>/cancel",
    )
    for evil in EVIL:
        results = [
            world.request("anonymous", "post", "/login/", credentials | {"next": evil}),
            world.request("owner", "get", "/login/", {"next": evil}),
            *(
                world.request("member", "post", world.path(route), {"next": evil})
                for route in (scan_again_route, cancel_route)
            ),
            *(world.request(who, "get", "/admin/login/", {"next": evil}) for who in STRANGERS),
        ]
        for result in results:
            assert result.response.status_code in (302, 403), evil
            assert host_opened_by_browser(result.response) == "testserver", evil
