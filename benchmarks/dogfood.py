"""Command `make dogfood`.

The service scans its own pages and prints their scores, then `website-scan` checks them.

Runs the web process behind nginx (Debian's package `nginx-light`), workers and a browser on the embedded stack. The
audits are created through the API, first of the public pages, then of a member's pages with the cookie of a login.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
from django.conf import settings
from django.utils import timezone

from benchmarks.service import Service
from benchmarks.static_host import certificate_files
from benchmarks.table import Table
from reports.models import Report
from scans.models import Scan
from sites.models import Audit
from tests.e2e.service import BASE_DIR, free_port
from tests.factories import browser_of, member_of, person_of
from tests.operations.stack.processes import wait_until
from tests.website_scan.net.tls_servers import LOOPBACK
from website_scan.urls import host_and_port_of

# Public pages, including a shared report and a shared audit.
PUBLIC_PAGES = (
    "/",
    "/login/",
    "/signup/",
    "/docs/",
    "/docs/webhooks",
    "/docs/checks/",
    "/about-our-scans",
    "/report/{scan}",
    "/audit/{audit}",
)
MEMBER_PAGES = (
    "/o/dogfood/",
    "/o/dogfood/scans/",
    "/o/dogfood/scans/new",
    "/o/dogfood/sites/",
    "/o/dogfood/sites/{host}",
    "/o/dogfood/monitors/",
    "/o/dogfood/monitors/new",
    "/o/dogfood/mutes/",
    "/o/dogfood/keys/",
    "/o/dogfood/webhooks/",
    "/o/dogfood/webhooks/new/slack",
    "/o/dogfood/members/",
    "/o/dogfood/settings/",
    "/o/dogfood/activity/",
    "/account/",
)
GOALS = {"security": 97, "accessibility": 97, "performance": 95}
MIN_SEO_SCORE = 97  # The goal applies to the landing page only, because the other pages are noindex.
PAGE_TIMEOUT_S, REQUEST_TIMEOUT_S = 240.0, 30.0
PROGRAMS = ("web", "worker", "browser", "webhooks", "scheduler")


def measure(table: Table, share: float, service: Service) -> None:
    assert shutil.which("nginx"), "nginx is missing. Install it (apt install nginx-light) and try again."
    folder, port = service.folder / "nginx", free_port()
    folder.mkdir()
    ca_file, certificate_file = certificate_files(folder, LOOPBACK)
    base_url = f"https://{LOOPBACK}:{port}"
    env = {"BASE_URL": base_url, "SCAN_CA_BUNDLE": str(ca_file)}
    with service.running(*PROGRAMS, env=env), _run_nginx(folder, certificate_file, port, service.port):
        _scan_pages(table, base_url, ca_file, share)
        table.head("website-scan as a gate", "exit status")
        table.row("public pages", _run_gate(base_url, ca_file), most=(0,))


def _scan_pages(table: Table, base_url: str, ca_file: Path, share: float) -> None:
    owner = member_of("Dogfood", "business")
    api = _Api(base_url, owner.plaintext, ca_file)
    landing_page_scan_id = api.audit(("/",))
    scan = Scan.objects.get(audit_page__audit_id=landing_page_scan_id, type="performance")
    Report.objects.filter(scan=scan).update(shared_at=timezone.now())
    Audit.objects.filter(id=landing_page_scan_id).update(shared_at=timezone.now())
    names = {"scan": scan.id, "audit": landing_page_scan_id, "host": host_and_port_of(base_url)}
    browser = browser_of(person_of(owner, "owner", "owner@dogfood.test"))
    cookies = {settings.SESSION_COOKIE_NAME: browser.cookies[settings.SESSION_COOKIE_NAME].value}
    assert api.status(MEMBER_PAGES[0], cookies) == requests.codes.ok, "the cookie does not log in"
    for title, paths, credentials in (("public pages", PUBLIC_PAGES, {}), ("pages of a member", MEMBER_PAGES, cookies)):
        page_paths = [path.format(**names) for path in paths[: max(1, round(len(paths) * share))]]
        audit_id = api.audit(page_paths, types=list(GOALS), request={"cookies": credentials})
        table.head(title, *GOALS)
        for page in api.get(f"/v1/audits/{audit_id}/pages?limit=100")["pages"]:
            scores = [page["results"].get(scan_type, {}).get("score") or 0 for scan_type in GOALS]
            table.row(page["url"].removeprefix(base_url), *scores, least=tuple(GOALS.values()))
        for finding in api.get(f"/v1/audits/{audit_id}/findings?limit=100")["findings"]:
            severity = f"{finding['severity']}, {finding['points']} points, {finding['pages_affected']} pages"
            print(f"  {finding['type']} {finding['check']} ({severity}): {finding['message'][:300]}")
    table.head("landing page", "seo")
    (landing,) = api.get(f"/v1/audits/{landing_page_scan_id}/pages")["pages"]
    table.row("/", landing["results"]["seo"]["score"] or 0, least=(MIN_SEO_SCORE,))


class _Api:
    """API client with an organization's API key."""

    def __init__(self, base_url: str, key: str, ca_file: Path) -> None:
        self._base_url = base_url
        self._headers = {"Authorization": f"Bearer {key}"}
        self._ca_file = str(ca_file)

    def get(self, path: str) -> Any:
        return self._request("GET", path)

    def status(self, path: str, cookies: dict[str, str]) -> int:
        """Return a page's HTTP status for a visitor with these cookies."""
        response = requests.get(
            f"{self._base_url}{path}",
            cookies=cookies,
            verify=self._ca_file,
            timeout=REQUEST_TIMEOUT_S,
            allow_redirects=False,
        )
        return response.status_code

    def audit(self, paths: Sequence[str], **options: object) -> str:
        """Create an audit with these pages, wait until it has ended, and return its ID."""
        pages = [f"{self._base_url}{path}" for path in paths]
        audit_id = str(self._request("POST", "/v1/audits", {"pages": pages, **options})["id"])
        wait_until(
            lambda: self.get(f"/v1/audits/{audit_id}")["completed_at"] is not None,
            len(paths) * PAGE_TIMEOUT_S,
            poll_s=1,
        )
        return audit_id

    def _request(self, method: str, path: str, body: object = None) -> Any:
        response = requests.request(
            method,
            f"{self._base_url}{path}",
            json=body,
            headers=self._headers,
            # An environment variable would override `verify` of a `requests.Session`.
            verify=self._ca_file,
            timeout=REQUEST_TIMEOUT_S,
        )
        assert response.ok, response.text
        return response.json()


