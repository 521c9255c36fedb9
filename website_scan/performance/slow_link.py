"""Simulation of a slow phone link: when the requests that a browser made would end there.

The link is Lighthouse's slow 4G: 1.6 Mbit/s down, 150 ms for a round trip. The observed load shows which request led to
which, the size of the responses and the servers' processing time; the simulation sends the same requests over the slow
link, which they share. So a page that would take half a minute on such a link loads in seconds, and the figures do not
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
CONNECTIONS = 6  # of a browser to one origin with HTTP/1.1
FIRST_FLIGHT_BYTES = 14_600  # capacity of a new connection in its first round trip (RFC 6928)
ALMOST_BYTES, ALMOST = 0.5, 1e-9  # less is nothing, so that rounding leaves no rest
# A request that began later than this after its parent waited for something else: a timer, or work.
PAUSE_S = 0.1
MAX_REQUESTS = 400
MAX_PAUSE_S = 2.0

# Share of its connection that a response gets relative to others, and its turn to get one: roughly Chrome's priorities.
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
    index: int
    request: LoadedRequest
    parents: set[int]  # requests that must end before it begins
    after_s: float  # between their end and its beginning
    server_s: float  # processing time of the server
    asked_s: float = 0.0
    ready_s: float = 0.0  # when its first byte may arrive
    left_bytes: float = 0.0
    # A connection sends as much as its window allows, then waits for the first acknowledgement.
    window_bytes: float = FIRST_FLIGHT_BYTES  # at the beginning
    flight_bytes: float = 0.0  # left of it
    resumes_s: float = 0.0
    marks: list[float] = field(default_factory=list)  # bytes left at which something happens, the next one last

    @property
    def size(self) -> float:
        return float(max(self.request.wire_bytes, 1))

    def is_flowing(self, now_s: float) -> bool:
        return self.ready_s <= now_s and (self.flight_bytes > ALMOST_BYTES or self.resumes_s <= now_s)

    def next_bytes(self, now_s: float) -> float:
        """Return the bytes until its end, its next mark or the end of its first flight."""
        until_mark = self.left_bytes - self.marks[-1] if self.marks else self.left_bytes
        return min(until_mark, self.flight_bytes) if self.resumes_s > now_s else until_mark


class Arrival(NamedTuple):
    """Times of a request, of its first byte, and of its end, in seconds since the navigation began."""

    asked_s: float
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """Arrival of each request. `document` are times, in order, with the part of the document that is there, 0 to 1."""

    arrivals: tuple[Arrival, ...] = ()
    document: tuple[tuple[float, float], ...] = ()

    def share_at(self, at_s: float) -> float:
        """Return the part of the document that has arrived at that time."""
        return _between(self.document, at_s)

    def arrived_s(self, share: float) -> float:
        """Return when that part of the document has arrived."""
        return _between([(part, at_s) for at_s, part in self.document], share)


def simulate(
    requests: Sequence[LoadedRequest],
    processor: Processor,
    places: Mapping[str, float] = {},
    redirects: Sequence[str] = (),
) -> Schedule:
    """Return the arrival of each request, in the given order. `processor` has the work that led to the requests.

    The first one is the document. `places` are the positions, 0 to 1, of URLs in its source; `redirects` are the URLs
    that led to it. Only the first 400 share the link; any others are assumed to end with the last of these.
    """
    if not requests:
        return Schedule()
    found = _Link(requests[:MAX_REQUESTS], processor, places).run(redirects)
    last = max(found.arrivals, key=lambda each: each.ended_s)
    return Schedule(found.arrivals + (last,) * (len(requests) - len(found.arrivals)), found.document)


def commit_s(document: LoadedRequest, processor: Processor) -> float:
    """Return the time from the document's first byte to its parsing, in which the phone is busy."""
    response_s = document.response_s or 0.0
    return SLOWDOWN * processor.worked_s(response_s, processor.parsed_s(response_s))


