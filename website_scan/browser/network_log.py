"""Log of a page's requests, built from Network events of the Chrome DevTools Protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from website_scan.browser.evidence import LoadedRequest
from website_scan.page.references import ResourceKind

MAX_REQUESTS = 1_000
MAX_URL = 2_048

KINDS: Mapping[str, ResourceKind] = {
    "Script": ResourceKind.SCRIPT,
    "Stylesheet": ResourceKind.STYLESHEET,
    "Image": ResourceKind.IMAGE,
    "Font": ResourceKind.FONT,
    "Media": ResourceKind.MEDIA,
    "TextTrack": ResourceKind.MEDIA,
}
SENT_BY_CODE = frozenset({"XHR", "Fetch", "EventSource", "WebSocket", "Ping", "Preflight", "CSPViolationReport"})
# Types of requests that may stay open after the page has loaded.
LONG_LIVED = frozenset({"EventSource", "WebSocket", "Media", "Ping"})
DOCUMENT = "Document"

Event = Mapping[str, Any]


@dataclass(slots=True)
class _Entry:
    request: LoadedRequest
    began: float  # on the protocol's clock, in seconds
    received_bytes: int = 0  # so far, because the event for the end of the request may never come


class NetworkLog:
    """Log of the requests that a page has sent so far. Requests for data: and blob: URLs are omitted."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._origin_s: float | None = None  # when the navigation began
        self._frame: object = None  # ID of the main frame
        self.last_activity_s = 0.0
        self.in_flight: set[str] = set()
        self.left_out = 0

    def listen(self, on: Callable[[str, Callable[[Event], None]], Any]) -> None:
        """Subscribe to Network events with the `on` method of a session."""
        on("Network.requestWillBeSent", self._on_request)
        on("Network.responseReceived", self._on_response)
        on("Network.dataReceived", self._on_data)
        on("Network.loadingFinished", self._on_finished)
        on("Network.loadingFailed", self._on_failed)

    def requests(self, render_blocking: frozenset[str] = frozenset()) -> tuple[LoadedRequest, ...]:
        """Return the requests by their start. `render_blocking` are the URLs of requests that blocked rendering."""
        entries = sorted(self._entries.values(), key=lambda entry: entry.began)
        return tuple(
            replace(entry.request, is_blocking=True) if entry.request.url in render_blocking else entry.request
            for entry in entries
        )

    def _on_request(self, event: Event) -> None:
        url = str(event["request"]["url"])
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return
        id, now = str(event["requestId"]), float(event["timestamp"])
        self.last_activity_s = now
        previous = self._entries.get(id)
        if previous is None and len(self._entries) >= MAX_REQUESTS:
            self.left_out += 1
            return
        if self._origin_s is None:
            self._origin_s = now
            self._frame = event.get("frameId")
        kind = str(event.get("type", "Other"))
        if kind not in LONG_LIVED:
            self.in_flight.add(id)
        redirect = event.get("redirectResponse")
        if previous is not None and redirect:
            # A redirected request stays one entry, with its first URL and start.
            previous.request = replace(
                previous.request,
                redirects=previous.request.redirects + 1,
                wire_bytes=previous.request.wire_bytes + int(redirect.get("encodedDataLength", 0)),
            )
            return
        self._entries[id] = _Entry(
            LoadedRequest(
                url=url[:MAX_URL].partition("#")[0],
                kind=None if kind == DOCUMENT else KINDS.get(kind, ResourceKind.OTHER),
                method=str(event["request"].get("method", "GET"))[:16],
                start_s=now - self._origin_s,
                response_s=None,
                end_s=None,
                status=None,
                initiator=_initiator_url(event.get("initiator", {})),
                is_sent_by_code=kind in SENT_BY_CODE,
                in_frame=event.get("frameId", self._frame) != self._frame,
            ),
            now,
        )

    def _on_response(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        if entry is None or self._origin_s is None:
            return
        response = event["response"]
        entry.request = replace(
            entry.request,
            response_s=_headers_arrived_at(response, float(event["timestamp"])) - self._origin_s,
            status=int(response["status"]),
            wait_s=_wait_s(response),
            media_type=str(response.get("mimeType", "")).lower()[:100],
            protocol=str(response.get("protocol", ""))[:16],
        )

    def _on_data(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        if entry is not None:
            self.last_activity_s = float(event["timestamp"])
            more = int(event.get("dataLength", 0))
            entry.request = replace(entry.request, body_bytes=entry.request.body_bytes + more)
            entry.received_bytes += int(event.get("encodedDataLength", 0))

    def _on_finished(self, event: Event) -> None:
        self._finish_entry(event, int(event.get("encodedDataLength", 0)))

    def _on_failed(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        received = entry.received_bytes if entry is not None else 0
        self._finish_entry(event, received, error=str(event.get("errorText", "failed"))[:100])

    def _finish_entry(self, event: Event, wire_bytes: int, error: str = "") -> None:
        id = str(event["requestId"])
        self.in_flight.discard(id)
        entry = self._entries.get(id)
        if entry is None or self._origin_s is None:
            return
        self.last_activity_s = float(event["timestamp"])
        entry.request = replace(
            entry.request,
            end_s=float(event["timestamp"]) - self._origin_s,
            wire_bytes=entry.request.wire_bytes + wire_bytes,
            error=error,
        )


def _headers_arrived_at(response: Event, event_s: float) -> float:
    """Return the time at which the response headers arrived. Their event may come only after the end of the body."""
    timing = response.get("timing") or {}
    milliseconds = float(timing.get("receiveHeadersEnd", -1))
    return float(timing["requestTime"]) + milliseconds / 1000 if milliseconds > 0 else event_s


def _wait_s(response: Event) -> float:
    timing = response.get("timing") or {}
    began, ended = float(timing.get("sendEnd", -1)), float(timing.get("receiveHeadersEnd", -1))
    return (ended - began) / 1000 if ended > began >= 0 else 0.0


def _initiator_url(initiator: Mapping[str, Any]) -> str:
    """Return the URL of the document, style sheet or script that made the request; empty if unknown."""
    if url := initiator.get("url"):
        return str(url)[:MAX_URL]
    frames = initiator.get("stack", {}).get("callFrames", [])
    return next((str(frame["url"])[:MAX_URL] for frame in frames if frame.get("url")), "")
