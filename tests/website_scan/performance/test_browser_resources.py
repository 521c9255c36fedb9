from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from tests.website_scan.browser.loads import DOCUMENT, HERE, load, request
from tests.website_scan.cast import message, page, verdict
from tests.website_scan.performance.cast import resource
from website_scan.browser.evidence import LoadedRequest
from website_scan.browser.unanswered import unanswered_requests
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


def logged_resources(*requests: LoadedRequest) -> Resources:
    return Resources(tuple(resources_from_log(page(), load(*requests))))


def only_resource(request: LoadedRequest) -> Resource:
    (item,) = logged_resources(request).items
    return item


def test_resource_takes_figures_from_browser_log() -> None:
    script = only_resource(request("a.js", Kind.SCRIPT, wire_bytes=900, body_bytes=4000, redirects=1))
    assert (script.url, script.final_url) == (f"{HERE}/a.js", f"{HERE}/a.js")
    assert (script.kind, script.eager) == (Kind.SCRIPT, True)
    assert (script.wire_bytes, script.body_bytes, script.status, script.redirects) == (900, 4000, 200, 1)
    assert (script.is_fetched, script.body, script.last_response_wire_bytes) == (False, b"", 0)


def test_document_is_not_a_sub_resource() -> None:
    assert logged_resources().items == ()


@pytest.mark.parametrize(
    ("initiator", "depth"), [(DOCUMENT, 1), (f"{DOCUMENT}#top", 1), ("", 1), (f"{HERE}/a.css", 2), (f"{HERE}/a.js", 2)]
)
def test_resource_depth_depends_on_initiator(initiator: str, depth: int) -> None:
    assert only_resource(request("a.png", initiator=initiator)).depth == depth


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
        (request("a.js", Kind.SCRIPT, is_in_frame=True), False),
        (request("api", Kind.OTHER, is_sent_by_script=True), False),
        (request("form", Kind.OTHER, method="POST"), False),
        (request("wss://site.example.com/live", Kind.OTHER, is_sent_by_script=True, status=101), False),
        (request("a.png", status=404), False),
        (request("a.png", status=204), False),
        # The browser does not report why there was no response.
        (request("a.png", status=None, error="net::ERR_TUNNEL_CONNECTION_FAILED"), True),
        (request("a.png", status=None, error="net::ERR_EMPTY_RESPONSE"), True),
        (request("a.png", status=None, error="net::ERR_ABORTED"), False),
        # Browsers discard a 404 page with nosniff that replaces a style sheet.
        (request("a.css", Kind.STYLESHEET, status=None, error="net::ERR_ABORTED"), True),
        (request("a.js", Kind.SCRIPT, status=None, error="net::ERR_ABORTED"), True),
        (request("a.png", status=None, error="net::ERR_BLOCKED_BY_ORB"), False),
        (request("a.png", status=None, error="net::ERR_BLOCKED_BY_CLIENT.Inspector"), False),
        (request("a.woff2", Kind.FONT, status=None, error="net::ERR_FAILED"), False),
        # The image is still loading, so the scanner does not request it.
        (request("a.png", status=None, end_s=None), False),
        (request("a.js", Kind.SCRIPT, status=200, error="net::ERR_CONTENT_LENGTH_MISMATCH"), True),
    ],
)
def test_scanner_requests_only_page_files(logged_request: LoadedRequest, expected: bool) -> None:
    assert is_worth_fetching(logged_request) is expected


def test_merged_resource_has_scanner_headers() -> None:
    fetched = resource(f"{HERE}/a.js", Kind.SCRIPT, b"run()" * 9, ("Cache-Control", "no-cache"), wire=45)
    merged = merge_resources(
        only_resource(request("a.js", Kind.SCRIPT, wire_bytes=30, initiator=f"{HERE}/b.js")), fetched
    )
    assert merged == replace(fetched, wire_bytes=30, depth=2)
    assert merge_resources(only_resource(request("a.js", Kind.SCRIPT, wire_bytes=0)), fetched).wire_bytes == 45


def test_browser_resource_replaces_failed_response() -> None:
    browser_resource = only_resource(request("a.js", Kind.SCRIPT))
    refused = resource(f"{HERE}/a.js", status=403)
    failed = replace(resource(f"{HERE}/a.js", status=None), error="Connection reset.")
    assert merge_resources(browser_resource, refused) == browser_resource
    assert merge_resources(browser_resource, failed) == browser_resource


SCRIPT = request(f"{OTHER}/ads.js", Kind.SCRIPT)


