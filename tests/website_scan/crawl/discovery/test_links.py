"""Tests for page discovery through links."""

from __future__ import annotations

import pytest

from tests.targets.many_pages import TEXT, XML, document, name, urlset
from tests.targets.server import Answer, Request, Site
from tests.website_scan.crawl.discovery.cast import page_paths, run_discovery

PAGE = Answer(document("Page"))


def site_with_links(*links: str, head: str = "", **routes: Answer) -> Site:
    """Return a site whose front page has these links.

    Other paths return a page without links.
    """
    own = {f"/{name_of_route}": answer for name_of_route, answer in routes.items()}
    return Site({"/robots.txt": Answer(status=404), "/": Answer(document("Home", links, head)), "*": PAGE, **own})


def crawl_paths(site: Site, max_pages: int = 100) -> list[str]:
    with site:
        return page_paths(site, run_discovery(site, by=["links"], max_pages=max_pages))


def test_links_to_other_sites_are_ignored() -> None:
    site = site_with_links(
        "/a", "https://other.example.com/", "mailto:x@y.example", "tel:1", "/b.pdf", "#top", "/a#x", "//[", ""
    )
    assert crawl_paths(site) == ["/", "/a"]


def test_link_to_a_private_address_is_not_requested() -> None:
    site = site_with_links("http://10.0.0.1/", "http://169.254.169.254/latest", "http://localhost/", "/a")
    assert crawl_paths(site) == [
        "/",
        "/a",
    ]


def test_two_slashes_in_a_path_keep_the_host() -> None:
    with Site({"*": PAGE}) as other:
        host = other.url.removeprefix("http://")
        site = site_with_links()
        site.routes["/"] = Answer(document("Home", [f"{site.url}//{host}/a"]))
        assert crawl_paths(site) == ["/", f"//{host}/a"]
        assert f"//{host}/a" in site.paths()
        assert not other.requests


@pytest.mark.parametrize(
    "markup",
    [
        '<a rel="nofollow" href="/b">B</a>',
        '<a rel="ugc NoFollow" href="/b">B</a>',
        '<a download href="/b">B</a>',
        '<a data-method="delete" href="/b">B</a>',
        '<template><a href="/b">B</a></template>',
        "<a>B</a>",
    ],
)
def test_nofollow_and_download_links_are_not_followed(markup: str) -> None:
    assert crawl_paths(site_with_links("/a", head=markup)) == ["/", "/a"]


@pytest.mark.parametrize(
    ("page", "is_followed"),
    [
        (Answer(document("A", ["/b"], '<meta name="robots" content="index, nofollow">')), False),
        (Answer(document("A", ["/b"], '<meta name="robots" content="none">')), False),
        (Answer(document("A", ["/b"]), headers={"X-Robots-Tag": "nofollow"}), False),
        (Answer(document("A", ["/b"]), headers={"X-Robots-Tag": "websitescanservice: nofollow"}), False),
        (Answer(document("A", ["/b"]), headers={"X-Robots-Tag": "otherbot: nofollow"}), True),
        (Answer(document("A", ["/b"], '<meta name="robots" content="noindex">')), True),
        (Answer(document("A", ["/b"], '<meta name="googlebot" content="nofollow">')), True),
    ],
)
def test_nofollow_of_a_page_applies_to_all_links(page: Answer, is_followed: bool) -> None:
    assert crawl_paths(site_with_links("/a", a=page)) == (["/", "/a", "/b"] if is_followed else ["/", "/a"])


def test_links_that_change_state_are_not_followed() -> None:
    site = site_with_links("/a", "/logout", "/cart?action=add&id=3", "/posts/delete/5", "/how-to-remove-stains")
    with site:
        discovery = run_discovery(site, by=["links"])
        assert not {"/logout", "/posts/delete/5"} & set(site.paths())
    assert page_paths(site, discovery) == ["/", "/a", "/how-to-remove-stains"]
    assert "Not followed: 3 links that may change something, such as a log-out." in discovery.notes


def test_session_IDs_in_links_do_not_duplicate_pages() -> None:
    visits = iter(range(1000))

    def page(request: Request) -> Answer:
        links = [f"/{letter};jsessionid={next(visits):016X}?PHPSESSID={next(visits):026d}" for letter in "abc"]
        return Answer(document("Page", ["/", *links, "/a?utm_campaign=x", "/b?x=1&y=2", "/b?y=2&x=1"]))

    assert crawl_paths(Site({"*": page, "/robots.txt": Answer()})) == ["/", "/a", "/b", "/c", "/b?x=1&y=2"]


