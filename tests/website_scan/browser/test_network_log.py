"""Tests for the network log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from website_scan.browser import network_log
from website_scan.browser.evidence import LoadedRequest
from website_scan.browser.network_log import NetworkLog
from website_scan.page.references import ResourceKind

PAGE = "https://site.example.com/"


class Session:
    """Fake CDP session whose events the test sends.

    The clock begins at 100 s.
    """

    def __init__(self) -> None:
        self.log = NetworkLog()
        self._handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {}
        self.log.listen(self._on)

    def _on(self, event: str, handler: Callable[[Mapping[str, Any]], None]) -> None:
        self._handlers[event] = handler

    def send_event(self, event: str, id: str, at_s: float, **rest: Any) -> None:
        self._handlers[f"Network.{event}"]({"requestId": id, "timestamp": 100 + at_s, **rest})

    def send_request(self, id: str, url: str, at_s: float = 0.0, type: str = "Document", **rest: Any) -> None:
        request = {"url": url, "method": rest.pop("method", "GET")}
        self.send_event("requestWillBeSent", id, at_s, request=request, type=type, **({"frameId": "F"} | rest))

    def send_response(self, id: str, at_s: float, status: int = 200, **response: Any) -> None:
        self.send_event("responseReceived", id, at_s, response={"status": status, **response})

    def send_data(self, id: str, at_s: float, length: int, encoded: int = 0) -> None:
        self.send_event("dataReceived", id, at_s, dataLength=length, encodedDataLength=encoded)

    def send_finished(self, id: str, at_s: float, length: int) -> None:
        self.send_event("loadingFinished", id, at_s, encodedDataLength=length)

    def send_failed(self, id: str, at_s: float, error: str) -> None:
        self.send_event("loadingFailed", id, at_s, errorText=error, canceled=False)

    def send_load(self, id: str, url: str, at_s: float, type: str, **rest: Any) -> None:
        """Send the events of a request that succeeds after 0.1 s."""
        self.send_request(id, url, at_s, type, **rest)
        self.send_response(id, at_s + 0.05)
        self.send_finished(id, at_s + 0.1, 100)

    @property
    def requests(self) -> tuple[LoadedRequest, ...]:
        return self.log.requests()


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def session_with_document(session: Session) -> Session:
    """Return a session in which the document has been loaded."""
    session.send_load("1", PAGE, 0.0, "Document")
    return session


def test_request_has_url_times_sizes_and_protocol(session: Session) -> None:
    session.send_request("1", f"{PAGE}#top", initiator={"type": "other"})
    timing = {"requestTime": 100.01, "sendEnd": 2.0, "receiveHeadersEnd": 52.0}
    session.send_response("1", 0.2, mimeType="Text/HTML", protocol="h2", timing=timing)
    session.send_data("1", 0.25, 3000)
    session.send_data("1", 0.26, 1000)
    assert session.log.in_flight == {"1"}
    session.send_finished("1", 0.3, 1500)
    (request,) = session.requests
    assert (request.url, request.kind, request.method, request.status) == (PAGE, None, "GET", 200)
    assert (request.start_s, request.response_s, request.end_s) == pytest.approx((0.0, 0.062, 0.3))
    assert request.wait_s == pytest.approx(0.05)
    assert (request.wire_bytes, request.body_bytes) == (1500, 4000)
    assert (request.media_type, request.protocol, request.error) == ("text/html", "h2", "")
    assert session.log.in_flight == set()
    assert session.log.last_activity_s == pytest.approx(100.3)


@pytest.mark.parametrize(
    ("type", "kind", "is_sent_by_script"),
    [
        ("Document", None, False),
        ("Script", ResourceKind.SCRIPT, False),
        ("Stylesheet", ResourceKind.STYLESHEET, False),
        ("Image", ResourceKind.IMAGE, False),
        ("Font", ResourceKind.FONT, False),
        ("Media", ResourceKind.MEDIA, False),
        ("TextTrack", ResourceKind.MEDIA, False),
        ("XHR", ResourceKind.OTHER, True),
        ("Fetch", ResourceKind.OTHER, True),
        ("EventSource", ResourceKind.OTHER, True),
        ("Ping", ResourceKind.OTHER, True),
        ("Preflight", ResourceKind.OTHER, True),
        ("CSPViolationReport", ResourceKind.OTHER, True),
        ("Manifest", ResourceKind.OTHER, False),
        ("Prefetch", ResourceKind.OTHER, False),
        ("SomethingNew", ResourceKind.OTHER, False),
    ],
)
def test_resource_type_determines_the_kind(
    session_with_document: Session, type: str, kind: ResourceKind | None, is_sent_by_script: bool
) -> None:
    session_with_document.send_request("2", f"{PAGE}x", 0.2, type)
    assert (session_with_document.requests[1].kind, session_with_document.requests[1].is_sent_by_script) == (
        kind,
        is_sent_by_script,
    )


def test_redirected_request_counts_all_bytes(session_with_document: Session) -> None:
    session_with_document.send_request("2", f"{PAGE}old.js", 0.2, "Script")
    for at_s, address in ((0.3, "newer.js"), (0.4, "new.js")):
        redirect = {"status": 301, "encodedDataLength": 250}
        session_with_document.send_request("2", PAGE + address, at_s, "Script", redirectResponse=redirect)
    session_with_document.send_response("2", 0.5)
    session_with_document.send_finished("2", 0.6, 1000)
    _, request = session_with_document.requests
    assert (request.url, request.redirects, request.wire_bytes, request.status) == (f"{PAGE}old.js", 2, 1500, 200)
    assert (request.start_s, request.end_s) == pytest.approx((0.2, 0.6))


def test_redirected_document_counts_as_one_request(session: Session) -> None:
    session.send_request("1", "http://site.example.com/")
    session.send_request("1", PAGE, 0.1, redirectResponse={"status": 301, "encodedDataLength": 90})
    session.send_response("1", 0.2)
    session.send_finished("1", 0.3, 10)
    (request,) = session.requests
    assert (request.redirects, request.wire_bytes, request.kind, request.is_in_frame) == (1, 100, None, False)


@pytest.mark.parametrize("error", ["net::ERR_ABORTED", "net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_BLOCKED_BY_ORB"])
def test_failed_request_has_the_name_of_its_error(session_with_document: Session, error: str) -> None:
    session_with_document.send_request("2", f"{PAGE}a.png", 0.2, "Image")
    session_with_document.send_failed("2", 0.3, error)
    _, request = session_with_document.requests
    assert (request.status, request.error, request.wire_bytes) == (None, error, 0)
    assert request.end_s == pytest.approx(0.3)
    assert session_with_document.log.in_flight == set()


def test_aborted_response_keeps_its_status(session_with_document: Session) -> None:
    session_with_document.send_request("2", f"{PAGE}a.mp4", 0.2, "Media")
    session_with_document.send_response("2", 0.3, status=206)
    session_with_document.send_data("2", 0.4, 9000)
    session_with_document.send_failed("2", 0.5, "net::ERR_ABORTED")
    assert (session_with_document.requests[1].status, session_with_document.requests[1].body_bytes) == (206, 9000)


def test_unfinished_request_is_in_flight(session_with_document: Session) -> None:
    session_with_document.send_request("2", f"{PAGE}stream", 0.2, "Fetch")
    session_with_document.send_response("2", 0.3)
    assert session_with_document.requests[1].end_s is None
    assert session_with_document.log.in_flight == {"2"}


def test_response_from_cache_has_no_wire_bytes(session_with_document: Session) -> None:
    session_with_document.send_request("2", f"{PAGE}a.js", 0.2, "Script")
    session_with_document.send_response("2", 0.2, fromDiskCache=True, timing=None)
    session_with_document.send_finished("2", 0.21, 0)
    request = session_with_document.requests[1]
    assert (request.wire_bytes, request.wait_s, request.status) == (0, 0.0, 200)
    assert request.response_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    "url", ["data:image/gif;base64,R0lGOD", "blob:https://site.example.com/1", "about:srcdoc", "chrome://x"]
)
def test_local_requests_are_omitted(session_with_document: Session, url: str) -> None:
    session_with_document.send_request("2", url, 0.2, "Image")
    session_with_document.send_response("2", 0.2)
    session_with_document.send_finished("2", 0.2, 500)
    assert len(session_with_document.requests) == 1
    assert session_with_document.log.in_flight == set()


def test_websocket_handshake_counts_as_a_script_request(session_with_document: Session) -> None:
    session_with_document.send_request("2", "wss://site.example.com/live", 0.2, "WebSocket")
    session_with_document.send_response("2", 0.3, status=101)
    request = session_with_document.requests[1]
    assert (request.status, request.is_sent_by_script, request.kind) == (101, True, ResourceKind.OTHER)


def test_requests_of_frames_are_marked(session_with_document: Session) -> None:
    session_with_document.send_load("2", "https://video.example.org/embed", 0.2, "Document", frameId="G")
    session_with_document.send_load("3", "https://video.example.org/player.js", 0.3, "Script", frameId="G")
    session_with_document.send_load("4", f"{PAGE}a.js", 0.4, "Script")
    session_with_document.send_request("5", f"{PAGE}worker.js", 0.5, "Script", frameId=None)
    session_with_document.send_event(
        "requestWillBeSent", "6", 0.6, request={"url": f"{PAGE}x", "method": "GET"}, type="Fetch"
    )
    assert [request.is_in_frame for request in session_with_document.requests][:4] == [False, True, True, False]
    assert session_with_document.requests[5].is_in_frame is False


@pytest.mark.parametrize(
    ("initiator", "expected"),
    [
        ({"type": "parser", "url": PAGE, "lineNumber": 3}, PAGE),
        ({"type": "script", "stack": {"callFrames": [{"url": ""}, {"url": f"{PAGE}a.js"}]}}, f"{PAGE}a.js"),
        ({"type": "script", "stack": {"callFrames": []}}, ""),
        ({"type": "preload"}, ""),
        ({"type": "other"}, ""),
    ],
)
def test_request_records_the_url_of_its_initiator(
    session_with_document: Session, initiator: dict[str, Any], expected: str
) -> None:
    session_with_document.send_request("2", f"{PAGE}a.png", 0.2, "Image", initiator=initiator)
    assert session_with_document.requests[1].initiator == expected


def test_requests_are_sorted_by_their_start(session_with_document: Session) -> None:
    session_with_document.send_request("3", f"{PAGE}b", 0.4, "Image")
    session_with_document.send_request("2", f"{PAGE}a", 0.3, "Image")
    assert [request.url for request in session_with_document.requests] == [PAGE, f"{PAGE}a", f"{PAGE}b"]


def test_render_blocking_requests_are_marked(session_with_document: Session) -> None:
    session_with_document.send_load("2", f"{PAGE}a.css", 0.2, "Stylesheet")
    session_with_document.send_load("3", f"{PAGE}b.css", 0.2, "Stylesheet")
    marked = session_with_document.log.requests(frozenset({f"{PAGE}a.css"}))
    assert [request.is_blocking for request in marked] == [False, True, False]


def test_events_of_unknown_requests_are_ignored(session: Session) -> None:
    session.send_response("9", 0.1)
    session.send_data("9", 0.1, 9)
    session.send_finished("9", 0.1, 9)
    session.send_failed("9", 0.1, "net::ERR_FAILED")
    assert session.requests == ()


def test_requests_beyond_the_limit_are_counted(session_with_document: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_log, "MAX_REQUESTS", 2)
    for number in range(2, 6):
        session_with_document.send_load(str(number), f"{PAGE}{number}", 0.2, "Image")
    assert (len(session_with_document.requests), session_with_document.log.left_out) == (2, 3)
    assert session_with_document.log.in_flight == set()


def test_long_urls_are_truncated(session_with_document: Session) -> None:
    session_with_document.send_request("2", f"{PAGE}{'x' * 9000}#{'y' * 9000}", 0.2, "Image")
    assert len(session_with_document.requests[1].url) == network_log.MAX_URL_LENGTH


def test_failed_transfer_counts_the_received_bytes(session: Session) -> None:
    session.send_request("1", f"{PAGE}film.mp4", type="Media")
    session.send_response("1", 0.1, 206)
    session.send_data("1", 0.2, 5000, encoded=4000)
    session.send_data("1", 0.3, 5000, encoded=4000)
    session.send_failed("1", 0.4, "net::ERR_ABORTED")
    (request,) = session.requests
    assert (request.wire_bytes, request.body_bytes, request.error) == (8000, 10_000, "net::ERR_ABORTED")


def test_long_lived_requests_are_not_in_flight(session: Session) -> None:
    session.send_load("1", PAGE, 0.0, "Document")
    session.send_request("2", f"{PAGE}events", 0.2, "EventSource")
    session.send_request("3", f"{PAGE}film.mp4", 0.2, "Media")
    assert session.log.in_flight == set()
    session.send_request("4", f"{PAGE}data", 0.3, "Fetch")
    assert session.log.in_flight == {"4"}
