"""Rehearse an upgrade and a rollback under load.

No request may be refused.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import requests
from msgspec import Struct

from operations.stack import embedded
from tests.operations.stack.processes import wait_until
from tests.releases import PREVIOUS, ROOT, Release, files_of
from tests.rolling import RepeatingClients, Switch
from tests.targets.server import Answer, Site

TIMEOUT_S = 120
REQUEST_TIMEOUT_S = 60
# The load balancer probes ten times a second, but a busy machine answers late.
DRAIN_DURATION_S = 10
MAX_PAGES = 150
FINAL = {"completed", "partial", "failed"}
LINK = re.compile(r'href="(/[^"#]*)"')
# The crawl skips files, pages without queries, other formats, and the logout.
SKIPPED_LINKS = re.compile(r"^/static/|^/docs/.|/export|logout|\?|^/openapi|\.\w+$")
GETS = ("/v1/usage", "/v1/scans", "/v1/audits", "/v1/monitors", "/v1/badges", "/v1/mutes", "/api/webhooks", "/readyz")
# Hashed file names are off, because compressing all files would take too long.
SETTINGS = """
from config.settings import *
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
"""


class Rehearsal(Struct, frozen=True):
    """Result of a rehearsal.

    `failures` are requests that were refused or failed.
    """

    responses: Counter[tuple[str, int]]
    failures: list[str]
    pages: int


class Visitor:
    """Client that uses pages and the API of the service."""

    def __init__(self, base: str, site: str, login: dict[str, str]) -> None:
        self._base = base
        self._site = site
        self._login = login
        self._key = {"Authorization": f"Bearer {login['api_key']}"}
        self._session = requests.Session()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self.pages: list[str] = []
        self.reports: list[str] = []

    def log_in(self) -> None:
        address = f"{self._base}/login/"
        form = self._session.get(address, timeout=REQUEST_TIMEOUT_S).text
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[0]
        email, password = self._login["email"], self._login["password"]
        fields = {"csrfmiddlewaretoken": token, "username": email, "login": email, "password": password}
        response = self._session.post(address, fields, headers={"Referer": address}, timeout=REQUEST_TIMEOUT_S)
        assert "logout" in response.text, response.text

    def crawl(self) -> None:
        """Collect the pages that the person can reach by links, including admin pages."""
        paths = ["/", "/dashboard/", "/admin/", "/docs/"]
        for path in paths:
            response = self._session.get(self._base + path, timeout=REQUEST_TIMEOUT_S)
            assert response.status_code < 500, path
            for link in LINK.findall(response.text):
                if link not in paths and not SKIPPED_LINKS.search(link) and len(paths) < MAX_PAGES:
                    paths.append(link)
        self.pages = paths

    def request_page(self) -> int:
        """Request the next crawled page and return the status."""
        return self._get(self.pages[next(self._numbers) % len(self.pages)])

    def request_api(self) -> int:
        """Request the next API list or the latest report, and return the status."""
        paths = [
            *GETS,
            *(f"/v1/report/{id}" for id in self.reports[-1:]),
            *(f"/report/{id}" for id in self.reports[-1:]),
        ]
        return self._get(paths[next(self._numbers) % len(paths)])

    def scan(self) -> int:
        """Scan the site, wait for the report, and return the last status."""
        scan_body = {"url": self._site, "type": "security"}
        response = requests.post(f"{self._base}/v1/scan", json=scan_body, headers=self._key, timeout=REQUEST_TIMEOUT_S)
        if response.status_code >= 300:
            return response.status_code
        id = response.json()["id"]
        statuses = []

        def has_ended() -> bool:
            response = requests.get(f"{self._base}/v1/scan/{id}", headers=self._key, timeout=REQUEST_TIMEOUT_S)
            statuses.append(response.status_code)
            return response.status_code != 200 or response.json()["status"] in FINAL

        wait_until(has_ended, TIMEOUT_S, poll_s=0.1)
        with self._lock:
            self.reports.append(id)
        return statuses[-1]

    def _get(self, path: str) -> int:
        if path.startswith(("/v1/", "/api/")):
            return requests.get(self._base + path, headers=self._key, timeout=REQUEST_TIMEOUT_S).status_code
        cookies = self._session.cookies.get_dict()
        return requests.get(
            self._base + path, cookies=cookies, timeout=REQUEST_TIMEOUT_S, allow_redirects=False
        ).status_code


def rehearse() -> Rehearsal:
    """Upgrade from the previous release and roll back.

    Clients send requests meanwhile.

    Raises AssertionError if a command fails, or if a scan takes longer than two minutes.
    """
    site = Site({"/": Answer("<!doctype html><html lang=en><title>A page</title><h1>A page</h1>")})
    with _installed_releases() as (folder, old, new), Switch().running() as switch, RepeatingClients() as clients, site:
        login = old.prepare(folder)
        visitor = Visitor(f"http://127.0.0.1:{switch.port}", site.url + "/", login)

        def wait_for_responses(pages: int) -> None:
            """Wait for more responses.

            It waits for `pages` more page requests, two more scans and every API list.
            """
            expected = {name: clients.count(name) + more for name, more in (("page", pages), ("scan", 2), ("api", 12))}
            wait_until(lambda: all(clients.count(name) >= count for name, count in expected.items()), TIMEOUT_S)

        with contextlib.ExitStack() as running:
            old_web, old_worker = (running.enter_context(process) for process in (old.start_web(), old.start_worker()))
            switch.add(old_web.port)
            visitor.scan()
            visitor.log_in()
            visitor.crawl()
            clients.add("page", visitor.request_page, 0.02)
            clients.add("api", visitor.request_api, 0.1)
            clients.add("scan", visitor.scan, 0.5)
            clients.state = "the old code, on the new schema"
            new.manage("prepare")
            wait_for_responses(pages=20)
            clients.state = "both, then the new code alone"
            new_web, new_worker = (running.enter_context(process) for process in (new.start_web(), new.start_worker()))
            switch.add(new_web.port)
            old_worker.stop()
            switch.remove(old_web.port)
            old_web.stop()
            wait_for_responses(pages=20)
            # The old code must work with rows of the new code, which announces its own shutdown.
            clients.state = "both, then the old code again"
            old_web, _ = (running.enter_context(process) for process in (old.start_web(), old.start_worker()))
            switch.add(old_web.port)
            new_worker.stop()
            new_web.stop()
            wait_for_responses(pages=len(visitor.pages))
            clients.end()
    return Rehearsal(clients.responses, clients.failures, len(visitor.pages))


@contextlib.contextmanager
def _installed_releases() -> Iterator[tuple[Path, Release, Release]]:
    """Install the previous and the current release.

    They have a separate database and Redis.
    """
    with tempfile.TemporaryDirectory(prefix="wss-upgrade-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "with_plain_files.py").write_text(SETTINGS)
        with embedded.stack(folder, durable=False) as stack:
            variables = stack.env | {
                "SECRET_KEY": "rehearsal-" * 5,
                "DJANGO_SETTINGS_MODULE": "with_plain_files",
                "ALLOWED_HOSTS": "127.0.0.1",
                "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8",
                "SCAN_BROWSER": "off",
                # The previous release uses the first name for the second setting. Limits are high for repeated scans.
                "SCAN_VISITS_PER_HOST": "50",
                "SCAN_VISITS_PER_DOMAIN": "50",
                "SCAN_GAP_PER_DOMAIN": "0",
                "DRAIN_S": str(DRAIN_DURATION_S),
            }
            old = Release(files_of(PREVIOUS, folder / "code"), folder / "previous", variables)
            yield folder, old, Release(ROOT, folder / "new", variables)