def _run_gate(base_url: str, ca_file: Path) -> int:
    """Run `website-scan` on the public pages and return its exit status.

    Skips shared reports and audits.
    """
    urls = [f"{base_url}{path}" for path in PUBLIC_PAGES if "{" not in path]
    options = ["--config", str(Path(__file__).with_name("website-scan.toml"))]
    options += ["--allow-network", f"{LOOPBACK}/32:{base_url.rpartition(':')[2]}"]
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", "scan", *urls, *options, "--quiet"],
        cwd=BASE_DIR,
        env=environment | {"SCAN_CA_BUNDLE": str(ca_file)},
        check=False,
    ).returncode


@contextmanager
def _run_nginx(folder: Path, certificate_file: Path, port: int, web_port: int) -> Iterator[None]:
    """Run nginx as a reverse proxy for `web_port`, with the configuration that operators get."""
    server = (BASE_DIR / "deploy" / "nginx" / "website-scan.conf").read_text()
    # The benchmark has no port for plain HTTP.
    server = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", server, flags=re.DOTALL)
    for pattern, replacement in (
        (r"listen \[::\]:443 .*;\n", ""),
        (r"listen 443 ", f"listen {LOOPBACK}:{port} ssl http2 "),
        (r"server_name .*;", "server_name _;"),
        (r"ssl_certificate .*;", f"ssl_certificate {certificate_file};"),
        (r"ssl_certificate_key .*;", f"ssl_certificate_key {certificate_file};"),
        (r"server 127\.0\.0\.1:8000;", f"server {LOOPBACK}:{web_port};"),
    ):
        server, count = re.subn(pattern, replacement, server)
        assert count == 1, f"{pattern} is {count} times in nginx's configuration"
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # As root, nginx would switch to a user who cannot read the folder.
    user_line = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user_line}daemon off;\npid {folder}/nginx.pid;\nworker_processes 1;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{server}}}\n"
    )
    command = ["nginx", "-e", str(folder / "nginx.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)
