"""Tests for page discovery on ordinary sites."""

from __future__ import annotations

import time

import pytest

from tests.targets.many_pages import TEXT, XML, document, shop_site, sitemap_index, urlset
from tests.targets.server import Answer, Request, Site
from tests.website_scan.crawl.discovery.cast import page_paths, run_discovery
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from website_scan.crawl.discovery.discover import Wish, discover, discovery_limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import ScanError


def page_requests(site: Site) -> list[str]:
    return [path for path in site.paths() if path not in ("/robots.txt", "/map.xml")]


def test_sitemap_discovery_adds_few_requests() -> None:
    """Scans fetch every page again, so discovery may add only 10 % to the number of requests."""
    with shop_site(200, with_sitemap=True) as site:
        discovery = run_discovery(site, max_pages=1000)
    assert len(discovery.pages) == 200
    assert discovery.is_complete
    assert not discovery.notes
    assert len(page_requests(site)) + len(discovery.pages) <= 1.1 * 200


@pytest.mark.parametrize("pages", [40, 50, 1000])
def test_discovery_by_sitemap_needs_few_requests(pages: int) -> None:
    with shop_site(pages, with_sitemap=True) as site:
        discovery = run_discovery(site, max_pages=10_000)
    assert len(discovery.pages) == pages
    assert len(page_requests(site)) + pages <= 1.1 * pages


def test_sufficient_sitemap_needs_only_the_start_page() -> None:
    with shop_site(200, with_sitemap=True) as site:
        discovery = run_discovery(site, max_pages=50)
    assert page_requests(site) == ["/"]
    assert len(discovery.pages) == 50
    assert discovery.found == 200
    assert not discovery.is_complete
    assert discovery.notes == ("The site has more pages than 50.",)


def test_crawl_without_a_sitemap_is_breadth_first() -> None:
    with shop_site(200, with_sitemap=False) as site:
        discovery = run_discovery(site, max_pages=1000)
    assert len(discovery.pages) == 200
    assert discovery.is_complete
    assert discovery.notes == ("The site has no sitemap.",)
    lists = [path for path in page_paths(site, discovery) if path.count("/") == 1 and path != "/"]
    assert page_paths(site, discovery)[: len(lists) + 1] == ["/", *lists]
    assert len(page_requests(site)) == 200 + 2, "each once, and two places for sitemaps"


def test_full_page_list_ends_the_crawl() -> None:
    with shop_site(200, with_sitemap=False) as site:
        discovery = run_discovery(site, by=["links"], max_pages=30)
    assert len(discovery.pages) == 30
    assert not discovery.is_complete
    assert len(page_requests(site)) <= 1 + 4, "the front page, and as many lists as are asked for at once"


def test_links_lead_to_pages_missing_from_the_sitemap() -> None:
    with shop_site(60, with_sitemap=True) as site:
        site.routes["/"] = Answer(document("Shop", ["/list-a", "/about", "/jobs"]))
        site.routes["/about"] = Answer(document("About", ["/", "/team"]))
        site.routes["/jobs"] = site.routes["/team"] = Answer(document("People"))
        discovery = run_discovery(site)
    assert page_paths(site, discovery)[-3:] == ["/about", "/jobs", "/team"]


@pytest.mark.parametrize("by", [("links",), ("sitemap", "links")])
def test_page_order_ignores_response_times(by: tuple[str, ...]) -> None:
    lists = []
    for slow in ("/list-a", "/list-b", "/list-d"):
        with shop_site(120, with_sitemap=False) as site:
            answer = site.routes[slow]
            assert isinstance(answer, Answer)
            site.routes[slow] = Answer(answer.body, delay_s=0.3)
            lists.append(page_paths(site, run_discovery(site, by=by, max_pages=70)))
    assert lists[0] == lists[1] == lists[2]


