"""Accuracy of a phone's simulated figures, compared with really throttled loads of twenty own and ten real pages."""

from __future__ import annotations

import gzip
import mimetypes
import re
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import unquote

from benchmarks.real_pages import real_pages
from benchmarks.table import Table
from benchmarks.usage import elsewhere
from tests.targets.load_pages import NAMES, load_pages
from tests.targets.server import Answer, Request, Route, Site
from tests.targets.slow_link import SlowLink
from tests.targets.throttled_load import Truth, throttled_loads
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget
from website_scan.run import scan

TIMES = 3
TIME_LIMIT_S = 90.0
POLICY = Policy(allowed_networks=NETWORKS)
# By check: its name in a throttled load, and the permitted error: a share of the throttled figure, at least so much.
FIGURES = {
    "fcp": ("fcp", 0.15, 0.0),
    "lcp": ("lcp", 0.15, 0.0),
    "tbt": ("tbt", 0.25, 0.05),
    "cls": ("cls", 0.15, 0.01),
    "speed-index": ("speed_index", 0.15, 0.0),
}
# Documentation with little and with much markup, with web fonts, with search scripts; shops' and start-ups' templates,
# dashboards, slides.
REAL = (
    "python3.11-doc library/json.html",
    "git-doc user-manual.html",
    "rust-doc std/index.html",
    "doxygen-doc index.html",
    "lilypond-doc-html web/index.html",
    "gentelella@4.2.0 production/index.html",
    "startbootstrap-sb-admin-2@4.1.4 index.html",
    "reveal.js@6.0.2 demo.html",
    "now-ui-kit@1.3.0 index.html",
    "startbootstrap-creative@7.0.7 index.html",
)
# Addresses of other hosts, which cannot be reached from here: the second site answers for them, with 404.
FOREIGN = re.compile(rb"""((?:src|href)=["']?|url\(["']?|@import ["'])(?:https?:)?//[a-z0-9.-]+\.[a-z]+/""")
PACKED = ("text/", "application/javascript", "application/json", "image/svg+xml")


def measure(table: Table, share: float) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    names = [*NAMES, *REAL]
    names = names[:: max(1, round(1 / share))]
    table.head("simulated, throttled", *(column for each in FIGURES for column in (each.upper(), "")), "wrong")
    wrong, noisy = dict.fromkeys(FIGURES, 0), dict.fromkeys(FIGURES, 0)
    with WarmBrowser(program) as browser, elsewhere(_serve) as link:
        for name in names:
            # Both use the same URL; the relay between browser and site is slow for the throttled loads only.
            url = _told(link, name)
            simulated = figures(browser, url)
            throttled = throttled_loads(program, url, TIMES, lambda: _told(link, "slow"))
            cells, missed = [], []
            for check, (key, part, least) in FIGURES.items():
                found, truth = simulated[check], throttled[key]
                room = max(part * truth.value, least)
                cells += [found, truth.value]
                noisy[check] += is_noisy(truth, room)
                if not abs(found - truth.value) <= room:
                    missed.append(check)
                    wrong[check] += 1
            table.row(name, *cells, " ".join(missed))
    table.head("figures", *(each.upper() for each in FIGURES))
    within = [len(names) - each for each in wrong.values()]
    table.row("within the limits", *within, least=(len(names),) * len(within))
    table.row("throttled loads differ by more than the limit", *noisy.values())


def is_noisy(truth: Truth, room: float) -> bool:
    """Return True if throttled loads differ from each other by more than the permitted error."""
    return max(truth.largest - truth.value, truth.value - truth.least) > room


def figures(browser: WarmBrowser, url: str) -> Mapping[str, float]:
    """Scan a page; return the figures in its findings, by check. A figure that the scan lacks is not a number."""
    with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network:
        target = parse_target(url, POLICY)
        (result,) = scan(target, [ScanType.PERFORMANCE], network, Budget(TIME_LIMIT_S), browser=browser)
    checks = {check.id: check for category in result.categories for check in category.checks}
    return {each: _median(checks.get(each)) for each in FIGURES}


def _median(check: object) -> float:
    evidence = getattr(check, "evidence", ())
    return float(evidence[0]["median"]) if evidence else float("nan")


def _told(link: Connection, what: str) -> str:
    link.send(what)
    return str(link.recv())


def _serve(pipe: Connection) -> None:
    """Serve the page whose name comes through the pipe at once, until "slow" comes, then slowly."""
    pages = {each.name: each for each in real_pages() if each.name in REAL}
    assert len(pages) == len(REAL), f"pages that are missing: {set(REAL) - pages.keys()}"
    with Site() as here, Site() as there, SlowLink([here.port, there.port]) as link:
        url, foreign = (f"http://127.0.0.1:{port}" for port in link.ports)
        own = load_pages(foreign)
        while True:
            name = pipe.recv()
            if name == "slow":
                link.slow_down()
            else:
                link.speed_up()
                page = pages.get(name)
                here.routes = {"*": _served(page.folder, foreign)} if page else dict(own)
                there.routes = {} if page else dict(own)
            pipe.send(f"{url}/{page.path if page else name}")


def _served(folder: Path, foreign: str) -> Route:
    """Return a route that serves a folder's files, with one reachable site in place of all others."""

    def answer(request: Request) -> Answer:
        path = (folder / unquote(request.path.partition("?")[0]).lstrip("/")).resolve()
        if not path.is_file() or folder.resolve() not in path.parents:
            return Answer("<!doctype html><title>Not found</title><h1>Not found</h1>", status=404)
        body, media_type = path.read_bytes(), mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        headers = {"Content-Type": media_type}
        if media_type in ("text/html", "text/css"):
            body = FOREIGN.sub(rb"\1" + foreign.encode() + b"/", body)
        if media_type.startswith(PACKED):
            body, headers = gzip.compress(body, 6, mtime=0), headers | {"Content-Encoding": "gzip"}
        return Answer(body, headers=headers)

    return answer
