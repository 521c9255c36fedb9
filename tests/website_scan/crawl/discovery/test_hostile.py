"""Test that page discovery on hostile sites ends within its limits.

It must report why it ended.
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.targets.many_pages import TEXT, XML, document, name, sitemap_index, urlset
from tests.targets.server import Answer, Request, Site
from tests.targets.zoo_pages import gzip_bomb
from tests.website_scan.crawl.discovery.cast import page_paths, run_discovery
from website_scan.crawl import robots_file
from website_scan.crawl.discovery import crawl, effort, sitemaps
from website_scan.crawl.discovery.discover import discovery_limits

HOME = Answer(document("Home", ["/a"]))
MIB = 1024 * 1024
PEAKS = Path("/proc/self/clear_refs")


@contextmanager
def assert_bounded(cpu_s: float, memory_bytes: int = 64 * MIB) -> Iterator[None]:
    """Assert that the block stays within the CPU time and memory.

    The test's site is included.
    """
    gc.collect()
    if PEAKS.exists():
        PEAKS.write_text("5")  # Writing 5 resets the peak memory of the process.
    start_s, start_bytes = cpu_time_s(), resident_bytes("VmRSS")
    yield
    used_s, used_bytes = cpu_time_s() - start_s, resident_bytes("VmHWM") - start_bytes
    print(f"{used_s:.2f} s CPU, {used_bytes / MIB:.1f} MiB")  # noqa: T201 - shown by `pytest -s`
    assert used_s < cpu_s
    assert used_bytes < memory_bytes


def resident_bytes(name: str) -> int:
    """Return the current or peak memory of the process in bytes.

    `VmRSS` is the current memory and `VmHWM` the peak. The result is 0 if it is unknown.
    """
    if not PEAKS.exists():
        return 0
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


def cpu_time_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def drip_bytes(request: Request) -> None:
    """Send single bytes with pauses until the client disconnects."""
    request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    try:
        while True:
            request.connection.sendall(b"x")
            time.sleep(0.02)
    except OSError:
        return


def endless_response(start: bytes, piece: bytes, media_type: str) -> Callable[[Request], None]:
    def send(request: Request) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n"
        try:
            request.connection.sendall(head.encode() + start)
            while True:
                request.connection.sendall(piece)
        except OSError:
            return

    return send


@pytest.mark.parametrize(
    "body",
    [
        gzip_bomb,
        lambda: gzip_bomb(b"<url><loc>/a</loc></url>"),
        lambda: f'<!DOCTYPE b [<!ENTITY a "{"x" * 1000}"><!ENTITY b "{"&a;" * 1000}">]><urlset>&b;</urlset>'.encode(),
        lambda: b"<urlset>" + b"<a>" * 100_000,
        lambda: b"<urlset><url><loc>" + b"x" * 9 * MIB,
        lambda: b"<urlset " + b"a='b' " * 1_500_000 + b">",
    ],
    ids=["gzip", "gzip-of-xml", "entities", "depth", "address", "attributes"],
)
def test_sitemap_bomb_costs_little_time_and_memory(body: Callable[[], bytes]) -> None:
    with Site({"/": HOME, "/a": HOME, "/sitemap.xml": Answer(body(), headers=XML)}) as site, assert_bounded(20.0):
        discovery = run_discovery(site)
    assert page_paths(site, discovery) == ["/", "/a"]


def test_sitemaps_are_read_until_the_list_is_full() -> None:
    """5,000 sitemaps have 20,000 addresses each, but the list has a limit of ten pages."""
    sitemap = urlset(*(f"/{number}" for number in range(20_000)))
    with Site({"/": HOME}) as site:
        index = sitemap_index(*(f"{site.url}/map-{number}.xml" for number in range(5_000)))
        site.routes["/sitemap.xml"] = Answer(index, headers=XML)
        site.routes["*"] = Answer(sitemap, headers=XML)
        with assert_bounded(20.0):
            discovery = run_discovery(site, max_pages=10)
        assert len(site.requests) == 4
    assert len(discovery.pages) == 10
    assert discovery.notes[0] == "The site has more pages than 10."


def test_unusable_sitemap_addresses_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_URLS", 5_000)
    with Site({"/": HOME}) as site:
        index = sitemap_index(*(f"{site.url}/map-{number}.xml" for number in range(50)))
        site.routes["/sitemap.xml"] = Answer(index, headers=XML)
        site.routes["*"] = Answer(urlset(*(f"https://other.example.com/{n}" for n in range(1_000))), headers=XML)
        discovery = run_discovery(site)
        assert len(site.requests) == 3 + 5
    assert page_paths(site, discovery) == ["/"]
    assert discovery.notes[-1] == "The site names more than 5,000 addresses; those beyond were not read."
    assert not discovery.is_complete


def test_repeated_links_count_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of a large site has the same hundreds of links in its menu."""
    monkeypatch.setattr(effort, "MAX_URLS", 100)
    page = Answer(document("Page", [f"/{name(number)}" for number in range(60)]))
    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site:
        discovery = run_discovery(site, by=["links"])
    assert len(discovery.pages) == 61
    assert discovery.is_complete