def test_progress_reports_the_number_of_pages() -> None:
    counts: list[int] = []
    with shop_site(40, with_sitemap=False) as site:
        discovery = run_discovery(site, report_progress=counts.append)
    assert counts[0] == 1
    assert counts[-1] == len(discovery.pages)


def test_exception_in_the_callback_ends_discovery() -> None:
    class Cancelled(Exception):
        pass

    def cancel(count: int) -> None:
        if count > 5:
            raise Cancelled

    with shop_site(200, with_sitemap=False) as site:
        with pytest.raises(Cancelled):
            run_discovery(site, report_progress=cancel)
        assert len(site.requests) < 20


def test_patterns_select_pages() -> None:
    with shop_site(100, with_sitemap=False) as site:
        discovery = run_discovery(site, include=("/list-a*",), exclude=("*-c",))
        assert all(path.startswith("/list-a") and not path.endswith("-c") for path in page_paths(site, discovery))
        assert "/list-a/article-b" in page_paths(site, discovery)
        assert "/list-b" not in site.paths()
    assert "The include and exclude patterns leave out 6 addresses." in discovery.notes


def test_patterns_must_leave_a_page() -> None:
    with shop_site(10, with_sitemap=True) as site:
        discovery = run_discovery(site, include=("/docs/*",))
    assert discovery.error is not None
    assert discovery.error.code == "NO_PAGES"
    assert not discovery.pages


def fake_internet(sites: dict[str, Site]) -> tuple[Names, Wires]:
    """Return a resolver and a dialer that connect hosts to sites on loopback.

    Both are fakes.
    """
    addresses = {host: f"93.184.215.{number}" for number, host in enumerate(sites, 14)}
    assert PUBLIC in addresses.values()
    return Names({host: (address,) for host, address in addresses.items()}), Wires(
        {addresses[host]: site for host, site in sites.items()}
    )


def test_host_after_redirects_is_used() -> None:
    """A user enters example.com, which redirects to www.example.com. The sitemap still lists the old URLs."""
    with Site({"*": Answer.redirect("http://www.shop.com/")}) as bare, Site() as www:
        www.routes["/"] = Answer(
            document(
                "Shop", ["/a", "http://shop.com/b", "//www.shop.com/c", "http://blog.shop.com/d", "https://shop.com/e"]
            )
        )
        www.routes |= dict.fromkeys(("/a", "/b", "/c", "/e", "/f"), Answer(document("Page")))
        www.routes["/sitemap.xml"] = Answer(urlset("http://shop.com/f", "http://other.com/g"), headers=XML)
        names, wires = fake_internet({"shop.com": bare, "www.shop.com": www})
        with Network(Policy(), resolver=names, dialer=wires, limits=discovery_limits(100)) as network:
            wish = Wish(parse_target("http://shop.com/", network.policy), frozenset({"sitemap", "links"}), 100)
            discovery = discover(wish, network, lambda _: None, 60)
    assert [url.removeprefix("http://www.shop.com") for url in discovery.pages] == ["/", "/f", "/a", "/b", "/c", "/e"]
    assert not discovery.notes


def test_redirect_within_the_domain_is_noted() -> None:
    with Site({"*": Answer.redirect("http://shop.new.com/")}) as old, Site({"/": Answer(document("New"))}) as new:
        names, wires = fake_internet({"new.com": old, "shop.new.com": new})
        with Network(Policy(), resolver=names, dialer=wires) as network:
            wish = Wish(parse_target("http://new.com/", network.policy), frozenset({"links"}), 10)
            discovery = discover(wish, network, lambda _: None, 60)
    assert discovery.pages == ("http://shop.new.com/",)
    assert "new.com redirects to shop.new.com, so the pages there were discovered." in discovery.notes


