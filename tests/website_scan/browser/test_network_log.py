"""Network log from sequences of events as Chrome's DevTools protocol sends them."""

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
    """A fake CDP session whose events the test sends. Time begins at 100 s."""

    def __init__(self) -> None:
        self.log = NetworkLog()
        self._handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {}
        self.log.listen(self._on)

    def _on(self, event: str, handler: Callable[[Mapping[str, Any]], None]) -> None:
        self._handlers[event] = handler

    def tell(self, event: str, id: str, at_s: float, **rest: Any) -> None:
        self._handlers[f"Network.{event}"]({"requestId": id, "timestamp": 100 + at_s, **rest})

    def sent(self, id: str, url: str, at_s: float = 0.0, type: str = "Document", **rest: Any) -> None:
        request = {"url": url, "method": rest.pop("method", "GET")}
        self.tell("requestWillBeSent", id, at_s, request=request, type=type, **({"frameId": "F"} | rest))

    def answered(self, id: str, at_s: float, status: int = 200, **response: Any) -> None:
        self.tell("responseReceived", id, at_s, response={"status": status, **response})

    def received(self, id: str, at_s: float, length: int, encoded: int = 0) -> None:
        self.tell("dataReceived", id, at_s, dataLength=length, encodedDataLength=encoded)

    def finished(self, id: str, at_s: float, length: int) -> None:
        self.tell("loadingFinished", id, at_s, encodedDataLength=length)

    def failed(self, id: str, at_s: float, error: str) -> None:
        self.tell("loadingFailed", id, at_s, errorText=error, canceled=False)

    def loaded(self, id: str, url: str, at_s: float, type: str, **rest: Any) -> None:
        """Send the events of a request that ended well, 0.1 s after it began."""
        self.sent(id, url, at_s, type, **rest)
        self.answered(id, at_s + 0.05)
        self.finished(id, at_s + 0.1, 100)

    @property
    def requests(self) -> tuple[LoadedRequest, ...]:
        return self.log.requests()


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def opened(session: Session) -> Session:
    """A session in which the document has been loaded."""
    session.loaded("1", PAGE, 0.0, "Document")
    return session


def test_a_request_from_beginning_to_end(session: Session) -> None:
    session.sent("1", f"{PAGE}#top", initiator={"type": "other"})
    timing = {"requestTime": 100.01, "sendEnd": 2.0, "receiveHeadersEnd": 52.0}
    session.answered("1", 0.2, mimeType="Text/HTML", protocol="h2", timing=timing)
    session.received("1", 0.25, 3000)
    session.received("1", 0.26, 1000)
    assert session.log.in_flight == {"1"}
    session.finished("1", 0.3, 1500)
    (found,) = session.requests
    assert (found.url, found.kind, found.method, found.status) == (PAGE, None, "GET", 200)
    assert (found.start_s, found.response_s, found.end_s) == pytest.approx((0.0, 0.062, 0.3))
    assert found.wait_s == pytest.approx(0.05)
    assert (found.wire_bytes, found.body_bytes) == (1500, 4000)
    assert (found.media_type, found.protocol, found.error) == ("text/html", "h2", "")
    assert session.log.in_flight == set()
    assert session.log.last_activity_s == pytest.approx(100.3)


@pytest.mark.parametrize(
    ("type", "kind", "is_programmed"),
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
def test_kinds(opened: Session, type: str, kind: ResourceKind | None, is_programmed: bool) -> None:
    opened.sent("2", f"{PAGE}x", 0.2, type)
    assert (opened.requests[1].kind, opened.requests[1].is_programmed) == (kind, is_programmed)


def test_redirects_are_one_request_with_the_bytes_of_all(opened: Session) -> None:
    opened.sent("2", f"{PAGE}old.js", 0.2, "Script")
    for at_s, address in ((0.3, "newer.js"), (0.4, "new.js")):
        redirect = {"status": 301, "encodedDataLength": 250}
        opened.sent("2", PAGE + address, at_s, "Script", redirectResponse=redirect)
    opened.answered("2", 0.5)
    opened.finished("2", 0.6, 1000)
    _, found = opened.requests
    assert (found.url, found.redirects, found.wire_bytes, found.status) == (f"{PAGE}old.js", 2, 1500, 200)
    assert (found.start_s, found.end_s) == pytest.approx((0.2, 0.6))


def test_a_redirect_of_the_document_itself(session: Session) -> None:
    session.sent("1", "http://site.example.com/")
    session.sent("1", PAGE, 0.1, redirectResponse={"status": 301, "encodedDataLength": 90})
    session.answered("1", 0.2)
    session.finished("1", 0.3, 10)
    (found,) = session.requests
    assert (found.redirects, found.wire_bytes, found.kind, found.in_frame) == (1, 100, None, False)


@pytest.mark.parametrize("error", ["net::ERR_ABORTED", "net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_BLOCKED_BY_ORB"])
def test_a_failure_is_told_with_its_name(opened: Session, error: str) -> None:
    opened.sent("2", f"{PAGE}a.png", 0.2, "Image")
    opened.failed("2", 0.3, error)
    _, found = opened.requests
    assert (found.status, found.error, found.wire_bytes) == (None, error, 0)
    assert found.end_s == pytest.approx(0.3)
    assert opened.log.in_flight == set()


def test_what_broke_off_has_the_status_it_came_with(opened: Session) -> None:
    opened.sent("2", f"{PAGE}a.mp4", 0.2, "Media")
    opened.answered("2", 0.3, status=206)
    opened.received("2", 0.4, 9000)
    opened.failed("2", 0.5, "net::ERR_ABORTED")
    assert (opened.requests[1].status, opened.requests[1].body_bytes) == (206, 9000)


def test_what_has_not_ended_has_no_end(opened: Session) -> None:
    opened.sent("2", f"{PAGE}stream", 0.2, "Fetch")
    opened.answered("2", 0.3)
    assert opened.requests[1].end_s is None
    assert opened.log.in_flight == {"2"}


def test_what_comes_from_the_cache_costs_nothing(opened: Session) -> None:
    opened.sent("2", f"{PAGE}a.js", 0.2, "Script")
    opened.answered("2", 0.2, fromDiskCache=True, timing=None)
    opened.finished("2", 0.21, 0)
    found = opened.requests[1]
    assert (found.wire_bytes, found.wait_s, found.status) == (0, 0.0, 200)
    assert found.response_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    "url", ["data:image/gif;base64,R0lGOD", "blob:https://site.example.com/1", "about:srcdoc", "chrome://x"]
)
def test_what_does_not_go_over_the_network_is_left_out(opened: Session, url: str) -> None:
    opened.sent("2", url, 0.2, "Image")
    opened.answered("2", 0.2)
    opened.finished("2", 0.2, 500)
    assert len(opened.requests) == 1
    assert opened.log.in_flight == set()