class _Link:
    def __init__(self, requests: Sequence[LoadedRequest], processor: Processor, places: Mapping[str, float]) -> None:
        self._commit_s = commit_s(requests[0], processor)
        self._transfers = _transfers(requests, processor, places)
        self._ends: list[float | None] = [None] * len(requests)
        self._children: dict[int, list[_Transfer]] = defaultdict(list)
        for each in self._transfers[1:]:
            for parent in each.parents:
                self._children[parent].append(each)
        self._places = places
        self._busy: Counter[str] = Counter()  # connections in use, by origin
        self._windows: dict[str, list[float]] = defaultdict(list)  # of its idle connections
        self._known: dict[str, float] = {}  # when the first connection to an origin is established
        self._queued: dict[str, list[_Transfer]] = defaultdict(list)
        self._active: list[_Transfer] = []
        self._scheduled: list[tuple[float, int, _Transfer]] = []
        self._document: list[tuple[float, float]] = []
        self._now = 0.0

    def run(self, redirects: Sequence[str]) -> Schedule:
        for origin in map(origin_of, redirects):
            self._now += ROUND_TRIP_S + (0.0 if origin in self._known else set_up_s(origin))
            self._known[origin] = self._now
            self._windows[origin] = [FIRST_FLIGHT_BYTES]
        document = self._transfers[0]
        self._ask(document)
        document.asked_s = 0.0
        while self._active or self._scheduled:
            self._step()
        latest = self._now
        arrivals = tuple(
            Arrival(latest, latest, latest) if end is None else Arrival(each.asked_s, each.ready_s, end)
            for each, end in zip(self._transfers, self._ends, strict=True)
        )
        return Schedule(arrivals, tuple(self._document))

    def _step(self) -> None:
        """Advance to the next event: a transfer begins to flow, pauses, passes a mark or ends, or a request begins."""
        self._note_document()  # also when it resumes
        flowing = [each for each in self._active if each.is_flowing(self._now)]
        rates = _rates(flowing)
        waiting = [each for each in self._active if not each.is_flowing(self._now)]
        moments = [max(each.ready_s, each.resumes_s if each.ready_s <= self._now else 0.0) for each in waiting]
        moments += [at for at, _, _ in self._scheduled]
        steps = [each.next_bytes(self._now) for each in flowing]
        reached = [self._now + size / rate for size, rate in zip(steps, rates, strict=True)]
        following = max(min(moments + reached), self._now)
        passed = following - self._now
        self._now = following
        for each, size, rate, at in zip(flowing, steps, rates, reached, strict=True):
            # Compare the clock as well: late in a very long simulation, the last bytes take less time than a float can
            # resolve.
            moved = size if at <= following else min(size, passed * rate)
            each.left_bytes -= moved
            each.flight_bytes -= moved
            if not each.index:
                self._read_document(each)
            if each.left_bytes <= ALMOST_BYTES:
                self._end(each)
        due = [each for at, _, each in self._scheduled if at <= self._now]
        self._scheduled = [entry for entry in self._scheduled if entry[0] > self._now]
        # Who comes first takes an idle connection; new ones are given out by urgency.
        late = [each for each in due if not self._is_asked_at_once(each)]
        for each in sorted(late, key=lambda each: -_urgency(each.request)):
            self._ask(each)

    def _is_asked_at_once(self, transfer: _Transfer) -> bool:
        is_possible = bool(self._windows[origin_of(transfer.request.url)])
        if is_possible:
            self._ask(transfer)
        return is_possible

    def _ask(self, transfer: _Transfer) -> None:
        origin = origin_of(transfer.request.url)
        transfer.asked_s = transfer.asked_s or self._now
        if not _is_shared(transfer.request) and self._busy[origin] >= CONNECTIONS:
            self._queued[origin].append(transfer)
            return
        self._busy[origin] += 1
        request = transfer.request
        opened_s = self._opened_s(request, origin)
        if windows := self._windows[origin]:
            transfer.window_bytes = windows[-1] if _is_shared(request) else windows.pop()
        # Each redirect costs another round trip.
        transfer.ready_s = self._now + opened_s + ROUND_TRIP_S * (1 + request.redirects) + transfer.server_s
        transfer.left_bytes = transfer.size
        transfer.flight_bytes, transfer.resumes_s = transfer.window_bytes, transfer.ready_s + ROUND_TRIP_S
        self._active.append(transfer)
        if not transfer.index:
            self._look_ahead(transfer)

    def _opened_s(self, request: LoadedRequest, origin: str) -> float:
        """Return the time until a connection stands."""
        if _is_shared(request):
            return max(0.0, self._known.setdefault(origin, self._now + set_up_s(origin)) - self._now)
        if self._windows[origin]:
            return 0.0
        opened_s = set_up_s(origin) - (ROUND_TRIP_S if origin in self._known else 0.0)  # no new DNS lookup
        self._known.setdefault(origin, self._now)
        return opened_s

    def _look_ahead(self, document: _Transfer) -> None:
        """Let the preload scanner find what the markup names when that part of the document arrives."""
        size = document.size
        document.marks = sorted({size * (1 - self._place(each)) for each in self._children[0] if self._is_early(each)})

    def _read_document(self, document: _Transfer) -> None:
        self._note_document()
        size = document.size
        while document.marks and document.left_bytes <= document.marks[-1] + ALMOST_BYTES:
            document.marks.pop()
        there = 1 - (document.marks[-1] if document.marks else 0.0) / size - ALMOST
        self._schedule(0, self._parsed_s(self._now), lambda each: self._is_early(each) and self._place(each) < there)

    def _parsed_s(self, at_s: float) -> float:
        """Return when the phone reads what of the document was there at that time."""
        return max(at_s, self._transfers[0].ready_s + self._commit_s)

    def _note_document(self) -> None:
        document = self._transfers[0]
        if self._ends[0] is None:
            self._document.append((self._now, 1 - document.left_bytes / document.size))

    def _place(self, transfer: _Transfer) -> float:
        return self._places.get(transfer.request.url, 0.0 if _is_urgent(transfer.request) else 1.0)

    def _is_early(self, transfer: _Transfer) -> bool:
        """Return True if it does not wait for the whole document."""
        return _is_urgent(transfer.request) or transfer.request.url in self._places

    def _end(self, transfer: _Transfer) -> None:
        self._active.remove(transfer)
        self._ends[transfer.index] = self._now
        origin = origin_of(transfer.request.url)
        self._busy[origin] -= 1
        # Acknowledged bytes widen the window (slow start).
        self._windows[origin] = sorted([*self._windows[origin], transfer.window_bytes + transfer.request.wire_bytes])
        if self._queued[origin]:
            waiting = self._queued[origin]
            following = max(waiting, key=lambda each: _urgency(each.request))
            waiting.remove(following)
            self._ask(following)
        self._schedule(transfer.index, self._now if transfer.index else self._parsed_s(self._now))

    def _schedule(self, index: int, at_s: float, is_meant: Callable[[_Transfer], bool] = lambda _: True) -> None:
        """Start the requests that a request led to."""
        children = self._children.pop(index, [])
        self._children[index] = [child for child in children if not is_meant(child)]
        for child in filter(is_meant, children):
            child.parents.remove(index)
            if not child.parents:
                self._scheduled.append((at_s + child.after_s, child.index, child))


