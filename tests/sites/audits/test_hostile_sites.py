"""Tests that audits of hostile sites end early.

They send few requests and note the reason.
"""

from __future__ import annotations

import gzip
import resource
import sys
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_network

import pytest
from pytest_django import Settings

from accounts.models import MonthlyUsage, Tier
from scans import tasks
from sites.models import Audit, AuditPage
from tests.factories import Member, member_of
from tests.sites.audits.cast import run_all_work
from tests.targets.many_pages import NAMESPACE, TEXT, XML, document
from tests.targets.server import Answer, Request, Route, Site

PAGES = 5
# Discovery may send three requests per page and 200 more, and a page visit 60.
MAX_REQUESTS = 3 * PAGES + 200 + 60 * PAGES
MAX_DURATION_S, MAX_MEMORY_MIB = 120, 250

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def owner(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Member:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setattr(tasks, "browser", lambda: None)
    member = member_of("Owner", "business")
    Tier.objects.update(pages_per_audit=1000, concurrent_scans=4)
    return member


def sitemap_bomb() -> Mapping[str, Route]:
    """Return the routes of a site with a huge sitemap.

    It has a gigabyte of URLs, compressed to a megabyte.
    """
    entry = b"<url><loc>http://localhost/%s</loc></url>" % (b"a" * 2000)
    packed = gzip.compress(b'<?xml version="1.0"?><urlset xmlns="%s">' % NAMESPACE.encode() + entry * 500_000, 6)
    return {
        "/": Answer(document("Bomb", ["/a"])),
        "/a": Answer(document("A page")),
        "/robots.txt": Answer("Sitemap: /sitemap.xml.gz\n", headers=TEXT),
        "/sitemap.xml.gz": Answer(packed, headers={"Content-Type": "application/gzip"}),
    }


def endless_sitemaps() -> Mapping[str, Route]:
    """Return the routes of a site with endless sitemap indexes.

    Each index lists 1,000 more.
    """

    def serve_index(request: Request) -> Answer:
        names = "".join(
            f"<sitemap><loc>http://{request.header('Host')}{request.path}{number}.xml</loc></sitemap>"
            for number in range(1000)
        )
        return Answer(f'<sitemapindex xmlns="{NAMESPACE}">{names}</sitemapindex>', headers=XML)

    return {"/": Answer(document("Indexes")), "/sitemap.xml": serve_index, "*": serve_index}


def calendar_routes() -> Mapping[str, Route]:
    """Return the routes of an endless calendar.

    Each day links to the next.
    """

    def serve_day(request: Request) -> Answer:
        name = request.path.removeprefix("/calendar/")
        if not name.isdigit():
            return Answer("No such day", status=404)
        number = int(name)
        return Answer(document(f"Day {number}", [f"/calendar/{number + 1}", f"/calendar/{number + 30}"]))

    return {
        "/": Answer(document("Start", ["/calendar/1", "/about"])),
        "/about": Answer(document("About")),
        "*": serve_day,
    }


def session_routes() -> Mapping[str, Route]:
    """Return the routes of a site with session IDs in links.

    Each response has a new ID.
    """
    count = iter(range(1_000_000))

    def serve_page(request: Request) -> Answer:
        links = [f"/{name}?PHPSESSID={next(count):032x}" for name in ("a", "b", "c")]
        return Answer(document(request.path.partition("?")[0], links))

    return {"*": serve_page}


def maze_routes() -> Mapping[str, Route]:
    """Return the routes of a site whose pages link to ever deeper paths."""
    return {"*": lambda request: Answer(document("Deeper", [f"{request.path.rstrip('/')}/{name}" for name in "ab"]))}


def heavy_pages() -> Mapping[str, Route]:
    """Return the routes of a site with megabytes of links.

    Each page has ten megabytes.
    """
    body = "".join(f'<a href="/page-{number}?q={"x" * 40}">Page {number}</a>' for number in range(120_000))
    return {"*": Answer(f'<!doctype html><html lang="en"><title>Heavy</title><h1>Heavy</h1>{body}')}


def disallowed_routes() -> Mapping[str, Route]:
    return {
        "/": Answer(document("Start", ["/a"])),
        "/robots.txt": Answer("User-agent: *\nDisallow: /\n", headers=TEXT),
    }


@pytest.mark.parametrize(
    ("routes", "status", "reason"),
    [
        (sitemap_bomb, "completed", "sitemap"),
        (endless_sitemaps, "completed", "sitemap"),
        (calendar_routes, "completed", "The site has more pages than 5"),
        (session_routes, "completed", ""),
        (maze_routes, "completed", "The site has more pages than 5"),
        (heavy_pages, "completed", "The site has more pages than 5"),
        (disallowed_routes, "failed", "robots.txt"),
    ],
)
def test_hostile_site_gets_few_requests(
    owner: Member, routes: Callable[[], Mapping[str, Route]], status: str, reason: str
) -> None:
    with Site(routes()) as site:
        memory_before_mib = peak_memory_mib()
        started_at = time.monotonic()
        url = f"{site.url_as('localhost')}/"
        answer = owner.api.post("/v1/audits", {"site": url, "max_pages": PAGES, "types": ["seo"]})
        assert answer.status_code == 202, answer.content
        audit = run_all_work(answer.json()["id"])
        assert time.monotonic() - started_at < MAX_DURATION_S
        assert len(site.requests) <= MAX_REQUESTS
    assert peak_memory_mib() - memory_before_mib < MAX_MEMORY_MIB
    assert audit.status in (status, "partial" if status == "completed" else status), audit.error_message
    assert reason in " ".join([*audit.notes, audit.error_message]), (audit.notes, audit.error_message)
    pages = list(AuditPage.objects.filter(audit=audit))
    assert len({page.url for page in pages}) == len(pages) <= PAGES
    assert audit.pages_done + audit.pages_failed == audit.pages_planned == len(pages)
    used = MonthlyUsage.objects.filter(organization=owner.organization).first()
    assert (used.used if used else 0) == len(pages), "what was looked at counts, and nothing else"
    assert Audit.objects.get().is_final


def peak_memory_mib() -> float:
    """Return the peak resident memory of this process in MiB."""
    unit = (
        1 if sys.platform == "darwin" else 1024
    )  # ru_maxrss is in bytes on macOS and in KiB elsewhere (getrusage(2)).
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1024**2
