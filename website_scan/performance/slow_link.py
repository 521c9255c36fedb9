"""Simulate a browser's requests on a slow mobile connection.

The simulation tells when the observed requests would begin and end.

The link is Lighthouse's slow 4G: 1.6 Mbit/s down, 150 ms for a round trip. The observed load gives the cause of each
request, the size of the response and the server's processing time; the simulation sends the same requests over the slow
link, which they share. So the scan of a page that would load for half a minute takes seconds, and the figures do not
depend on how fast the scanner got its responses. The principle is Lighthouse's ("Lantern"). Connections share the link
equally, as TCP does; the responses on one connection (HTTP/2) share it by their priority in browsers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct, field

from website_scan.browser.evidence import LoadedRequest
from website_scan.performance.processor import SLOWDOWN, Processor
from website_scan.performance.request_order import (
    find_layout_blockers,
    is_urgent_request,
    request_delay_s,
    request_urgency,
)
from website_scan.urls import origin_of

BYTES_PER_S = 1_600_000 / 8
ROUND_TRIP_S = 0.15
CONNECTIONS = 6  # Limit of HTTP/1.1 connections to an origin in browsers.
FIRST_FLIGHT_BYTES = 14_600  # Bytes that a new connection can transfer in its first round trip (RFC 6928).
BYTES_TOLERANCE, SHARE_TOLERANCE = 0.5, 1e-9  # Smaller numbers are rounding errors and count as zero.
MAX_REQUESTS = 400


class _Transfer(Struct):
    """Simulated request and response, in seconds since the navigation."""

    index: int
    request: LoadedRequest
    parents: set[int]  # Indexes of the requests that must end before this request begins.
    delay_s: float  # Delay of the request after the end of its last parent.
    server_time_s: float  # Processing time of the server.
    requested_s: float = 0.0
    response_start_s: float = 0.0  # Earliest time at which the first byte may arrive.
    remaining_bytes: float = 0.0
    # A server sends a full congestion window, then waits for the first acknowledgement.
    window_bytes: float = FIRST_FLIGHT_BYTES  # Congestion window when the response begins.
    remaining_window_bytes: float = 0.0
    acknowledgement_s: float = 0.0
    # The browser discovers further URLs when these numbers of document bytes remain. The last number is reached next.
    marks: list[float] = field(default_factory=list)

    @property
    def size(self) -> float:
        return float(max(self.request.wire_bytes, 1))

    def is_receiving(self, now_s: float) -> bool:
        return self.response_start_s <= now_s and (
            self.remaining_window_bytes > BYTES_TOLERANCE or self.acknowledgement_s <= now_s
        )

    def bytes_to_next_event(self, now_s: float) -> float:
        """Return the bytes until the next event of a response.

        This is its end, its next mark, or a full congestion window.
        """
        bytes_to_mark = self.remaining_bytes - self.marks[-1] if self.marks else self.remaining_bytes
        return min(bytes_to_mark, self.remaining_window_bytes) if self.acknowledgement_s > now_s else bytes_to_mark


class Arrival(NamedTuple):
    """Simulated times of a request and its response.

    They are in seconds since the navigation began.
    """

    requested_s: float
    first_byte_s: float
    end_s: float


class Schedule(Struct, frozen=True):
    """Simulated arrival of each response.

    `document` has pairs of a time and the share of the document, 0 to 1, that has arrived by then.
    """

    arrivals: tuple[Arrival, ...] = ()
    document: tuple[tuple[float, float], ...] = ()

    def document_share_at(self, at_s: float) -> float:
        """Return the share of the document, 0 to 1, that has arrived at `at_s`."""
        return _interpolate_linearly(self.document, at_s)

    def document_arrival_s(self, share: float) -> float:
        """Return when the given share of the document, 0 to 1, has arrived."""
        return _interpolate_linearly([(part, at_s) for at_s, part in self.document], share)


def simulate_requests(
    requests: Sequence[LoadedRequest],
    processor: Processor,
    places: Mapping[str, float] = {},
    redirects: Sequence[str] = (),
) -> Schedule:
    """Simulate the requests on the slow link.

    The arrivals are in the order of `requests`.

    The first request is the document. `processor` has the main-thread work that led to the others. `places` are the
    positions, 0 to 1, of URLs in the document's source; `redirects` are the URLs that led to the document. Only the
    first 400 requests share the link; all others are assumed to end with the last of the 400.
    """
    if not requests:
        return Schedule()
    schedule = _SlowLink(requests[:MAX_REQUESTS], processor, places).run(redirects)
    last = max(schedule.arrivals, key=lambda arrival: arrival.end_s)
    return Schedule(schedule.arrivals + (last,) * (len(requests) - len(schedule.arrivals)), schedule.document)


def parsing_delay_s(document: LoadedRequest, processor: Processor) -> float:
    """Return the seconds before a phone starts parsing.

    They begin at the document's first byte.
    """
    response_s = document.response_s or 0.0
    return SLOWDOWN * processor.work_s(response_s, processor.parsing_start_s(response_s))


class _SlowLink:
    def __init__(self, requests: Sequence[LoadedRequest], processor: Processor, places: Mapping[str, float]) -> None:
        self._parsing_delay_s = parsing_delay_s(requests[0], processor)
        self._transfers = _build_transfers(requests, processor, places)
        self._ends: list[float | None] = [None] * len(requests)
        self._children: dict[int, list[_Transfer]] = defaultdict(list)
        for transfer in self._transfers[1:]:
            for parent in transfer.parents:
                self._children[parent].append(transfer)
        self._places = places
        self._busy: Counter[str] = Counter()  # Connections in use, by origin.
        self._windows: dict[str, list[float]] = defaultdict(list)  # Congestion windows of idle connections, by origin.
        self._connected_s: dict[str, float] = {}  # Time when the first connection is established, by origin.
        self._queued: dict[str, list[_Transfer]] = defaultdict(list)
        self._active: list[_Transfer] = []
        self._scheduled: list[tuple[float, int, _Transfer]] = []
        self._document: list[tuple[float, float]] = []
        self._now = 0.0

    def run(self, redirects: Sequence[str]) -> Schedule:
        for origin in map(origin_of, redirects):
            self._now += ROUND_TRIP_S + (0.0 if origin in self._connected_s else connection_setup_s(origin))
            self._connected_s[origin] = self._now
            self._windows[origin] = [FIRST_FLIGHT_BYTES]
        document = self._transfers[0]
        self._send_request(document)
        document.requested_s = 0.0
        while self._active or self._scheduled:
            self._advance_to_next_event()
        latest = self._now
        arrivals = tuple(
            Arrival(latest, latest, latest)
            if end is None
            else Arrival(transfer.requested_s, transfer.response_start_s, end)
            for transfer, end in zip(self._transfers, self._ends, strict=True)
        )
        return Schedule(arrivals, tuple(self._document))

    def _advance_to_next_event(self) -> None:
        """Advance the clock to the next event.

        A request begins, or a response begins, pauses or ends.
        """
        self._record_progress()
        receiving = [transfer for transfer in self._active if transfer.is_receiving(self._now)]
        rates = _compute_rates(receiving)
        waiting = [transfer for transfer in self._active if not transfer.is_receiving(self._now)]
        moments = [
            max(
                transfer.response_start_s, transfer.acknowledgement_s if transfer.response_start_s <= self._now else 0.0
            )
            for transfer in waiting
        ]
        moments += [start_s for start_s, _, _ in self._scheduled]
        steps = [transfer.bytes_to_next_event(self._now) for transfer in receiving]
        step_ends_s = [self._now + size / rate for size, rate in zip(steps, rates, strict=True)]
        next_event_s = max(min(moments + step_ends_s), self._now)
        elapsed_s = next_event_s - self._now
        self._now = next_event_s
        for transfer, size, rate, end_s in zip(receiving, steps, rates, step_ends_s, strict=True):
            # Late in a long simulation, a float cannot resolve the time of the last bytes.
            moved = size if end_s <= next_event_s else min(size, elapsed_s * rate)
            transfer.remaining_bytes -= moved
            transfer.remaining_window_bytes -= moved
            if not transfer.index:
                self._read_document(transfer)
            if transfer.remaining_bytes <= BYTES_TOLERANCE:
                self._finish_transfer(transfer)
        due = [transfer for start_s, _, transfer in self._scheduled if start_s <= self._now]
        self._scheduled = [entry for entry in self._scheduled if entry[0] > self._now]
        # The first requests use idle connections, the others open new ones, the most urgent first.
        unconnected = [transfer for transfer in due if not self._uses_idle_connection(transfer)]
        for transfer in sorted(unconnected, key=lambda transfer: -request_urgency(transfer.request)):
            self._send_request(transfer)

    def _uses_idle_connection(self, transfer: _Transfer) -> bool:
        """Send a request if its origin has an idle connection."""
        has_idle_connection = bool(self._windows[origin_of(transfer.request.url)])
        if has_idle_connection:
            self._send_request(transfer)
        return has_idle_connection

    def _send_request(self, transfer: _Transfer) -> None:
        """Send or queue a request.

        It is queued if all connections to its origin are in use.
        """
        origin = origin_of(transfer.request.url)
        transfer.requested_s = transfer.requested_s or self._now
        if not _uses_shared_connection(transfer.request) and self._busy[origin] >= CONNECTIONS:
            self._queued[origin].append(transfer)
            return
        self._busy[origin] += 1
        request = transfer.request
        connection_wait_s = self._connection_wait_s(request, origin)
        if windows := self._windows[origin]:
            transfer.window_bytes = windows[-1] if _uses_shared_connection(request) else windows.pop()
        # Each redirect takes one more round trip.
        transfer.response_start_s = (
            self._now + connection_wait_s + ROUND_TRIP_S * (1 + request.redirects) + transfer.server_time_s
        )
        transfer.remaining_bytes = transfer.size
        transfer.remaining_window_bytes, transfer.acknowledgement_s = (
            transfer.window_bytes,
            transfer.response_start_s + ROUND_TRIP_S,
        )
        self._active.append(transfer)
        if not transfer.index:
            self._mark_references(transfer)

    def _connection_wait_s(self, request: LoadedRequest, origin: str) -> float:
        """Return the seconds until the request gets a connection."""
        if _uses_shared_connection(request):
            return max(0.0, self._connected_s.setdefault(origin, self._now + connection_setup_s(origin)) - self._now)
        if self._windows[origin]:
            return 0.0
        # Only the first connection to an origin needs a DNS lookup.
        connection_wait_s = connection_setup_s(origin) - (ROUND_TRIP_S if origin in self._connected_s else 0.0)
        self._connected_s.setdefault(origin, self._now)
        return connection_wait_s

    def _mark_references(self, document: _Transfer) -> None:
        """Mark the position of each URL in the markup.

        The simulated preload scanner finds a URL when its mark arrives.
        """
        size = document.size
        document.marks = sorted(
            {
                size * (1 - self._position_in_document(child))
                for child in self._children[0]
                if self._starts_before_document_ends(child)
            }
        )

    def _read_document(self, document: _Transfer) -> None:
        """Schedule the requests for URLs that have arrived."""
        self._record_progress()
        size = document.size
        while document.marks and document.remaining_bytes <= document.marks[-1] + BYTES_TOLERANCE:
            document.marks.pop()
        arrived = 1 - (document.marks[-1] if document.marks else 0.0) / size - SHARE_TOLERANCE
        self._schedule_children(
            0,
            self._parse_time_s(self._now),
            lambda child: self._starts_before_document_ends(child) and self._position_in_document(child) < arrived,
        )

    def _parse_time_s(self, at_s: float) -> float:
        """Return when a phone parses a part of the document.

        This part has arrived at `at_s`.
        """
        return max(at_s, self._transfers[0].response_start_s + self._parsing_delay_s)

    def _record_progress(self) -> None:
        """Record the share of the document that has arrived at the current time."""
        document = self._transfers[0]
        if self._ends[0] is None:
            self._document.append((self._now, 1 - document.remaining_bytes / document.size))

    def _position_in_document(self, transfer: _Transfer) -> float:
        return self._places.get(transfer.request.url, 0.0 if is_urgent_request(transfer.request) else 1.0)

    def _starts_before_document_ends(self, transfer: _Transfer) -> bool:
        """Return True if a request may start before the document is complete."""
        return is_urgent_request(transfer.request) or transfer.request.url in self._places

    def _finish_transfer(self, transfer: _Transfer) -> None:
        self._active.remove(transfer)
        self._ends[transfer.index] = self._now
        origin = origin_of(transfer.request.url)
        self._busy[origin] -= 1
        # Each acknowledged byte widens the congestion window by one byte (slow start).
        self._windows[origin] = sorted([*self._windows[origin], transfer.window_bytes + transfer.request.wire_bytes])
        if self._queued[origin]:
            waiting = self._queued[origin]
            most_urgent = max(waiting, key=lambda transfer: request_urgency(transfer.request))
            waiting.remove(most_urgent)
            self._send_request(most_urgent)
        self._schedule_children(transfer.index, self._now if transfer.index else self._parse_time_s(self._now))

    def _schedule_children(
        self, index: int, at_s: float, is_child_due: Callable[[_Transfer], bool] = lambda _: True
    ) -> None:
        """Schedule the requests that waited only for the request `index`.

        Each begins after its delay.
        """
        children = self._children.pop(index, [])
        self._children[index] = [child for child in children if not is_child_due(child)]
        for child in filter(is_child_due, children):
            child.parents.remove(index)
            if not child.parents:
                self._scheduled.append((at_s + child.delay_s, child.index, child))


def _compute_rates(receiving: Sequence[_Transfer]) -> list[float]:
    """Return the bytes per second of each transfer."""
    connections = [
        origin_of(transfer.request.url) if _uses_shared_connection(transfer.request) else str(transfer.index)
        for transfer in receiving
    ]
    urgency: dict[str, float] = defaultdict(float)
    for name, transfer in zip(connections, receiving, strict=True):
        urgency[name] += request_urgency(transfer.request)
    return [
        BYTES_PER_S / len(urgency) * request_urgency(transfer.request) / urgency[name]
        for name, transfer in zip(connections, receiving, strict=True)
    ]


def _interpolate_linearly(points: Sequence[tuple[float, float]], at: float) -> float:
    """Interpolate linearly between sorted points."""
    if not points or at <= points[0][0]:
        return points[0][1] if points else 0.0
    for (left, low), (right, high) in pairwise(points):
        if at <= right:
            return low + (high - low) * ((at - left) / (right - left) if right > left else 1.0)
    return points[-1][1]


def _build_transfers(
    requests: Sequence[LoadedRequest], processor: Processor, places: Mapping[str, float]
) -> list[_Transfer]:
    """Build the requests' transfers, and find their parents.

    A parent may be the document or a script.
    """
    index_by_url: dict[str, int] = {}
    # Only waits that are longer than the shortest one count as server time, because that is the round trip.
    shortest_wait_by_origin: dict[str, float] = {}
    for request in requests:
        origin = origin_of(request.url)
        shortest_wait_by_origin[origin] = min(shortest_wait_by_origin.get(origin, request.wait_s), request.wait_s)
    transfers: list[_Transfer] = []
    for index, request in enumerate(requests):
        parents, delay_s = set[int](), 0.0
        if index:
            # No other code sends requests while a script runs.
            run = processor.find_running_script(request.start_s)
            parent = index_by_url.get(run.url if run else request.initiator.partition("#")[0], 0)
            run = run or (processor.find_evaluation(requests[parent].url, request.start_s) if parent else None)
            is_in_markup = not parent and request.url in places
            parents = {parent} | find_layout_blockers(requests, index, parent, is_in_markup=is_in_markup)
            delay_s = request_delay_s(requests[parent], request, run, processor, is_in_markup=is_in_markup)
        server_time_s = request.wait_s - shortest_wait_by_origin[origin_of(request.url)]
        transfers.append(_Transfer(index, request, parents, delay_s, server_time_s))
        index_by_url.setdefault(request.url, index)
    return transfers


def _uses_shared_connection(request: LoadedRequest) -> bool:
    """Return True if the request shares a connection (HTTP/2, HTTP/3)."""
    return request.protocol in ("h2", "h3")


def connection_setup_s(origin: str) -> float:
    """Return the seconds to connect to a new origin.

    They include DNS, TCP and, with https, TLS.
    """
    return ROUND_TRIP_S * (3 if origin.startswith(("https:", "wss:")) else 2)
