"""Discovery by links: links to pages, and links that do not lead to pages."""

from __future__ import annotations

import pytest

from tests.targets.many_pages import TEXT, XML, document, name, urlset
from tests.targets.server import Answer, Request, Site
from tests.website_scan.crawl.discovery.cast import discovered, paths

PAGE = Answer(document("Page"))


def linked(*links: str, head: str = "", **routes: Answer) -> Site:
    """Return a site whose front page has these links. Every other address is a page without links."""
    own = {f"/{each}": answer for each, answer in routes.items()}
    return Site({"/robots.txt": Answer(status=404), "/": Answer(document("Home", links, head)), "*": PAGE, **own})


def crawled(site: Site, max_pages: int = 100) -> list[str]:
    with site:
        return paths(site, discovered(site, by=["links"], max_pages=max_pages))


def test_links_elsewhere_and_links_that_are_no_pages_are_left_out() -> None:
    site = linked(
        "/a", "https://other.example.com/", "mailto:x@y.example", "tel:1", "/b.pdf", "#top", "/a#x", "//[", ""
    )
    assert crawled(site) == ["/", "/a"]


def test_a_link_to_a_private_address_is_not_even_tried() -> None:
    site = linked("http://10.0.0.1/", "http://169.254.169.254/latest", "http://localhost/", "/a")
    assert crawled(site) == [
        "/",
        "/a",
    ]


def test_a_path_of_two_slashes_does_not_lead_to_another_host() -> None:
    with Site({"*": PAGE}) as other:
        host = other.url.removeprefix("http://")
        site = linked()
        site.routes["/"] = Answer(document("Home", [f"{site.url}//{host}/a"]))
        assert crawled(site) == ["/", f"//{host}/a"]
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
def test_links_that_are_not_to_be_followed_are_not(markup: str) -> None:
    assert crawled(linked("/a", head=markup)) == ["/", "/a"]


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
def test_pages_whose_links_are_not_to_be_followed(page: Answer, is_followed: bool) -> None:
    assert crawled(linked("/a", a=page)) == (["/", "/a", "/b"] if is_followed else ["/", "/a"])


def test_links_that_do_something_are_not_followed_and_counted() -> None:
    site = linked("/a", "/logout", "/cart?action=add&id=3", "/posts/delete/5", "/how-to-remove-stains")
    with site:
        found = discovered(site, by=["links"])
        assert not {"/logout", "/posts/delete/5"} & set(site.paths())
    assert paths(site, found) == ["/", "/a", "/how-to-remove-stains"]
    assert "Not followed: 3 links that may change something, such as a log-out." in found.notes


def test_session_ids_in_every_link_make_one_page_of_each() -> None:
    visits = iter(range(1000))

    def page(request: Request) -> Answer:
        links = [f"/{each};jsessionid={next(visits):016X}?PHPSESSID={next(visits):026d}" for each in "abc"]
        return Answer(document("Page", ["/", *links, "/a?utm_campaign=x", "/b?x=1&y=2", "/b?y=2&x=1"]))

    assert crawled(Site({"*": page, "/robots.txt": Answer()})) == ["/", "/a", "/b", "/c", "/b?x=1&y=2"]


def test_redirects_within_the_site_count_as_where_they_lead() -> None:
    site = linked("/old", "/a", "/out", "/again", "/forbidden", "/loop")
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /secret", headers=TEXT)
    site.routes |= {
        "/old": Answer.redirect("/new?utm_source=x", 301),
        "/new": Answer(document("New", ["/from-new"])),
        "/out": Answer.redirect("https://other.example.com/"),
        "/again": Answer.redirect("/a"),
        "/forbidden": Answer.redirect("/secret"),
        "/loop": Answer.redirect("/loop"),
    }
    assert crawled(site) == ["/", "/new", "/a", "/loop", "/from-new"]
    assert "/secret" not in site.paths()


def test_a_page_that_waits_for_its_cookie_is_one() -> None:
    def page(request: Request) -> Answer:
        if request.header("Cookie") == "seen=1":
            return Answer(document("Page", ["/b"]))
        return Answer.redirect(request.path, Set_Cookie="seen=1")

    site = linked("/a")
    site.routes["/a"] = page
    assert crawled(site) == ["/", "/a", "/b"]