def _rates(flowing: Sequence[_Transfer]) -> list[float]:
    """Return bytes per second of each transfer: an equal share for each connection, on which urgency decides."""
    connections = [origin_of(each.request.url) if _is_shared(each.request) else str(each.index) for each in flowing]
    urgency: dict[str, float] = defaultdict(float)
    for name, each in zip(connections, flowing, strict=True):
        urgency[name] += _urgency(each.request)
    return [
        BYTES_PER_S / len(urgency) * _urgency(each.request) / urgency[name]
        for name, each in zip(connections, flowing, strict=True)
    ]


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    """Return the value at a position, from points in order, linear between them."""
    if not points or at <= points[0][0]:
        return points[0][1] if points else 0.0
    for (left, low), (right, high) in pairwise(points):
        if at <= right:
            return low + (high - low) * ((at - left) / (right - left) if right > left else 1.0)
    return points[-1][1]


def _transfers(requests: Sequence[LoadedRequest], processor: Processor, places: Mapping[str, float]) -> list[_Transfer]:
    """Return each request with its parents: the document, unless a style sheet or script initiated it."""
    by_url: dict[str, int] = {}
    # The shortest wait for an origin is taken as its round trip; the slow link has its own.
    shortest: dict[str, float] = {}
    for request in requests:
        origin = origin_of(request.url)
        shortest[origin] = min(shortest.get(origin, request.wait_s), request.wait_s)
    found: list[_Transfer] = []
    for index, request in enumerate(requests):
        parents, after_s = set[int](), 0.0
        if index:
            # While a script runs, no other code makes requests: those of elements that it writes into the page are its
            # own.
            run = processor.running(request.start_s)
            parent = by_url.get(run.url if run else request.initiator.partition("#")[0], 0)
            run = run or (processor.evaluated(requests[parent].url, request.start_s) if parent else None)
            is_found = not parent and request.url in places
            parents = {parent} | _laid_out_with(requests, index, parent, is_found=is_found)
            after_s = _after_s(requests[parent], request, run, processor, is_found=is_found)
        server_s = request.wait_s - shortest[origin_of(request.url)]
        found.append(_Transfer(index, request, parents, after_s, server_s))
        by_url.setdefault(request.url, index)
    return found


