"""Estimate of the load time on a slow mobile connection.

Scans without a browser use it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resource
from website_scan.performance.slow_link import BYTES_PER_S, CONNECTIONS, ROUND_TRIP_S, connection_setup_s
from website_scan.urls import origin_of


class Estimate(Struct, frozen=True):
    """Estimated load time of the page and of its document.

    It is in seconds, with the number of bytes and requests.
    """

    seconds: float
    document_s: float
    wire_bytes: int
    requests: int


def estimate_load_time(page: Page, resources: Sequence[Resource], ttfb_s: float) -> Estimate:
    """Estimate the load time on a slow mobile connection.

    `ttfb_s` is the document's time to first byte.

    The connection is Lighthouse's slow 4G, long called fast 3G: 1.6 Mbit/s down, 150 ms for a round trip. The document
    and each redirect before it cost DNS, TCP and, with https, TLS (one round trip each), then a request; a redirect to
    the same origin saves the set-up. Then the document's references are loaded, then those of its style sheets. Each
    of these two steps costs the set-up of new origins (all at once), one round trip for every six requests to the
    busiest origin, and the bytes at the link's speed. Lazy resources, and those that scripts load later, do not count.
    """
    origins: set[str] = set()
    document_s = ttfb_s
    for hop in page.hops:
        document_s += (
            _concurrent_setup_s({origin_of(hop.url)} - origins) + ROUND_TRIP_S + hop.body_wire_bytes / BYTES_PER_S
        )
        origins.add(origin_of(hop.url))
    seconds = document_s
    # Videos do not delay the load, because browsers load only as much of a video as they play.
    eager = [resource for resource in resources if resource.eager and resource.kind is not ResourceKind.MEDIA]
    for depth in (1, 2):
        step = [resource for resource in eager if resource.depth == depth]
        if step:
            busiest = max(Counter(origin_of(resource.url) for resource in step).values())
            seconds += _concurrent_setup_s({origin_of(resource.url) for resource in step} - origins)
            seconds += math.ceil(busiest / CONNECTIONS) * ROUND_TRIP_S
            seconds += sum(resource.wire_bytes for resource in step) / BYTES_PER_S
            origins |= {origin_of(resource.url) for resource in step}
    wire_bytes = sum(hop.body_wire_bytes for hop in page.hops) + sum(resource.wire_bytes for resource in eager)
    return Estimate(seconds, document_s, wire_bytes, len(page.hops) + len(eager))


def _concurrent_setup_s(origins: set[str]) -> float:
    """Return the seconds to connect to several origins concurrently."""
    return max(map(connection_setup_s, origins), default=0.0)
