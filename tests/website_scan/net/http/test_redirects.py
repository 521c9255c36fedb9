"""Test that redirects are checked and reveal no data.

Every server gets only the data for its own origin.
"""

from __future__ import annotations

import pytest

from tests.targets.server import Answer, Route, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.net.loopback import NETWORKS, loopback_network
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.errors import BadResponse, TooManyRedirects
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy

OTHER = "198.41.0.4"


def test_referer_for_another_origin_has_no_path() -> None:
    """Regression test: Referer contained the query of the URL."""
    with Site({"/end": Answer("end")}) as other, Site() as site, loopback_network() as network:
        site.routes |= {"/a": Answer.redirect("/b"), "/b": Answer.redirect(f"{other.url}/end")}
        network.follow(Request(f"{site.url}/a", headers={"Referer": f"{site.url}/page?token=secret"}))
        assert [request.header("Referer") for request in site.requests] == [f"{site.url}/page?token=secret"] * 2
        assert [request.header("Referer") for request in other.requests] == [f"{site.url}/"]
        network.fetch(Request(f"{site.url}/", headers={"Referer": "https://secure.example.com/page"}))
        assert site.requests[-1].header("Referer") is None


def test_redirect_hops_are_returned_in_order() -> None:
    routes = {
        "/": Answer.redirect("/a", 301),
        "/a": Answer.redirect("b?c=d#e", 302),
        "/b": Answer.redirect("//localhost:{port}/end", 307),
        "/end": Answer("done"),
    }
    with Site(routes) as site, loopback_network() as network:
        site.routes["/b"] = Answer.redirect(f"//localhost:{site.port}/end", 307)
        hops = network.follow(site.url)
        assert [hop.status for hop in hops] == [301, 302, 307, 200]
        assert [hop.url for hop in hops] == [
            site.url + "/",
            site.url + "/a",
            site.url + "/b?c=d",
            site.url_as("localhost") + "/end",
        ]
        assert hops[-1].body == b"done"


@pytest.mark.parametrize(
    "location",
    [
        "ftp://www.example.com/",
        "javascript:alert(1)",
        "http://u:p@www.example.com/",
        "http://[",
        "http://a.example.com:25/",
    ],
)
def test_redirect_to_an_invalid_URL_raises_BadResponse(location: str) -> None:
    with Site({"/": Answer.redirect(location)}) as site:
        names = Names({"www.example.com": (PUBLIC,)})
        with (
            Network(Policy(), resolver=names, dialer=Wires({PUBLIC: site})) as network,
            pytest.raises(BadResponse, match="redirects to an address that can't be used"),
        ):
            network.follow("http://www.example.com/")


def test_redirect_to_another_origin_gets_no_credentials() -> None:
    with Site({"*": Answer("other")}) as other:
        routes = {"/": Answer.redirect("/same"), "/same": Answer.redirect(other.url + "/")}
        with Site(routes) as site, loopback_network() as network:
            network.follow(
                Request(site.url, headers={"authorization": "Bearer x", "Cookie": "a=b", "Accept": "text/html"})
            )
            assert [request.header("Authorization") for request in site.requests] == ["Bearer x", "Bearer x"]
            assert site.requests[1].header("Cookie") == "a=b"
            received = other.requests[0]
            assert received.header("Authorization") is None
            assert received.header("Cookie") is None
            assert received.header("Accept") == "text/html"


