"""Pages of the service for browser tests.

Django renders them once, and Playwright serves the responses to Chromium.
"""

from __future__ import annotations

import contextlib
import mimetypes
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.contrib.admin.utils import quote
from django.contrib.auth.tokens import default_token_generator
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from msgspec import Struct, field
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, ViewportSize, sync_playwright

from accounts.models import DataExport, DataExportPart, User
from tests.factories import browser_of, member_of, person_of
from tests.playwright_options import launch_options
from tests.populated import Populated, populate, real_result
from tests.targets.server import root_file
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser

T = TypeVar("T")

# Scripts may use the clipboard on localhost as over HTTPS.
ORIGIN = "http://localhost"
BROWSER_TIMEOUT_S = 100
SIZE: ViewportSize = {"width": 1280, "height": 720}
REDUCED: Mapping[str, Any] = {"reduced_motion": "reduce"}
ROWS = 7
# Paths of resources that pages load besides static files.
PARTS = (
    "/openapi.yaml",
    "/site.webmanifest",
    "/admin/jsi18n/",
    "/o/home/recent",
    "/report/{performance_id}/screenshot",
    "/report/sample/performance/screenshot.webp",
    "/report/{audit_performance_id}/screenshot",
    "/report/{performance_id}/for-developer.txt",
    "/audit/{site_audit_id}/for-developer.txt",
    "/report/{queued_id}/progress?status=queued",
    "/audit/{running_audit_id}/progress?status=running&type=security",
    "/audit/{waiting_audit_id}/progress?status=running&type=security",
    "/audit/{running_journey_audit_id}/progress?status=running&type=",
    "/audit/{ahead_audit_id}/progress?status=running&type=",
    "/audit/{discovering_audit_id}/progress?status=discovering&type=",
    "/report/{running_id}/progress?status=scanning",
    "/o/home/monitors/{running_monitor_id}/live?run={running_run_id}",
    "/o/home/lists/{running_list_id}/live?run={running_list_run_id}",
    "/list/{share_id}.svg",
    "/list/{share_id}.svg?check=hsts",
    "/list/{other_share_id}.svg",
    "/badge/{badge_id}.svg",
    "/badge/{page_badge_id}.svg",
    "/logo/{logo_id}",
)
# Paths of film frames, cards and badges vary between renderings.
PICTURE = re.compile(
    r"/audit/\w+/steps/\d+/picture|/report/(?:sample/)?[\w-]+/(?:film/\d+\.jpg|page\.webp)|/(?:report|audit)/\w+/card/\w+\.png|/badge/\w+\.png\?v=\w+"
)


class PageRequest(Struct, frozen=True):
    """Request for a page.

    It has the person who opens the page and the form data to post.
    """

    path: str
    who: str = "owner"
    data: Mapping[str, str] | None = None
    status: int = 200
    options: Mapping[str, Any] = field(default_factory=dict)


NEW_PASSWORD_PATH = "/password/{uid}/{token}/"
NEW_MUTE_PATH = "/o/home/mutes/new?scan={security_id}&check=csp-present"
WEBHOOK = "/o/home/webhooks/{webhook_id}"
MONITOR = "/o/home/monitors/{monitor_id}"
LIST = "/o/home/lists/{list_id}"
ASSESSMENT = "/o/home/assessments/{assessment_id}"
JOURNEY = "/o/home/journeys/{journey_id}"
IMPORTED = "url\ttags\tnote\nnew.example.com\tnorth;coast\tTell them\nhttps://town-hall-0.example.net/\tnorth\t"

