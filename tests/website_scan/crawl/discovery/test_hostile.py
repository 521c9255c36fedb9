"""Hostile sites: discovery ends within its limits and says why."""

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
from tests.website_scan.crawl.discovery.cast import discovered, paths
from website_scan.crawl import robots_file
from website_scan.crawl.discovery import crawl, effort, sitemaps
from website_scan.crawl.discovery.discover import discovery_limits

HOME = Answer(document("Home", ["/a"]))
MIB = 1024 * 1024
PEAKS = Path("/proc/self/clear_refs")


@contextmanager
def bounded(cpu_s: float, memory_bytes: int = 64 * MIB) -> Iterator[None]:
    """Assert an upper limit of CPU time and memory for the block, including the site at the other end."""
    gc.collect()
    if PEAKS.exists():
        PEAKS.write_text("5")  # reset the peak
    began_s, began_bytes = cpu(), resident("VmRSS")
    yield
    spent_s, spent_bytes = cpu() - began_s, resident("VmHWM") - began_bytes
    print(f"{spent_s:.2f} s CPU, {spent_bytes / MIB:.1f} MiB")  # noqa: T201 - shown by `pytest -s`
    assert spent_s < cpu_s
    assert spent_bytes < memory_bytes


def resident(name: str) -> int:
    """Return the process's memory in bytes: current (VmRSS) or peak (VmHWM). 0 if the system is not Linux."""
    if not PEAKS.exists():
        return 0
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


def cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def drip(request: Request) -> None:
    """Send a byte now and then, until the client is gone."""
    request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    try:
        while True:
            request.connection.sendall(b"x")
            time.sleep(0.02)
    except OSError:
        return


def endless(start: bytes, piece: bytes, media_type: str) -> Callable[[Request], None]:
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
def test_bombs_of_sitemaps(body: Callable[[], bytes]) -> None:
    with Site({"/": HOME, "/a": HOME, "/sitemap.xml": Answer(body(), headers=XML)}) as site, bounded(20.0):
        found = discovered(site)
    assert paths(site, found) == ["/", "/a"]


def test_a_million_addresses_in_many_sitemaps() -> None:
    """Thousands of sitemaps with tens of thousands of addresses each, for a list of ten pages."""
    many = urlset(*(f"/{number}" for number in range(20_000)))
    with Site({"/": HOME}) as site:
        index = sitemap_index(*(f"{site.url}/map-{number}.xml" for number in range(5_000)))
        site.routes["/sitemap.xml"] = Answer(index, headers=XML)
        site.routes["*"] = Answer(many, headers=XML)
        with bounded(20.0):
            found = discovered(site, max_pages=10)
        assert len(site.requests) == 4
    assert len(found.pages) == 10
    assert found.notes[0] == "The site has more pages than 10."


def test_addresses_that_nobody_wants_have_an_end_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_ADDRESSES", 5_000)
    with Site({"/": HOME}) as site:
        index = sitemap_index(*(f"{site.url}/map-{number}.xml" for number in range(50)))
        site.routes["/sitemap.xml"] = Answer(index, headers=XML)
        site.routes["*"] = Answer(urlset(*(f"https://other.example.com/{n}" for n in range(1_000))), headers=XML)
        found = discovered(site)
        assert len(site.requests) == 3 + 5
    assert paths(site, found) == ["/"]
    assert found.notes[-1] == "The site names more than 5,000 addresses; those beyond were not read."
    assert not found.is_complete


