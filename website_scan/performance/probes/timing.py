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
# A third request is not needed if the median of three would lie between two close times.
MAX_DIFFERENCE_S = 0.05
MAX_BODY_BYTES = 16 * 1024  # The time to first byte does not depend on the rest of the document.
REQUEST_TIMEOUT_S = 10.0


@probe(measures=True)
def timing(page: Page, network: Network, load: BrowserLoad | None = None) -> Timing:
    """Measure the document's time to first byte two or three times.

    The first load of the page is the first measurement. The time to connect does not count. The series ends if a
    request fails or has another status than the page. The probe waits for `load` without reading it, so that the
    measurement and the browser's load do not run together.
    """
    seconds = [page.response.ttfb_s]
    with contextlib.suppress(NetError):
        while len(seconds) < TRIES and not _are_close_times(seconds):
            response = network.fetch(
                Request(
                    page.target,
                    headers=ACCEPT,
                    max_bytes=MAX_BODY_BYTES,
                    timeout_s=REQUEST_TIMEOUT_S,
                    verify=False,
                    with_credentials=True,
                )
            )
            if response.status != page.response.status:
                break
            seconds.append(response.ttfb_s)
    return Timing(tuple(seconds))


def _are_close_times(seconds: Sequence[float]) -> bool:
    return len(seconds) > 1 and max(seconds) - min(seconds) < MAX_DIFFERENCE_S
