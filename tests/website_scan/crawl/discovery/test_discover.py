"""Discovery of ordinary sites: results and cost."""

from __future__ import annotations

import time

import pytest

from tests.targets.many_pages import TEXT, XML, document, shop_site, sitemap_index, urlset
from tests.targets.server import Answer, Request, Site
from tests.website_scan.crawl.discovery.cast import discovered, paths
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from website_scan.crawl.discovery.discover import Wish, discover, discovery_limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import ScanError


def fetches(site: Site) -> list[str]:
    return [each for each in site.paths() if each not in ("/robots.txt", "/map.xml")]


def test_a_site_with_a_sitemap_is_listed_with_hardly_any_fetch() -> None:
    """Every page is fetched once more by its own scan. Discovery may add a tenth to that."""
    with shop_site(200, with_sitemap=True) as site:
        found = discovered(site, max_pages=1000)
    assert len(found.pages) == 200
    assert found.is_complete
    assert not found.notes
    assert len(fetches(site)) + len(found.pages) <= 1.1 * 200


@pytest.mark.parametrize("pages", [40, 50, 1000])
def test_smaller_and_larger_ones_cost_no_more(pages: int) -> None:
    with shop_site(pages, with_sitemap=True) as site:
        found = discovered(site, max_pages=10_000)
    assert len(found.pages) == pages
    assert len(fetches(site)) + pages <= 1.1 * pages


def test_a_sitemap_that_fills_the_list_needs_the_start_page_only() -> None:
    with shop_site(200, with_sitemap=True) as site:
        found = discovered(site, max_pages=50)
    assert fetches(site) == ["/"]
    assert len(found.pages) == 50
    assert found.found == 200
    assert not found.is_complete
    assert found.notes == ("The site has more pages than 50.",)


def test_a_site_without_a_sitemap_is_found_by_its_links_breadth_first() -> None:
    with shop_site(200, with_sitemap=False) as site:
        found = discovered(site, max_pages=1000)
    assert len(found.pages) == 200
    assert found.is_complete
    assert found.notes == ("The site has no sitemap.",)
    lists = [each for each in paths(site, found) if each.count("/") == 1 and each != "/"]
    assert paths(site, found)[: len(lists) + 1] == ["/", *lists]
    assert len(fetches(site)) == 200 + 2, "each once, and two places for sitemaps"


def test_pages_that_fill_the_list_are_not_fetched_for_more() -> None:
    with shop_site(200, with_sitemap=False) as site:
        found = discovered(site, by=["links"], max_pages=30)
    assert len(found.pages) == 30
    assert not found.is_complete
    assert len(fetches(site)) <= 1 + 4, "the front page, and as many lists as are asked for at once"


def test_links_beside_the_sitemap_are_found() -> None:
    with shop_site(60, with_sitemap=True) as site:
        site.routes["/"] = Answer(document("Shop", ["/list-a", "/about", "/jobs"]))
        site.routes["/about"] = Answer(document("About", ["/", "/team"]))
        site.routes["/jobs"] = site.routes["/team"] = Answer(document("People"))
        found = discovered(site)
    assert paths(site, found)[-3:] == ["/about", "/jobs", "/team"]


@pytest.mark.parametrize("by", [("links",), ("sitemap", "links")])
def test_the_same_site_gives_the_same_list_whichever_page_comes_first(by: tuple[str, ...]) -> None:
    lists = []
    for slow in ("/list-a", "/list-b", "/list-d"):
        with shop_site(120, with_sitemap=False) as site:
            answer = site.routes[slow]
            assert isinstance(answer, Answer)
            site.routes[slow] = Answer(answer.body, delay_s=0.3)
            lists.append(paths(site, discovered(site, by=by, max_pages=70)))
    assert lists[0] == lists[1] == lists[2]


def test_progress_counts_the_pages() -> None:
    counts: list[int] = []
    with shop_site(40, with_sitemap=False) as site:
        found = discovered(site, tell=counts.append)
    assert counts[0] == 1
    assert counts[-1] == len(found.pages)


def test_what_the_caller_raises_ends_the_search() -> None:
    class Cancelled(Exception):
        pass

    def cancel(count: int) -> None:
        if count > 5:
            raise Cancelled

    with shop_site(200, with_sitemap=False) as site:
        with pytest.raises(Cancelled):
            discovered(site, tell=cancel)
        assert len(site.requests) < 20


def test_patterns_choose_pages_and_spare_fetches() -> None:
    with shop_site(100, with_sitemap=False) as site:
        found = discovered(site, include=("/list-a*",), exclude=("*-c",))
        assert all(each.startswith("/list-a") and not each.endswith("-c") for each in paths(site, found))
        assert "/list-a/article-b" in paths(site, found)
        assert "/list-b" not in site.paths()
    assert "The include and exclude patterns leave out 6 addresses." in found.notes


def test_patterns_that_let_nothing_through_are_an_error() -> None:
    with shop_site(10, with_sitemap=True) as site:
        found = discovered(site, include=("/docs/*",))
    assert found.error is not None
    assert found.error.code == "NO_PAGES"
    assert not found.pages


def internet(sites: dict[str, Site]) -> tuple[Names, Wires]:
    """Return names and wires for hosts that are really sites on loopback."""
    addresses = {host: f"93.184.215.{number}" for number, host in enumerate(sites, 14)}
    assert PUBLIC in addresses.values()
    return Names({host: (address,) for host, address in addresses.items()}), Wires(
        {addresses[host]: site for host, site in sites.items()}
    )