@pytest.mark.parametrize(
    ("logged_request", "expected"),
    [
        (request("a.png", status=404), "fail"),
        (request("a.png", status=500, initiator=f"{HERE}/a.js"), "fail"),
        (request(f"{OTHER}/a.png", status=404), "fail"),  # The same image is also in the page itself.
        # The same image is also in a frame of the same origin.
        (request("a.png", status=404, is_in_frame=True), "fail"),
        (request("frame", None, status=404, is_in_frame=True), "fail"),
        (request("a.woff2", Kind.FONT, status=None, error="net::ERR_FAILED"), "fail"),
        (request("a.png", status=403), "warn"),
        # Scripts may request a URL to test whether it exists.
        (request("api/user", Kind.OTHER, is_sent_by_script=True, status=404), "pass"),
        (request("api/user", Kind.OTHER, is_sent_by_script=True, status=None, error="net::ERR_FAILED"), "pass"),
        (request("favicon.ico", Kind.OTHER, status=404, initiator=""), "pass"),
        # The site does not cause requests between third parties.
        (request(f"{OTHER}/a.png", status=404, is_in_frame=True), "pass"),
        (request(f"{OTHER}/frame", None, status=404, is_in_frame=True), "pass"),
        (request(f"{OTHER}/pixel.gif", status=410, initiator=SCRIPT.url), "pass"),
        # The page cancelled the request, or may not send it.
        (request("a.mp4", Kind.MEDIA, status=None, error="net::ERR_ABORTED"), "pass"),
        (request(f"{OTHER}/a.js", Kind.SCRIPT, status=None, error="net::ERR_BLOCKED_BY_CSP"), "pass"),
        (request("a.png", status=None, end_s=None), "pass"),
        # The scanner requests the file again and judges that response.
        (request("a.png", status=None, error="net::ERR_TUNNEL_CONNECTION_FAILED"), "pass"),
    ],
)
def test_failed_browser_request_verdict(logged_request: LoadedRequest, expected: str) -> None:
    assert verdict(server.broken_resources(logged_resources(SCRIPT, logged_request))) == expected


def test_resource_that_failed_twice_is_reported_once() -> None:
    resources = logged_resources(request("a.png", status=404), request("a.png", status=404), request("b.png"))
    assert message(server.broken_resources(resources)).startswith("1 of 3 resources failed to load")


BEACON = request(f"{OTHER}/collect", Kind.OTHER, is_sent_by_script=True, method="POST", body_bytes=0)


def test_beacons_and_frames_count_as_requests() -> None:
    frames = [request("frame", None, body_bytes=9000, is_in_frame=True) for _ in range(2)]
    resources = logged_resources(BEACON, BEACON, *frames, request("a.js", Kind.SCRIPT, body_bytes=9000))
    assert verdict(weight.empty_responses(resources)) == "pass"
    assert verdict(weight.duplicate_files(resources)) == "pass"
    assert "6 requests (4 other requests, 1 script)" in message(weight.requests(page(), resources))
    assert "2 of 6 requests (33%) go to other sites" in message(weight.third_party_share(page(), resources))


def test_file_loaded_twice_weighs_twice() -> None:
    resources = logged_resources(*[request("a.js", Kind.SCRIPT, wire_bytes=90_000)] * 2)
    assert "2 scripts weigh 180 kB" in message(weight.js_weight(resources))


def test_checks_skip_resources_without_headers() -> None:
    resources = logged_resources(
        request("a.js", Kind.SCRIPT, is_in_frame=True), request("a.woff2", Kind.FONT, is_in_frame=True)
    )
    assert verdict(caching.cache_missing(static_files(page(), resources, CLOCK))) == "n/a"
    assert verdict(caching.private_static(page(), static_files(page(), resources, CLOCK))) == "n/a"
    assert "headers of 1 response " in message(network.header_size(page(), resources))
    assert closed_connections(page(), resources) == {}
    assert fonts(resources, Styles()).files == ()


def test_mixed_content_is_named_as_the_reason() -> None:
    blocked = request("http://files.example.org/a.js", Kind.SCRIPT, status=None, error="blocked: mixed content")
    assert only_resource(blocked).error == "Browsers block it, because it comes over plain HTTP to a page over HTTPS."
    assert not is_worth_fetching(blocked)


# The load event waits for style sheets, scripts and pictures (HTML, "the end").
@pytest.mark.parametrize(
    ("pending", "load_s", "is_unanswered"),
    [
        pytest.param(request("a.css", Kind.STYLESHEET, end_s=None, status=None), None, True, id="style-sheet"),
        pytest.param(request("a.js", Kind.SCRIPT, end_s=None, status=None), None, True, id="script"),
        pytest.param(request("a.png", end_s=None, status=None), None, True, id="picture"),
        pytest.param(
            request("a.css", Kind.STYLESHEET, end_s=None, status=200), None, True, id="unfinished-style-sheet"
        ),
        pytest.param(request("a.png", end_s=None, status=200), None, False, id="stream-of-pictures"),
        pytest.param(request("a.js", Kind.SCRIPT, end_s=None, status=None), 0.5, False, id="after-the-load-event"),
        pytest.param(request("a.js", Kind.SCRIPT, 13.0, end_s=None, status=None), None, False, id="began-late"),
        pytest.param(
            request("a", Kind.OTHER, end_s=None, status=None, is_sent_by_script=True), None, False, id="fetch"
        ),
        pytest.param(
            request("a.css", Kind.STYLESHEET, end_s=None, status=None, is_in_frame=True), None, False, id="frame"
        ),
    ],
)
def test_pending_file_counts_as_unanswered(pending: LoadedRequest, load_s: float | None, is_unanswered: bool) -> None:
    waited = load(pending, load_s=load_s, observed_s=15.0)
    assert (unanswered_requests(waited) == (pending,)) is is_unanswered
    (item,) = resources_from_log(page(), waited)
    assert bool(item.error) is is_unanswered
