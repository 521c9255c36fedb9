"""All pages, rendered once by Django and then served to Chromium without a server."""

from __future__ import annotations

import contextlib
import mimetypes
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
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

# Localhost is a secure context, so that scripts may use the clipboard, as over HTTPS.
ORIGIN = "http://localhost"
BROWSER_LIMIT_S = 100
SIZE: ViewportSize = {"width": 1280, "height": 720}
REDUCED: Mapping[str, Any] = {"reduced_motion": "reduce"}
ROWS = 7
# Resources that pages load from the service beside static files.
PARTS = (
    "/openapi.yaml",
    "/site.webmanifest",
    "/admin/jsi18n/",
    "/o/home/recent",
    "/report/{performance_id}/screenshot.webp",
    "/report/sample/performance/screenshot.webp",
    "/report/{audit_performance_id}/screenshot.webp",
    "/report/{queued_id}/progress?status=queued",
    "/audit/{running_audit_id}/progress?status=running&type=security",
    "/audit/{waiting_audit_id}/progress?status=running&type=security",
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
)
# Pictures of a report with a browser, whose number depends on its load, and cards, whose addresses tell their content.
PICTURE = re.compile(
    r"/report/(?:sample/)?[\w-]+/(?:film/\d+\.jpg|page\.webp)|/(?:report|audit)/\w+/card/\w+\.png|/badge/\w+\.png\?v=\w+"
)


@dataclass(frozen=True)
class Shown:
    """Page to render: its path, the person who opens it, and the posted data, if any."""

    path: str
    who: str = "owner"
    data: Mapping[str, str] | None = None
    status: int = 200
    options: Mapping[str, Any] = field(default_factory=dict)


NEW_PASSWORD = "/password/{uid}/{token}/"
MUTE_NEW = "/o/home/mutes/new?scan={security_id}&check=csp-present"
WEBHOOK = "/o/home/webhooks/{webhook_id}"
MONITOR = "/o/home/monitors/{monitor_id}"
LIST = "/o/home/lists/{list_id}"
IMPORTED = "url\ttags\tnote\nnew.example.com\tnorth;coast\tTell them\nhttps://town-hall-0.example.net/\tnorth\t"

