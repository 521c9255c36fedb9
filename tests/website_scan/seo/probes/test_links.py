from __future__ import annotations

import threading
from collections import Counter

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, target
from tests.website_scan.net.seams import PUBLIC, Names, Records, Wires
from website_scan.crawl.links import changes_state, read_links
from website_scan.crawl.robots_file import RobotsFile
from website_scan.net.client import Network
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.net.policy import Policy
from website_scan.page.fetch import SiteProtected, fetch_page, parse_document
from website_scan.seo.evidence import LinkAnswer, LinkAnswers
from website_scan.seo.probes import links as probes
from website_scan.seo.probes.links import AT_ONCE, MAX_EXTERNAL, MAX_INTERNAL, link_answers
from website_scan.seo.probes.robots import robots_file

OTHER = "93.184.215.99"  # an address that no site is wired to


def html(*links: str) -> Answer:
    anchors = "".join(f'<a href="{each}">a</a>' for each in links)
    return Answer(f"<!doctype html><title>Shop</title>{anchors}")


def probed(site: Site, network: Network | None = None, url: str = "", *, with_robots: bool = False) -> LinkAnswers:
    with network or Network(POLICY) as net:
        page = fetch_page(target(url or f"{site.url}/"), net)
        robots: RobotsFile | None = robots_file(page, net) if with_robots else None
        return link_answers(page, read_links(page, parse_document(page)), robots, net)


def outcomes(found: LinkAnswers) -> dict[str, bool | None]:
    return {each.url.rpartition("/")[2]: each.is_broken for each in found.answers}


def test_what_an_answer_proves() -> None:
    statuses = (200, 204, 400, 401, 403, 404, 405, 406, 410, 451, 500, 502, 503, 999)
    with Site({f"/{status}": Answer("x", status=status) for status in statuses}) as site:
        site.routes["/"] = html(*(f"/{status}" for status in statuses), "/old", "/lost", "/loop")
        site.routes["/old"] = Answer.redirect("/200", status=301)
        site.routes["/lost"] = Answer.redirect("/404")
        site.routes["/loop"] = Answer.redirect("/loop")
        found = outcomes(probed(site))
    assert {name for name, is_broken in found.items() if is_broken} == {"404", "410", "500", "502", "503", "lost"}
    assert {name for name, is_broken in found.items() if is_broken is False} == {"200", "204", "old"}
    assert found["403"] is found["999"] is found["loop"] is None


def test_an_instruction_to_open_a_local_address_is_no_broken_link() -> None:
    """A tutorial says: open http://localhost:8000/polls/ in a browser."""
    with Site({"*": Answer(status=404)}) as other, Site() as site:
        shown = f'<a href="{other.url}/polls">{other.url}/polls</a>'
        site.routes["/"] = Answer(f'<!doctype html><title>A</title>{shown}<a href="{other.url}/shop">Our shop</a>')
        assert outcomes(probed(site)) == {"shop": True}


def test_what_strangers_do_not_find_may_be_there_for_who_has_the_key() -> None:
    """The link is requested without credentials, because a GET with them may change something. It counts as unknown."""
    with Site({"/404": Answer("x", status=404), "/200": Answer("x")}) as site, Site({"/410": Answer("", 410)}) as other:
        site.routes["/"] = html("/404", "/200", f"{other.url}/410")
        given = OriginCredentials(site.url, Credentials(headers=(("X-Key", "value"),)))
        found = outcomes(probed(site, Network(POLICY, credentials=given)))
        assert found == {"404": None, "200": False, "410": True}
        assert {each.path: each.header("X-Key") for each in site.requests} == {"/": "value", "/404": None, "/200": None}


def test_a_servers_error_is_asked_for_once_more() -> None:
    asked: Counter[str] = Counter()

    def route(request: Request) -> Answer:
        asked[request.path] += 1
        return Answer("x", status=500 if asked[request.path] == 1 else 200)

    with Site({"/": html("/a", "/b"), "*": route}) as site:
        assert outcomes(probed(site)) == {"a": False, "b": False}
    assert asked == {"/a": 2, "/b": 2}


def test_a_protection_in_a_pages_place_proves_nothing() -> None:
    challenge = Answer("<title>Just a moment...</title>", status=503)
    with Site({"/": html("/a"), "/a": challenge}) as site:
        assert outcomes(probed(site)) == {"a": None}


