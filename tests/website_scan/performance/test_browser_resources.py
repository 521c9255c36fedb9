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


def one(request: LoadedRequest) -> Resource:
    (item,) = logged(request).items
    return item


def test_logged_resource_has_sizes_status_and_redirects_of_the_request() -> None:
    script = one(request("a.js", Kind.SCRIPT, wire_bytes=900, body_bytes=4000, redirects=1))
    assert (script.url, script.final_url) == (f"{HERE}/a.js", f"{HERE}/a.js")
    assert (script.kind, script.eager) == (Kind.SCRIPT, True)
    assert (script.wire_bytes, script.body_bytes, script.status, script.redirects) == (900, 4000, 200, 1)
    assert (script.is_fetched, script.body, script.own_wire_bytes) == (False, b"", 0)


def test_document_is_not_a_sub_resource() -> None:
    assert logged().items == ()


@pytest.mark.parametrize(
    ("initiator", "depth"), [(DOCUMENT, 1), (f"{DOCUMENT}#top", 1), ("", 1), (f"{HERE}/a.css", 2), (f"{HERE}/a.js", 2)]
)
def test_depth_depends_on_the_initiator(initiator: str, depth: int) -> None:
    assert one(request("a.png", initiator=initiator)).depth == depth


@pytest.mark.parametrize(
    ("logged_request", "expected"),
    [
        (request("a.js", Kind.SCRIPT), True),
        (request("a.css", Kind.STYLESHEET), True),
        (request("a.png"), True),
        (request("a.woff2", Kind.FONT), True),
        (request("app.webmanifest", Kind.OTHER), True),
        (request("a.mp4", Kind.MEDIA, status=206), False),
        (request("frame", None), False),
        (request("a.js", Kind.SCRIPT, in_frame=True), False),
        (request("api", Kind.OTHER, is_sent_by_code=True), False),
        (request("form", Kind.OTHER, method="POST"), False),
        (request("wss://site.example.com/live", Kind.OTHER, is_sent_by_code=True, status=101), False),
        (request("a.png", status=404), False),
        (request("a.png", status=204), False),
        # The browser does not report why it got no response.
        (request("a.png", status=None, error="net::ERR_TUNNEL_CONNECTION_FAILED"), True),
        (request("a.png", status=None, error="net::ERR_EMPTY_RESPONSE"), True),
        (request("a.png", status=None, error="net::ERR_ABORTED"), False),
        # With nosniff, browsers discard a 404 page in place of a style sheet, without a status.
        (request("a.css", Kind.STYLESHEET, status=None, error="net::ERR_ABORTED"), True),
        (request("a.js", Kind.SCRIPT, status=None, error="net::ERR_ABORTED"), True),
        (request("a.png", status=None, error="net::ERR_BLOCKED_BY_ORB"), False),
        (request("a.png", status=None, error="net::ERR_BLOCKED_BY_CLIENT.Inspector"), False),
        (request("a.woff2", Kind.FONT, status=None, error="net::ERR_FAILED"), False),
        (request("a.png", status=None, end_s=None), False),  # still loading
        (request("a.js", Kind.SCRIPT, status=200, error="net::ERR_CONTENT_LENGTH_MISMATCH"), True),
    ],
)
def test_scanner_requests_only_files_of_the_page(logged_request: LoadedRequest, expected: bool) -> None:
    assert is_worth_fetching(logged_request) is expected


def test_merged_resource_has_headers_of_the_scanner_and_wire_bytes_of_the_browser() -> None:
    fetched = resource(f"{HERE}/a.js", Kind.SCRIPT, b"run()" * 9, ("Cache-Control", "no-cache"), wire=45)
    merged = merge_resources(one(request("a.js", Kind.SCRIPT, wire_bytes=30, initiator=f"{HERE}/b.js")), fetched)
    assert merged == replace(fetched, wire_bytes=30, depth=2)
    assert merge_resources(one(request("a.js", Kind.SCRIPT, wire_bytes=0)), fetched).wire_bytes == 45


