"""The browser of a scan: `WarmBrowser` in `warm` is the real one, and needs the optional extra `browser`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scans.engine.browser.evidence import BrowserLoad
from scans.net.credentials import OriginCredentials
from scans.net.errors import NetError
from scans.net.proxy import BrowserProxy


class BrowserFailed(NetError):
    """The browser could not load the page, or died of it; the message is for the report."""

    code = "BROWSER_FAILED"


class PageCrashed(BrowserFailed):
    """The page's process ended by itself."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What to load, and how. `again`: how many further loads there may be, for the spread of the figures.

    Only where there may be some, the main thread's tasks are traced, in the first two loads: nobody else asks for them.
    """

    url: str
    proxy: BrowserProxy
    user_agent: str
    time_limit_s: float
    again: int = 0
    trusts_anybody: bool = False  # the page's own certificate is not trusted, and that was found already
    credentials: OriginCredentials | None = None


class Browser(Protocol):
    """Loads pages. Thread-safe, one load at a time."""

    def load(self, visit: Visit) -> BrowserLoad:
        """Load the page in a fresh context. Raises `BrowserFailed`."""
        ...
