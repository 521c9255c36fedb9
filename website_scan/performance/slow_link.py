"""Simulation of a slow mobile connection: when the requests that a browser made would begin and end on a slow link.

The link is Lighthouse's slow 4G: 1.6 Mbit/s down, 150 ms for a round trip. The observed load gives the cause of each
request, the size of the response and the server's processing time; the simulation sends the same requests over the slow
link, which they share. So the scan of a page that would load for half a minute takes seconds, and the figures do not
depend on how fast the scanner got its responses. The principle is Lighthouse's ("Lantern"). Connections share the link
equally, as TCP does; the responses on one connection (HTTP/2) share it by their priority in browsers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from website_scan.browser.evidence import Evaluation, LoadedRequest
from website_scan.page.references import ResourceKind
from website_scan.performance.processor import SLOWDOWN, Processor
from website_scan.urls import origin_of

BYTES_PER_S = 1_600_000 / 8
ROUND_TRIP_S = 0.15
CONNECTIONS = 6  # connections of a browser to one origin with HTTP/1.1
FIRST_FLIGHT_BYTES = 14_600  # capacity of a new connection in its first round trip (RFC 6928)
ALMOST_BYTES, ALMOST = 0.5, 1e-9  # tolerances for rounding: smaller numbers count as zero
# A request that begins later than this after its parent has waited for something else: a timer, or work.
PAUSE_S = 0.1
MAX_REQUESTS = 400
MAX_PAUSE_S = 2.0

# Weight of a response on a shared connection, and priority when requests wait for one: roughly Chrome's priorities.
BLOCKING_SCRIPT = 6.0
URGENCY: Mapping[ResourceKind | None, float] = {
    None: 8.0,
    ResourceKind.STYLESHEET: 8.0,
    ResourceKind.FONT: 6.0,
    ResourceKind.SCRIPT: 4.0,
    ResourceKind.OTHER: 3.0,
    ResourceKind.IMAGE: 1.0,
    ResourceKind.ICON: 1.0,
    ResourceKind.MEDIA: 1.0,
}


@dataclass(slots=True)
class _Transfer:
    """Simulated request and response. Times in seconds since the navigation began."""

    index: int
    request: LoadedRequest
    parents: set[int]  # requests that must end before this request begins
    delay_s: float  # delay between the end of the last parent and this request
    server_s: float  # processing time of the server
    requested_s: float = 0.0
    ready_s: float = 0.0  # when the first byte may arrive
    remaining_bytes: float = 0.0
    # A connection sends as much as its congestion window allows, then waits for the first acknowledgement.
    window_bytes: float = FIRST_FLIGHT_BYTES  # size of the window when the response begins
    window_left_bytes: float = 0.0
    acknowledged_s: float = 0.0
    # Remaining bytes at which a part of the document with further requests has arrived; the next mark is the last item.
    marks: list[float] = field(default_factory=list)

    @property
    def size(self) -> float:
        return float(max(self.request.wire_bytes, 1))

    def is_receiving(self, now_s: float) -> bool:
        return self.ready_s <= now_s and (self.window_left_bytes > ALMOST_BYTES or self.acknowledged_s <= now_s)

    def next_bytes(self, now_s: float) -> float:
        """Return the bytes until the end of the response, its next mark or the end of the window."""
        until_mark = self.remaining_bytes - self.marks[-1] if self.marks else self.remaining_bytes
        return min(until_mark, self.window_left_bytes) if self.acknowledged_s > now_s else until_mark


class Arrival(NamedTuple):
    """Simulated times of a request, in seconds since the navigation began."""

    requested_s: float
    first_byte_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """Simulated arrival of each response. `document` has times, in order, and the share of the document, 0 to 1."""

    arrivals: tuple[Arrival, ...] = ()
    document: tuple[tuple[float, float], ...] = ()

    def share_at(self, at_s: float) -> float:
        """Return the share of the document, 0 to 1, that has arrived at a time."""
        return _interpolate(self.document, at_s)

    def arrived_s(self, share: float) -> float:
        """Return when a share of the document, 0 to 1, has arrived."""
        return _interpolate([(part, at_s) for at_s, part in self.document], share)


def simulate(
    requests: Sequence[LoadedRequest],
    processor: Processor,
    places: Mapping[str, float] = {},
    redirects: Sequence[str] = (),
) -> Schedule:
    """Simulate the requests on the slow link and return their arrivals, in the order of `requests`.

    The first request is the document. `processor` has the main-thread work that led to the others. `places` are the
    positions, 0 to 1, of URLs in the document's source; `redirects` are the URLs that led to the document. Only the
    first 400 requests share the link; all others are assumed to end with the last of the 400.
    """
    if not requests:
        return Schedule()
    schedule = _Link(requests[:MAX_REQUESTS], processor, places).run(redirects)
    last = max(schedule.arrivals, key=lambda arrival: arrival.end_s)
    return Schedule(schedule.arrivals + (last,) * (len(requests) - len(schedule.arrivals)), schedule.document)


def commit_s(document: LoadedRequest, processor: Processor) -> float:
    """Return how long the phone works between the document's first byte and the start of parsing, in seconds."""
    response_s = document.response_s or 0.0
    return SLOWDOWN * processor.work_s(response_s, processor.parsing_start_s(response_s))


