"""Upgrade and rollback under load: the previous release and this one share a database, and no request is refused."""

from __future__ import annotations

import contextlib
import itertools
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

from operations.stack import embedded
from tests.operations.stack.processes import wait_until
from tests.releases import PREVIOUS, ROOT, Release, files_of
from tests.rolling import Asking, Switch
from tests.targets.server import Answer, Site

PATIENCE_S = 120
REQUEST_S = 60
# The switch probes ten times a second, and on a busy machine waits for the response.
DRAIN_S = 10
MOST_PAGES = 150
FINAL = {"completed", "partial", "failed"}
LINK = re.compile(r'href="(/[^"#]*)"')
# Links that the crawl skips: files, pages without database queries, other formats of a page, and the logout.
LEFT_OUT = re.compile(r"^/static/|^/docs/.|/export|logout|\?|^/openapi|\.\w+$")
GETS = ("/v1/usage", "/v1/scans", "/v1/audits", "/v1/monitors", "/v1/badges", "/v1/mutes", "/api/webhooks", "/readyz")
# Static files without hashed names: compressing them would take longer than all the rest.
SETTINGS = """
from config.settings import *
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
"""


@dataclass(frozen=True)
class Rehearsal:
    """Result of a rehearsal: responses by request and status, and the requests that were refused or failed."""

    answers: Counter[tuple[str, int]]
    failures: list[str]
    pages: int


class Visitor:
    """Client that uses the pages and the API of the service through the switch."""

    def __init__(self, base: str, site: str, login: dict[str, str]) -> None:
        self._base = base
        self._site = site
        self._login = login
        self._key = {"Authorization": f"Bearer {login['api_key']}"}
        self._session = requests.Session()
        self._order = itertools.count()
        self._turn = threading.Lock()
        self.pages: list[str] = []
        self.reports: list[str] = []

    def log_in(self) -> None:
        address = f"{self._base}/login/"
        form = self._session.get(address, timeout=REQUEST_S).text
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[0]
        email, password = self._login["email"], self._login["password"]
        said = {"csrfmiddlewaretoken": token, "username": email, "login": email, "password": password}
        answer = self._session.post(address, said, headers={"Referer": address}, timeout=REQUEST_S)
        assert "logout" in answer.text, answer.text

    def crawl(self) -> None:
        """Find the pages that the person may see, including the admin's, by their links."""
        found = ["/", "/dashboard/", "/admin/", "/docs/"]
        for path in found:
            answer = self._session.get(self._base + path, timeout=REQUEST_S)
            assert answer.status_code < 500, path
            for link in LINK.findall(answer.text):
                if link not in found and not LEFT_OUT.search(link) and len(found) < MOST_PAGES:
                    found.append(link)
        self.pages = found

    def ask_page(self) -> int:
        """Request the next of the found pages; return its status."""
        return self._get(self.pages[next(self._order) % len(self.pages)])

    def ask_api(self) -> int:
        """Request the next list, or the last report from the API or as a page; return the status."""
        paths = [
            *GETS,
            *(f"/v1/report/{id}" for id in self.reports[-1:]),
            *(f"/report/{id}" for id in self.reports[-1:]),
        ]
        return self._get(paths[next(self._order) % len(paths)])

    def scan(self) -> int:
        """Scan the site, and wait for the report."""
        order = {"url": self._site, "type": "security"}
        answer = requests.post(f"{self._base}/v1/scan", json=order, headers=self._key, timeout=REQUEST_S)
        if answer.status_code >= 300:
            return answer.status_code
        id = answer.json()["id"]
        statuses = []

        def has_ended() -> bool:
            answer = requests.get(f"{self._base}/v1/scan/{id}", headers=self._key, timeout=REQUEST_S)
            statuses.append(answer.status_code)
            return answer.status_code != 200 or answer.json()["status"] in FINAL

        wait_until(has_ended, PATIENCE_S, poll_s=0.1)
        with self._turn:
            self.reports.append(id)
        return statuses[-1]

    def _get(self, path: str) -> int:
        if path.startswith(("/v1/", "/api/")):
            return requests.get(self._base + path, headers=self._key, timeout=REQUEST_S).status_code
        cookies = self._session.cookies.get_dict()
        return requests.get(self._base + path, cookies=cookies, timeout=REQUEST_S, allow_redirects=False).status_code


def rehearse() -> Rehearsal:
    """Upgrade from the previous release to this one and roll back; then request about as many pages as there are.

    Raises AssertionError if a command fails, or a scan takes longer than two minutes.
    """
    site = Site({"/": Answer("<!doctype html><html lang=en><title>A page</title><h1>A page</h1>")})
    with _installed() as (folder, old, new), Switch().running() as switch, Asking() as asking, site:
        login = old.prepare(folder)
        visitor = Visitor(f"http://127.0.0.1:{switch.port}", site.url + "/", login)

        def some_time(pages: int) -> None:
            """Wait until `pages` more pages were answered, two scans were done, and every list was read."""
            wanted = {name: asking.count(name) + more for name, more in (("page", pages), ("scan", 2), ("api", 12))}
            wait_until(lambda: all(asking.count(name) >= count for name, count in wanted.items()), PATIENCE_S)

        with contextlib.ExitStack() as running:
            old_web, old_worker = (running.enter_context(each) for each in (old.start_web(), old.start_worker()))
            switch.add(old_web.port)
            visitor.scan()
            visitor.log_in()
            visitor.crawl()
            asking.ask("page", visitor.ask_page, 0.02)
            asking.ask("api", visitor.ask_api, 0.1)
            asking.ask("scan", visitor.scan, 0.5)
            asking.state = "the old code, on the new schema"
            new.manage("prepare")
            some_time(pages=20)
            asking.state = "both, then the new code alone"
            new_web, new_worker = (running.enter_context(each) for each in (new.start_web(), new.start_worker()))
            switch.add(new_web.port)
            old_worker.stop()
            switch.remove(old_web.port)
            old_web.stop()
            some_time(pages=20)
            # The old code must also work with rows of the new code, which announces its own shutdown.
            asking.state = "both, then the old code again"
            old_web, _ = (running.enter_context(each) for each in (old.start_web(), old.start_worker()))
            switch.add(old_web.port)
            new_worker.stop()
            new_web.stop()
            some_time(pages=len(visitor.pages))
            asking.end()
    return Rehearsal(asking.answers, asking.failures, len(visitor.pages))


@contextlib.contextmanager
def _installed() -> Iterator[tuple[Path, Release, Release]]:
    """Install the previous release and this one, with their own servers."""
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
                # One site is scanned repeatedly; the first name is the previous release's name of the second.
                "SCAN_VISITS_PER_HOST": "50",
                "SCAN_VISITS_PER_DOMAIN": "50",
                "SCAN_GAP_PER_DOMAIN": "0",
                "DRAIN_S": str(DRAIN_S),
            }
            old = Release(files_of(PREVIOUS, folder / "code"), folder / "previous", variables)
            yield folder, old, Release(ROOT, folder / "new", variables)
