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
    """The browser could not load the page, or crashed. The report shows the message."""

    code = "BROWSER_FAILED"


class PageCrashed(BrowserFailed):
    """The page's renderer process crashed."""


class Part(StrEnum):
    """Parts of the browser's evidence that cost processor time and that only some scan types need."""

    COVERAGE = "coverage"
    LAYOUT = "layout"
    MACHINE_SPEED = "machine speed"
    AXE = "axe"
    FILMSTRIP = "filmstrip"


# Parts that the checks of each scan type read.
READ_BY: Mapping[ScanType, frozenset[Part]] = {
    ScanType.SECURITY: frozenset(),
    ScanType.PERFORMANCE: frozenset({Part.COVERAGE, Part.LAYOUT, Part.MACHINE_SPEED, Part.FILMSTRIP}),
    ScanType.ACCESSIBILITY: frozenset({Part.AXE}),
    ScanType.SEO: frozenset({Part.LAYOUT}),
}


def parts_for(types: Iterable[ScanType]) -> frozenset[Part]:
    """Return the parts of evidence that scans of the types need."""
    return frozenset().union(*(READ_BY[type] for type in types))


def user_agent_of(version: str, service: str) -> str:
    """Return the User-Agent of Chrome on an Android phone, which sites recognize, followed by the service's name."""
    major = version.partition(".")[0]
    chrome = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Mobile Safari/537.36"
    return f"Mozilla/5.0 (Linux; Android 10; K) {chrome} {service}"


@dataclass(frozen=True, slots=True)
class Visit:
    """Parameters of a visit: the page to load, how to load the page, and the parts of evidence to gather.

    `again` is the maximum number of further loads, to measure how much the figures vary. If `again` is above 0, all
    loads are traced for the main thread's tasks; nothing else needs the trace.
    """

    url: str
    proxy: BrowserProxy
    user_agent: str
    time_limit_s: float
    again: int = 0
    ignores_certificate_errors: bool = False  # True if another probe has found that the certificate is not trusted
    parts: frozenset[Part] = frozenset(Part)
    credentials: OriginCredentials | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Statistics of a process' browsers: number of starts, number of ends by reason, and processor time.

    Reasons in `ends`: worn (`MAX_LOADS` is reached), unneeded (idle for a while, or the process ends), memory, failed.
    `cpu_s` is the processor time of visits and starts.
    """

    starts: int
    ends: Mapping[str, int]
    cpu_s: float


class Browser(Protocol):
    """Interface of a browser that loads pages. Thread-safe, one load at a time."""

    def start(self, limit_s: float) -> None:
        """Start the browser if it is not running, so that visits need not wait for it. Raises `BrowserFailed`."""
        ...

    def load(self, visit: Visit) -> BrowserLoad:
        """Load the page in a fresh browser context. Raises `BrowserFailed`."""
        ...