def test_a_slash_at_the_end_makes_no_second_page() -> None:
    site = linked("/about", "/about/", "/jobs/", "/jobs")
    site.routes["/about"] = Answer.redirect("/about/")
    site.routes["/about/"] = Answer(document("About", ["/team"]))
    site.routes["/jobs/"] = Answer.redirect("/jobs")
    site.routes["/jobs"] = Answer.redirect("/work")
    assert crawled(site) == ["/", "/about/", "/work", "/team"]


def test_a_slash_at_the_end_may_be_forbidden() -> None:
    site = linked("/about")
    site.routes["/about"] = Answer.redirect("/about/")
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /about/", headers=TEXT)
    assert crawled(site) == ["/"]
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
def test_what_turns_out_to_be_no_page_is_left_out(answer: Answer) -> None:
    assert crawled(linked("/a", "/b", a=answer)) == ["/", "/b"]


def test_a_page_that_breaks_stays_so_that_its_scan_says_why() -> None:
    assert crawled(linked("/a", "/b", a=Answer("oh", status=500))) == ["/", "/a", "/b"]


def canonical(to: str, *links: str) -> Answer:
    return Answer(document("Page", links, f'<link rel="canonical" href="{to}">'))


def test_canonical_duplicates_are_one_page() -> None:
    site = linked("/shoes?colour=red", "/shoes", "/shirts?colour=red", "/shirts?colour=blue")
    site.routes |= {
        "/shoes": canonical("/shoes", "/shoes-a"),
        "/shirts": canonical("/shirts", "/shirts-a"),
    }
    assert crawled(site) == ["/", "/shoes", "/shirts", "/shoes-a", "/shirts-a"]


@pytest.mark.parametrize("to", ["/", "https://other.example.com/a", "/secret", "", "javascript:x"])
def test_a_canonical_link_that_can_not_be_meant_hides_no_page(to: str) -> None:
    """Many sites name the front page on every page by mistake."""
    site = linked("/a", "/b", a=canonical(to), b=canonical(to))
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /secret", headers=TEXT)
    assert crawled(site) == ["/", "/a", "/b"]


def test_two_pages_that_name_each_other_leave_one() -> None:
    assert len(crawled(linked("/a", "/b", a=canonical("/b"), b=canonical("/a")))) == 2


def test_the_front_page_under_its_other_name_is_one() -> None:
    site = linked("/index.html", "/a")
    site.routes["/index.html"] = canonical("/")
    assert crawled(site) == ["/", "/a"]


def test_a_page_that_sends_people_on_leads_there() -> None:
    assert crawled(linked(head='<meta http-equiv="refresh" content="0; url=/start">')) == ["/", "/start"]


def test_the_base_of_a_page_counts() -> None:
    assert crawled(linked("a", head='<base href="/deep/">')) == ["/", "/deep/a"]


def test_what_robots_txt_forbids_is_not_fetched() -> None:
    site = linked("/a", "/private/b", "/private/c", "/private/b")
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /private/", headers=TEXT)
    with site:
        found = discovered(site, by=["links"])
        assert not [each for each in site.paths() if each.startswith("/private")]
    assert paths(site, found) == ["/", "/a"]
    assert "robots.txt forbids 2 addresses." in found.notes


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
            "robots.txt could not be read (status 500), so crawlers have to take it that nothing is allowed.",
        ),
        (
            lambda _: None,
            "robots.txt could not be read (127.0.0.1 closed the connection without an answer), so crawlers have to take"
            " it that nothing is allowed.",
        ),
    ],
)
def test_a_site_that_wants_no_crawlers_has_no_pages(answer: Answer, sentence: str) -> None:
    site = linked("/a")
    site.routes["/robots.txt"] = answer
    with site:
        found = discovered(site)
        assert site.paths()[:2] == ["/", "/robots.txt"]
        assert set(site.paths()) == {"/", "/robots.txt"}
    assert found.error is not None
    assert (found.error.code, found.error.message) == ("ROBOTS_DISALLOWED", sentence)
    assert not found.pages


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_without_a_robots_txt_everything_is_allowed(status: int) -> None:
    site = linked("/a")
    site.routes["/robots.txt"] = Answer("Disallow: /", status=status)
    assert crawled(site) == ["/", "/a"]