def test_many_links_to_the_same_pages_are_no_many_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of a large site has the same hundreds of links."""
    monkeypatch.setattr(effort, "MAX_ADDRESSES", 100)
    page = Answer(document("Page", [f"/{name(number)}" for number in range(60)]))
    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site:
        found = discovered(site, by=["links"])
    assert len(found.pages) == 61
    assert found.is_complete


def test_addresses_that_are_left_out_take_no_memory() -> None:
    """Each address is 2 KB long and leads in a circle, so that no list ever fills."""
    counter = itertools.count()

    def page(request: Request) -> Answer:
        return Answer(
            document(
                "Page",
                ["/b-" + name(next(counter))] + [f"/a/a/a/a/{name(next(counter))}{'x' * 1_900}" for _ in range(150)],
            )
        )

    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site, bounded(60.0, 24 * MIB):
        found = discovered(site, by=["links"], max_pages=200)
    assert len(found.pages) < 200


def test_an_index_of_itself_and_of_new_ones_without_end() -> None:
    counter = itertools.count()

    def index(request: Request) -> Answer:
        addresses = (f"http://{request.header('Host')}/map-{next(counter)}.xml" for _ in range(100))
        return Answer(sitemap_index("/sitemap.xml", *addresses), headers=XML)

    with Site({"*": index, "/": HOME, "/robots.txt": Answer(status=404)}) as site, bounded(20.0):
        found = discovered(site, by=["sitemap"])
    assert paths(site, found) == ["/"]
    assert len(site.requests) <= 60
    assert not found.is_complete


def test_a_robots_txt_without_an_end() -> None:
    allowed = endless(b"User-agent: *\nDisallow: /private\n", b"Disallow: /x\n" * 10_000, "text/plain")
    with Site({"/": HOME, "/a": HOME, "/robots.txt": allowed}) as site, bounded(20.0):
        found = discovered(site, by=["links"])
    assert paths(site, found) == ["/", "/a"]


def test_rules_that_take_long_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "CPU_S", 1.0)
    monkeypatch.setattr(effort, "CPU_S_PER_PAGE", 0.0)
    rules = "User-agent: *\n" + "".join(f"Disallow: /*{name(number)}*{'a*' * 8}z\n" for number in range(20_000))
    with Site({"/": HOME, "/robots.txt": Answer(rules, headers=TEXT)}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*(f"/{'a' * 1500}{n}" for n in range(5_000))), headers=XML)
        with bounded(30.0):
            found = discovered(site)
    assert found.notes[-1] == "The site is so large or intricate that looking for pages took too long."
    assert not found.is_complete


def test_a_robots_txt_of_a_byte_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_file, "TIMEOUT_S", 0.5)
    with Site({"/": HOME, "/robots.txt": drip}) as site:
        found = discovered(site)
    assert found.error is not None
    assert found.error.code == "ROBOTS_DISALLOWED"


def test_sitemaps_of_a_byte_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "TIMEOUT_S", 0.3)
    with Site({"*": drip, "/": HOME, "/a": HOME}) as site:
        site.routes["/robots.txt"] = Answer("".join(f"Sitemap: /map-{n}.xml\n" for n in range(50)), headers=TEXT)
        found = discovered(site)
        assert len(site.requests) == 2 + 3 + 1
    assert paths(site, found) == ["/", "/a"]
    assert found.notes[-1] == "Sitemaps did not come, one after the other, so no more of them were asked for."


def test_pages_of_a_byte_now_and_then_end_the_search_and_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl, "TIMEOUT_S", 0.3)
    with Site({"*": drip, "/robots.txt": Answer(status=404)}) as site:
        site.routes["/"] = Answer(document("Home", [f"/{name(each)}" for each in range(50)]))
        found = discovered(site, by=["links"])
        assert len(site.requests) <= 2 + 5 + 4
    assert len(found.pages) == 51
    assert found.notes[-1].startswith("The site stopped answering, so no more links were followed.")
    assert not found.is_complete


def test_the_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(request: Request) -> Answer:
        return Answer(document("Page", [f"{request.path}-{name(each)}" for each in range(3)]), delay_s=0.2)

    with Site({"*": slow, "/robots.txt": Answer(status=404)}) as site:
        began = time.monotonic()
        found = discovered(site, "/x", by=["links"], max_pages=5_000, time_limit_s=1.5)
        assert time.monotonic() - began < 15
    assert "/x" in paths(site, found)
    assert found.notes[-1] == "Looking for pages ended after 1.5 seconds."
    assert not found.is_complete


def test_a_pause_of_an_hour_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_CRAWL_DELAY_S", 0.05)
    with Site({"/": HOME, "/a": Answer(document("A", ["/b"])), "/b": HOME}) as site:
        site.routes["/robots.txt"] = Answer("User-agent: *\nCrawl-delay: 3600\n", headers=TEXT)
        assert paths(site, discovered(site, by=["links"])) == ["/", "/a", "/b"]


def test_a_maze_of_redirects() -> None:
    counter = itertools.count()
    with Site({"*": lambda request: Answer.redirect(f"/{name(next(counter))}")}) as site:
        site.routes |= {"/": Answer(document("Home", [f"/x-{name(n)}" for n in range(40)])), "/robots.txt": Answer()}
        found = discovered(site, by=["links"], max_pages=50)
        assert len(site.requests) <= discovery_limits(50).requests
    assert not found.is_complete
    assert found.notes[-1] == "So many of the site's addresses are no pages that not all of them were looked at."


def test_ten_megabytes_of_links() -> None:
    links = b"".join(b"<a href=/%d>x</a>" % number for number in range(600_000))
    page = Answer(b"<!doctype html><title>Links</title>" + links)
    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site, bounded(60.0, 256 * MIB):
        found = discovered(site, by=["links"], include=("/", *(f"/{n}" for n in range(1, 4))))
        assert len(site.requests) == 2 + 3
    assert len(found.pages) == 4


def test_pages_that_cost_the_parser_gigabytes() -> None:
    """The parser reopens in each paragraph the elements that the first left open."""
    page = Answer(b"<!doctype html>" + b"<p><b><i><u><s>" * 4_000 + b"<a href=/a>A</a><a href=/b>B</a>")
    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site, bounded(60.0, 256 * MIB):
        found = discovered(site, by=["links"])
    assert paths(site, found)[0] == "/"


def test_control_characters_never_reach_pages_or_notes() -> None:
    links = ["/a&#0;b", "/a&#13;&#10;X: y", "/a%00", "/a\x1b[31m", "/\u202egnp.a", "/plain"]
    robots = "Sitemap: /\x1b[31m\x07map.xml\nSitemap: http://10.0.0.1/\x07\n"
    with Site({"*": Answer(document("Page", links)), "/robots.txt": Answer(robots, headers=TEXT)}) as site:
        found = discovered(site)
    text = " ".join((*found.pages, *found.notes))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", text)
    assert f"{site.url}/plain" in found.pages


def test_a_list_of_ten_thousand_costs_little() -> None:
    """The most that the largest tier may request, from a sitemap with five times as many addresses."""
    entries = (f"/shop/department-{number % 40}/article-{number}.html" for number in range(50_000))
    with Site({"/": HOME}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*(f"{site.url}{each}" for each in entries)), headers=XML)
        with bounded(20.0):
            found = discovered(site, max_pages=10_000)
        assert site.paths() == ["/", "/robots.txt", "/sitemap.xml"]
    assert (len(found.pages), found.found) == (10_000, 50_001)
