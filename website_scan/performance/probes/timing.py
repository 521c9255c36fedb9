"""Probe of the time to first byte (TTFB)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from website_scan.browser.evidence import BrowserLoad
from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.http.request import Request
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT
from website_scan.performance.evidence import Timing

TRIES = 3
# Two times that differ by less make a third request needless: the median of three lies between them.
AGREEMENT_S = 0.05
MAX_BYTES = 16 * 1024  # the rest of the document does not matter for the time to first byte
TIMEOUT_S = 10.0


@probe(measures=True)
def timing(page: Page, network: Network, load: BrowserLoad | None = None) -> Timing:
    """Measure the TTFB of the final document two or three times in sequence, including the page's own load.

    The time to connect does not count. The series ends if a request fails or has another status than the page. The
    probe waits for `load` without reading it, so that the measurement and the browser's load do not run together.
    """
    seconds = [page.response.ttfb_s]
    with contextlib.suppress(NetError):
        while len(seconds) < TRIES and not _agree(seconds):
            response = network.fetch(
                Request(
                    page.target,
                    headers=ACCEPT,
                    max_bytes=MAX_BYTES,
                    timeout_s=TIMEOUT_S,
                    verify=False,
                    with_credentials=True,
                )
            )
            if response.status != page.response.status:
                break
            seconds.append(response.ttfb_s)
    return Timing(tuple(seconds))


def _agree(seconds: Sequence[float]) -> bool:
    return len(seconds) > 1 and max(seconds) - min(seconds) < AGREEMENT_S