def test_a_site_that_asks_for_rest_gets_it() -> None:
    site = linked("/a", "/b", "/c")
    site.routes["/a"] = Answer("slowly", status=429)
    site.routes["/c"] = Answer(document("C", ["/d"]))
    with site:
        found = discovered(site, by=["links"])
        assert "/d" not in site.paths()
    assert paths(site, found)[:4] == ["/", "/a", "/b", "/c"]
    assert not found.is_complete
    assert found.notes == ("The site answered with status 429, too many requests, so no more links were followed.",)


def test_a_calendar_fills_no_more_than_half_of_the_list_and_is_named() -> None:
    def month(request: Request) -> Answer:
        year, number = map(int, request.path.split("/")[2:4])
        days = [f"/calendar/{year}/{number}/{day}" for day in range(1, 29)]
        return Answer(document("Month", [f"/calendar/{year + 1}/{number}", f"/calendar/{year}/{number + 1}", *days]))

    with Site({"*": month, "/": Answer(document("Home", ["/calendar/2026/1", "/about"]))}) as site:
        site.routes |= {"/about": PAGE, "/robots.txt": Answer(status=404)}
        found = discovered(site, by=["links"], max_pages=1000)
        assert len(site.requests) < 1000
    assert "/about" in paths(site, found)
    assert len(found.pages) <= 1000
    assert not found.is_complete
    assert any("that may go on without end, such as /calendar/…" in each for each in found.notes), found.notes


def test_what_a_calendar_leaves_free_is_for_the_links_behind_it() -> None:
    days, words = [f"/day/{each}" for each in range(200)], [f"/{name(each)}" for each in range(30)]
    found = crawled(linked(*days, *words))
    assert len(found) == 1 + 50 + 30
    assert set(words) < set(found)


def test_articles_that_are_counted_are_no_calendar() -> None:
    """The addresses differ by a number only. Lists link to them, so all of them are pages, not a calendar."""
    lists = {f"/list?page={each}": [f"/article/{each * 10 + n}" for n in range(10)] for each in range(4)}
    site = linked(*lists)
    site.routes |= {each: Answer(document("List", links)) for each, links in lists.items()}
    assert len(crawled(site)) == 1 + 4 + 40


@pytest.mark.parametrize("permalink", ["/{}", "/2024/05/{}", "/archive/{}.html"])
def test_older_posts_are_found_however_many_pages_of_them_there_are(permalink: str) -> None:
    """A chain of pages that each bring new posts is not a calendar, even if only a number tells them apart."""
    posts = [permalink.format(f"post-{name(each)}") for each in range(250)]
    site = linked("/page/1")
    for number in range(1, 51):
        own = posts[(number - 1) * 5 : number * 5]
        site.routes[f"/page/{number}"] = Answer(document("Blog", [*own, f"/page/{number + 1}" if number < 50 else "/"]))
    with site:
        found = discovered(site, by=["links"], max_pages=1000)
    assert len(found.pages) == 1 + 50 + 250
    assert found.is_complete


def test_words_without_end_are_bounded_by_the_list() -> None:
    def page(request: Request) -> Answer:
        return Answer(document("Maze", [f"{request.path.rstrip('/')}-{name(each)}" for each in range(10)]))

    with Site({"*": page, "/robots.txt": Answer(status=404)}) as site:
        found = discovered(site, by=["links"], max_pages=100)
        assert len(site.requests) <= 15
    assert len(found.pages) == 100
    assert not found.is_complete


def test_a_sitemap_is_compared_with_links_on_some_of_its_pages_only() -> None:
    with Site({"*": PAGE, "/robots.txt": Answer(status=404)}) as site:
        site.routes["/sitemap.xml"] = Answer(urlset(*(f"/{name(each)}" for each in range(400))), headers=XML)
        found = discovered(site, max_pages=1000)
        assert len(site.requests) <= 3 + 400 // 20 + 3
    assert len(found.pages) == 401
    assert found.is_complete