PAGES: Mapping[str, Shown] = {
    "landing": Shown("/", "anonymous"),
    "landing-known": Shown("/"),
    "samples": Shown("/samples/", "anonymous"),
    "sample-site": Shown("/samples/site", "anonymous"),
    "sample-list": Shown("/samples/list", "anonymous"),
    "about-our-scans": Shown("/about-our-scans", "anonymous"),
    "docs": Shown("/docs/", "anonymous"),
    "docs-guide": Shown("/docs/webhooks", "anonymous"),
    "docs-errors": Shown("/docs/errors"),
    "docs-group": Shown("/docs/api/webhooks", "anonymous"),
    "docs-checks": Shown("/docs/checks/?type=security", "anonymous"),
    "docs-checks-nothing": Shown("/docs/checks/?q=nowhere", "anonymous"),
    "docs-check": Shown("/docs/checks/hsts", "anonymous"),
    "login": Shown("/login/", "anonymous"),
    "login-refused": Shown("/login/", "anonymous", {"login": "ada@people.test", "password": "wrong"}),
    "signup": Shown("/signup/", "anonymous"),
    "signup-for-a-scan": Shown("/scan?url=https://shop.example.com/teas", "anonymous"),
    "signup-refused": Shown("/signup/", "anonymous", {"email": "ada"}),
    "signup-sent": Shown("/signup/sent/", "anonymous"),
    "signup-finish": Shown("/signup/{signup/token}/", "anonymous"),
    "signup-finish-refused": Shown("/signup/{signup/token}/", "anonymous", {"password": "password"}),
    "link-dead": Shown("/signup/forged/", "anonymous", status=410),
    "password": Shown("/password/", "anonymous"),
    "password-sent": Shown("/password/sent/", "anonymous"),
    "password-new": Shown(NEW_PASSWORD, "anonymous"),
    "invite": Shown("/invite/{invite/token}", "anonymous"),
    "invite-other": Shown("/invite/{invite/token}", "viewer"),
    "unsubscribe": Shown("/unsubscribe/{unsubscribe/token}", "anonymous"),
    "unsubscribe-done": Shown("/unsubscribe/{unsubscribe/token}", "anonymous", {"List-Unsubscribe": "One-Click"}),
    "account": Shown("/account/"),
    "account-refused": Shown("/account/", data={"old_password": "x", "new_password1": "a", "new_password2": "b"}),
    "account-delete": Shown("/account/delete", "viewer"),
    "account-delete-only-owner": Shown("/account/delete", "newcomer"),
    "email": Shown("/account/email/"),
    "security": Shown("/account/security/"),
    "security-app-refused": Shown("/account/security/app/", data={"code": "1"}),
    "security-passkey": Shown("/account/security/passkeys/add/"),
    "organizations": Shown("/organizations/"),
    "organization-new": Shown("/organizations/new", "nobody"),
    "organization-leave": Shown("/organizations/{organization_id}/leave"),
    "overview": Shown("/o/home/"),
    "overview-viewer": Shown("/o/home/", "viewer"),
    "overview-empty": Shown("/o/meadow/", "newcomer"),
    "scans": Shown("/o/home/scans/"),
    "scans-nothing": Shown("/o/home/scans/?q=nowhere"),
    "scans-empty": Shown("/o/meadow/scans/", "newcomer"),
    "scan-new": Shown("/o/home/scans/new"),
    "scan-new-refused": Shown("/o/home/scans/new", data={"url": "http://localhost/", "type": "seo"}, status=403),
    "scan-new-site": Shown("/o/home/scans/new?scope=site&url=https://example.com/"),
    "scan-new-site-refused": Shown(
        "/o/home/scans/new",
        data={"url": "example.com", "scope": "site", "max_pages": "0", "include": "docs"},
        status=400,
    ),
    "sites": Shown("/o/home/sites/"),
    "sites-empty": Shown("/o/meadow/sites/", "newcomer"),
    "site": Shown("/o/home/sites/{host}"),
    "mutes": Shown("/o/home/mutes/"),
    "mutes-viewer": Shown("/o/home/mutes/", "viewer"),
    "mutes-empty": Shown("/o/meadow/mutes/", "newcomer"),
    "mute-new": Shown(MUTE_NEW),
    "mute-new-refused": Shown(MUTE_NEW, data={"what": "all", "reason": "", "until": "soon", "path_prefix": "shop"}),
    "monitors": Shown("/o/home/monitors/"),
    "monitors-nothing": Shown("/o/home/monitors/?q=nowhere"),
    "monitors-empty": Shown("/o/meadow/monitors/", "newcomer"),
    "monitors-empty-viewer": Shown("/o/meadow/monitors/", "onlooker"),
    "monitor-new": Shown("/o/home/monitors/new"),
    "monitor-new-small-plan": Shown("/o/meadow/monitors/new?url=https://example.com/", "newcomer"),
    "monitor-new-refused": Shown(
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
    "monitor-edit": Shown("/o/home/monitors/{paused_monitor_id}/edit"),
    "monitor": Shown(MONITOR),
    "monitor-viewer": Shown(MONITOR, "viewer"),
    "monitor-failing": Shown("/o/home/monitors/{failing_monitor_id}"),
    "monitor-paused": Shown("/o/home/monitors/{paused_monitor_id}"),
    "monitor-fresh": Shown("/o/home/monitors/{fresh_monitor_id}"),
    "monitor-running": Shown("/o/home/monitors/{running_monitor_id}"),
    "monitor-delete": Shown(f"{MONITOR}/delete"),
    "lists": Shown("/o/home/lists/"),
    "lists-nothing": Shown("/o/home/lists/?q=nowhere"),
    "lists-empty": Shown("/o/meadow/lists/", "newcomer"),
    "lists-empty-viewer": Shown("/o/meadow/lists/", "onlooker"),
    "list-new": Shown("/o/home/lists/new"),
    "list-new-refused": Shown("/o/home/lists/new", data={"name": "", "pages_per_entry": "0"}, status=400),
    "list-edit": Shown(f"{LIST}/edit"),
    "list-delete": Shown(f"{LIST}/delete"),
    "list": Shown(LIST),
    "list-viewer": Shown(LIST, "viewer"),
    "list-filtered": Shown(f"{LIST}?check=hsts&tag=north&sort=-security_change"),
    "list-nothing": Shown(f"{LIST}?text=nowhere"),
    "list-fresh": Shown("/o/home/lists/{fresh_list_id}"),
    "list-without-sites": Shown("/o/home/lists/{empty_list_id}"),
    "list-running": Shown("/o/home/lists/{running_list_id}"),
    "list-cancelled": Shown("/o/home/lists/{cancelled_list_id}"),
    "list-import": Shown(f"{LIST}/import"),
    "list-import-preview": Shown(f"{LIST}/import", data={"sites": IMPORTED}),
    "list-import-refused": Shown(
        f"{LIST}/import", data={"sites": "example.com\nhttp://localhost/\nftp://x.example\n, ,"}, status=400
    ),
    "list-remove": Shown(f"{LIST}/entries", data={"action": "remove", "entry": "{entry_id}"}),
    "list-snapshot": Shown(f"{LIST}/snapshot"),
    "list-snapshot-of-tag": Shown(f"{LIST}/runs/{{list_run_before_id}}?tag=north&type=security"),
    "list-snapshot-none": Shown("/o/home/lists/{fresh_list_id}/snapshot"),
    "list-sites": Shown(f"{LIST}/runs/{{run_id}}/sites?check=image-alt"),
    "list-adoption": Shown(f"{LIST}/adoption?check=http-to-https-redirect"),
    "list-adoption-none": Shown("/o/home/lists/{empty_list_id}/adoption"),
    "list-runs": Shown(f"{LIST}/runs"),
    "list-runs-none": Shown("/o/home/lists/{fresh_list_id}/runs"),
    "list-compare": Shown(f"{LIST}/runs/{{run_id}}/compare"),
    "list-sharing": Shown(f"{LIST}/sharing?share={{share_id}}&check=hsts"),
    "list-shared": Shown("/list/{share_id}", "anonymous"),
    "list-sharing-none": Shown("/o/home/lists/{fresh_list_id}/sharing", "viewer"),
    "scans-with-monitors": Shown("/o/home/scans/?monitors=yes"),
    "webhooks": Shown("/o/home/webhooks/"),
    "webhooks-empty": Shown("/o/meadow/webhooks/", "newcomer"),
    "webhooks-refused": Shown(
        "/o/home/webhooks/new", data={"url": "http://localhost/x", "event": "scan.failed"}, status=403
    ),
    "webhook": Shown(WEBHOOK),
    "webhook-viewer": Shown(WEBHOOK, "viewer"),
    "webhook-disabled": Shown("/o/home/webhooks/{disabled_id}"),
    "webhook-delete": Shown(f"{WEBHOOK}/delete"),
    "webhook-secret": Shown(f"{WEBHOOK}/rotate", data={}),
    "members": Shown("/o/home/members/"),
    "members-viewer": Shown("/o/home/members/", "viewer"),
    "member-remove": Shown("/o/home/members/{membership_id}/remove"),
    "keys": Shown("/o/home/keys/"),
    "keys-empty": Shown("/o/meadow/keys/", "colleague"),
    "key-created": Shown("/o/home/keys/", data={"name": "Deploys", "scope": "read", "lifetime": "90"}),
    "keys-refused": Shown("/o/home/keys/", data={"name": "", "scope": "scan", "lifetime": "date"}),
    "key-rename-refused": Shown("/o/home/keys/{key_id}/rename", data={"name": ""}),
    "key-regenerate": Shown("/o/home/keys/{key_id}/regenerate"),
    "key-regenerated": Shown("/o/home/keys/{key_id}/regenerate", data={"replaces": "{key_prefix}", "lifetime": "90"}),
    "former-key-end": Shown("/o/home/keys/{key_id}/former/{former_id}/end"),
    "key-revoke": Shown("/o/home/keys/{key_id}/revoke"),
    "settings": Shown("/o/home/settings/"),
    "settings-export": Shown("/o/home/settings/export"),
    "settings-export-making": Shown("/o/meadow/settings/export", "newcomer"),
    "settings-export-ready": Shown("/o/orchard/settings/export", "leaver"),
    "settings-delete": Shown("/o/home/settings/delete"),
    "settings-viewer": Shown("/o/home/settings/", "viewer"),
    "activity": Shown("/o/home/activity/"),
    "activity-wrong-days": Shown("/o/home/activity/?from=2026-11-22&to=2026-11-01&action=key.created", status=400),
    "sample": Shown("/report/sample/performance", "anonymous"),
    "report": Shown("/report/{security_id}"),
    "report-viewer": Shown("/report/{security_id}", "viewer"),
    "report-browser": Shown("/report/{performance_id}"),
    "report-sharing": Shown("/report/{shared_id}?shared=now"),
    "report-shared": Shown("/report/{shared_id}", "anonymous"),
    "report-partial": Shown("/report/{partial_id}"),
    "report-filtered": Shown("/report/{performance_id}?show=failed&metric=lcp"),
    "report-filtered-viewer": Shown("/report/{security_id}?severity=high&q=header", "viewer"),
    "report-nothing-fits": Shown("/report/{shared_id}?q=nowhere", "anonymous"),
    "report-compare": Shown("/report/{security_id}/diff"),
    "report-compare-shared": Shown("/report/{shared_id}/diff?with={shared_before_id}", "anonymous"),
    "report-queued": Shown("/report/{queued_id}"),
    "report-running": Shown("/report/{running_id}"),
    "report-failed": Shown("/report/{failed_id}"),
    "report-expired": Shown("/report/{expired_id}", status=404),
    "report-missing": Shown("/report/scan_0000000000000000000000", status=404),
    "audit-sharing": Shown("/audit/{shared_audit_id}?shared=now"),
    "badge": Shown("/badge/{badge_id}", "anonymous"),
    "audit-page": Shown("/audit/{audit_id}?type=performance"),
    "audit-type-failed": Shown("/audit/{shared_audit_id}?type=seo"),
    "audit-shared": Shown("/audit/{shared_audit_id}", "anonymous"),
    "audit-running": Shown("/audit/{running_audit_id}"),
    "audit-waiting": Shown("/audit/{waiting_audit_id}"),
    "audit-failed": Shown("/audit/{failed_audit_id}"),
    "audit-expired": Shown("/audit/{expired_audit_id}", status=404),
    "audit-missing": Shown("/audit/aud_0000000000000000000000", status=404),
    "audit-site": Shown("/audit/{site_audit_id}"),
    "audit-site-viewer": Shown("/audit/{site_audit_id}?type=seo", "viewer"),
    "audit-site-pages": Shown("/audit/{site_audit_id}?show=pages&order=worst"),
    "audit-site-pages-nothing": Shown("/audit/{site_audit_id}?show=pages&q=nowhere"),
    "audit-discovering": Shown("/audit/{discovering_audit_id}"),
    "audit-ahead": Shown("/audit/{ahead_audit_id}"),
    "audit-cancelled": Shown("/audit/{cancelled_audit_id}?show=pages"),
    "audit-listed": Shown("/audit/{listed_audit_id}", "anonymous"),
    "report-of-audit": Shown("/report/{report_of_audit_id}"),
    "not-found": Shown("/nowhere", "anonymous", status=404),
    "forbidden": Shown("/o/home/keys/", "viewer", status=403),
    "form-expired": Shown("/login/", "anonymous", {}, 403, {"enforce_csrf_checks": True}),
    "admin": Shown("/admin/", "operator"),
    "admin-operations": Shown("/admin/operations/", "operator"),
    "admin-organizations": Shown("/admin/accounts/organization/", "operator"),
    "admin-organization": Shown("/admin/accounts/organization/{organization_id}/change/", "operator"),
    "admin-scans": Shown("/admin/scans/scan/", "operator"),
    "admin-scan": Shown("/admin/scans/scan/{admin_scan_id}/change/", "operator"),
    "admin-monitors": Shown("/admin/sites/monitor/", "operator"),
    "admin-monitor": Shown("/admin/sites/monitor/{admin_monitor_id}/change/", "operator"),
    "admin-keys": Shown("/admin/accounts/apikey/", "operator"),
    "admin-deliveries": Shown("/admin/webhooks/delivery/", "operator"),
    "admin-delivery": Shown("/admin/webhooks/delivery/{admin_delivery_id}/change/", "operator"),
}


@dataclass(frozen=True)
class Rendered:
    """Response of Django."""

    path: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Rendering:
    """All pages by name, and the resources that they load by path with query."""

    pages: Mapping[str, Rendered]
    parts: Mapping[str, Rendered]


def render_pages() -> Rendering:
    """Render all pages, with real reports, one of them made with a browser. Needs the database."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, ca_bundle=root_file()) as browser:
        seen = real_result(ScanType.PERFORMANCE, browser)
    populated = populate(ROWS, {ScanType.SECURITY: real_result(ScanType.SECURITY), ScanType.PERFORMANCE: seen})
    people, ids = _people(populated), _ids(populated)
    pages = {name: ask(shown, people.get(shown.who), ids) for name, shown in PAGES.items()}
    pictures = {each for page in pages.values() for each in PICTURE.findall(page.body.decode())}
    asked = (*PARTS, *sorted(pictures))
    parts = [ask(Shown(each), people["operator" if "admin" in each else "owner"], ids) for each in asked]
    return Rendering(pages, {each.path: each for each in parts})


def _people(populated: Populated) -> dict[str, User]:
    empty = member_of("Meadow")
    empty.key.delete()
    newcomer = person_of(empty, "owner", "new@meadow.example")
    DataExport.objects.create(organization=empty.organization, requested_by=newcomer)
    left = member_of("Orchard")
    export = DataExport.objects.create(organization=left.organization, status="ready", ended_at=timezone.now())
    for number in (1, 2):
        DataExportPart.objects.create(export=export, number=number, size=64 * 1024 * 1024)
    return {
        **populated.people,
        "newcomer": newcomer,
        "leaver": person_of(left, "owner", "leaver@orchard.example"),
        "onlooker": person_of(empty, "viewer", "onlooker@meadow.example"),
        "colleague": person_of(empty, "admin", "colleague@meadow.example"),
        "nobody": User.objects.create_user("nobody@people.test"),
        "operator": User.objects.create_superuser("operator@people.test"),
    }


def _ids(populated: Populated) -> dict[str, Any]:
    reset = populated.people["viewer"]
    return {
        **populated.ids,
        "uid": urlsafe_base64_encode(force_bytes(reset.pk)),
        "token": default_token_generator.make_token(reset),
        # Quoted as in the admin's URLs.
        "admin_scan_id": quote(populated.ids["scan_id"]),
        "admin_monitor_id": quote(populated.ids["monitor_id"]),
        "admin_delivery_id": quote(populated.ids["delivery_id"]),
    }


def ask(shown: Shown, person: User | None, ids: Mapping[str, Any]) -> Rendered:
    client = browser_of(person) if person else Client()
    if shown.options:
        client = Client(**shown.options)
    client.defaults["SERVER_NAME"] = "localhost"
    path = shown.path.format(**ids)
    if "/progress" in path or "/live" in path:
        client.defaults["HTTP_HX_REQUEST"] = "true"
    if shown.data is None:
        response = client.get(path, follow=True)
    else:
        response = client.post(path, {name: value.format(**ids) for name, value in shown.data.items()}, follow=True)
    assert response.status_code == shown.status, f"{path}: {response.status_code}"
    body = response.getvalue()
    headers = {name: value for name, value in response.headers.items() if name != "Content-Length"}
    return Rendered(path, response.status_code, headers, body)


class Window:
    """Browser in a separate thread: Playwright's event loop and Django's ORM cannot share one."""

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self._browser = browser
        self._tab: Page | None = None

    def do(self, action: Callable[[Browser], T]) -> T:
        """Run `action` in the browser's thread and return its result."""
        return self._thread.submit(action, self._browser).result(BROWSER_LIMIT_S)

    def look(self, rendering: Rendering, name: str, action: Callable[[Page], T], **options: Any) -> T:
        """Open a page and run `action` there; fail if the page has logged an error to its console.

        Without options, the tab of the last page is reused with its process and compiled scripts: pages of the service
        store nothing in a browser.
        """

        def act(browser: Browser) -> T:
            if options:
                with contextlib.closing(browser.new_context(**REDUCED, **options)) as context:
                    return _look(context.new_page(), rendering, name, action)
            self._tab = self._tab or browser.new_context(**REDUCED).new_page()
            self._tab.set_viewport_size(SIZE)
            self._tab.emulate_media(media="screen", color_scheme="light", reduced_motion="reduce")
            return _look(self._tab, rendering, name, action)

        return self.do(act)


def _look(page: Page, rendering: Rendering, name: str, action: Callable[[Page], T]) -> T:
    shown = rendering.pages[name]
    by_path = {each.path: each for each in rendering.pages.values()}
    complaints: list[str] = []

    def answer(route: Route) -> None:
        url = urlsplit(route.request.url)
        path = url.path + (f"?{url.query}" if url.query else "")
        if route.request.resource_type == "document":
            # Status 200, because Chromium logs an error for every error page; only the page's own errors count here.
            asked = shown if path == shown.path else by_path.get(path, shown)
            route.fulfill(status=200, headers=dict(asked.headers), body=asked.body)
            return
        part = rendering.parts.get(path) or _static_file(url.path)
        route.fulfill(status=part.status, headers=dict(part.headers), body=part.body)

    def note_error(error: Error) -> None:
        complaints.append(str(error))

    def note(each: ConsoleMessage) -> None:
        if each.type == "error":
            complaints.append(f"{each.text} {each.location}")

    page.goto("about:blank")  # pending requests of the last page end here
    page.route("**/*", answer)
    page.on("pageerror", note_error)
    page.on("console", note)
    try:
        page.goto(ORIGIN + shown.path, wait_until="load")
        found = action(page)
        assert not complaints, f"{name}: {complaints}"
        return found
    finally:
        page.remove_listener("pageerror", note_error)
        page.remove_listener("console", note)
        page.unroute_all(behavior="ignoreErrors")


def _static_file(path: str) -> Rendered:
    found = finders.find(path.removeprefix("/static/")) if path.startswith("/static/") else None
    if not found:
        return Rendered(path, 404, {}, b"")
    content_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return Rendered(path, 200, {"Content-Type": content_type}, Path(found).read_bytes())


@contextlib.contextmanager
def window() -> Iterator[Window]:
    """Run Chromium without a proxy: it only opens pages of the service."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1, "playwright") as thread:
        playwright = thread.submit(lambda: sync_playwright().start()).result(BROWSER_LIMIT_S)
        options = {**launch_options(program, Path(folder)), "args": [], "proxy": None}
        try:
            browser = thread.submit(lambda: playwright.chromium.launch(**options)).result(BROWSER_LIMIT_S)
            yield Window(thread, browser)
            thread.submit(browser.close).result(BROWSER_LIMIT_S)
        finally:
            thread.submit(playwright.stop).result(BROWSER_LIMIT_S)