PAGES: Mapping[str, PageRequest] = {
    "landing": PageRequest("/", "anonymous"),
    "landing-known": PageRequest("/"),
    "samples": PageRequest("/samples/", "anonymous"),
    "sample-site": PageRequest("/samples/site", "anonymous"),
    "sample-list": PageRequest("/samples/list", "anonymous"),
    "about-our-scans": PageRequest("/about-our-scans", "anonymous"),
    "docs": PageRequest("/docs/", "anonymous"),
    "docs-guide": PageRequest("/docs/webhooks", "anonymous"),
    "docs-guide-with-pictures": PageRequest("/docs/statement", "anonymous"),
    "docs-errors": PageRequest("/docs/errors"),
    "docs-group": PageRequest("/docs/api/webhooks", "anonymous"),
    "docs-checks": PageRequest("/docs/checks/?type=security", "anonymous"),
    "docs-checks-nothing": PageRequest("/docs/checks/?q=nowhere", "anonymous"),
    "docs-check": PageRequest("/docs/checks/hsts", "anonymous"),
    "login": PageRequest("/login/", "anonymous"),
    "login-refused": PageRequest("/login/", "anonymous", {"login": "ada@people.test", "password": "wrong"}),
    "signup": PageRequest("/signup/", "anonymous"),
    "signup-for-a-scan": PageRequest("/scan?url=https://shop.example.com/teas", "anonymous"),
    "signup-refused": PageRequest("/signup/", "anonymous", {"email": "ada"}),
    "signup-sent": PageRequest("/signup/sent/", "anonymous"),
    "signup-finish": PageRequest("/signup/{signup/token}/", "anonymous"),
    "signup-finish-refused": PageRequest("/signup/{signup/token}/", "anonymous", {"password": "password"}),
    "link-dead": PageRequest("/signup/forged/", "anonymous", status=410),
    "password": PageRequest("/password/", "anonymous"),
    "password-sent": PageRequest("/password/sent/", "anonymous"),
    "password-new": PageRequest(NEW_PASSWORD_PATH, "anonymous"),
    "invite": PageRequest("/invite/{invite/token}", "anonymous"),
    "invite-other": PageRequest("/invite/{invite/token}", "viewer"),
    "unsubscribe": PageRequest("/unsubscribe/{unsubscribe/token}", "anonymous"),
    "unsubscribe-done": PageRequest("/unsubscribe/{unsubscribe/token}", "anonymous", {"List-Unsubscribe": "One-Click"}),
    "account": PageRequest("/account/"),
    "account-refused": PageRequest("/account/", data={"old_password": "x", "new_password1": "a", "new_password2": "b"}),
    "quiet-hours": PageRequest("/account/quiet-hours/"),
    "quiet-hours-refused": PageRequest("/account/quiet-hours/", data={"start": "x"}, status=400),
    "account-delete": PageRequest("/account/delete", "viewer"),
    "account-delete-only-owner": PageRequest("/account/delete", "newcomer"),
    "email": PageRequest("/account/email/"),
    "security": PageRequest("/account/security/"),
    "security-app-refused": PageRequest("/account/security/app/", data={"code": "1"}),
    "security-passkey": PageRequest("/account/security/passkeys/add/"),
    "organizations": PageRequest("/organizations/"),
    "organization-new": PageRequest("/organizations/new", "nobody"),
    "organization-leave": PageRequest("/organizations/{organization_id}/leave"),
    "overview": PageRequest("/o/home/"),
    "overview-viewer": PageRequest("/o/home/", "viewer"),
    "overview-empty": PageRequest("/o/meadow/", "newcomer"),
    "scans": PageRequest("/o/home/scans/"),
    "scans-nothing": PageRequest("/o/home/scans/?q=nowhere"),
    "scans-empty": PageRequest("/o/meadow/scans/", "newcomer"),
    "scan-new": PageRequest("/o/home/scans/new"),
    "scan-new-refused": PageRequest("/o/home/scans/new", data={"url": "http://localhost/", "type": "seo"}, status=403),
    "scan-new-refused-widths": PageRequest(
        "/o/home/scans/new", data={"url": "example.com", "type": "seo", "widths": "1"}, status=400
    ),
    "scan-new-site": PageRequest("/o/home/scans/new?scope=site&url=https://example.com/"),
    "scan-new-site-refused": PageRequest(
        "/o/home/scans/new",
        data={"url": "example.com", "scope": "site", "max_pages": "0", "include": "docs"},
        status=400,
    ),
    "sites": PageRequest("/o/home/sites/"),
    "sites-filtered": PageRequest("/o/home/sites/?state=high&grade=C&sort=-scanned"),
    "sites-nothing": PageRequest("/o/home/sites/?q=nowhere"),
    "sites-viewer": PageRequest("/o/home/sites/", "viewer"),
    "sites-empty": PageRequest("/o/meadow/sites/", "newcomer"),
    "site": PageRequest("/o/home/sites/{host}"),
    "mutes": PageRequest("/o/home/mutes/"),
    "mutes-viewer": PageRequest("/o/home/mutes/", "viewer"),
    "mutes-empty": PageRequest("/o/meadow/mutes/", "newcomer"),
    "mute-new": PageRequest(NEW_MUTE_PATH),
    "mute-new-refused": PageRequest(
        NEW_MUTE_PATH, data={"what": "all", "reason": "", "until": "soon", "path_prefix": "shop"}
    ),
    "monitors": PageRequest("/o/home/monitors/"),
    "monitors-viewer": PageRequest("/o/home/monitors/", "viewer"),
    "monitors-delete": PageRequest(
        "/o/home/selected-monitors", data={"action": "delete", "monitor": "{paused_monitor_id}"}
    ),
    "monitors-delete-all": PageRequest(
        "/o/home/selected-monitors", data={"action": "delete", "all": "yes", "back": "type=seo"}
    ),
    "monitors-nothing": PageRequest("/o/home/monitors/?q=nowhere"),
    "monitors-empty": PageRequest("/o/meadow/monitors/", "newcomer"),
    "monitors-empty-viewer": PageRequest("/o/meadow/monitors/", "onlooker"),
    "monitor-new": PageRequest("/o/home/monitors/new"),
    "monitor-new-small-plan": PageRequest("/o/meadow/monitors/new?url=https://example.com/", "newcomer"),
    "monitor-new-refused": PageRequest(
        "/o/home/monitors/new",
        data={
            "scope": "pages",
            "pages": "http://localhost/ x y://z",
            "type": "seo",
            "every": "week",
            "score_drop": "0",
        },
        status=400,
    ),
    "monitor-new-requirements": PageRequest(
        "/o/home/monitors/new",
        data={
            "scope": "page",
            "url": "https://example.com/",
            "type": "seo",
            "every": "day",
            "own_rows": "4",
            "own-0-name": "Imprint is linked",
            "own-0-kind": "link",
            "own-0-value": "imprint",
            "own-0-severity": "high",
            "own-1-name": "Few scripts",
            "own-1-kind": "requests:script",
            "own-1-value": "20",
            "own-1-severity": "medium",
            "own_budget": "not a file of Lighthouse",
        },
        status=400,
    ),
    "monitor-edit": PageRequest("/o/home/monitors/{paused_monitor_id}/edit"),
    "monitor": PageRequest(MONITOR),
    "monitor-viewer": PageRequest(MONITOR, "viewer"),
    "monitor-failing": PageRequest("/o/home/monitors/{failing_monitor_id}"),
    "monitor-paused": PageRequest("/o/home/monitors/{paused_monitor_id}"),
    "monitor-fresh": PageRequest("/o/home/monitors/{fresh_monitor_id}"),
    "monitor-running": PageRequest("/o/home/monitors/{running_monitor_id}"),
    "monitor-delete": PageRequest(f"{MONITOR}/delete"),
    "monitor-journey": PageRequest("/o/home/monitors/{journey_monitor_id}"),
    "monitor-journey-edit": PageRequest("/o/home/monitors/{journey_monitor_id}/edit"),
    "monitor-journey-new": PageRequest("/o/home/monitors/new?journey={journey_id}"),
    "maintenance": PageRequest("/o/home/maintenance/"),
    "maintenance-viewer": PageRequest("/o/home/maintenance/", "viewer"),
    "maintenance-empty": PageRequest("/o/meadow/maintenance/", "newcomer"),
    "maintenance-new": PageRequest("/o/home/maintenance/new"),
    "maintenance-new-refused": PageRequest("/o/home/maintenance/new", data={"name": ""}, status=400),
    "maintenance-edit": PageRequest("/o/home/maintenance/{window_id}"),
    "journeys": PageRequest("/o/home/journeys/"),
    "journeys-nothing": PageRequest("/o/home/journeys/?q=nowhere"),
    "journeys-empty": PageRequest("/o/meadow/journeys/", "newcomer"),
    "journeys-empty-viewer": PageRequest("/o/meadow/journeys/", "onlooker"),
    "journey-new": PageRequest("/o/home/journeys/new"),
    "journey-new-refused": PageRequest(
        "/o/home/journeys/new", data={"start": "example.com", "steps": "open /\nclik “Sign in”\njudge “A”"}, status=400
    ),
    "journey-preview": PageRequest(
        "/o/home/journeys/new",
        data={
            "start": "https://pottery.example.com/",
            "steps": "open /login\nfill “Password” with “Correct-horse-7”\nclick “Sign in”\njudge “Account”",
        },
    ),
    "journey": PageRequest(JOURNEY),
    "journey-viewer": PageRequest(JOURNEY, "viewer"),
    "journey-unproven": PageRequest("/o/home/journeys/{unproven_journey_id}"),
    "journey-steps": PageRequest(f"{JOURNEY}/steps"),
    "journey-edit": PageRequest(f"{JOURNEY}/edit"),
    "journey-edit-refused": PageRequest(
        f"{JOURNEY}/edit", data={"name": "", "state-0": "A", "state-1": "A"}, status=400
    ),
    "journey-delete": PageRequest(f"{JOURNEY}/delete"),
    "journey-run": PageRequest("/audit/{journey_audit_id}"),
    "journey-run-steps": PageRequest("/audit/{journey_audit_id}?show=steps"),
    "journey-run-states": PageRequest("/audit/{journey_audit_id}?show=pages", "viewer"),
    "journey-run-stopped": PageRequest("/audit/{stopped_journey_audit_id}"),
    "journey-dry-run": PageRequest("/audit/{dry_run_id}"),
    "journey-dry-run-failed": PageRequest("/audit/{failed_dry_run_id}", "viewer"),
    "journey-run-running": PageRequest("/audit/{running_journey_audit_id}"),
    "assessments": PageRequest("/o/home/assessments/"),
    "assessments-empty": PageRequest("/o/meadow/assessments/", "newcomer"),
    "assessment-new": PageRequest("/o/home/assessments/new"),
    "assessment-new-refused": PageRequest(
        "/o/home/assessments/new", data={"audit": "aud_x", "name": "", "sample_size": "0"}, status=400
    ),
    "assessment": PageRequest(ASSESSMENT),
    "assessment-viewer": PageRequest(f"{ASSESSMENT}?show=failed", "viewer"),
    "assessment-criterion": PageRequest(f"{ASSESSMENT}/criteria/1.1.1"),
    "assessment-criterion-viewer": PageRequest(f"{ASSESSMENT}/criteria/2.4.3", "viewer"),
    "assessment-remaining-refused": PageRequest(
        f"{ASSESSMENT}/criteria/1.3.2/remaining", data={"result": "untested"}, status=400
    ),
    "assessment-page": PageRequest(f"{ASSESSMENT}/pages/2"),
    "assessment-conflict": PageRequest(
        f"{ASSESSMENT}/pages/3/results/2.4.3",
        data={"version": "0", "result": "passed", "note": "It is in order now."},
        status=409,
    ),
    "assessment-dispute": PageRequest(f"{ASSESSMENT}/findings/{{finding_id}}/dispute", data={}, status=400),
    "assessment-sample": PageRequest(f"{ASSESSMENT}/pages"),
    "assessment-sample-refused": PageRequest(f"{ASSESSMENT}/pages", data={"url": "http://localhost/"}, status=403),
    "assessment-page-rename": PageRequest(f"{ASSESSMENT}/pages/2/rename"),
    "assessment-page-remove": PageRequest(f"{ASSESSMENT}/pages/2/remove"),
    "assessment-texts": PageRequest(f"{ASSESSMENT}/texts"),
    "assessment-finish": PageRequest(f"{ASSESSMENT}/status"),
    "assessment-log": PageRequest(f"{ASSESSMENT}/log"),
    "assessment-delete": PageRequest(f"{ASSESSMENT}/delete"),
    "assessment-report": PageRequest("/assessment/{assessment_id}"),
    "assessment-statement": PageRequest("/assessment/{assessment_id}/statement"),
    "lists": PageRequest("/o/home/lists/"),
    "lists-nothing": PageRequest("/o/home/lists/?q=nowhere"),
    "lists-empty": PageRequest("/o/meadow/lists/", "newcomer"),
    "lists-empty-viewer": PageRequest("/o/meadow/lists/", "onlooker"),
    "list-new": PageRequest("/o/home/lists/new"),
    "list-new-refused": PageRequest("/o/home/lists/new", data={"name": "", "pages_per_entry": "0"}, status=400),
    "list-edit": PageRequest(f"{LIST}/edit"),
    "list-delete": PageRequest(f"{LIST}/delete"),
    "list": PageRequest(LIST),
    "list-viewer": PageRequest(LIST, "viewer"),
    "list-filtered": PageRequest(f"{LIST}?check=hsts&tag=north&sort=-security_change"),
    "list-nothing": PageRequest(f"{LIST}?text=nowhere"),
    "list-fresh": PageRequest("/o/home/lists/{fresh_list_id}"),
    "list-without-sites": PageRequest("/o/home/lists/{empty_list_id}"),
    "list-running": PageRequest("/o/home/lists/{running_list_id}"),
    "list-cancelled": PageRequest("/o/home/lists/{cancelled_list_id}"),
    "list-import": PageRequest(f"{LIST}/import"),
    "list-import-preview": PageRequest(f"{LIST}/import", data={"sites": IMPORTED}),
    "list-import-refused": PageRequest(
        f"{LIST}/import", data={"sites": "example.com\nhttp://localhost/\nftp://x.example\n, ,"}, status=400
    ),
    "list-remove": PageRequest(f"{LIST}/entries", data={"action": "remove", "entry": "{entry_id}"}),
    "list-entry": PageRequest(f"{LIST}/entries/{{entry_id}}"),
    "list-entry-viewer": PageRequest(f"{LIST}/entries/{{entry_id}}", "viewer"),
    "list-entry-refused": PageRequest(f"{LIST}/entries/{{entry_id}}", data={"tags": "=a", "note": ""}, status=400),
    "list-snapshot": PageRequest(f"{LIST}/snapshot"),
    "list-snapshot-of-tag": PageRequest(f"{LIST}/runs/{{list_run_before_id}}?tag=north&type=security"),
    "list-snapshot-none": PageRequest("/o/home/lists/{fresh_list_id}/snapshot"),
    "list-sites": PageRequest(f"{LIST}/runs/{{run_id}}/sites?check=image-alt"),
    "list-adoption": PageRequest(f"{LIST}/adoption?check=http-to-https-redirect"),
    "list-adoption-lines": PageRequest(f"{LIST}/adoption?check=hsts&with=tag:north&with=list:{{running_list_id}}"),
    "list-adoption-none": PageRequest("/o/home/lists/{empty_list_id}/adoption"),
    "list-conformance": PageRequest(f"{LIST}/conformance"),
    "list-conformance-filtered": PageRequest(f"{LIST}/conformance?standard=en301549&result=fails&tag=north", "viewer"),
    "list-conformance-nothing": PageRequest(f"{LIST}/conformance?tag=nobody&result=fails"),
    "list-conformance-none": PageRequest("/o/home/lists/{fresh_list_id}/conformance"),
    "list-runs": PageRequest(f"{LIST}/runs"),
    "list-runs-none": PageRequest("/o/home/lists/{fresh_list_id}/runs"),
    "list-compare": PageRequest(f"{LIST}/runs/{{run_id}}/compare"),
    "list-sharing": PageRequest(f"{LIST}/sharing?share={{share_id}}&check=hsts"),
    "list-shared": PageRequest("/list/{share_id}", "anonymous"),
    "list-sharing-none": PageRequest("/o/home/lists/{fresh_list_id}/sharing", "viewer"),
    "scans-with-monitors": PageRequest("/o/home/scans/?monitors=yes"),
    "webhooks": PageRequest("/o/home/webhooks/"),
    "webhooks-empty": PageRequest("/o/meadow/webhooks/", "newcomer"),
    "webhook-new": PageRequest("/o/home/webhooks/new/slack"),
    "webhook-new-teams": PageRequest("/o/home/webhooks/new/teams"),
    "webhook-new-standard": PageRequest("/o/home/webhooks/new/standard"),
    "webhook-ready": PageRequest(f"{WEBHOOK}/ready"),
    "webhooks-refused": PageRequest(
        "/o/home/webhooks/new/standard", data={"url": "http://localhost/x", "event": "scan.failed"}, status=403
    ),
    "webhook": PageRequest(WEBHOOK),
    "webhook-viewer": PageRequest(WEBHOOK, "viewer"),
    "webhook-disabled": PageRequest("/o/home/webhooks/{disabled_id}"),
    "webhook-delete": PageRequest(f"{WEBHOOK}/delete"),
    "webhook-secret": PageRequest(f"{WEBHOOK}/rotate", data={}),
    "members": PageRequest("/o/home/members/"),
    "members-viewer": PageRequest("/o/home/members/", "viewer"),
    "member-limits": PageRequest("/o/home/members/{membership_id}/sites"),
    "member-remove": PageRequest("/o/home/members/{membership_id}/remove"),
    "keys": PageRequest("/o/home/keys/"),
    "keys-empty": PageRequest("/o/meadow/keys/", "colleague"),
    "key-created": PageRequest("/o/home/keys/", data={"name": "Deploys", "scope": "read", "lifetime": "90"}),
    "keys-refused": PageRequest("/o/home/keys/", data={"name": "", "scope": "scan", "lifetime": "date"}),
    "key-rename-refused": PageRequest("/o/home/keys/{key_id}/rename", data={"name": ""}),
    "key-regenerate": PageRequest("/o/home/keys/{key_id}/regenerate"),
    "key-regenerated": PageRequest(
        "/o/home/keys/{key_id}/regenerate", data={"replaces": "{key_prefix}", "lifetime": "90"}
    ),
    "former-key-end": PageRequest("/o/home/keys/{key_id}/former/{former_id}/end"),
    "key-revoke": PageRequest("/o/home/keys/{key_id}/revoke"),
    "settings": PageRequest("/o/home/settings/"),
    "settings-export": PageRequest("/o/home/settings/export"),
    "settings-export-making": PageRequest("/o/meadow/settings/export", "newcomer"),
    "settings-export-ready": PageRequest("/o/orchard/settings/export", "leaver"),
    "settings-delete": PageRequest("/o/home/settings/delete"),
    "settings-viewer": PageRequest("/o/home/settings/", "viewer"),
    "activity": PageRequest("/o/home/activity/"),
    "activity-wrong-days": PageRequest(
        "/o/home/activity/?from=2026-11-22&to=2026-11-01&action=key.created", status=400
    ),
    "sample": PageRequest("/report/sample/performance", "anonymous"),
    "report": PageRequest("/report/{security_id}"),
    "report-viewer": PageRequest("/report/{security_id}", "viewer"),
    "report-browser": PageRequest("/report/{performance_id}"),
    "report-sharing": PageRequest("/report/{shared_id}?shared=now"),
    "report-shared": PageRequest("/report/{shared_id}", "anonymous"),
    "report-partial": PageRequest("/report/{partial_id}"),
    "report-filtered": PageRequest("/report/{performance_id}?show=failed&metric=lcp"),
    "report-filtered-viewer": PageRequest("/report/{security_id}?severity=high&q=header", "viewer"),
    "report-nothing-fits": PageRequest("/report/{shared_id}?q=nowhere", "anonymous"),
    "report-compare": PageRequest("/report/{security_id}/diff"),
    "report-compare-shared": PageRequest("/report/{shared_id}/diff?with={shared_before_id}", "anonymous"),
    "report-conformance": PageRequest("/report/{accessibility_id}/conformance"),
    "report-conformance-filtered": PageRequest(
        "/report/{accessibility_id}/conformance?standard=en301549&result=fails", "viewer"
    ),
    "report-conformance-nothing": PageRequest("/report/{accessibility_id}/conformance?standard=wcag20&result=fails"),
    "report-queued": PageRequest("/report/{queued_id}"),
    "report-running": PageRequest("/report/{running_id}"),
    "report-failed": PageRequest("/report/{failed_id}"),
    "report-expired": PageRequest("/report/{expired_id}", status=404),
    "report-missing": PageRequest("/report/scan_0000000000000000000000", status=404),
    "audit-sharing": PageRequest("/audit/{shared_audit_id}?shared=now"),
    "badge": PageRequest("/badge/{badge_id}", "anonymous"),
    "audit-page": PageRequest("/audit/{audit_id}?type=performance"),
    "audit-type-failed": PageRequest("/audit/{shared_audit_id}?type=seo"),
    "audit-shared": PageRequest("/audit/{shared_audit_id}", "anonymous"),
    "audit-running": PageRequest("/audit/{running_audit_id}"),
    "audit-waiting": PageRequest("/audit/{waiting_audit_id}"),
    "audit-failed": PageRequest("/audit/{failed_audit_id}"),
    "audit-expired": PageRequest("/audit/{expired_audit_id}", status=404),
    "audit-missing": PageRequest("/audit/aud_0000000000000000000000", status=404),
    "audit-site": PageRequest("/audit/{site_audit_id}"),
    "audit-site-viewer": PageRequest("/audit/{site_audit_id}?type=seo", "viewer"),
    "audit-site-pages": PageRequest("/audit/{site_audit_id}?show=pages&order=worst"),
    "audit-site-pages-nothing": PageRequest("/audit/{site_audit_id}?show=pages&q=nowhere"),
    "audit-conformance": PageRequest("/audit/{site_audit_id}/conformance"),
    "audit-conformance-shared": PageRequest("/audit/{shared_audit_id}/conformance?level=AAA", "anonymous"),
    "audit-discovering": PageRequest("/audit/{discovering_audit_id}"),
    "audit-ahead": PageRequest("/audit/{ahead_audit_id}"),
    "audit-cancelled": PageRequest("/audit/{cancelled_audit_id}?show=pages"),
    "audit-listed": PageRequest("/audit/{listed_audit_id}", "anonymous"),
    "report-of-audit": PageRequest("/report/{report_of_audit_id}"),
    "not-found": PageRequest("/nowhere", "anonymous", status=404),
    "forbidden": PageRequest("/o/home/keys/", "viewer", status=403),
    "form-expired": PageRequest("/login/", "anonymous", {}, 403, {"enforce_csrf_checks": True}),
    "admin": PageRequest("/admin/", "operator"),
    "admin-operations": PageRequest("/admin/operations/", "operator"),
    "admin-organizations": PageRequest("/admin/accounts/organization/", "operator"),
    "admin-organization": PageRequest("/admin/accounts/organization/{organization_id}/change/", "operator"),
    "admin-scans": PageRequest("/admin/scans/scan/", "operator"),
    "admin-scan": PageRequest("/admin/scans/scan/{admin_scan_id}/change/", "operator"),
    "admin-monitors": PageRequest("/admin/sites/monitor/", "operator"),
    "admin-monitor": PageRequest("/admin/sites/monitor/{admin_monitor_id}/change/", "operator"),
    "admin-keys": PageRequest("/admin/accounts/apikey/", "operator"),
    "admin-deliveries": PageRequest("/admin/webhooks/delivery/", "operator"),
    "admin-delivery": PageRequest("/admin/webhooks/delivery/{admin_delivery_id}/change/", "operator"),
}