def test_redirect_is_replaced_by_its_target() -> None:
    site = site_with_links("/old", "/a", "/out", "/again", "/forbidden", "/loop")
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /secret", headers=TEXT)
    site.routes |= {
        "/old": Answer.redirect("/new?utm_source=x", 301),
        "/new": Answer(document("New", ["/from-new"])),
        "/out": Answer.redirect("https://other.example.com/"),
        "/again": Answer.redirect("/a"),
        "/forbidden": Answer.redirect("/secret"),
        "/loop": Answer.redirect("/loop"),
    }
    assert crawl_paths(site) == ["/", "/new", "/a", "/loop", "/from-new"]
    assert "/secret" not in site.paths()


def test_page_that_sets_a_cookie_first_is_listed() -> None:
    def page(request: Request) -> Answer:
        if request.header("Cookie") == "seen=1":
            return Answer(document("Page", ["/b"]))
        return Answer.redirect(request.path, Set_Cookie="seen=1")

    site = site_with_links("/a")
    site.routes["/a"] = page
    assert crawl_paths(site) == ["/", "/a", "/b"]


def test_trailing_slash_does_not_duplicate_a_page() -> None:
    site = site_with_links("/about", "/about/", "/jobs/", "/jobs")
    site.routes["/about"] = Answer.redirect("/about/")
    site.routes["/about/"] = Answer(document("About", ["/team"]))
    site.routes["/jobs/"] = Answer.redirect("/jobs")
    site.routes["/jobs"] = Answer.redirect("/work")
    assert crawl_paths(site) == ["/", "/about/", "/work", "/team"]


def test_redirect_to_a_disallowed_path_is_not_followed() -> None:
    site = site_with_links("/about")
    site.routes["/about"] = Answer.redirect("/about/")
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /about/", headers=TEXT)
    assert crawl_paths(site) == ["/"]
    assert "/about/" not in site.paths()


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"%PDF", headers={"Content-Type": "application/pdf"}),
        Answer("{}", headers={"Content-Type": "application/json"}),
        Answer("gone", status=404),
        Answer("gone", status=410),
        Answer("who are you", status=401),
        Answer(status=204),
    ],
)
def test_link_to_another_media_type_is_dropped(answer: Answer) -> None:
    assert crawl_paths(site_with_links("/a", "/b", a=answer)) == ["/", "/b"]


def test_page_with_a_server_error_remains_listed() -> None:
    assert crawl_paths(site_with_links("/a", "/b", a=Answer("oh", status=500))) == ["/", "/a", "/b"]


def page_with_canonical(to: str, *links: str) -> Answer:
    return Answer(document("Page", links, f'<link rel="canonical" href="{to}">'))


def test_pages_with_one_canonical_URL_are_listed_once() -> None:
    site = site_with_links("/shoes?colour=red", "/shoes", "/shirts?colour=red", "/shirts?colour=blue")
    site.routes |= {
        "/shoes": page_with_canonical("/shoes", "/shoes-a"),
        "/shirts": page_with_canonical("/shirts", "/shirts-a"),
    }
    assert crawl_paths(site) == ["/", "/shoes", "/shirts", "/shoes-a", "/shirts-a"]


@pytest.mark.parametrize("to", ["/", "https://other.example.com/a", "/secret", "", "javascript:x"])
def test_implausible_canonical_link_is_ignored(to: str) -> None:
    """Many sites have the front page as the canonical URL of all pages by mistake."""
    site = site_with_links("/a", "/b", a=page_with_canonical(to), b=page_with_canonical(to))
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /secret", headers=TEXT)
    assert crawl_paths(site) == ["/", "/a", "/b"]


def test_mutually_canonical_pages_are_listed_once() -> None:
    assert len(crawl_paths(site_with_links("/a", "/b", a=page_with_canonical("/b"), b=page_with_canonical("/a")))) == 2


def test_index_html_is_listed_as_the_front_page() -> None:
    site = site_with_links("/index.html", "/a")
    site.routes["/index.html"] = page_with_canonical("/")
    assert crawl_paths(site) == ["/", "/a"]


def test_meta_refresh_is_followed() -> None:
    assert crawl_paths(site_with_links(head='<meta http-equiv="refresh" content="0; url=/start">')) == ["/", "/start"]


def test_links_are_resolved_against_the_base_element() -> None:
    assert crawl_paths(site_with_links("a", head='<base href="/deep/">')) == ["/", "/deep/a"]