def _laid_out_with(requests: Sequence[LoadedRequest], index: int, parent: int, *, is_found: bool) -> set[int]:
    """Return the requests that layout waited for, if this is a font, or a style sheet initiated it; else none.

    Layout decides which rules apply, and it needs all blocking resources.
    """
    is_by_sheet = requests[parent].kind is ResourceKind.STYLESHEET
    is_font = requests[index].kind is ResourceKind.FONT and not is_found
    if not is_font and (not is_by_sheet or requests[index].kind is ResourceKind.STYLESHEET):
        return set()
    began_s = requests[index].start_s
    return {
        at
        for at, each in enumerate(requests[:index])
        if each.is_blocking and each.end_s is not None and each.end_s <= began_s
    }


def _after_s(
    parent: LoadedRequest, request: LoadedRequest, run: Evaluation | None, processor: Processor, *, is_found: bool
) -> float:
    """Return the time from the parent's arrival to the request: work on a slow processor, and idle pauses.

    With `is_found` there is no work: the preload scanner found the request in the document's own markup.
    """
    since_s = parent.end_s
    if since_s is not None and parent.kind is None:
        # Urgent requests do not wait for the whole document, but none is made before its parsing.
        parsed_s = processor.parsed_s(parent.response_s or 0.0)
        since_s = parsed_s if _is_urgent(request) else max(since_s, parsed_s)
    if since_s is None or request.start_s <= since_s:
        return 0.0
    work_s = 0.0 if is_found else processor.worked_s(max(since_s, run.time_s if run else 0.0), request.start_s)
    idle_s = processor.idle_s(since_s, request.start_s)
    return SLOWDOWN * work_s + (min(idle_s, MAX_PAUSE_S) if idle_s > PAUSE_S else 0.0)


def _urgency(request: LoadedRequest) -> float:
    if request.is_blocking:
        return BLOCKING_SCRIPT if request.kind is ResourceKind.SCRIPT else URGENCY[ResourceKind.STYLESHEET]
    return URGENCY[request.kind]


def _is_urgent(request: LoadedRequest) -> bool:
    return _urgency(request) > URGENCY[ResourceKind.OTHER]


def _is_shared(request: LoadedRequest) -> bool:
    """Return True if requests to the same origin share one connection."""
    return request.protocol in ("h2", "h3")


def set_up_s(origin: str) -> float:
    """Return the time for a connection to a new origin: DNS, TCP, and TLS."""
    return ROUND_TRIP_S * (3 if origin.startswith(("https:", "wss:")) else 2)