def test_excluded_addresses_are_not_stored() -> None:
    """Each address is 2 KB long and repeats its segments, so the page list never fills."""
    counter = itertools.count()

    def page(request: Request) -> Answer:
        return Answer(
            document(
                "Page",
                ["/b-" + name(next(counter))] + [f"/a/a/a/a/{name(next(counter))}{'x' * 1_900}" for _ in range(150)],
            )
        )

    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site, assert_bounded(60.0, 24 * MIB):
        discovery = run_discovery(site, by=["links"], max_pages=200)
    assert len(discovery.pages) < 200


def test_recursive_sitemap_index_is_limited() -> None:
    counter = itertools.count()

    def index(request: Request) -> Answer:
        addresses = (f"http://{request.header('Host')}/map-{next(counter)}.xml" for _ in range(100))
        return Answer(sitemap_index("/sitemap.xml", *addresses), headers=XML)

    with Site({"*": index, "/": HOME, "/robots.txt": Answer(status=404)}) as site, assert_bounded(20.0):
        discovery = run_discovery(site, by=["sitemap"])
    assert page_paths(site, discovery) == ["/"]
    assert len(site.requests) <= 60
    assert not discovery.is_complete


def test_endless_robots_txt_is_truncated() -> None:
    allowed = endless_response(b"User-agent: *\nDisallow: /private\n", b"Disallow: /x\n" * 10_000, "text/plain")
    with Site({"/": HOME, "/a": HOME, "/robots.txt": allowed}) as site, assert_bounded(20.0):
        discovery = run_discovery(site, by=["links"])
    assert page_paths(site, discovery) == ["/", "/a"]


def test_expensive_robots_rules_end_at_the_CPU_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "BASE_CPU_LIMIT_S", 1.0)
    monkeypatch.setattr(effort, "CPU_LIMIT_PER_PAGE_S", 0.0)
    rules = "User-agent: *\n" + "".join(f"Disallow: /*{name(number)}*{'a*' * 8}z\n" for number in range(20_000))
    with Site({"/": HOME, "/robots.txt": Answer(rules, headers=TEXT)}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*(f"/{'a' * 1500}{n}" for n in range(5_000))), headers=XML)
        with assert_bounded(30.0):
            discovery = run_discovery(site)
    assert discovery.notes[-1] == "The site is so large or complex that page discovery took too long."
    assert not discovery.is_complete


def test_dripping_robots_txt_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_file, "ROBOTS_TIMEOUT_S", 0.5)
    with Site({"/": HOME, "/robots.txt": drip_bytes}) as site:
        discovery = run_discovery(site)
    assert discovery.error is not None
    assert discovery.error.code == "ROBOTS_DISALLOWED"


def test_dripping_sitemaps_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "SITEMAP_TIMEOUT_S", 0.3)
    with Site({"*": drip_bytes, "/": HOME, "/a": HOME}) as site:
        site.routes["/robots.txt"] = Answer("".join(f"Sitemap: /map-{n}.xml\n" for n in range(50)), headers=TEXT)
        discovery = run_discovery(site)
        assert len(site.requests) == 2 + 3 + 1
    assert page_paths(site, discovery) == ["/", "/a"]
    assert discovery.notes[-1] == "Several sitemaps in a row did not load, so no more of them were requested."


