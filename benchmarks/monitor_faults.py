"""Monitors with real processes under kills: each change must be reported exactly once.

Web, worker and scheduler run as `manage.py up` runs them, without a browser. In every round the pages of a site get one
more fault, and all monitors run. Meanwhile workers are killed at random, and PostgreSQL, Redis and the scheduler once.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.audit_faults import Client, Stack, tell, wait_until
from benchmarks.installation import install, servers
from tests.e2e.service import free_port
from tests.targets.server import Answer, Request, Site

if TYPE_CHECKING:
    from sites.models import Monitor

MONITORS, PLACES, SEED = 25, 20, 15
# One fault per round: the part that pages lose, and the check that finds it.
FAULTS = {
    "title": "title",
    "robots": "is-indexable",
    "description": "meta-description",
    "heading": "h1",
}
# A worker takes seconds to start; with more frequent kills it would finish nothing.
FIRST_KILL_S, LAST_KILL_S, KILLING_S, FAULT_AFTER_S = 2.0, 12.0, 40.0, 15.0


class ChangingSite:
    """Site whose pages all have the first `faults` of FAULTS."""

    def __init__(self) -> None:
        self.faults = 0
        robots = Answer("User-agent: *\n", headers={"Content-Type": "text/plain"})
        self.site = Site({"*": self._page, "/robots.txt": robots})

    def _page(self, request: Request) -> Answer:
        lost = set(list(FAULTS)[: self.faults])
        head = "" if "title" in lost else "<title>A shop of good things</title>"
        if "robots" in lost:
            head += '<meta name="robots" content="noindex">'
        if "description" not in lost:
            head += f'<meta name="description" content="{"Tea, coffee and cake from everywhere. " * 3}">'
        heading = "" if "heading" in lost else "<h1>A shop of good things</h1>"
        return Answer(f'<!doctype html><html lang="en"><head>{head}</head><body>{heading}<p>Page.</p></body></html>')


def main() -> int:
    """Print the figures; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        port = free_port()
        install(
            folder, stack, SCAN_ALLOWED_NETWORKS="127.0.0.0/8", SCAN_BROWSER="off", ALLOWED_HOSTS="127.0.0.1,localhost"
        )
        running = cleanup.enter_context(Stack(folder, stack, port))
        changing = ChangingSite()
        site = cleanup.enter_context(changing.site)
        client = Client(running.base, "Watchers", PLACES)
        monitors = _monitors(client, site)
        missed = _rounds(running, changing, monitors)
        if missed:
            print(running.log()[-6000:])
    return int(missed)


def _monitors(client: Client, site: Site) -> list[Monitor]:
    from sites.models import Monitor
    from sites.monitors.requests import USUAL_ALERT
    from webhooks.models import Webhook

    # The webhook is disabled: only recorded events and deliveries count.
    events = ["monitor.changed", "monitor.failed", "monitor.recovered"]
    Webhook.objects.create(
        organization=client.organization, url=f"{site.url}/hook", events=events, encrypted_secret=b"", enabled=False
    )
    alert = {**USUAL_ALERT, "new_findings": "low"}
    made = {"kind": "page", "types": ["seo"], "max_pages": 1, "every": "month", "alert": alert}
    return [
        Monitor.objects.create(
            organization=client.organization, name=f"Page {each}", pages=[f"{site.url}/page-{each}"], **made
        )
        for each in range(MONITORS)
    ]


def _rounds(running: Stack, changing: ChangingSite, monitors: list[Monitor]) -> bool:
    from sites.models import MonitorRun
    from webhooks.models import Delivery, Event

    dice = random.Random(SEED)
    others: list[tuple[str, Callable[[], None]]] = [
        ("PostgreSQL", running.kill_postgresql),
        ("Redis", running.kill_redis),
        ("the scheduler", lambda: running.kill_and_start("scheduler")),
    ]
    kills = Counter[str]()
    # The last round is without kills: it reports the changes that failed runs could not.
    for number in range(len(FAULTS) + 2):
        changing.faults = min(number, len(FAULTS))
        began = time.monotonic()
        is_over = threading.Event()

        def kill(is_over: threading.Event = is_over) -> None:
            while not is_over.wait(dice.uniform(FIRST_KILL_S, LAST_KILL_S)):
                running.kill_and_start("worker")
                kills["workers"] += 1

        _begin(monitors)
        killer = threading.Thread(target=kill)
        if number <= len(FAULTS):
            killer.start()
        if others and 0 < number <= len(FAULTS):
            name, fault = others.pop(0)
            is_over.wait(FAULT_AFTER_S)
            fault()
            kills[name] += 1
        end = (number + 1) * MONITORS
        # Workers that are killed every few seconds cannot finish long tasks.
        wait_until(lambda end=end, began=began: _ended() >= end or time.monotonic() - began > KILLING_S)  # type: ignore[misc]
        is_over.set()
        if killer.ident:
            killer.join()
        wait_until(lambda end=end: _ended() >= end)  # type: ignore[misc]  # its default
        statuses = Counter(MonitorRun.objects.values_list("status", "error_code"))
        print(
            f"round {number}: {time.monotonic() - began:.0f} s, {dict(kills)} killed; runs {dict(statuses)}", flush=True
        )
    told = Counter(
        (monitor_id, check)
        for monitor_id, body in Event.objects.filter(kind="monitor.changed").values_list("monitor_id", "body")
        for check in _new(body)
    )
    expected = {(each.id, check) for each in monitors for check in FAULTS.values()}
    missed = tell("changes that were not announced", len(expected - told.keys()), 0)
    missed |= tell("announced more than once", sum(told[each] - 1 for each in told), 0)
    missed |= tell("events beside them", Event.objects.count() - len(monitors) * len(FAULTS), 0)
    return tell("events without their delivery", Event.objects.count() - Delivery.objects.count(), 0) or missed


def _ended() -> int:
    from sites.models import MonitorRun

    return MonitorRun.objects.filter(status__in=("done", "failed")).count()


def _new(body: bytes) -> set[str]:
    data = json.loads(bytes(body))["data"]
    return {each["check"] for name in ("new", "worse") for each in data[name]} & set(FAULTS.values())


def _begin(monitors: list[Monitor]) -> None:
    from django.utils import timezone

    from sites.models import Monitor

    Monitor.objects.filter(id__in=[each.id for each in monitors]).update(next_run_at=timezone.now())