def test_redirect_to_another_domain_is_an_error() -> None:
    """Nobody requested an audit of the other domain, and politeness applies to the requested domain."""
    with Site({"*": Answer.redirect("http://new.com/")}) as old, Site({"*": Answer(document("New"))}) as new:
        names, wires = fake_internet({"old.com": old, "new.com": new})
        with Network(Policy(), resolver=names, dialer=wires) as network:
            wish = Wish(parse_target("http://old.com/", network.policy), frozenset({"links", "sitemap"}), 10)
            discovery = discover(wish, network, lambda _: None, 60)
    assert not discovery.pages
    assert discovery.error == ScanError(
        "REDIRECTED_ELSEWHERE",
        "old.com redirects to new.com, which is another domain. To audit its pages, enter http://new.com/.",
    )
    assert [request.path for request in new.requests] == ["/"]


def test_three_foreign_sitemaps_are_read_at_most() -> None:
    """sitemaps.org, "Sitemaps & Cross Submits": robots.txt may list sitemaps on other sites, but an index may not."""
    own = "".join(f"Sitemap: http://cdn.com/{number}.xml\n" for number in range(20)) + "Sitemap: /index.xml\n"
    with Site({"/": Answer(document("Shop")), "/a": Answer(document("A"))}) as shop, Site() as cdn:
        shop.routes["/robots.txt"] = Answer(f"User-agent: *\n{own}", headers=TEXT)
        shop.routes["/index.xml"] = Answer(
            sitemap_index("http://shop.com/own.xml", "http://cdn.com/child.xml"), headers=XML
        )
        shop.routes["/own.xml"] = Answer(urlset("http://shop.com/a"), headers=XML)
        cdn.routes["*"] = Answer(urlset("http://shop.com/b"), headers=XML)
        names, wires = fake_internet({"shop.com": shop, "cdn.com": cdn})
        with Network(Policy(), resolver=names, dialer=wires, limits=discovery_limits(100)) as network:
            wish = Wish(parse_target("http://shop.com/", network.policy), frozenset({"sitemap"}), 100)
            discovery = discover(wish, network, lambda _: None, 60)
    assert [request.path for request in cdn.requests] == ["/0.xml", "/1.xml", "/2.xml"]
    assert discovery.pages == ("http://shop.com/", "http://shop.com/b", "http://shop.com/a")
    assert any("at most 3 files of other sites are read." in note for note in discovery.notes)
    assert not discovery.is_complete


def test_start_page_without_links_is_noted() -> None:
    with Site(
        {"/": Answer("<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>")}
    ) as site:
        discovery = run_discovery(site, by=["links"])
    assert page_paths(site, discovery) == ["/"]
    assert not discovery.is_complete
    assert discovery.notes == ("The start page's HTML links to no other page; links that scripts add are not seen.",)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer("gone", status=404), "TARGET_STATUS"),
        (Answer("later", status=503), "TARGET_STATUS"),
        (Answer("slowly", status=429), "TARGET_STATUS"),
        (Answer.redirect("http://10.0.0.1/"), "DOMAIN_BLOCKED"),
        (Answer.redirect("/"), "TOO_MANY_REDIRECTS"),
    ],
)
def test_unavailable_start_page_is_an_error(answer: Answer, code: str) -> None:
    with Site({"/": answer}) as site:
        discovery = run_discovery(site)
    assert discovery.error is not None
    assert discovery.error.code == code
    assert (discovery.pages, discovery.found) == ((), 0)


def test_crawl_delay_of_robots_txt_is_respected() -> None:
    request_times: list[float] = []

    def page(request: Request) -> Answer:
        request_times.append(time.monotonic())
        return Answer(document("Page", [f"{request.path}-{letter}" for letter in "ab"]))

    with Site({"*": page}) as site:
        site.routes["/robots.txt"] = Answer("User-agent: *\nCrawl-delay: 0.2\n", headers=TEXT)
        start_s = time.monotonic()
        run_discovery(site, by=["links"], max_pages=9)
    assert len(request_times) >= 4
    # A request may be late on a busy machine, but never early. The start page has no delay.
    assert all(at - start_s >= 0.2 * (number - 1) for number, at in enumerate(request_times) if number)