class _Link:
    def __init__(self, requests: Sequence[LoadedRequest], processor: Processor, places: Mapping[str, float]) -> None:
        self._commit_s = commit_s(requests[0], processor)
        self._transfers = _transfers(requests, processor, places)
        self._ends: list[float | None] = [None] * len(requests)
        self._children: dict[int, list[_Transfer]] = defaultdict(list)
        for transfer in self._transfers[1:]:
            for parent in transfer.parents:
                self._children[parent].append(transfer)
        self._places = places
        self._busy: Counter[str] = Counter()  # number of connections in use, by origin
        self._windows: dict[str, list[float]] = defaultdict(list)  # windows of idle connections, by origin
        self._connected_s: dict[str, float] = {}  # when the first connection to an origin is established
        self._queued: dict[str, list[_Transfer]] = defaultdict(list)
        self._active: list[_Transfer] = []
        self._scheduled: list[tuple[float, int, _Transfer]] = []
        self._document: list[tuple[float, float]] = []
        self._now = 0.0

    def run(self, redirects: Sequence[str]) -> Schedule:
        for origin in map(origin_of, redirects):
            self._now += ROUND_TRIP_S + (0.0 if origin in self._connected_s else set_up_s(origin))
            self._connected_s[origin] = self._now
            self._windows[origin] = [FIRST_FLIGHT_BYTES]
        document = self._transfers[0]
        self._request(document)
        document.requested_s = 0.0
        while self._active or self._scheduled:
            self._step()
        latest = self._now
        arrivals = tuple(
            Arrival(latest, latest, latest) if end is None else Arrival(transfer.requested_s, transfer.ready_s, end)
            for transfer, end in zip(self._transfers, self._ends, strict=True)
        )
        return Schedule(arrivals, tuple(self._document))

    def _step(self) -> None:
        """Advance to the next event: a response begins, pauses, passes a mark or ends, or a request begins."""
        self._record_progress()
        receiving = [transfer for transfer in self._active if transfer.is_receiving(self._now)]
        rates = _rates(receiving)
        waiting = [transfer for transfer in self._active if not transfer.is_receiving(self._now)]
        moments = [
            max(transfer.ready_s, transfer.acknowledged_s if transfer.ready_s <= self._now else 0.0)
            for transfer in waiting
        ]
        moments += [start_s for start_s, _, _ in self._scheduled]
        steps = [transfer.next_bytes(self._now) for transfer in receiving]
        step_ends_s = [self._now + size / rate for size, rate in zip(steps, rates, strict=True)]
        next_s = max(min(moments + step_ends_s), self._now)
        elapsed_s = next_s - self._now
        self._now = next_s
        for item, size, rate, end_s in zip(receiving, steps, rates, step_ends_s, strict=True):
            # Compare the clock as well: late in a very long simulation, the last bytes take less time than a float can
            # resolve.
            moved = size if end_s <= next_s else min(size, elapsed_s * rate)
            item.remaining_bytes -= moved
            item.window_left_bytes -= moved
            if not item.index:
                self._read_document(item)
            if item.remaining_bytes <= ALMOST_BYTES:
                self._end(item)
        due = [transfer for start_s, _, transfer in self._scheduled if start_s <= self._now]
        self._scheduled = [entry for entry in self._scheduled if entry[0] > self._now]
        # The first requests use the idle connections; the others open new connections, the most urgent first.
        unconnected = [transfer for transfer in due if not self._uses_idle_connection(transfer)]
        for transfer in sorted(unconnected, key=lambda transfer: -_urgency(transfer.request)):
            self._request(transfer)

    def _uses_idle_connection(self, transfer: _Transfer) -> bool:
        """Send a request if its origin has an idle connection. Return True if so."""
        has_idle_connection = bool(self._windows[origin_of(transfer.request.url)])
        if has_idle_connection:
            self._request(transfer)
        return has_idle_connection

    def _request(self, transfer: _Transfer) -> None:
        """Send a request, or queue it if all connections to its origin are in use."""
        origin = origin_of(transfer.request.url)
        transfer.requested_s = transfer.requested_s or self._now
        if not _is_shared(transfer.request) and self._busy[origin] >= CONNECTIONS:
            self._queued[origin].append(transfer)
            return
        self._busy[origin] += 1
        request = transfer.request
        opened_s = self._connection_wait_s(request, origin)
        if windows := self._windows[origin]:
            transfer.window_bytes = windows[-1] if _is_shared(request) else windows.pop()
        # Each redirect costs one more round trip.
        transfer.ready_s = self._now + opened_s + ROUND_TRIP_S * (1 + request.redirects) + transfer.server_s
        transfer.remaining_bytes = transfer.size
        transfer.window_left_bytes, transfer.acknowledged_s = transfer.window_bytes, transfer.ready_s + ROUND_TRIP_S
        self._active.append(transfer)
        if not transfer.index:
            self._mark_references(transfer)

    def _connection_wait_s(self, request: LoadedRequest, origin: str) -> float:
        """Return the seconds until a request has a connection to its origin."""
        if _is_shared(request):
            return max(0.0, self._connected_s.setdefault(origin, self._now + set_up_s(origin)) - self._now)
        if self._windows[origin]:
            return 0.0
        # The DNS lookup of an origin happens once.
        opened_s = set_up_s(origin) - (ROUND_TRIP_S if origin in self._connected_s else 0.0)
        self._connected_s.setdefault(origin, self._now)
        return opened_s

    def _mark_references(self, document: _Transfer) -> None:
        """Set a mark at each URL in the markup, so that the preload scanner finds the URL as soon as it arrives."""
        size = document.size
        document.marks = sorted(
            {size * (1 - self._position(child)) for child in self._children[0] if self._is_early(child)}
        )

    def _read_document(self, document: _Transfer) -> None:
        """Schedule the requests for the part of the document that has arrived."""
        self._record_progress()
        size = document.size
        while document.marks and document.remaining_bytes <= document.marks[-1] + ALMOST_BYTES:
            document.marks.pop()
        arrived = 1 - (document.marks[-1] if document.marks else 0.0) / size - ALMOST
        self._schedule(
            0, self._parsed_s(self._now), lambda child: self._is_early(child) and self._position(child) < arrived
        )

    def _parsed_s(self, at_s: float) -> float:
        """Return when the phone parses the part of the document that has arrived at a time."""
        return max(at_s, self._transfers[0].ready_s + self._commit_s)

    def _record_progress(self) -> None:
        """Record which share of the document has arrived by now."""
        document = self._transfers[0]
        if self._ends[0] is None:
            self._document.append((self._now, 1 - document.remaining_bytes / document.size))

    def _position(self, transfer: _Transfer) -> float:
        return self._places.get(transfer.request.url, 0.0 if _is_urgent(transfer.request) else 1.0)

    def _is_early(self, transfer: _Transfer) -> bool:
        """Return True if a request does not wait for the whole document."""
        return _is_urgent(transfer.request) or transfer.request.url in self._places

    def _end(self, transfer: _Transfer) -> None:
        self._active.remove(transfer)
        self._ends[transfer.index] = self._now
        origin = origin_of(transfer.request.url)
        self._busy[origin] -= 1
        # Each acknowledged byte widens the window by one (slow start).
        self._windows[origin] = sorted([*self._windows[origin], transfer.window_bytes + transfer.request.wire_bytes])
        if self._queued[origin]:
            waiting = self._queued[origin]
            most_urgent = max(waiting, key=lambda transfer: _urgency(transfer.request))
            waiting.remove(most_urgent)
            self._request(most_urgent)
        self._schedule(transfer.index, self._now if transfer.index else self._parsed_s(self._now))

    def _schedule(self, index: int, at_s: float, is_due: Callable[[_Transfer], bool] = lambda _: True) -> None:
        """Schedule the requests whose last parent is the request `index`, each after its delay."""
        children = self._children.pop(index, [])
        self._children[index] = [child for child in children if not is_due(child)]
        for child in filter(is_due, children):
            child.parents.remove(index)
            if not child.parents:
                self._scheduled.append((at_s + child.delay_s, child.index, child))


