"""Simulation of a slow phone link: when the requests that a browser made would end there.

The link is Lighthouse's slow 4G: 1.6 Mbit/s down, 150 ms for a round trip. The observed load shows which request led to
which, the size of the responses and the servers' processing time; the simulation sends the same requests over the slow
link, which they share. So a page that would take half a minute on such a link loads in seconds, and the figures do not
depend on how fast the scanner got its responses. The principle is Lighthouse's ("Lantern"); the model here is simpler:
each response gets a share of the link by its priority in browsers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scanner.browser.evidence import Evaluation, LoadedRequest
from scanner.page.references import ResourceKind
from scanner.performance.connections import origin_of
from scanner.performance.processor import SLOWDOWN, Processor

BYTES_PER_S = 1_600_000 / 8
ROUND_TRIP_S = 0.15
CONNECTIONS = 6  # of a browser to one origin with HTTP/1.1
FIRST_FLIGHT_BYTES = 14_600  # capacity of a new connection in its first round trip (RFC 6928)
# A request that began later than this after its parent waited for something else: a timer, or work.
PAUSE_S = 0.1
MAX_REQUESTS = 400
MAX_PAUSE_S = 2.0

# Share of the link that a response gets relative to others (roughly Chrome's priorities).
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
    is_first: bool = False  # the first on its connection


class Arrival(NamedTuple):
    """Times of a request, of its first byte, and of its end, in seconds since the navigation began."""

    asked_s: float
    began_s: float
    ended_s: float


def simulate(requests: Sequence[LoadedRequest], processor: Processor) -> tuple[Arrival, ...]:
    """Return the arrival of each request, in the given order. `processor` has the work that led to the requests.

    The first one is the document. Only the first 400 share the link; any others are assumed to end with the last of
    these.
    """
    if not requests:
        return ()
    found = _Link(requests[:MAX_REQUESTS], processor).run()
    return found + (max(found, key=lambda each: each.ended_s),) * (len(requests) - len(found))


class _Link:
    def __init__(self, requests: Sequence[LoadedRequest], processor: Processor) -> None:
        self._transfers = _transfers(requests, processor)
        self._ends: list[float | None] = [None] * len(requests)
        self._children: dict[int, list[_Transfer]] = defaultdict(list)
        for each in self._transfers[1:]:
            for parent in each.parents:
                self._children[parent].append(each)
        self._busy: Counter[str] = Counter()  # connections in use, by origin
        self._open: Counter[str] = Counter()
        self._known: dict[str, float] = {}  # when the first connection to an origin is established
        self._queued: dict[str, list[_Transfer]] = defaultdict(list)
        self._active: list[_Transfer] = []
        self._scheduled: list[tuple[float, int, _Transfer]] = []
        self._now = 0.0

    def run(self) -> tuple[Arrival, ...]:
        self._ask(self._transfers[0])
        while self._active or self._scheduled:
            self._step()
        latest = self._now
        return tuple(
            Arrival(latest, latest, latest) if end is None else Arrival(each.asked_s, each.ready_s, end)
            for each, end in zip(self._transfers, self._ends, strict=True)
        )

    def _step(self) -> None:
        """Advance to the next event: a transfer begins to flow or ends, or a request begins."""
        flowing = [each for each in self._active if each.ready_s <= self._now]
        total = sum(_urgency(each.request) for each in flowing)
        moments = [each.ready_s for each in self._active if each.ready_s > self._now]
        moments += [at for at, _, _ in self._scheduled]
        ends = [self._now + each.left_bytes * total / (_urgency(each.request) * BYTES_PER_S) for each in flowing]
        following = max(min(moments + ends), self._now)
        passed = following - self._now
        self._now = following
        for each in flowing:
            each.left_bytes -= passed * BYTES_PER_S * _urgency(each.request) / total
        # Compare the clock as well: late in a very long simulation, the last bytes take less time than a float can
        # resolve.
        for each in [each for each, at in zip(flowing, ends, strict=True) if each.left_bytes <= 0.5 or at <= following]:
            self._end(each)
        due = [each for at, _, each in self._scheduled if at <= self._now]
        self._scheduled = [entry for entry in self._scheduled if entry[0] > self._now]
        for each in due:
            self._ask(each)

    def _ask(self, transfer: _Transfer) -> None:
        origin = origin_of(transfer.request.url)
        transfer.asked_s = transfer.asked_s or self._now
        if not _is_shared(transfer.request) and self._busy[origin] >= CONNECTIONS:
            self._queued[origin].append(transfer)
            return
        self._busy[origin] += 1
        opened_s = 0.0
        if _is_shared(transfer.request):
            stands = self._known.get(origin)
            if stands is None:
                opened_s = set_up_s(origin)
                self._known[origin] = self._now + opened_s
                transfer.is_first = True
            else:
                opened_s = max(0.0, stands - self._now)
        elif self._busy[origin] > self._open[origin]:
            self._open[origin] += 1
            opened_s = set_up_s(origin) - (ROUND_TRIP_S if origin in self._known else 0.0)  # no new DNS lookup
            self._known.setdefault(origin, self._now)
            transfer.is_first = True
        request = transfer.request
        # Each redirect costs another round trip.
        transfer.ready_s = self._now + opened_s + ROUND_TRIP_S * (1 + request.redirects) + transfer.server_s
        if transfer.is_first and request.wire_bytes > FIRST_FLIGHT_BYTES:
            transfer.ready_s += ROUND_TRIP_S / 2
        transfer.left_bytes = float(max(request.wire_bytes, 1))
        self._active.append(transfer)
        if not transfer.index:
            # The preload scanner finds urgent resources while the document is still arriving.
            self._schedule(transfer.index, transfer.ready_s, _is_urgent)

    def _end(self, transfer: _Transfer) -> None:
        self._active.remove(transfer)
        self._ends[transfer.index] = self._now
        origin = origin_of(transfer.request.url)
        self._busy[origin] -= 1
        if self._queued[origin]:
            waiting = self._queued[origin]
            following = max(waiting, key=lambda each: _urgency(each.request))
            waiting.remove(following)
            self._ask(following)
        self._schedule(transfer.index, self._now)

    def _schedule(self, index: int, at_s: float, is_meant: Callable[[_Transfer], bool] = lambda _: True) -> None:
        """Start the requests that a request led to."""
        children = self._children.pop(index, [])
        self._children[index] = [child for child in children if not is_meant(child)]
        for child in filter(is_meant, children):
            child.parents.remove(index)
            if not child.parents:
                self._scheduled.append((at_s + child.after_s, child.index, child))


def _transfers(requests: Sequence[LoadedRequest], processor: Processor) -> list[_Transfer]:
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
            parents = {parent} | _laid_out_with(requests, index, parent)
            after_s = _after_s(requests[parent], request, run, processor)
        server_s = request.wait_s - shortest[origin_of(request.url)]
        found.append(_Transfer(index, request, parents, after_s, server_s))
        by_url.setdefault(request.url, index)
    return found


def _laid_out_with(requests: Sequence[LoadedRequest], index: int, parent: int) -> set[int]:
    """Return the requests that layout waited for, if a style sheet initiated this request; else none.

    Layout decides which rules apply, and it needs all blocking resources.
    """
    if requests[parent].kind is not ResourceKind.STYLESHEET or requests[index].kind is ResourceKind.STYLESHEET:
        return set()
    began_s = requests[index].start_s
    return {
        at
        for at, each in enumerate(requests[:index])
        if each.is_blocking and each.end_s is not None and each.end_s <= began_s
    }


def _after_s(parent: LoadedRequest, request: LoadedRequest, run: Evaluation | None, processor: Processor) -> float:
    """Return the time from the parent's arrival to the request: script work on a slow processor, and idle pauses.

    The preload scanner finds resources in the document's own markup regardless of the main thread.
    """
    if parent.end_s is None or request.start_s <= parent.end_s:
        return 0.0
    work_s = 0.0
    if run or request.is_programmed:
        work_s = processor.worked_s(max(parent.end_s, run.time_s if run else 0.0), request.start_s)
    idle_s = processor.idle_s(parent.end_s, request.start_s)
    return SLOWDOWN * work_s + (min(idle_s, MAX_PAUSE_S) if idle_s > PAUSE_S else 0.0)


def _urgency(request: LoadedRequest) -> float:
    return 8.0 if request.is_blocking else URGENCY[request.kind]


def _is_urgent(transfer: _Transfer) -> bool:
    return _urgency(transfer.request) > URGENCY[ResourceKind.OTHER]


def _is_shared(request: LoadedRequest) -> bool:
    """Return True if requests to the same origin share one connection."""
    return request.protocol in ("h2", "h3")


def set_up_s(origin: str) -> float:
    """Return the time for a connection to a new origin: DNS, TCP, and TLS."""
    return ROUND_TRIP_S * (3 if origin.startswith(("https:", "wss:")) else 2)
