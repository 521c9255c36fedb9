from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.website_scan.browser.loads import DOCUMENT, HERE, load, request
from tests.website_scan.cast import message, page, verdict
from tests.website_scan.performance.cast import resource
from website_scan.browser.evidence import LoadedRequest
from website_scan.page.evidence import Clock
from website_scan.page.references import ResourceKind
from website_scan.performance.browser_resources import is_worth_fetching, merge_resources, resources_from_log
from website_scan.performance.checks import caching, network, server, weight
from website_scan.performance.connections import closed_connections
from website_scan.performance.evidence import Resource, Resources, Styles
from website_scan.performance.probes.fonts import fonts
from website_scan.performance.probes.static_files import static_files

Kind = ResourceKind
OTHER = "https://ads.example.org"
CLOCK = Clock(datetime(2026, 11, 21, tzinfo=UTC))


def logged(*requests: LoadedRequest) -> Resources:
    return Resources(tuple(resources_from_log(page(), load(*requests))))


def one(each: LoadedRequest) -> Resource:
    (found,) = logged(each).items
    return found


def test_what_a_visitor_pays_for_is_told() -> None:
    found = one(request("a.js", Kind.SCRIPT, wire_bytes=900, body_bytes=4000, redirects=1))
    assert (found.url, found.final_url, found.kind, found.eager) == (f"{HERE}/a.js", f"{HERE}/a.js", Kind.SCRIPT, True)
    assert (found.wire_bytes, found.body_bytes, found.status, found.redirects) == (900, 4000, 200, 1)
    assert (found.is_fetched, found.body, found.own_wire_bytes) == (False, b"", 0)


def test_the_document_is_no_sub_resource() -> None:
    assert logged().items == ()


@pytest.mark.parametrize(
    ("initiator", "depth"), [(DOCUMENT, 1), (f"{DOCUMENT}#top", 1), ("", 1), (f"{HERE}/a.css", 2), (f"{HERE}/a.js", 2)]
)
def test_depth_is_told_by_what_asked_for_it(initiator: str, depth: int) -> None:
    assert one(request("a.png", initiator=initiator)).depth == depth


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (request("a.js", Kind.SCRIPT), True),
        (request("a.css", Kind.STYLESHEET), True),
        (request("a.png"), True),
        (request("a.woff2", Kind.FONT), True),
        (request("app.webmanifest", Kind.OTHER), True),
        (request("a.mp4", Kind.MEDIA, status=206), False),
        (request("frame", None), False),
        (request("a.js", Kind.SCRIPT, in_frame=True), False),
        (request("api", Kind.OTHER, is_programmed=True), False),
        (request("form", Kind.OTHER, method="POST"), False),
        (request("wss://site.example.com/live", Kind.OTHER, is_programmed=True, status=101), False),
        (request("a.png", status=404), False),
        (request("a.png", status=204), False),
        # The browser does not know why no response came.
        (request("a.png", status=None, error="net::ERR_TUNNEL_CONNECTION_FAILED"), True),
        (request("a.png", status=None, error="net::ERR_EMPTY_RESPONSE"), True),
        (request("a.png", status=None, error="net::ERR_ABORTED"), False),
        # With nosniff browsers discard the page of a 404 in place of a style sheet, and tell no status.
        (request("a.css", Kind.STYLESHEET, status=None, error="net::ERR_ABORTED"), True),
        (request("a.js", Kind.SCRIPT, status=None, error="net::ERR_ABORTED"), True),
        (request("a.png", status=None, error="net::ERR_BLOCKED_BY_ORB"), False),
        (request("a.png", status=None, error="net::ERR_BLOCKED_BY_CLIENT.Inspector"), False),
        (request("a.woff2", Kind.FONT, status=None, error="net::ERR_FAILED"), False),
        (request("a.png", status=None, end_s=None), False),  # still loading
        (request("a.js", Kind.SCRIPT, status=200, error="net::ERR_CONTENT_LENGTH_MISMATCH"), True),
    ],
)
def test_only_files_of_the_page_itself_are_asked_for_again(each: LoadedRequest, expected: bool) -> None:
    assert is_worth_fetching(each) is expected