def test_links_are_asked_for_once_and_spread_over_the_page() -> None:
    with Site({"*": Answer("x")}) as site:
        site.routes["/"] = html(
            *(f"/p{number}#a" for number in range(100)), "/p1", "/p1#b", "/", "#top", "?", "mailto:a@b.c"
        )
        found = probed(site)
        paths = [each for each in site.paths() if each != "/"]
    assert found.internal == 101  # including the one with “?”, which is another URL
    assert len(paths) == len(set(paths)) == MAX_INTERNAL
    numbers = sorted(int(each[2:] or 0) for each in paths)
    assert numbers[0] < 5
    assert numbers[-1] > 90


def test_a_few_links_to_other_sites_are_asked_for() -> None:
    with Site({"*": Answer("x", status=404)}) as other, Site({"/a": Answer("x")}) as site:
        external = [other.url_as("localhost") + f"/{number}" for number in range(20)]
        site.routes["/"] = html("/a", *external)
        found = probed(site)
    assert (found.internal, found.external) == (1, 20)
    broken = [each for each in found.answers if each.is_broken]
    assert len(broken) == MAX_EXTERNAL
    assert not any(each.is_internal for each in broken)


@pytest.mark.parametrize(
    "markup",
    [
        "<a href=/logout>a</a>",
        "<a href=/users/sign_out data-method=delete>a</a>",
        "<a href=/items/5 data-method=delete>a</a>",
        "<a href=/delete-account>a</a>",
        "<a href='/?add-to-cart=7'>a</a>",
        "<a href='/cart/add?id=7'>a</a>",
        "<a href='/index.php?action=remove&id=7'>a</a>",
        "<a href='/news?unsubscribe=7'>a</a>",
        "<a href='/a?_wpnonce=7'>a</a>",
        "<a href='/%6Cogout'>a</a>",
        "<a href=/file.zip download>a</a>",
        "<a href=/a rel='noopener nofollow'>a</a>",
        "<a href='javascript:go()'>a</a>",
        "<a href='mailto:a@site.example.com'>a</a>",
        "<template><a href=/a>a</a></template>",
    ],
)
def test_what_may_change_something_is_never_asked_for(markup: str) -> None:
    with Site({"*": Answer("x"), "/": Answer(f"<!doctype html><title>a</title>{markup}")}) as site:
        assert probed(site) == LinkAnswers()
        assert site.paths() == ["/"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/how-to-remove-stains", False),
        ("/archive/2024", False),
        ("/add-ons", False),
        ("/deleted-scenes", False),
        ("/blog/voting", False),
        ("/reports", False),
        ("/?page=2", False),
        ("/remove/7", True),
        ("/items/7/delete", True),
        ("/?deleteItem=7", True),
        ("/abmelden", True),
        ("/wp-login.php?action=lostpassword", True),
        ("/reset?token=7", True),
    ],
)
def test_addresses_that_change_something(path: str, expected: bool) -> None:
    assert changes_state(f"https://site.example.com{path}") is expected


def test_what_robots_txt_forbids_is_not_asked_for() -> None:
    with Site({"*": Answer("x", status=404), "/": html("/private/a", "/b", "/google/c")}) as site:
        site.routes["/robots.txt"] = Answer(
            "User-agent: *\nDisallow: /private\n\nUser-agent: googlebot\nDisallow: /google\nDisallow: /private"
        )
        assert outcomes(probed(site, with_robots=True)) == {"b": True}
        assert sorted(site.paths()) == ["/", "/b", "/robots.txt"]


def test_too_many_requests_end_the_sampling() -> None:
    with Site({"*": Answer("x", status=429), "/": html(*(f"/{number}" for number in range(25)))}) as site:
        with pytest.raises(SiteProtected, match="429"):
            probed(site)
        assert len(site.paths()) <= 1 + AT_ONCE


def test_what_was_broken_before_the_site_had_enough_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "AT_ONCE", 1)
    with Site({"*": Answer("x", status=429), "/": html("/gone", "/b", "/c"), "/gone": Answer(status=404)}) as site:
        found = probed(site)
    assert outcomes(found) == {"gone": True, "b": None}
    assert "429" in found.stopped


def test_a_429_of_another_site_proves_nothing() -> None:
    with Site({"*": Answer("x", status=429)}) as other, Site({"/a": Answer("x")}) as site:
        site.routes["/"] = html(f"{other.url_as('localhost')}/x", "/a")
        assert outcomes(probed(site)) == {"a": False, "x": None}


def test_a_link_that_does_not_answer_in_time_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "TIMEOUT_S", 0.2)
    with Site({"/": html("/slow", "/a"), "/slow": Answer("x", delay_s=30), "/a": Answer("x")}) as site:
        assert outcomes(probed(site)) == {"slow": None, "a": False}


