"""Log of a page's requests.

Built from `Network` events of the Chrome DevTools Protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.evidence import LoadedRequest
from website_scan.page.references import ResourceKind

MAX_REQUESTS = 1_000
MAX_URL_LENGTH = 2_048

KINDS: Mapping[str, ResourceKind] = {
    "Script": ResourceKind.SCRIPT,
    "Stylesheet": ResourceKind.STYLESHEET,
    "Image": ResourceKind.IMAGE,
    "Font": ResourceKind.FONT,
    "Media": ResourceKind.MEDIA,
    "TextTrack": ResourceKind.MEDIA,
}
TYPES_SENT_BY_SCRIPTS = frozenset(
    {"XHR", "Fetch", "EventSource", "WebSocket", "Ping", "Preflight", "CSPViolationReport"}
)
# Requests of these types may stay open after the page has loaded.
LONG_LIVED_TYPES = frozenset({"EventSource", "WebSocket", "Media", "Ping"})
DOCUMENT = "Document"
# Chromium does not send requests over plain HTTP from a page over HTTPS.
BLOCKED_MIXED_CONTENT = "blocked: mixed content"

Event = Mapping[str, Any]


class _LogEntry(Struct):
    request: LoadedRequest
    began_s: float  # Start in seconds, on the clock of the DevTools Protocol.
    may_block_rendering: bool
    # The event for the end of the request may never come.
    received_bytes: int = 0

    @property
    def still_blocks_rendering(self) -> bool:
        """Return True for an unfinished request that blocks rendering."""
        return self.may_block_rendering and self.request.end_s is None


class NetworkLog:
    """Log of all requests that a page has sent so far.

    Requests for data: and blob: URLs are left out.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _LogEntry] = {}
        self._navigation_start_s: float | None = None
        self._main_frame_id: object = None
        self.last_activity_s = 0.0
        self.in_flight: set[str] = set()
        self.left_out = 0

    def listen(self, on: Callable[[str, Callable[[Event], None]], Any]) -> None:
        """Subscribe to Network events with the `on` method of a session."""
        on("Network.requestWillBeSent", self._on_request_sent)
        on("Network.responseReceived", self._on_response_received)
        on("Network.dataReceived", self._on_data_received)
        on("Network.loadingFinished", self._on_request_finished)
        on("Network.loadingFailed", self._on_request_failed)

    def requests(self, render_blocking: frozenset[str] = frozenset()) -> tuple[LoadedRequest, ...]:
        """Return the requests in order of their start.

        `render_blocking` are the URLs of finished requests that blocked rendering.
        """
        entries = sorted(self._entries.values(), key=lambda entry: entry.began_s)
        return tuple(
            replace(entry.request, is_blocking=True)
            if entry.request.url in render_blocking or entry.still_blocks_rendering
            else entry.request
            for entry in entries
        )

    def _on_request_sent(self, event: Event) -> None:
        url = str(event["request"]["url"])
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return
        id, now = str(event["requestId"]), float(event["timestamp"])
        self.last_activity_s = now
        previous = self._entries.get(id)
        if previous is None and len(self._entries) >= MAX_REQUESTS:
            self.left_out += 1
            return
        if self._navigation_start_s is None:
            self._navigation_start_s = now
            self._main_frame_id = event.get("frameId")
        kind = str(event.get("type", "Other"))
        if kind not in LONG_LIVED_TYPES:
            self.in_flight.add(id)
        redirect = event.get("redirectResponse")
        if previous is not None and redirect:
            # A redirected request is one entry, with the URL and start of its first hop.
            previous.request = replace(
                previous.request,
                redirects=previous.request.redirects + 1,
                wire_bytes=previous.request.wire_bytes + int(redirect.get("encodedDataLength", 0)),
            )
            return
        self._entries[id] = _LogEntry(
            LoadedRequest(
                url=url[:MAX_URL_LENGTH].partition("#")[0],
                kind=None if kind == DOCUMENT else KINDS.get(kind, ResourceKind.OTHER),
                method=str(event["request"].get("method", "GET"))[:16],
                start_s=now - self._navigation_start_s,
                response_s=None,
                end_s=None,
                status=None,
                initiator=_initiator_url(event.get("initiator", {})),
                is_sent_by_script=kind in TYPES_SENT_BY_SCRIPTS,
                is_in_frame=event.get("frameId", self._main_frame_id) != self._main_frame_id,
            ),
            now,
            may_block_rendering=event.get("renderBlockingBehavior") == "Blocking",
        )

    def _on_response_received(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        if entry is None or self._navigation_start_s is None:
            return
        response = event["response"]
        entry.request = replace(
            entry.request,
            response_s=_header_arrival_s(response, float(event["timestamp"])) - self._navigation_start_s,
            status=int(response["status"]),
            wait_s=_response_wait_s(response),
            media_type=str(response.get("mimeType", "")).lower()[:100],
            protocol=str(response.get("protocol", ""))[:16],
        )

    def _on_data_received(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        if entry is not None:
            self.last_activity_s = float(event["timestamp"])
            more = int(event.get("dataLength", 0))
            entry.request = replace(entry.request, body_bytes=entry.request.body_bytes + more)
            entry.received_bytes += int(event.get("encodedDataLength", 0))

    def _on_request_finished(self, event: Event) -> None:
        self._finish_log_entry(event, int(event.get("encodedDataLength", 0)))

    def _on_request_failed(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        received = entry.received_bytes if entry is not None else 0
        self._finish_log_entry(event, received, error=_failure(event))

    def _finish_log_entry(self, event: Event, wire_bytes: int, error: str = "") -> None:
        id = str(event["requestId"])
        self.in_flight.discard(id)
        entry = self._entries.get(id)
        if entry is None or self._navigation_start_s is None:
            return
        self.last_activity_s = float(event["timestamp"])
        entry.request = replace(
            entry.request,
            end_s=float(event["timestamp"]) - self._navigation_start_s,
            wire_bytes=entry.request.wire_bytes + wire_bytes,
            error=error,
        )


def _failure(event: Event) -> str:
    """Return why a request failed.

    Empty for some requests that Chromium blocked itself.
    """
    if event.get("blockedReason") == "mixed-content":
        return BLOCKED_MIXED_CONTENT
    return str(event.get("errorText", "failed"))[:100]


def _header_arrival_s(response: Event, event_s: float) -> float:
    """Return the time when the response headers arrived.

    The event that reports them may come only after the end of the body.
    """
    timing = response.get("timing") or {}
    milliseconds = float(timing.get("receiveHeadersEnd", -1))
    return float(timing["requestTime"]) + milliseconds / 1000 if milliseconds > 0 else event_s


def _response_wait_s(response: Event) -> float:
    timing = response.get("timing") or {}
    began, ended = float(timing.get("sendEnd", -1)), float(timing.get("receiveHeadersEnd", -1))
    return (ended - began) / 1000 if ended > began >= 0 else 0.0


def _initiator_url(initiator: Mapping[str, Any]) -> str:
    """Return the URL of the file that made the request.

    It is a document, style sheet or script. Empty if unknown.
    """
    if url := initiator.get("url"):
        return str(url)[:MAX_URL_LENGTH]
    frames = initiator.get("stack", {}).get("callFrames", [])
    return next((str(frame["url"])[:MAX_URL_LENGTH] for frame in frames if frame.get("url")), "")