def test_disallowed_links_are_not_fetched() -> None:
    site = site_with_links("/a", "/private/b", "/private/c", "/private/b")
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /private/", headers=TEXT)
    with site:
        discovery = run_discovery(site, by=["links"])
        assert not [path for path in site.paths() if path.startswith("/private")]
    assert page_paths(site, discovery) == ["/", "/a"]
    assert "robots.txt forbids 2 addresses." in discovery.notes


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            Answer("User-agent: *\nDisallow: /", headers=TEXT),
            "robots.txt forbids crawlers the start page: “Disallow: /” (line 2, for all crawlers)."
            " A group for WebsiteScanService may allow it.",
        ),
        (
            Answer("oh", status=500),
            "robots.txt could not be read (status 500), so crawlers must assume that nothing is allowed.",
        ),
        (
            lambda _: None,
            "robots.txt could not be read (127.0.0.1 closed the connection without an answer), so crawlers must assume"
            " that nothing is allowed.",
        ),
    ],
)
def test_disallowed_start_page_is_an_error(answer: Answer, sentence: str) -> None:
    site = site_with_links("/a")
    site.routes["/robots.txt"] = answer
    with site:
        discovery = run_discovery(site)
        assert site.paths()[:2] == ["/", "/robots.txt"]
        assert set(site.paths()) == {"/", "/robots.txt"}
    assert discovery.error is not None
    assert (discovery.error.code, discovery.error.message) == ("ROBOTS_DISALLOWED", sentence)
    assert not discovery.pages


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_missing_robots_txt_allows_all_pages(status: int) -> None:
    site = site_with_links("/a")
    site.routes["/robots.txt"] = Answer("Disallow: /", status=status)
    assert crawl_paths(site) == ["/", "/a"]


def test_status_429_ends_the_crawl() -> None:
    site = site_with_links("/a", "/b", "/c")
    site.routes["/a"] = Answer("slowly", status=429)
    site.routes["/c"] = Answer(document("C", ["/d"]))
    with site:
        discovery = run_discovery(site, by=["links"])
        assert "/d" not in site.paths()
    assert page_paths(site, discovery)[:4] == ["/", "/a", "/b", "/c"]
    assert not discovery.is_complete
    assert discovery.notes == ("The site answered with status 429, too many requests, so no more links were followed.",)


def test_calendar_fills_at_most_half_the_list() -> None:
    def month(request: Request) -> Answer:
        year, number = map(int, request.path.split("/")[2:4])
        days = [f"/calendar/{year}/{number}/{day}" for day in range(1, 29)]
        return Answer(document("Month", [f"/calendar/{year + 1}/{number}", f"/calendar/{year}/{number + 1}", *days]))

    with Site({"*": month, "/": Answer(document("Home", ["/calendar/2026/1", "/about"]))}) as site:
        site.routes |= {"/about": PAGE, "/robots.txt": Answer(status=404)}
        discovery = run_discovery(site, by=["links"], max_pages=1000)
        assert len(site.requests) < 1000
    assert "/about" in page_paths(site, discovery)
    assert len(discovery.pages) <= 1000
    assert not discovery.is_complete
    assert any("that may be endless, such as /calendar/…" in note for note in discovery.notes), discovery.notes


def test_calendar_leaves_room_for_other_links() -> None:
    days, words = [f"/day/{number}" for number in range(200)], [f"/{name(number)}" for number in range(30)]
    crawled_paths = crawl_paths(site_with_links(*days, *words))
    assert len(crawled_paths) == 1 + 50 + 30
    assert set(words) < set(crawled_paths)


def test_numbered_articles_are_not_a_calendar() -> None:
    """The addresses differ only by a number, but list pages link to all of them."""
    lists = {f"/list?page={number}": [f"/article/{number * 10 + n}" for n in range(10)] for number in range(4)}
    site = site_with_links(*lists)
    site.routes |= {path: Answer(document("List", links)) for path, links in lists.items()}
    assert len(crawl_paths(site)) == 1 + 4 + 40


@pytest.mark.parametrize("permalink", ["/{}", "/2024/05/{}", "/archive/{}.html"])
def test_long_pagination_of_a_blog_is_followed(permalink: str) -> None:
    """Consecutive pages with new posts are not a calendar, even if their addresses differ only by a number."""
    posts = [permalink.format(f"post-{name(number)}") for number in range(250)]
    site = site_with_links("/page/1")
    for number in range(1, 51):
        own = posts[(number - 1) * 5 : number * 5]
        site.routes[f"/page/{number}"] = Answer(document("Blog", [*own, f"/page/{number + 1}" if number < 50 else "/"]))
    with site:
        discovery = run_discovery(site, by=["links"], max_pages=1000)
    assert len(discovery.pages) == 1 + 50 + 250
    assert discovery.is_complete


def test_endless_links_fill_at_most_the_list() -> None:
    def page(request: Request) -> Answer:
        return Answer(document("Maze", [f"{request.path.rstrip('/')}-{name(number)}" for number in range(10)]))

    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site:
        discovery = run_discovery(site, by=["links"], max_pages=100)
        assert len(site.requests) <= 15
    assert len(discovery.pages) == 100
    assert not discovery.is_complete


def test_large_sitemap_limits_the_search_for_links() -> None:
    with Site({"*": PAGE, "/robots.txt": Answer(status=404)}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*(f"/{name(number)}" for number in range(400))), headers=XML)
        discovery = run_discovery(site, max_pages=1000)
        assert len(site.requests) <= 3 + 400 // 20 + 3
    assert len(discovery.pages) == 401
    assert discovery.is_complete