def test_dripping_pages_remain_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl, "FETCH_TIMEOUT_S", 0.3)
    with Site({"*": drip_bytes, "/robots.txt": Answer(status=404)}) as site:
        site.routes["/"] = Answer(document("Home", [f"/{name(number)}" for number in range(50)]))
        discovery = run_discovery(site, by=["links"])
        assert len(site.requests) <= 2 + 5 + 4
    assert len(discovery.pages) == 51
    assert discovery.notes[-1].startswith("The site stopped answering, so no more links were followed.")
    assert not discovery.is_complete


def test_discovery_ends_at_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_page(request: Request) -> Answer:
        return Answer(document("Page", [f"{request.path}-{name(number)}" for number in range(3)]), delay_s=0.2)

    with Site({"*": slow_page, "/robots.txt": Answer(status=404)}) as site:
        start_s = time.monotonic()
        discovery = run_discovery(site, "/x", by=["links"], max_pages=5_000, time_limit_s=1.5)
        assert time.monotonic() - start_s < 15
    assert "/x" in page_paths(site, discovery)
    assert discovery.notes[-1] == "Looking for pages ended after 1.5 seconds."
    assert not discovery.is_complete


def test_crawl_delay_of_an_hour_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_CRAWL_DELAY_S", 0.05)
    with Site({"/": HOME, "/a": Answer(document("A", ["/b"])), "/b": HOME}) as site:
        site.routes["/robots.txt"] = Answer("User-agent: *\nCrawl-delay: 3600\n", headers=TEXT)
        assert page_paths(site, run_discovery(site, by=["links"])) == ["/", "/a", "/b"]


def test_redirect_maze_has_a_request_limit() -> None:
    counter = itertools.count()
    with Site({"*": lambda request: Answer.redirect(f"/{name(next(counter))}")}) as site:
        site.routes |= {"/": Answer(document("Home", [f"/x-{name(n)}" for n in range(40)])), "/robots.txt": Answer()}
        discovery = run_discovery(site, by=["links"], max_pages=50)
        assert len(site.requests) <= discovery_limits(50).requests
    assert not discovery.is_complete
    assert discovery.notes[-1] == "So many of the site's addresses are not pages that not all of them were checked."


def test_page_full_of_links_stays_within_limits() -> None:
    links = b"".join(b"<a href=/%d>x</a>" % number for number in range(600_000))
    page = Answer(b"<!doctype html><title>Links</title>" + links)
    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site, assert_bounded(60.0, 256 * MIB):
        discovery = run_discovery(site, by=["links"], include=("/", *(f"/{n}" for n in range(1, 4))))
        assert len(site.requests) == 2 + 3
    assert len(discovery.pages) == 4


def test_multiplying_markup_stays_within_limits() -> None:
    """In each paragraph, the parser reopens the elements that the first paragraph left open."""
    page = Answer(b"<!doctype html>" + b"<p><b><i><u><s>" * 4_000 + b"<a href=/a>A</a><a href=/b>B</a>")
    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site, assert_bounded(60.0, 256 * MIB):
        discovery = run_discovery(site, by=["links"])
    assert page_paths(site, discovery)[0] == "/"


def test_control_characters_never_reach_the_list() -> None:
    links = ["/a&#0;b", "/a&#13;&#10;X: y", "/a%00", "/a\x1b[31m", "/\u202egnp.a", "/plain"]
    robots = "Sitemap: /\x1b[31m\x07map.xml\nSitemap: http://10.0.0.1/\x07\n"
    with Site({"*": Answer(document("Page", links)), "/robots.txt": Answer(robots, headers=TEXT)}) as site:
        discovery = run_discovery(site)
    text = " ".join((*discovery.pages, *discovery.notes))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", text)
    assert f"{site.url}/plain" in discovery.pages


def test_discovery_of_10_000_pages_stays_within_limits() -> None:
    """No plan allows more than 10,000 pages. The sitemap has five times as many addresses."""
    entries = (f"/shop/department-{number % 40}/article-{number}.html" for number in range(50_000))
    with Site({"/": HOME}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*(f"{site.url}{entry}" for entry in entries)), headers=XML)
        with assert_bounded(20.0):
            discovery = run_discovery(site, max_pages=10_000)
        assert site.paths() == ["/", "/robots.txt", "/sitemap.xml"]
    assert (len(discovery.pages), discovery.found) == (10_000, 50_001)
