"""Interface of the browser for a scan. The implementation, `warm.WarmBrowser`, needs the optional extra `browser`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from website_scan.browser.evidence import BrowserLoad
from website_scan.findings import ScanType
from website_scan.net.credentials import OriginCredentials
from website_scan.net.errors import NetError

if TYPE_CHECKING:
    from website_scan.net.proxy import BrowserProxy


class BrowserFailed(NetError):
    """The browser could not load the page, or crashed; the message is for the report."""

    code = "BROWSER_FAILED"


class PageCrashed(BrowserFailed):
    """The page's renderer process ended by itself."""


class Part(StrEnum):
    """Parts of the evidence that cost processor time and are not needed by every scan."""

    COVERAGE = "coverage"
    LAYOUT = "layout"
    MACHINE_SPEED = "machine speed"
    AXE = "axe"
    FILMSTRIP = "filmstrip"


READ_BY: Mapping[ScanType, frozenset[Part]] = {
    ScanType.SECURITY: frozenset(),
    ScanType.PERFORMANCE: frozenset({Part.COVERAGE, Part.LAYOUT, Part.MACHINE_SPEED, Part.FILMSTRIP}),
    ScanType.ACCESSIBILITY: frozenset({Part.AXE}),
    ScanType.SEO: frozenset({Part.LAYOUT}),
}


def parts_for(types: Iterable[ScanType]) -> frozenset[Part]:
    """Return the parts that scans of these types need."""
    return frozenset().union(*(READ_BY[each] for each in types))


def user_agent_of(version: str, service: str) -> str:
    """Return the User-Agent of Chrome on a phone, which sites recognize, with this service's name added."""
    major = version.partition(".")[0]
    chrome = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Mobile Safari/537.36"
    return f"Mozilla/5.0 (Linux; Android 10; K) {chrome} {service}"


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit: the page to load, how to load it, and the parts of evidence to gather.

    `again` is the maximum number of further loads, to measure how much the figures vary. If it is above 0, all
    loads are traced for the main thread's tasks; nothing else needs the trace.
    """

    url: str
    proxy: BrowserProxy
    user_agent: str
    time_limit_s: float
    again: int = 0
    trusts_anybody: bool = False  # the page's certificate is not trusted, as another probe already found
    parts: frozenset[Part] = frozenset(Part)
    credentials: OriginCredentials | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Statistics of a process' browsers: number of starts, ends by reason, and processor time.

    Reasons in `ends`: worn, unneeded (idle for a while, or the process ends), memory, failed. `cpu_s` is the time of
    their visits and their starts.
    """

    starts: int
    ends: Mapping[str, int]
    cpu_s: float


class Browser(Protocol):
    """Browser that loads pages. Thread-safe, one load at a time."""

    def start(self, limit_s: float) -> None:
        """Start the browser if it does not run, so that a visit's time is for its page. Raises `BrowserFailed`."""
        ...

    def load(self, visit: Visit) -> BrowserLoad:
        """Load the page in a fresh context. Raises `BrowserFailed`."""
        ...