class RenderedPage(Struct, frozen=True):
    """Response of Django's test client to a request."""

    path: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class RenderedPages(Struct, frozen=True):
    """Rendered pages by name, and their resources by path.

    The path includes the query string.
    """

    pages: Mapping[str, RenderedPage]
    resources: Mapping[str, RenderedPage]


def render_pages() -> RenderedPages:
    """Render all pages from a populated database.

    The reports are from real scans, two of them with a browser.
    """
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, ca_bundle=root_file()) as browser:
        results = {type: real_result(type, browser) for type in (ScanType.PERFORMANCE, ScanType.ACCESSIBILITY)}
    populated = populate(ROWS, {ScanType.SECURITY: real_result(ScanType.SECURITY), **results})
    people, ids = _create_people(populated), _path_parameters(populated)
    pages = {name: render_page(page_request, people.get(page_request.who), ids) for name, page_request in PAGES.items()}
    pictures = {path for page in pages.values() for path in PICTURE.findall(page.body.decode())}
    resource_paths = (*PARTS, *sorted(pictures))
    resources = [
        render_page(PageRequest(path), people["operator" if "admin" in path else "owner"], ids)
        for path in resource_paths
    ]
    return RenderedPages(pages, {part.path: part for part in resources})


def _create_people(populated: Populated) -> dict[str, User]:
    empty = member_of("Meadow")
    empty.key.delete()
    newcomer = person_of(empty, "owner", "new@meadow.example")
    DataExport.objects.create(organization=empty.organization, requested_by=newcomer)
    orchard = member_of("Orchard")
    export = DataExport.objects.create(organization=orchard.organization, status="ready", ended_at=timezone.now())
    for number in (1, 2):
        DataExportPart.objects.create(export=export, number=number, size=64 * 1024 * 1024)
    return {
        **populated.people,
        "newcomer": newcomer,
        "leaver": person_of(orchard, "owner", "leaver@orchard.example"),
        "onlooker": person_of(empty, "viewer", "onlooker@meadow.example"),
        "colleague": person_of(empty, "admin", "colleague@meadow.example"),
        "nobody": User.objects.create_user("nobody@people.test"),
        "operator": User.objects.create_superuser("operator@people.test"),
    }


