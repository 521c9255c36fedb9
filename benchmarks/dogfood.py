"""`make dogfood`: the real service scans its own pages and prints their scores; then `website-scan` gates them.

Runs only web behind nginx (Debian's package `nginx-light`), workers and a browser on the embedded stack; requests the
scans through the API like any client. A scan cannot log in, so a second address, 127.0.0.2, treats every visitor as the
owner of the organization.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import requests
from django.http import HttpRequest, HttpResponse

from benchmarks.service import installed
from benchmarks.table import Table
from tests.e2e.service import BASE_DIR, free_port
from tests.operations.stack.processes import wait_until
from tests.website_scan.net.tls_servers import Identity
from website_scan.urls import host_and_port_of

EMAIL = "owner@dogfood.test"
STRANGER, OWNER = "127.0.0.1", "127.0.0.2"
# Pages of each address; {scan} is a scan whose report is shared, {audit} an audit that is, of a page at {host}.
PAGES = {
    STRANGER: {
        "landing": "/",
        "login": "/login/",
        "sign-up": "/signup/",
        "report": "/report/{scan}",
        "documentation": "/docs/",
        "guide": "/docs/webhooks",
        "list of checks": "/docs/checks/",
        "about our scans": "/about-our-scans",
        # In another minute than the report: strangers may ask for 60 shared pages in each.
        "report, open": "/report/{scan}?open",
    },
    OWNER: {
        "dashboard": "/o/dogfood/",
        "audit": "/audit/{audit}",
        "scans": "/o/dogfood/scans/",
        "new scan": "/o/dogfood/scans/new",
        "sites": "/o/dogfood/sites/",
        "site": "/o/dogfood/sites/{host}",
        "monitors": "/o/dogfood/monitors/",
        "new monitor": "/o/dogfood/monitors/new",
        "mutes": "/o/dogfood/mutes/",
        "keys": "/o/dogfood/keys/",
        "webhooks": "/o/dogfood/webhooks/",
        "new webhook": "/o/dogfood/webhooks/new",
        "members": "/o/dogfood/members/",
        "settings": "/o/dogfood/settings/",
        "activity log": "/o/dogfood/activity/",
        "account": "/account/",
    },
}
GOALS = {"security": 97, "accessibility": 97, "performance": 95, "seo": 97}
FINAL = ("completed", "partial", "failed")
SCAN_S = 120.0
CLOSED = re.compile(rb'<details(?![^>]*(?:\sopen|"thumbnail"))')


class SignedInMiddleware:
    """Log in every request to the owner's address as the owner. Only for this benchmark, never in production.

    `?open` opens all disclosures (`<details>`) of a page, because a scan does not click on them. Not thumbnails: an
    enlarged one lies over its neighbours until it is closed.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        from accounts.models import User

        if request.get_host().startswith(f"{OWNER}:"):
            request.user = User.objects.get(email=EMAIL)
        response = self._get_response(request)
        if "open" in request.GET:
            response.content = CLOSED.sub(b"<details open", response.content)
        return response


def main() -> int:
    """Print the table; return 1 if a page missed a goal, else the gate's exit status."""
    if shutil.which("nginx") is None:
        print("nginx is missing. Install it (apt install nginx-light) and try again.", file=sys.stderr)
        return 2
    with TemporaryDirectory(prefix="wss-nginx-") as name:
        folder, port, table = Path(name), free_port(STRANGER), Table()
        folder.chmod(0o755)
        ca_file = _certificate(folder)
        base_url = f"https://{STRANGER}:{port}"
        variables = {
            "DJANGO_SETTINGS_MODULE": "benchmarks.dogfood_settings",
            "BASE_URL": base_url,
            "ALLOWED_HOSTS": f"{STRANGER} {OWNER}",
            "SCAN_CA_BUNDLE": str(ca_file),
        }
        with (
            installed(**variables) as service,
            service.running("web", "worker", "browser", "webhooks", "scheduler"),
            _proxy(folder, port, service.port),
        ):
            _scan_pages(table, _Api(base_url, _organization(), ca_file), port)
            return int(table.missed) or _gate(port, ca_file)


def _scan_pages(table: Table, api: _Api, port: int) -> None:
    scan = api.scan(f"https://{STRANGER}:{port}/", "performance")
    audit = api.audit([f"https://{STRANGER}:{port}{path}" for path in ("/", "/login/", "/docs/")])
    _share(scan["id"], audit["id"])
    scanned = host_and_port_of(scan["url"])
    table.head("scores of our pages", *GOALS)
    for host, pages in PAGES.items():
        for name, path in pages.items():
            where = path.format(scan=scan["id"], audit=audit["id"], host=scanned)
            url = f"https://{host}:{port}{where}"
            # Only the landing page is for search engines; the others are noindex.
            types = [each for each in GOALS if each != "seo" or path == "/"]
            ended = {each: api.scan(url, each) for each in types}
            for each in ended.values():
                if not _is_met(each):
                    _explain(api, each)
            scores = [(ended[each]["score"] or 0) if each in ended else "" for each in GOALS]
            missed = not all(map(_is_met, ended.values()))
            table.row(name, *scores, "MISSED" if missed else "met")
            table.missed |= missed


def _is_met(ended: dict[str, Any]) -> bool:
    is_best = ended["type"] == "performance" or ended["grade"] == "A+"
    return ended["score"] is not None and ended["score"] >= GOALS[ended["type"]] and is_best