@pytest.mark.parametrize(
    ("status", "method", "following"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (302, "PUT", "PUT"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (303, "HEAD", "HEAD"),
        (302, "HEAD", "HEAD"),
    ],
)
def test_redirect_status_determines_the_method(status: int, method: str, following: str) -> None:
    with (
        Site({"/": Answer.redirect("/end", status), "/end": Answer("x")}) as site,
        loopback_network() as network,
    ):
        body = b"data" if method != "HEAD" else None
        network.follow(Request(site.url, method=method, body=body, headers={"Content-Type": "text/plain"}))
        last = site.requests[-1]
        assert last.method == following
        keeps_body = following not in ("GET", "HEAD")
        assert last.body == (b"data" if keeps_body else b"")
        if following == "GET":
            assert last.header("Content-Type") is None


def test_redirect_loop_raises_TooManyRedirects() -> None:
    routes: dict[str, Route] = {
        "/self": Answer.redirect("/self"),
        "/a": Answer.redirect("/b"),
        "/b": Answer.redirect("/a#other"),
        "/deeper": lambda request: Answer.redirect(request.path + "x"),
        "*": lambda request: Answer.redirect(request.path + "x"),
    }
    with Site(routes) as site, loopback_network() as network:
        with pytest.raises(TooManyRedirects, match="loop"):
            network.follow(site.url + "/self")
        with pytest.raises(TooManyRedirects, match="loop"):
            network.follow(site.url + "/a")
        before = len(site.requests)
        with pytest.raises(TooManyRedirects, match="more than 10 times"):
            network.follow(site.url + "/deeper")
        assert len(site.requests) - before == 11


def test_ten_redirects_are_followed() -> None:
    def count_down(request: ReceivedRequest) -> Answer:
        left = int(request.path.removeprefix("/"))
        return Answer.redirect(f"/{left - 1}") if left else Answer("end")

    with Site({"*": count_down}) as site, loopback_network() as network:
        assert len(network.follow(site.url + "/10")) == 11
        with pytest.raises(TooManyRedirects):
            network.follow(site.url + "/11")


def test_redirect_cookie_is_sent_in_the_same_chain() -> None:
    def gate(request: ReceivedRequest) -> Answer:
        if "seen=yes" in (request.header("Cookie") or ""):
            return Answer("in")
        return Answer.redirect("/", Set_Cookie="seen=yes; Path=/; HttpOnly")

    with Site({"/": gate}) as site, loopback_network() as network:
        assert [hop.status for hop in network.follow(site.url)] == [302, 200]
        # The next chain starts without the cookie.
        assert [hop.status for hop in network.follow(site.url)] == [302, 200]


def test_redirect_cookie_respects_its_host() -> None:
    names = Names({"one.example.com": (PUBLIC,), "two.example.com": (OTHER,)})
    with Site({"*": Answer("x")}) as two:
        routes = {
            "/": Answer("", 302, [("Location", "/next"), ("Set-Cookie", "a=1"), ("Set-Cookie", "s=2; Secure")]),
            "/next": Answer("", 302, [("Location", "http://two.example.com/"), ("Set-Cookie", "a=; Max-Age=0")]),
        }
        with Site(routes) as one:
            with Network(Policy(), resolver=names, dialer=Wires({PUBLIC: one, OTHER: two})) as network:
                network.follow(Request("http://one.example.com/", headers={"Cookie": "own=0"}))
            assert one.requests[1].header("Cookie") == "own=0; a=1"
            assert two.requests[0].header("Cookie") is None


def test_redirect_cookies_are_parsed_like_in_browsers() -> None:
    def redirect(location: str, *cookies: str) -> Answer:
        return Answer("", 302, [("Location", location), *(("Set-Cookie", cookie) for cookie in cookies)])

    routes = {
        "/": redirect("/2", "a=1; Path=/", " token = x=y== ;HttpOnly", "gone=1", "expired=1", "=nameless"),
        "/2": redirect("/3", "gone=; Path=/; Max-Age=0", "expired=1; max-age = -1", "a=2; Max-Age=60"),
        "/3": Answer("x"),
    }
    with Site(routes) as site, loopback_network() as network:
        network.follow(site.url)
        assert site.requests[1].header("Cookie") == "a=1; token=x=y==; gone=1; expired=1"
        assert site.requests[2].header("Cookie") == "token=x=y==; a=2"


def test_UTF_8_Location_is_decoded_like_in_browsers() -> None:
    location = "/größe".encode().decode("latin-1")
    with (
        Site({"/": Answer.redirect(location), "*": Answer("x")}) as site,
        loopback_network() as network,
    ):
        assert network.follow(site.url)[-1].url == site.url + "/gr%C3%B6%C3%9Fe"


def test_invalid_3xx_response_is_final() -> None:
    routes = {
        "/304": Answer(status=304, headers={"Location": "/x"}),
        "/300": Answer(status=300, headers={"Location": "/x"}),
        "/nowhere": Answer(status=302),
        "/empty": Answer(status=302, headers={"Location": ""}),
        "/201": Answer("x", 201, {"Location": "/x"}),
    }
    with Site(routes) as site, loopback_network() as network:
        for path in routes:
            assert len(network.follow(site.url + path)) == 1


def test_redirects_count_toward_the_request_limit() -> None:
    policy = Policy(allowed_networks=NETWORKS)
    with (
        Site({"/": Answer.redirect("/b"), "/b": Answer("x")}) as site,
        Network(policy, limits=Limits(requests=2)) as network,
    ):
        network.follow(site.url)
        assert network.requests == 2