def _path_parameters(populated: Populated) -> dict[str, Any]:
    reset = populated.people["viewer"]
    return {
        **populated.ids,
        "uid": urlsafe_base64_encode(force_bytes(reset.pk)),
        "token": default_token_generator.make_token(reset),
        # The admin escapes primary keys in its URLs.
        "admin_scan_id": quote(populated.ids["scan_id"]),
        "admin_monitor_id": quote(populated.ids["monitor_id"]),
        "admin_delivery_id": quote(populated.ids["delivery_id"]),
    }


def render_page(page_request: PageRequest, person: User | None, ids: Mapping[str, Any]) -> RenderedPage:
    client = browser_of(person) if person else Client()
    if page_request.options:
        client = Client(**page_request.options)
    client.defaults["SERVER_NAME"] = "localhost"
    path = page_request.path.format(**ids)
    if "/progress" in path or "/live" in path:
        client.defaults["HTTP_HX_REQUEST"] = "true"
    if page_request.data is None:
        response = client.get(path, follow=True)
    else:
        response = client.post(
            path, {name: value.format(**ids) for name, value in page_request.data.items()}, follow=True
        )
    assert response.status_code == page_request.status, f"{path}: {response.status_code}"
    body = response.getvalue()
    headers = {name: value for name, value in response.headers.items() if name != "Content-Length"}
    return RenderedPage(path, response.status_code, headers, body)