def test_a_handshake_of_a_web_socket_is_programmed(opened: Session) -> None:
    opened.sent("2", "wss://site.example.com/live", 0.2, "WebSocket")
    opened.answered("2", 0.3, status=101)
    found = opened.requests[1]
    assert (found.status, found.is_programmed, found.kind) == (101, True, ResourceKind.OTHER)


def test_what_frames_ask_for_is_told_apart(opened: Session) -> None:
    opened.loaded("2", "https://video.example.org/embed", 0.2, "Document", frameId="G")
    opened.loaded("3", "https://video.example.org/player.js", 0.3, "Script", frameId="G")
    opened.loaded("4", f"{PAGE}a.js", 0.4, "Script")
    opened.sent("5", f"{PAGE}worker.js", 0.5, "Script", frameId=None)
    opened.tell("requestWillBeSent", "6", 0.6, request={"url": f"{PAGE}x", "method": "GET"}, type="Fetch")
    assert [each.in_frame for each in opened.requests][:4] == [False, True, True, False]
    assert opened.requests[5].in_frame is False


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
def test_who_asked_is_told_where_the_browser_knows(opened: Session, initiator: dict[str, Any], expected: str) -> None:
    opened.sent("2", f"{PAGE}a.png", 0.2, "Image", initiator=initiator)
    assert opened.requests[1].initiator == expected


def test_they_are_told_in_the_order_in_which_they_began(opened: Session) -> None:
    opened.sent("3", f"{PAGE}b", 0.4, "Image")
    opened.sent("2", f"{PAGE}a", 0.3, "Image")
    assert [each.url for each in opened.requests] == [PAGE, f"{PAGE}a", f"{PAGE}b"]


def test_what_the_page_waited_for_is_marked(opened: Session) -> None:
    opened.loaded("2", f"{PAGE}a.css", 0.2, "Stylesheet")
    opened.loaded("3", f"{PAGE}b.css", 0.2, "Stylesheet")
    marked = opened.log.requests(frozenset({f"{PAGE}a.css"}))
    assert [each.is_blocking for each in marked] == [False, True, False]


def test_events_of_requests_that_were_never_told_of_do_no_harm(session: Session) -> None:
    session.answered("9", 0.1)
    session.received("9", 0.1, 9)
    session.finished("9", 0.1, 9)
    session.failed("9", 0.1, "net::ERR_FAILED")
    assert session.requests == ()


def test_of_very_many_the_rest_is_counted(opened: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_log, "MAX_REQUESTS", 2)
    for number in range(2, 6):
        opened.loaded(str(number), f"{PAGE}{number}", 0.2, "Image")
    assert (len(opened.requests), opened.log.left_out) == (2, 3)
    assert opened.log.in_flight == set()


def test_addresses_are_cut(opened: Session) -> None:
    opened.sent("2", f"{PAGE}{'x' * 9000}#{'y' * 9000}", 0.2, "Image")
    assert len(opened.requests[1].url) == network_log.MAX_URL


def test_a_transfer_that_is_broken_off_counts_what_came(session: Session) -> None:
    session.sent("1", f"{PAGE}film.mp4", type="Media")
    session.answered("1", 0.1, 206)
    session.received("1", 0.2, 5000, encoded=4000)
    session.received("1", 0.3, 5000, encoded=4000)
    session.failed("1", 0.4, "net::ERR_ABORTED")
    (request,) = session.requests
    assert (request.wire_bytes, request.body_bytes, request.error) == (8000, 10_000, "net::ERR_ABORTED")


def test_what_stays_open_does_not_keep_a_page_from_being_complete(session: Session) -> None:
    session.loaded("1", PAGE, 0.0, "Document")
    session.sent("2", f"{PAGE}events", 0.2, "EventSource")
    session.sent("3", f"{PAGE}film.mp4", 0.2, "Media")
    assert session.log.in_flight == set()
    session.sent("4", f"{PAGE}data", 0.3, "Fetch")
    assert session.log.in_flight == {"4"}