def _rates(receiving: Sequence[_Transfer]) -> list[float]:
    """Return bytes per second of each transfer: connections share the link equally, and transfers by urgency."""
    connections = [
        origin_of(transfer.request.url) if _is_shared(transfer.request) else str(transfer.index)
        for transfer in receiving
    ]
    urgency: dict[str, float] = defaultdict(float)
    for name, item in zip(connections, receiving, strict=True):
        urgency[name] += _urgency(item.request)
    return [
        BYTES_PER_S / len(urgency) * _urgency(transfer.request) / urgency[name]
        for name, transfer in zip(connections, receiving, strict=True)
    ]


def _interpolate(points: Sequence[tuple[float, float]], at: float) -> float:
    """Return the value at a position, interpolated linearly between points that are in order."""
    if not points or at <= points[0][0]:
        return points[0][1] if points else 0.0
    for (left, low), (right, high) in pairwise(points):
        if at <= right:
            return low + (high - low) * ((at - left) / (right - left) if right > left else 1.0)
    return points[-1][1]


def _transfers(requests: Sequence[LoadedRequest], processor: Processor, places: Mapping[str, float]) -> list[_Transfer]:
    """Return each request with its parents: the document, unless a style sheet or script initiated it."""
    by_url: dict[str, int] = {}
    # The shortest wait for an origin counts as its observed round trip, which the slow link's round trip replaces.
    shortest: dict[str, float] = {}
    for request in requests:
        origin = origin_of(request.url)
        shortest[origin] = min(shortest.get(origin, request.wait_s), request.wait_s)
    transfers: list[_Transfer] = []
    for index, request in enumerate(requests):
        parents, delay_s = set[int](), 0.0
        if index:
            # While a script runs, no other code makes requests, so requests of elements that it inserts are its own.
            run = processor.script_running_at(request.start_s)
            parent = by_url.get(run.url if run else request.initiator.partition("#")[0], 0)
            run = run or (processor.evaluation_of(requests[parent].url, request.start_s) if parent else None)
            is_in_markup = not parent and request.url in places
            parents = {parent} | _layout_parents(requests, index, parent, is_in_markup=is_in_markup)
            delay_s = _delay_s(requests[parent], request, run, processor, is_in_markup=is_in_markup)
        server_s = request.wait_s - shortest[origin_of(request.url)]
        transfers.append(_Transfer(index, request, parents, delay_s, server_s))
        by_url.setdefault(request.url, index)
    return transfers