class Window:
    """Browser in a separate thread.

    Playwright's event loop and Django's ORM cannot share a thread.
    """

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self._browser = browser
        self._tab: Page | None = None

    def do(self, action: Callable[[Browser], T]) -> T:
        """Run `action` in the browser's thread and return its result."""
        return self._thread.submit(action, self._browser).result(BROWSER_TIMEOUT_S)

    def run_on_page(self, rendering: RenderedPages, name: str, action: Callable[[Page], T], **options: Any) -> T:
        """Open a rendered page and return the result of `action`.

        Fails if the page logs an error.

        Without options, the tab of the last page is reused with its process and compiled scripts: pages of the service
        store nothing in a browser.
        """

        def run_action(browser: Browser) -> T:
            if options:
                with contextlib.closing(browser.new_context(**REDUCED, **options)) as context:
                    return _open_page(context.new_page(), rendering, name, action)
            self._tab = self._tab or browser.new_context(**REDUCED).new_page()
            self._tab.set_viewport_size(SIZE)
            self._tab.emulate_media(media="screen", color_scheme="light", reduced_motion="reduce")
            return _open_page(self._tab, rendering, name, action)

        return self.do(run_action)


def _open_page(page: Page, rendering: RenderedPages, name: str, action: Callable[[Page], T]) -> T:
    page_request = rendering.pages[name]
    pages_by_path = {rendered.path: rendered for rendered in rendering.pages.values()}
    complaints: list[str] = []

    def fulfill_route(route: Route) -> None:
        url = urlsplit(route.request.url)
        path = url.path + (f"?{url.query}" if url.query else "")
        # Some pages request themselves again until a result is there.
        if route.request.resource_type == "document" or path == page_request.path:
            # Chromium logs error statuses, so every response has status 200.
            rendered_page = page_request if path == page_request.path else pages_by_path.get(path, page_request)
            route.fulfill(status=200, headers=dict(rendered_page.headers), body=rendered_page.body)
            return
        if route.request.resource_type in ("fetch", "xhr") and path not in rendering.resources:
            # Parts of a page that renew themselves after some seconds remain as they are.
            route.fulfill(status=204)
            return
        resource = rendering.resources.get(path) or _read_static_file(url.path)
        route.fulfill(status=resource.status, headers=dict(resource.headers), body=resource.body)

    def log_page_error(error: Error) -> None:
        complaints.append(str(error))

    def log_console_error(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(f"{message.text} {message.location}")

    page.goto("about:blank")  # An empty page cancels the previous page's pending requests.
    page.route("**/*", fulfill_route)
    page.on("pageerror", log_page_error)
    page.on("console", log_console_error)
    try:
        page.goto(ORIGIN + page_request.path, wait_until="load")
        result = action(page)
        assert not complaints, f"{name}: {complaints}"
        return result
    finally:
        page.remove_listener("pageerror", log_page_error)
        page.remove_listener("console", log_console_error)
        page.unroute_all(behavior="ignoreErrors")


def _read_static_file(path: str) -> RenderedPage:
    file_path = finders.find(path.removeprefix("/static/")) if path.startswith("/static/") else None
    if not file_path:
        return RenderedPage(path, 404, {}, b"")
    content_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return RenderedPage(path, 200, {"Content-Type": content_type}, Path(file_path).read_bytes())


@contextlib.contextmanager
def window() -> Iterator[Window]:
    """Start Chromium without a proxy.

    Only pages of the service are opened.
    """
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1, "playwright") as thread:
        playwright = thread.submit(lambda: sync_playwright().start()).result(BROWSER_TIMEOUT_S)
        options = {**launch_options(program, Path(folder)), "args": [], "proxy": None}
        try:
            browser = thread.submit(lambda: playwright.chromium.launch(**options)).result(BROWSER_TIMEOUT_S)
            yield Window(thread, browser)
            thread.submit(browser.close).result(BROWSER_TIMEOUT_S)
        finally:
            thread.submit(playwright.stop).result(BROWSER_TIMEOUT_S)
