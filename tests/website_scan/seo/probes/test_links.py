from __future__ import annotations

import threading
from collections import Counter

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, target
from tests.website_scan.net.seams import PUBLIC, Names, Records, Wires
from website_scan.crawl.links import may_change_state, read_links
from website_scan.crawl.robots_file import RobotsFile
from website_scan.net.client import Network
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.net.policy import Policy
from website_scan.page.fetch import SiteProtected, fetch_page, parse_document
from website_scan.seo.evidence import LinkAnswer, LinkAnswers
from website_scan.seo.probes import links as probes
from website_scan.seo.probes.links import MAX_CONCURRENT_REQUESTS, MAX_EXTERNAL_LINKS, MAX_INTERNAL_LINKS, link_answers
from website_scan.seo.probes.robots import robots_file

OTHER = "93.184.215.99"  # No site responds at this IP address.


def html(*links: str) -> Answer:
    anchors = "".join(f'<a href="{link}">a</a>' for link in links)
    return Answer(f"<!doctype html><title>Shop</title>{anchors}")


def probe_links(site: Site, network: Network | None = None, url: str = "", *, with_robots: bool = False) -> LinkAnswers:
    with network or Network(POLICY) as net:
        page = fetch_page(target(url or f"{site.url}/"), net)
        robots: RobotsFile | None = robots_file(page, net) if with_robots else None
        return link_answers(page, read_links(page, parse_document(page)), robots, net)


def outcomes(answers: LinkAnswers) -> dict[str, bool | None]:
    return {answer.url.rpartition("/")[2]: answer.is_broken for answer in answers.answers}


def test_status_shows_broken_links() -> None:
    statuses = (200, 204, 400, 401, 403, 404, 405, 406, 410, 451, 500, 502, 503, 999)
    with Site({f"/{status}": Answer("x", status=status) for status in statuses}) as site:
        site.routes["/"] = html(*(f"/{status}" for status in statuses), "/old", "/lost", "/loop")
        site.routes["/old"] = Answer.redirect("/200", status=301)
        site.routes["/lost"] = Answer.redirect("/404")
        site.routes["/loop"] = Answer.redirect("/loop")
        broken = outcomes(probe_links(site))
    assert {name for name, is_broken in broken.items() if is_broken} == {"404", "410", "500", "502", "503", "lost"}
    assert {name for name, is_broken in broken.items() if is_broken is False} == {"200", "204", "old"}
    assert broken["403"] is broken["999"] is broken["loop"] is None


def test_local_url_in_instruction_is_not_requested() -> None:
    """Test instructions that contain a local URL.

    For example, a tutorial contains the text "Open http://localhost:8000/polls/ in a browser".
    """
    with Site({"*": Answer(status=404)}) as other, Site() as site:
        instruction = f'<a href="{other.url}/polls">{other.url}/polls</a>'
        site.routes["/"] = Answer(
            f'<!doctype html><title>A</title>{instruction}<a href="{other.url}/shop">Our shop</a>'
        )
        assert outcomes(probe_links(site)) == {"shop": True}


def test_status_404_is_inconclusive_with_credentials() -> None:
    """Links are requested without credentials.

    A GET request with credentials may change data.
    """
    with Site({"/404": Answer("x", status=404), "/200": Answer("x")}) as site, Site({"/410": Answer("", 410)}) as other:
        site.routes["/"] = html("/404", "/200", f"{other.url}/410")
        credentials = OriginCredentials(site.url, Credentials(headers=(("X-Key", "value"),)))
        broken = outcomes(probe_links(site, Network(POLICY, credentials=credentials)))
        assert broken == {"404": None, "200": False, "410": True}
        assert {request.path: request.header("X-Key") for request in site.requests} == {
            "/": "value",
            "/404": None,
            "/200": None,
        }


def test_link_is_requested_again_after_500() -> None:
    request_counts: Counter[str] = Counter()

    def route(request: Request) -> Answer:
        request_counts[request.path] += 1
        return Answer("x", status=500 if request_counts[request.path] == 1 else 200)

    with Site({"/": html("/a", "/b"), "*": route}) as site:
        assert outcomes(probe_links(site)) == {"a": False, "b": False}
    assert request_counts == {"/a": 2, "/b": 2}


