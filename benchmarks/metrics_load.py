"""Load for the benchmark of metrics: clients that scan, read and are refused, and count their responses."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

import requests

from benchmarks.audit_faults import Client
from tests.targets.server import Answer, Site

PAGE = '<!doctype html><html lang="en"><title>A page</title><h1>Hello</h1><p><a href="/next">Next</a>'
TYPES = ("security", "performance", "accessibility", "seo")
# Longer than a scan's time limit.
SLOW_S = 30.0
PATHS = ("/", "/", "/", "/missing", "/away", "/slow")
SCAN_EVERY_S, ASK_EVERY_S, AUDIT_EVERY_S, OVER_LIMIT_EVERY_S = 1.5, 0.1, 30.0, 0.4
EVENTS = ["scan.completed", "scan.partial", "scan.failed"]


class Load:
    """Threads that send requests until `end`. Counts responses by route, method and status, and refusals by code."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._codes: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sites = ExitStack()

    def __str__(self) -> str:
        return f"{self._answers.total():,} requests answered, {self._codes.total()} of them refused"

    def __enter__(self) -> Load:
        from accounts.keys.services import create_api_key
        from accounts.models import Tier
        from accounts.services import ensure_organization

        routes = {
            "/": Answer(PAGE),
            "/next": Answer(PAGE),
            "/away": Answer.redirect("http://10.0.0.1/"),
            "/slow": Answer(PAGE, delay_s=SLOW_S),
            "/hook": Answer("ok"),
            "/broken": Answer("no", status=500),
        }
        site = self._sites.enter_context(Site(routes))
        # The quota must not run out; the refusals come from the plan's other limits.
        Tier.objects.update(scans_per_month=1_000_000)
        busy = Client(self._base, "Busy", 1_000)
        for path in ("/hook", "/broken"):
            status, answer = busy.post("/api/webhooks", {"url": f"{site.url}{path}", "events": EVENTS})
            assert status == 201, answer
        _, over = create_api_key(organization=ensure_organization(name="Over its limits"), name="bench")
        key, number = busy.key, itertools.count()

        def scan() -> None:
            each = next(number)
            body = {"url": site.url + PATHS[each // len(TYPES) % len(PATHS)], "type": TYPES[each % len(TYPES)]}
            self._send("POST", "/v1/scan", key, body)

        def audit() -> None:
            self._send("POST", "/v1/audits", key, {"pages": [f"{site.url}/", f"{site.url}/next"], "types": ["seo"]})

        self._repeat(SCAN_EVERY_S, scan)
        self._repeat(AUDIT_EVERY_S, audit)
        self._repeat(ASK_EVERY_S, lambda: self._send("GET", "/v1/usage", key))
        self._repeat(ASK_EVERY_S, lambda: self._send("GET", "/login/"))
        self._repeat(1.0, lambda: self._send("GET", "/nowhere"))
        self._repeat(5.0, lambda: self._send("GET", "/v1/scans", "wss_wrong"))
        body = {"url": f"{site.url}/slow", "type": "seo"}
        self._repeat(OVER_LIMIT_EVERY_S, lambda: self._send("POST", "/v1/scan", over, body))
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._sites.close()

    def end(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def is_quiet(self) -> bool:
        """Return True if no scan, audit or due delivery is left; deliveries that await a retry do not count."""
        from django.utils import timezone

        from scans.models import Scan
        from sites.models import Audit
        from webhooks.models import Delivery

        due = Delivery.objects.filter(status="pending", next_attempt_at__lte=timezone.now())
        unfinished = Scan.objects.exclude(status__in=Scan.FINAL)
        return not (unfinished.exists() or Audit.objects.unfinished().exists() or due.exists())

    def expected(self) -> dict[str, float]:
        """Return the samples that web should have counted for these requests."""
        with self._lock:
            routes = {"/nowhere": "unknown"}
            found: dict[str, float] = {
                f'http_requests_total{{method="{method}",route="{routes.get(path, path)}",status="{status}"}}': count
                for (path, method, status), count in self._answers.items()
            }
            return found | {f'refusals_total{{code="{code}"}}': count for code, count in self._codes.items()}

    def _repeat(self, every_s: float, ask: Callable[[], None]) -> None:
        def ask_for_ever() -> None:
            while not self._ends.wait(every_s):
                with suppress(requests.RequestException):  # while web is restarted
                    ask()

        thread = threading.Thread(target=ask_for_ever, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _send(self, method: str, path: str, key: str = "", body: Mapping[str, object] | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = requests.request(method, self._base + path, json=body, headers=headers, timeout=60)
        with self._lock:
            self._answers[path, method, answer.status_code] += 1
            if key and answer.status_code >= 400:
                self._codes[answer.json()["code"]] += 1
