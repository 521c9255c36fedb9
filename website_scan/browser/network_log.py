"""Log of a page's requests, built from events of the Chrome DevTools Protocol (domain Network)."""

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
PROGRAMMED = frozenset({"XHR", "Fetch", "EventSource", "WebSocket", "Ping", "Preflight", "CSPViolationReport"})
# Kinds of requests that stay open on a complete page.
LASTING = frozenset({"EventSource", "WebSocket", "Media", "Ping"})
DOCUMENT = "Document"

Event = Mapping[str, Any]


@dataclass(slots=True)
class _Entry:
    request: LoadedRequest
    began: float  # on the protocol's clock, in seconds
    received_bytes: int = 0  # so far; the event for its end may never come


class NetworkLog:
    """Log of the requests of one page; `requests()` returns those so far. Omits requests for data: and blob: URLs."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._origin_s: float | None = None  # when the navigation began
        self._frame: object = None  # ID of the main frame
        self.last_activity_s = 0.0
        self.in_flight: set[str] = set()
        self.left_out = 0

    def listen(self, on: Callable[[str, Callable[[Event], None]], Any]) -> None:
        """Subscribe with a session's `on`."""
        on("Network.requestWillBeSent", self._sent)
        on("Network.responseReceived", self._answered)
        on("Network.dataReceived", self._received)
        on("Network.loadingFinished", self._finished)
        on("Network.loadingFailed", self._failed)

    def requests(self, render_blocking: frozenset[str] = frozenset()) -> tuple[LoadedRequest, ...]:
        """Return the requests in the order in which they began. `render_blocking` are URLs that blocked rendering."""
        found = sorted(self._entries.values(), key=lambda each: each.began)
        return tuple(
            replace(each.request, is_blocking=True) if each.request.url in render_blocking else each.request
            for each in found
        )

    def _sent(self, event: Event) -> None:
        url = str(event["request"]["url"])
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return
        id, now = str(event["requestId"]), float(event["timestamp"])
        self.last_activity_s = now
        earlier = self._entries.get(id)
        if earlier is None and len(self._entries) >= MAX_REQUESTS:
            self.left_out += 1
            return
        if self._origin_s is None:
            self._origin_s = now
            self._frame = event.get("frameId")
        kind = str(event.get("type", "Other"))
        if kind not in LASTING:
            self.in_flight.add(id)
        redirect = event.get("redirectResponse")
        if earlier is not None and redirect:
            # A redirected request is one entry: it keeps its first URL and start.
            earlier.request = replace(
                earlier.request,
                redirects=earlier.request.redirects + 1,
                wire_bytes=earlier.request.wire_bytes + int(redirect.get("encodedDataLength", 0)),
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
                initiator=_initiator(event.get("initiator", {})),
                is_programmed=kind in PROGRAMMED,
                in_frame=event.get("frameId", self._frame) != self._frame,
            ),
            now,
        )

    def _answered(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        if entry is None or self._origin_s is None:
            return
        response = event["response"]
        entry.request = replace(
            entry.request,
            response_s=_headers_at(response, float(event["timestamp"])) - self._origin_s,
            status=int(response["status"]),
            wait_s=_wait_s(response),
            media_type=str(response.get("mimeType", "")).lower()[:100],
            protocol=str(response.get("protocol", ""))[:16],
        )

    def _received(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        if entry is not None:
            self.last_activity_s = float(event["timestamp"])
            more = int(event.get("dataLength", 0))
            entry.request = replace(entry.request, body_bytes=entry.request.body_bytes + more)
            entry.received_bytes += int(event.get("encodedDataLength", 0))

    def _finished(self, event: Event) -> None:
        self._ended(event, int(event.get("encodedDataLength", 0)))

    def _failed(self, event: Event) -> None:
        entry = self._entries.get(str(event["requestId"]))
        received = entry.received_bytes if entry is not None else 0
        self._ended(event, received, error=str(event.get("errorText", "failed"))[:100])

    def _ended(self, event: Event, wire_bytes: int, error: str = "") -> None:
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


def _headers_at(response: Event, told_s: float) -> float:
    """Return when the headers arrived. The event itself may come after the end of the body."""
    timing = response.get("timing") or {}
    milliseconds = float(timing.get("receiveHeadersEnd", -1))
    return float(timing["requestTime"]) + milliseconds / 1000 if milliseconds > 0 else told_s


def _wait_s(response: Event) -> float:
    timing = response.get("timing") or {}
    began, ended = float(timing.get("sendEnd", -1)), float(timing.get("receiveHeadersEnd", -1))
    return (ended - began) / 1000 if ended > began >= 0 else 0.0


def _initiator(initiator: Mapping[str, Any]) -> str:
    """Return the URL of the document, style sheet or script that made the request; empty if unknown."""
    if url := initiator.get("url"):
        return str(url)[:MAX_URL]
    frames = initiator.get("stack", {}).get("callFrames", [])
    return next((str(each["url"])[:MAX_URL] for each in frames if each.get("url")), "")