def test_bot_challenge_is_inconclusive() -> None:
    challenge = Answer("<title>Just a moment...</title>", status=503)
    with Site({"/": html("/a"), "/a": challenge}) as site:
        assert outcomes(probe_links(site)) == {"a": None}


def test_sampled_links_are_spread_over_page() -> None:
    with Site({"*": Answer("x")}) as site:
        site.routes["/"] = html(
            *(f"/p{number}#a" for number in range(100)), "/p1", "/p1#b", "/", "#top", "?", "mailto:a@b.c"
        )
        evidence = probe_links(site)
        paths = [path for path in site.paths() if path != "/"]
    assert evidence.internal == 101  # The sample includes “?”, which has another URL than the page.
    assert len(paths) == len(set(paths)) == MAX_INTERNAL_LINKS
    numbers = sorted(int(path[2:] or 0) for path in paths)
    assert numbers[0] < 5
    assert numbers[-1] > 90


def test_five_external_links_are_requested() -> None:
    with Site({"*": Answer("x", status=404)}) as other, Site({"/a": Answer("x")}) as site:
        external = [other.url_as("localhost") + f"/{number}" for number in range(20)]
        site.routes["/"] = html("/a", *external)
        evidence = probe_links(site)
    assert (evidence.internal, evidence.external) == (1, 20)
    broken = [answer for answer in evidence.answers if answer.is_broken]
    assert len(broken) == MAX_EXTERNAL_LINKS
    assert not any(answer.is_internal for answer in broken)


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
def test_link_that_changes_data_is_not_requested(markup: str) -> None:
    with Site({"*": Answer("x"), "/": Answer(f"<!doctype html><title>a</title>{markup}")}) as site:
        assert probe_links(site) == LinkAnswers()
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
def test_action_urls_are_recognized(path: str, expected: bool) -> None:
    assert may_change_state(f"https://site.example.com{path}") is expected


def test_disallowed_link_is_not_requested() -> None:
    with Site({"*": Answer("x", status=404), "/": html("/private/a", "/b", "/google/c")}) as site:
        site.routes["/robots.txt"] = Answer(
            "User-agent: *\nDisallow: /private\n\nUser-agent: googlebot\nDisallow: /google\nDisallow: /private"
        )
        assert outcomes(probe_links(site, with_robots=True)) == {"b": True}
        assert sorted(site.paths()) == ["/", "/b", "/robots.txt"]


def test_status_429_ends_requests() -> None:
    with Site({"*": Answer("x", status=429), "/": html(*(f"/{number}" for number in range(25)))}) as site:
        with pytest.raises(SiteProtected, match="429"):
            probe_links(site)
        assert len(site.paths()) <= 1 + MAX_CONCURRENT_REQUESTS


def test_broken_link_is_reported_despite_429(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "MAX_CONCURRENT_REQUESTS", 1)
    with Site({"*": Answer("x", status=429), "/": html("/gone", "/b", "/c"), "/gone": Answer(status=404)}) as site:
        evidence = probe_links(site)
    assert outcomes(evidence) == {"gone": True, "b": None}
    assert "429" in evidence.stopped


def test_429_of_other_site_is_inconclusive() -> None:
    with Site({"*": Answer("x", status=429)}) as other, Site({"/a": Answer("x")}) as site:
        site.routes["/"] = html(f"{other.url_as('localhost')}/x", "/a")
        assert outcomes(probe_links(site)) == {"a": False, "x": None}


def test_timeout_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "REQUEST_TIMEOUT_S", 0.2)
    with Site({"/": html("/slow", "/a"), "/slow": Answer("x", delay_s=30), "/a": Answer("x")}) as site:
        assert outcomes(probe_links(site)) == {"slow": None, "a": False}


def test_time_limit_ends_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "MAX_REQUESTING_S", 0.0)
    with Site({"/": html("/a"), "/a": Answer("x")}) as site:
        assert probe_links(site) == LinkAnswers(internal=1)