def test_when_the_time_is_up_nothing_more_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "TIME_LIMIT_S", 0.0)
    with Site({"/": html("/a"), "/a": Answer("x")}) as site:
        assert probed(site) == LinkAnswers(internal=1)


def test_at_most_a_few_links_are_asked_for_at_once() -> None:
    lock, running, most = threading.Lock(), 0, 0
    together = threading.Barrier(AT_ONCE)

    def route(_: Request) -> Answer:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(10)
        with lock:
            running -= 1
        return Answer("x")

    with Site({"*": route, "/": html(*(f"/{number}" for number in range(2 * AT_ONCE)))}) as site:
        found = probed(site)
    assert most == AT_ONCE
    assert len(found.answers) == 2 * AT_ONCE


def wired(site: Site) -> Network:
    names = Names({"www.shop.com": (PUBLIC,), "dead.shop.com": (OTHER,), "intranet.shop.com": ("10.0.0.1",)})
    records = Records({"unsure.org": "93.184.215.7"}, silent="silent.org")
    return Network(Policy(), resolver=names, lookup=records, dialer=Wires({PUBLIC: site}))


def test_names_and_ports_where_nobody_is() -> None:
    links = {
        "http://gone.org/": True,  # the name has no address
        "http://silent.org/": None,  # can't be known
        "http://unsure.org/": None,  # the name servers know an address
        "http://dead.shop.com/": True,  # refuses the connection
        "http://intranet.shop.com/": None,  # must not be requested
        "http://user:word@www.shop.com/": None,
        "http://www.shop.com:9/": None,
    }
    with Site({"/": html(*links)}) as site:
        found = probed(site, wired(site), "http://www.shop.com/")
    assert {each.url: each.is_broken for each in found.answers} == links
    assert {each.url for each in found.answers if each.is_internal} == {
        "http://dead.shop.com/",
        "http://intranet.shop.com/",
        "http://user:word@www.shop.com/",
        "http://www.shop.com:9/",
    }
    assert all(each.error for each in found.answers)


@pytest.mark.parametrize(
    ("known", "top_level", "expected"),
    [
        ({}, "", None),  # a closed network, in which no outside name has an address
        ({}, "com", True),
        ({"unsure.org": "93.184.215.7"}, "", True),
    ],
)
def test_names_without_an_address_prove_nothing_if_no_outside_name_has_one(
    known: dict[str, str], top_level: str, expected: bool | None
) -> None:
    with Site({"/": html("http://gone.org/", "http://unsure.org/", "http://gone.shop.com/", "/404", "/200")}) as site:
        site.routes |= {"/404": Answer(status=404), "/200": Answer("x")}
        net = Network(
            Policy(),
            resolver=Names({"www.shop.com": (PUBLIC,)}),
            lookup=Records(known, top_level=top_level),
            dialer=Wires({PUBLIC: site}),
        )
        found = probed(site, net, "http://www.shop.com/")
    broken = {each.url.removeprefix("http://"): each.is_broken for each in found.answers}
    assert broken == {
        "gone.org/": expected,
        "unsure.org/": None if known else expected,
        "gone.shop.com/": True,  # a name of the site itself, which the name servers know
        "www.shop.com/404": True,
        "www.shop.com/200": False,
    }
    assert found.resolves_other_sites is (expected is not None)


def test_an_outside_address_or_this_machine_is_no_name_that_the_name_servers_know() -> None:
    with Site({"*": Answer("x")}) as other, Site() as site:
        site.routes["/"] = html(other.url_as("localhost") + "/a", "http://gone.org/")
        names = Names({"localhost": ("127.0.0.1",), "127.0.0.1": ("127.0.0.1",)})
        net = Network(POLICY, resolver=names, lookup=Records({}))
        assert outcomes(probed(site, net)) == {"a": False, "": None}


def test_the_page_s_own_server_is_not_called_dead_when_it_hangs_up() -> None:
    with Site({"/": html("/a", "/b"), "/a": lambda _: None, "/b": Answer("x")}) as site:
        found = probed(site)
    assert outcomes(found) == {"a": None, "b": False}
    assert isinstance(found.answers[0], LinkAnswer)


def test_an_error_page_s_links_are_not_followed() -> None:
    with Site({"*": Answer("<!doctype html><a href=/a>a</a>", status=404)}) as site:
        assert probed(site) == LinkAnswers()
