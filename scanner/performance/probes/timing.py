"""How long the server takes to begin its answer."""

from __future__ import annotations

import contextlib

from scanner.browser.evidence import BrowserLoad
from scanner.catalogue import probe
from scanner.net.client import Network
from scanner.net.errors import NetError
from scanner.page.evidence import Page
from scanner.page.fetch import ACCEPT
from scanner.performance.evidence import Timing

TRIES = 3
MAX_BYTES = 16 * 1024  # the beginning is what is measured
TIMEOUT_S = 10.0


@probe(measures=True)
def timing(page: Page, network: Network, load: BrowserLoad | None = None) -> Timing:
    """The final document asked for three times in all, one after the other, the page's own load being one.

    Connecting is not counted. A try that fails or answers otherwise than the page ends the series. The browser's
    load is only waited for: neither must disturb the other.
    """
    seconds = [page.response.ttfb_s]
    with contextlib.suppress(NetError):
        while len(seconds) < TRIES:
            again = network.fetch(
                page.target,
                headers=ACCEPT,
                max_bytes=MAX_BYTES,
                timeout_s=TIMEOUT_S,
                verify=False,
                with_credentials=True,
            )
            if again.status != page.response.status:
                break
            seconds.append(again.ttfb_s)
    return Timing(tuple(seconds))