def test_the_host_counts_where_the_start_page_ends() -> None:
    """A user types example.com, which redirects to www; the sitemap still lists the old URLs."""
    with Site({"*": Answer.redirect("http://www.shop.com/")}) as bare, Site() as www:
        www.routes["/"] = Answer(
            document(
                "Shop", ["/a", "http://shop.com/b", "//www.shop.com/c", "http://blog.shop.com/d", "https://shop.com/e"]
            )
        )
        www.routes |= dict.fromkeys(("/a", "/b", "/c", "/e", "/f"), Answer(document("Page")))
        www.routes["/sitemap.xml"] = Answer(urlset("http://shop.com/f", "http://other.com/g"), headers=XML)
        names, wires = internet({"shop.com": bare, "www.shop.com": www})
        with Network(Policy(), resolver=names, dialer=wires, limits=discovery_limits(100)) as network:
            wish = Wish(parse_target("http://shop.com/", network.policy), frozenset({"sitemap", "links"}), 100)
            found = discover(wish, network, lambda _: None, 60)
    assert [each.removeprefix("http://www.shop.com") for each in found.pages] == ["/", "/f", "/a", "/b", "/c", "/e"]
    assert not found.notes


def test_pages_of_another_host_of_the_domain_are_said_to_be_there() -> None:
    with Site({"*": Answer.redirect("http://shop.new.com/")}) as old, Site({"/": Answer(document("New"))}) as new:
        names, wires = internet({"new.com": old, "shop.new.com": new})
        with Network(Policy(), resolver=names, dialer=wires) as network:
            wish = Wish(parse_target("http://new.com/", network.policy), frozenset({"links"}), 10)
            found = discover(wish, network, lambda _: None, 60)
    assert found.pages == ("http://shop.new.com/",)
    assert "new.com redirects to shop.new.com, so the pages there were looked for." in found.notes


def test_the_pages_of_another_domain_are_not_looked_for() -> None:
    """Its owner did not ask for an audit, and visits are counted by the domain that somebody asked for."""
    with Site({"*": Answer.redirect("http://new.com/")}) as old, Site({"*": Answer(document("New"))}) as new:
        names, wires = internet({"old.com": old, "new.com": new})
        with Network(Policy(), resolver=names, dialer=wires) as network:
            wish = Wish(parse_target("http://old.com/", network.policy), frozenset({"links", "sitemap"}), 10)
            found = discover(wish, network, lambda _: None, 60)
    assert not found.pages
    assert found.error == ScanError(
        "REDIRECTED_ELSEWHERE",
        "old.com redirects to new.com, which is another domain. To audit its pages, enter http://new.com/.",
    )
    assert [each.path for each in new.requests] == ["/"]


def test_few_sitemaps_of_other_sites_are_read_as_the_protocol_allows() -> None:
    """robots.txt may name files elsewhere; an index may not (sitemaps.org, "Sitemaps & Cross Submits")."""
    own = "".join(f"Sitemap: http://cdn.com/{number}.xml\n" for number in range(20)) + "Sitemap: /index.xml\n"
    with Site({"/": Answer(document("Shop")), "/a": Answer(document("A"))}) as shop, Site() as cdn:
        shop.routes["/robots.txt"] = Answer(f"User-agent: *\n{own}", headers=TEXT)
        shop.routes["/index.xml"] = Answer(
            sitemap_index("http://shop.com/own.xml", "http://cdn.com/child.xml"), headers=XML
        )
        shop.routes["/own.xml"] = Answer(urlset("http://shop.com/a"), headers=XML)
        cdn.routes["*"] = Answer(urlset("http://shop.com/b"), headers=XML)
        names, wires = internet({"shop.com": shop, "cdn.com": cdn})
        with Network(Policy(), resolver=names, dialer=wires, limits=discovery_limits(100)) as network:
            wish = Wish(parse_target("http://shop.com/", network.policy), frozenset({"sitemap"}), 100)
            found = discover(wish, network, lambda _: None, 60)
    assert [each.path for each in cdn.requests] == ["/0.xml", "/1.xml", "/2.xml"]
    assert found.pages == ("http://shop.com/", "http://shop.com/b", "http://shop.com/a")
    assert any("at most 3 files of other sites are read." in each for each in found.notes)
    assert not found.is_complete


def test_a_page_that_needs_scripts_for_its_links_says_so() -> None:
    with Site(
        {"/": Answer("<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>")}
    ) as site:
        found = discovered(site, by=["links"])
    assert paths(site, found) == ["/"]
    assert not found.is_complete
    assert found.notes == ("The start page's HTML links to no other page; links that scripts add are not seen.",)


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
def test_a_start_page_that_can_not_be_had_is_an_error(answer: Answer, code: str) -> None:
    with Site({"/": answer}) as site:
        found = discovered(site)
    assert found.error is not None
    assert found.error.code == code
    assert (found.pages, found.found) == ((), 0)


def test_pages_are_asked_for_no_faster_than_robots_txt_allows() -> None:
    seen: list[float] = []

    def page(request: Request) -> Answer:
        seen.append(time.monotonic())
        return Answer(document("Page", [f"{request.path}-{each}" for each in "ab"]))

    with Site({"*": page}) as site:
        site.routes["/robots.txt"] = Answer("User-agent: *\nCrawl-delay: 0.2\n", headers=TEXT)
        began = time.monotonic()
        discovered(site, by=["links"], max_pages=9)
    assert len(seen) >= 4
    # A request may be late, but never early. The start page does not wait.
    assert all(at - began >= 0.2 * (number - 1) for number, at in enumerate(seen) if number)