def _layout_parents(requests: Sequence[LoadedRequest], index: int, parent: int, *, is_in_markup: bool) -> set[int]:
    """Return the blocking requests that layout waited for, if layout caused request `index`; else none.

    Layout causes requests for fonts and for images of style sheets: it decides which rules apply.
    """
    is_by_sheet = requests[parent].kind is ResourceKind.STYLESHEET
    is_font = requests[index].kind is ResourceKind.FONT and not is_in_markup
    if not is_font and (not is_by_sheet or requests[index].kind is ResourceKind.STYLESHEET):
        return set()
    began_s = requests[index].start_s
    return {
        at
        for at, request in enumerate(requests[:index])
        if request.is_blocking and request.end_s is not None and request.end_s <= began_s
    }


def _delay_s(
    parent: LoadedRequest, request: LoadedRequest, run: Evaluation | None, processor: Processor, *, is_in_markup: bool
) -> float:
    """Return the seconds from the parent's arrival to the request: work on a slow processor, and idle pauses.

    With `is_in_markup` there is no work: the preload scanner found the URL in the markup of the document.
    """
    since_s = parent.end_s
    if since_s is not None and parent.kind is None:
        # Urgent requests do not wait for the whole document, but no request begins before its parsing.
        parsed_s = processor.parsing_start_s(parent.response_s or 0.0)
        since_s = parsed_s if _is_urgent(request) else max(since_s, parsed_s)
    if since_s is None or request.start_s <= since_s:
        return 0.0
    work_s = 0.0 if is_in_markup else processor.work_s(max(since_s, run.time_s if run else 0.0), request.start_s)
    idle_s = processor.idle_s(since_s, request.start_s)
    return SLOWDOWN * work_s + (min(idle_s, MAX_PAUSE_S) if idle_s > PAUSE_S else 0.0)


def _urgency(request: LoadedRequest) -> float:
    if request.is_blocking:
        return BLOCKING_SCRIPT if request.kind is ResourceKind.SCRIPT else URGENCY[ResourceKind.STYLESHEET]
    return URGENCY[request.kind]


def _is_urgent(request: LoadedRequest) -> bool:
    return _urgency(request) > URGENCY[ResourceKind.OTHER]


def _is_shared(request: LoadedRequest) -> bool:
    """Return True if the request shares one connection with other requests to its origin."""
    return request.protocol in ("h2", "h3")


def set_up_s(origin: str) -> float:
    """Return the seconds to connect to a new origin: DNS, TCP, and TLS."""
    return ROUND_TRIP_S * (3 if origin.startswith(("https:", "wss:")) else 2)