def _gate(port: int, ca_file: Path) -> int:
    """Return the exit status of `website-scan` for the pages that need no shared report."""
    urls = [f"https://{STRANGER}:{port}{path}" for path in PAGES[STRANGER].values() if "{" not in path]
    options = ["--config", str(Path(__file__).with_name("website-scan.toml"))]
    options += ["--allow-network", f"{STRANGER}/32:{port}"]
    passed = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", "scan", *urls, *options, "--quiet"],
        cwd=BASE_DIR,
        env=passed | {"SCAN_CA_BUNDLE": str(ca_file)},
        check=False,
    ).returncode


def _explain(api: _Api, ended: dict[str, Any]) -> None:
    if ended["score"] is None:
        print(f"  {ended['type']} of {ended['url']}: {ended.get('error')}")
        return
    report = api.get(f"/v1/report/{ended['id']}/export?format=json")
    for category in report["categories"]:
        for check in category["checks"]:
            if check["status"] != "pass" or check["points"] > 0:
                points = f"{check['points']} points"
                print(f"  {ended['type']} {check['id']} ({check['severity']}, {points}): {check['message'][:300]}")
    for skipped in report["skipped_checks"]:
        print(f"  {ended['type']} {skipped['id']} could not run: {skipped['reason']}")


class _Api:
    """API client."""

    def __init__(self, base_url: str, key: str, ca_file: Path) -> None:
        self._base_url = base_url
        self._options: dict[str, Any] = {
            "headers": {"Authorization": f"Bearer {key}"},
            "verify": str(ca_file),
            "timeout": 30,
        }

    def get(self, path: str) -> Any:
        return self._json("GET", path)

    def scan(self, url: str, scan_type: str) -> dict[str, Any]:
        """Create a scan and return its final state."""
        id = self._json("POST", "/v1/scan", json={"url": url, "type": scan_type})["id"]
        wait_until(lambda: self.get(f"/v1/scan/{id}")["status"] in FINAL, SCAN_S, poll_s=0.3)
        state: dict[str, Any] = self.get(f"/v1/scan/{id}")
        return state

    def audit(self, urls: list[str]) -> dict[str, Any]:
        """Create an audit of these pages and return its final state."""
        id = self._json("POST", "/v1/audits", json={"pages": urls})["id"]
        wait_until(lambda: self.get(f"/v1/audits/{id}")["status"] in FINAL, len(urls) * SCAN_S, poll_s=0.3)
        state: dict[str, Any] = self.get(f"/v1/audits/{id}")
        return state

    def _json(self, method: str, path: str, **options: Any) -> Any:
        answer = requests.request(method, f"{self._base_url}{path}", **self._options, **options)
        answer.raise_for_status()
        return answer.json()


def _organization() -> str:
    """Create an organization with a large quota and an owner; return its API key."""
    from accounts.keys.services import create_api_key
    from accounts.models import Membership, User
    from accounts.services import ensure_organization

    organization = ensure_organization(name="Dogfood", tier="business")
    owner = User.objects.create_user(EMAIL)
    Membership.objects.create(organization=organization, user=owner, role=Membership.Role.OWNER)
    _, key = create_api_key(organization=organization, name="dogfood")
    return key


def _share(scan_id: str, audit_id: str) -> None:
    from django.utils import timezone

    from reports.models import Report
    from sites.models import Audit

    Report.objects.filter(scan_id=scan_id).update(shared_at=timezone.now())
    Audit.objects.filter(id=audit_id).update(shared_at=timezone.now())


@contextmanager
def _proxy(folder: Path, port: int, plain: int) -> Iterator[None]:
    """Run nginx on both addresses, with the configuration that the project provides for operators."""
    server = (BASE_DIR / "deploy" / "nginx" / "website-scan.conf").read_text()
    server = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", server, flags=re.DOTALL)  # there is no plain HTTP here
    for theirs, ours in (
        (r"listen \[::\]:443 .*;\n", ""),
        (r"listen 443 ", f"listen {STRANGER}:{port} ssl http2; listen {OWNER}:{port} "),
        (r"server_name .*;", "server_name _;"),
        (r"ssl_certificate .*;", f"ssl_certificate {folder}/site.pem;"),
        (r"ssl_certificate_key .*;", f"ssl_certificate_key {folder}/key.pem;"),
        (r"server 127\.0\.0\.1:8000;", f"server {STRANGER}:{plain};"),
    ):
        server, count = re.subn(theirs, ours, server)
        assert count == 1, f"{theirs} is {count} times in nginx's configuration"
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    own = "user root;\n" if os.geteuid() == 0 else ""  # else nginx could not read the folder
    (folder / "nginx.conf").write_text(
        f"{own}daemon off;\npid {folder}/nginx.pid;\nworker_processes 1;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{server}}}\n"
    )
    command = ["nginx", "-e", str(folder / "nginx.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def _certificate(folder: Path) -> Path:
    """Create a certificate for both addresses; return the path of its root certificate."""
    root = Identity.root()
    authority = root.issue_authority()
    leaf = authority.issue(STRANGER, OWNER)
    (folder / "site.pem").write_bytes(leaf.pem + authority.pem)
    (folder / "key.pem").write_bytes(leaf.key_pem)
    (folder / "ca.pem").write_bytes(root.pem)
    return folder / "ca.pem"


if __name__ == "__main__":
    sys.exit(main())
