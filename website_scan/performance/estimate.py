"""Model of a load on a slow phone link, for scans without a browser."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resource
from website_scan.performance.slow_link import BYTES_PER_S, CONNECTIONS, ROUND_TRIP_S, set_up_s
from website_scan.urls import origin_of


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated seconds in total and for the document alone, with the wire bytes and requests they are based on."""

    seconds: float
    document_s: float
    wire_bytes: int
    requests: int


def estimate(page: Page, resources: Sequence[Resource], ttfb_s: float) -> Estimate:
    """Model the load time on a slow phone link; `ttfb_s` is the time to first byte. Nothing is measured.

    The link is Lighthouse's slow 4G, long called fast 3G: 1.6 Mbit/s down, 150 ms for a round trip. The document costs
    DNS, TCP and, with https, TLS (one round trip each), then a request, for itself and each redirect before it; a
    redirect to the same origin saves the set-up. Then its references are loaded, then those of its style sheets. Each
    of these two steps costs the set-up of new origins (all at once), one round trip for every six requests to the
    busiest origin, and the bytes at the link's speed. Lazy resources, and those that scripts load later, are left out.
    """
    origins: set[str] = set()
    document_s = ttfb_s
    for hop in page.hops:
        document_s += _set_up_s({origin_of(hop.url)} - origins) + ROUND_TRIP_S + hop.body_wire_bytes / BYTES_PER_S
        origins.add(origin_of(hop.url))
    seconds = document_s
    # The page is complete before its videos are: browsers load as much of them as they play.
    eager = [each for each in resources if each.eager and each.kind is not ResourceKind.MEDIA]
    for depth in (1, 2):
        level = [each for each in eager if each.depth == depth]
        if level:
            busiest = max(Counter(origin_of(each.url) for each in level).values())
            seconds += _set_up_s({origin_of(each.url) for each in level} - origins)
            seconds += math.ceil(busiest / CONNECTIONS) * ROUND_TRIP_S
            seconds += sum(each.wire_bytes for each in level) / BYTES_PER_S
            origins |= {origin_of(each.url) for each in level}
    wire_bytes = sum(hop.body_wire_bytes for hop in page.hops) + sum(each.wire_bytes for each in eager)
    return Estimate(seconds, document_s, wire_bytes, len(page.hops) + len(eager))


def _set_up_s(origins: set[str]) -> float:
    """Return the time to connect to several origins, all at once."""
    return max(map(set_up_s, origins), default=0.0)