def test_browsers_resource_counts_if_the_scanner_got_no_response() -> None:
    in_browser = one(request("a.js", Kind.SCRIPT))
    refused = resource(f"{HERE}/a.js", status=403)
    failed = replace(resource(f"{HERE}/a.js", status=None), error="Connection reset.")
    assert merge_resources(in_browser, refused) == in_browser
    assert merge_resources(in_browser, failed) == in_browser


SCRIPT = request(f"{OTHER}/ads.js", Kind.SCRIPT)


@pytest.mark.parametrize(
    ("logged_request", "expected"),
    [
        (request("a.png", status=404), "fail"),
        (request("a.png", status=500, initiator=f"{HERE}/a.js"), "fail"),
        (request(f"{OTHER}/a.png", status=404), "fail"),  # an image of the page itself
        (request("a.png", status=404, in_frame=True), "fail"),  # in a frame of the same origin
        (request("frame", None, status=404, in_frame=True), "fail"),
        (request("a.woff2", Kind.FONT, status=None, error="net::ERR_FAILED"), "fail"),
        (request("a.png", status=403), "warn"),
        # Scripts may request a URL to test whether it exists.
        (request("api/user", Kind.OTHER, is_sent_by_code=True, status=404), "pass"),
        (request("api/user", Kind.OTHER, is_sent_by_code=True, status=None, error="net::ERR_FAILED"), "pass"),
        (request("favicon.ico", Kind.OTHER, status=404, initiator=""), "pass"),
        # Requests between third parties.
        (request(f"{OTHER}/a.png", status=404, in_frame=True), "pass"),
        (request(f"{OTHER}/frame", None, status=404, in_frame=True), "pass"),
        (request(f"{OTHER}/pixel.gif", status=410, initiator=SCRIPT.url), "pass"),
        # The page cancelled the request, or may not make it.
        (request("a.mp4", Kind.MEDIA, status=None, error="net::ERR_ABORTED"), "pass"),
        (request(f"{OTHER}/a.js", Kind.SCRIPT, status=None, error="net::ERR_BLOCKED_BY_CSP"), "pass"),
        (request("a.png", status=None, end_s=None), "pass"),
        # The scanner requests the file again, and judges that response.
        (request("a.png", status=None, error="net::ERR_TUNNEL_CONNECTION_FAILED"), "pass"),
    ],
)
def test_failed_requests_of_a_browser_that_are_broken_resources(logged_request: LoadedRequest, expected: str) -> None:
    assert verdict(server.broken_resources(logged(SCRIPT, logged_request))) == expected


def test_resource_that_failed_twice_is_reported_once() -> None:
    resources = logged(request("a.png", status=404), request("a.png", status=404), request("b.png"))
    assert message(server.broken_resources(resources)).startswith("1 of 3 resources failed to load")


BEACON = request(f"{OTHER}/collect", Kind.OTHER, is_sent_by_code=True, method="POST", body_bytes=0)


def test_beacons_and_frames_count_as_requests_but_not_as_empty_or_duplicate_files() -> None:
    frames = [request("frame", None, body_bytes=9000, in_frame=True) for _ in range(2)]
    resources = logged(BEACON, BEACON, *frames, request("a.js", Kind.SCRIPT, body_bytes=9000))
    assert verdict(weight.empty_responses(resources)) == "pass"
    assert verdict(weight.duplicate_files(resources)) == "pass"
    assert "6 requests (4 other requests, 1 script)" in message(weight.requests(page(), resources))
    assert "2 of 6 requests (33%) go to other sites" in message(weight.third_party_share(page(), resources))


def test_file_that_is_loaded_twice_weighs_twice() -> None:
    resources = logged(*[request("a.js", Kind.SCRIPT, wire_bytes=90_000)] * 2)
    assert "2 scripts weigh 180 kB" in message(weight.js_weight(resources))


def test_checks_skip_resources_without_known_headers() -> None:
    resources = logged(request("a.js", Kind.SCRIPT, in_frame=True), request("a.woff2", Kind.FONT, in_frame=True))
    assert verdict(caching.cache_missing(static_files(page(), resources, CLOCK))) == "n/a"
    assert verdict(caching.private_static(page(), static_files(page(), resources, CLOCK))) == "n/a"
    assert "headers of 1 response " in message(network.header_size(page(), resources))
    assert closed_connections(page(), resources) == {}
    assert fonts(resources, Styles()).files == ()