def test_our_own_request_adds_what_the_browser_did_not_tell() -> None:
    ours = resource(f"{HERE}/a.js", Kind.SCRIPT, b"run()" * 9, ("Cache-Control", "no-cache"), wire=45)
    found = merge_resources(one(request("a.js", Kind.SCRIPT, wire_bytes=30, initiator=f"{HERE}/b.js")), ours)
    assert found == replace(ours, wire_bytes=30, depth=2)
    assert merge_resources(one(request("a.js", Kind.SCRIPT, wire_bytes=0)), ours).wire_bytes == 45


def test_what_came_to_the_browser_but_not_to_us_came() -> None:
    seen = one(request("a.js", Kind.SCRIPT))
    assert merge_resources(seen, resource(f"{HERE}/a.js", status=403)) == seen
    assert merge_resources(seen, replace(resource(f"{HERE}/a.js", status=None), error="Connection reset.")) == seen


# The checks' verdicts.

SCRIPT = request(f"{OTHER}/ads.js", Kind.SCRIPT)


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (request("a.png", status=404), "fail"),
        (request("a.png", status=500, initiator=f"{HERE}/a.js"), "fail"),
        (request(f"{OTHER}/a.png", status=404), "fail"),  # the page itself shows it
        (request("a.png", status=404, in_frame=True), "fail"),  # in a frame of the same origin
        (request("frame", None, status=404, in_frame=True), "fail"),
        (request("a.woff2", Kind.FONT, status=None, error="net::ERR_FAILED"), "fail"),
        (request("a.png", status=403), "warn"),
        # Scripts may request something to see if it exists.
        (request("api/user", Kind.OTHER, is_programmed=True, status=404), "pass"),
        (request("api/user", Kind.OTHER, is_programmed=True, status=None, error="net::ERR_FAILED"), "pass"),
        (request("favicon.ico", Kind.OTHER, status=404, initiator=""), "pass"),
        # Requests between third parties.
        (request(f"{OTHER}/a.png", status=404, in_frame=True), "pass"),
        (request(f"{OTHER}/frame", None, status=404, in_frame=True), "pass"),
        (request(f"{OTHER}/pixel.gif", status=410, initiator=SCRIPT.url), "pass"),
        # The page cancelled the request, or may not make it.
        (request("a.mp4", Kind.MEDIA, status=None, error="net::ERR_ABORTED"), "pass"),
        (request(f"{OTHER}/a.js", Kind.SCRIPT, status=None, error="net::ERR_BLOCKED_BY_CSP"), "pass"),
        (request("a.png", status=None, end_s=None), "pass"),
        (request("a.png", status=None, error="net::ERR_TUNNEL_CONNECTION_FAILED"), "pass"),  # it is requested again
    ],
)
def test_what_is_broken(each: LoadedRequest, expected: str) -> None:
    assert verdict(server.broken_resources(logged(SCRIPT, each))) == expected


def test_what_failed_twice_is_told_once() -> None:
    found = logged(request("a.png", status=404), request("a.png", status=404), request("b.png"))
    assert message(server.broken_resources(found)).startswith("1 of 3 resources failed to load")


BEACON = request(f"{OTHER}/collect", Kind.OTHER, is_programmed=True, method="POST", body_bytes=0)


def test_beacons_and_frames_are_requests_but_no_empty_or_doubled_files() -> None:
    frames = [request("frame", None, body_bytes=9000, in_frame=True) for _ in range(2)]
    found = logged(BEACON, BEACON, *frames, request("a.js", Kind.SCRIPT, body_bytes=9000))
    assert verdict(weight.empty_responses(found)) == "pass"
    assert verdict(weight.duplicate_files(found)) == "pass"
    assert "6 requests (4 other requests, 1 script)" in message(weight.requests(page(), found))
    assert "2 of 6 requests (33%) go to other sites" in message(weight.third_party_share(page(), found))


def test_what_was_loaded_twice_weighs_twice() -> None:
    found = logged(*[request("a.js", Kind.SCRIPT, wire_bytes=90_000)] * 2)
    assert "2 scripts weigh 180 kB" in message(weight.js_weight(found))


def test_where_the_headers_are_not_known_no_check_judges_them() -> None:
    found = logged(request("a.js", Kind.SCRIPT, in_frame=True), request("a.woff2", Kind.FONT, in_frame=True))
    assert verdict(caching.cache_missing(static_files(page(), found, CLOCK))) == "n/a"
    assert verdict(caching.private_static(page(), static_files(page(), found, CLOCK))) == "n/a"
    assert "headers of 1 response " in message(network.header_size(page(), found))
    assert closed_connections(page(), found) == {}
    assert fonts(found, Styles()).files == ()