def test_six_links_are_requested_at_once() -> None:
    lock, running, maximum = threading.Lock(), 0, 0
    together = threading.Barrier(MAX_CONCURRENT_REQUESTS)

    def route(_: Request) -> Answer:
        nonlocal running, maximum
        with lock:
            running += 1
            maximum = max(maximum, running)
        together.wait(10)
        with lock:
            running -= 1
        return Answer("x")

    with Site({"*": route, "/": html(*(f"/{number}" for number in range(2 * MAX_CONCURRENT_REQUESTS)))}) as site:
        evidence = probe_links(site)
    assert maximum == MAX_CONCURRENT_REQUESTS
    assert len(evidence.answers) == 2 * MAX_CONCURRENT_REQUESTS


def shop_network(site: Site) -> Network:
    names = Names({"www.shop.com": (PUBLIC,), "dead.shop.com": (OTHER,), "intranet.shop.com": ("10.0.0.1",)})
    records = Records({"unsure.org": "93.184.215.7"}, silent="silent.org")
    return Network(Policy(), resolver=names, lookup=records, dialer=Wires({PUBLIC: site}))


def test_refused_connection_is_broken_link() -> None:
    links = {
        "http://gone.org/": True,  # The host name does not exist.
        "http://silent.org/": None,  # The DNS query times out.
        "http://unsure.org/": None,  # DNS has an address for the host name.
        "http://dead.shop.com/": True,  # The server refuses connections.
        "http://intranet.shop.com/": None,  # The private address must never be requested.
        "http://user:word@www.shop.com/": None,
        "http://www.shop.com:9/": None,
    }
    with Site({"/": html(*links)}) as site:
        evidence = probe_links(site, shop_network(site), "http://www.shop.com/")
    assert {answer.url: answer.is_broken for answer in evidence.answers} == links
    assert {answer.url for answer in evidence.answers if answer.is_internal} == {
        "http://dead.shop.com/",
        "http://intranet.shop.com/",
        "http://user:word@www.shop.com/",
        "http://www.shop.com:9/",
    }
    assert all(answer.error for answer in evidence.answers)


@pytest.mark.parametrize(
    ("resolvable_names", "top_level", "expected"),
    [
        ({}, "", None),  # In a closed network, names of other sites do not resolve.
        ({}, "com", True),
        ({"unsure.org": "93.184.215.7"}, "", True),
    ],
)
def test_name_is_inconclusive_in_closed_network(
    resolvable_names: dict[str, str], top_level: str, expected: bool | None
) -> None:
    with Site({"/": html("http://gone.org/", "http://unsure.org/", "http://gone.shop.com/", "/404", "/200")}) as site:
        site.routes |= {"/404": Answer(status=404), "/200": Answer("x")}
        net = Network(
            Policy(),
            resolver=Names({"www.shop.com": (PUBLIC,)}),
            lookup=Records(resolvable_names, top_level=top_level),
            dialer=Wires({PUBLIC: site}),
        )
        evidence = probe_links(site, net, "http://www.shop.com/")
    broken = {answer.url.removeprefix("http://"): answer.is_broken for answer in evidence.answers}
    assert broken == {
        "gone.org/": expected,
        "unsure.org/": None if resolvable_names else expected,
        "gone.shop.com/": True,  # The name servers resolve the site, so its missing names do not exist.
        "www.shop.com/404": True,
        "www.shop.com/200": False,
    }
    assert evidence.resolves_other_sites is (expected is not None)


def test_localhost_does_not_prove_that_dns_works() -> None:
    with Site({"*": Answer("x")}) as other, Site() as site:
        site.routes["/"] = html(other.url_as("localhost") + "/a", "http://gone.org/")
        names = Names({"localhost": ("127.0.0.1",), "127.0.0.1": ("127.0.0.1",)})
        net = Network(POLICY, resolver=names, lookup=Records({}))
        assert outcomes(probe_links(site, net)) == {"a": False, "": None}


def test_connection_closed_by_site_is_inconclusive() -> None:
    with Site({"/": html("/a", "/b"), "/a": lambda _: None, "/b": Answer("x")}) as site:
        evidence = probe_links(site)
    assert outcomes(evidence) == {"a": None, "b": False}
    assert isinstance(evidence.answers[0], LinkAnswer)


def test_error_page_links_are_not_requested() -> None:
    with Site({"*": Answer("<!doctype html><a href=/a>a</a>", status=404)}) as site:
        assert probe_links(site) == LinkAnswers()
