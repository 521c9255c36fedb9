"""The browser of a scan: `WarmBrowser` in `warm` is the real one, and needs the optional extra `browser`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from scanner.browser.evidence import BrowserLoad
from scanner.findings import ScanType
from scanner.net.credentials import OriginCredentials
from scanner.net.errors import NetError
from scanner.net.proxy import BrowserProxy


class BrowserFailed(NetError):
    """The browser could not load the page, or died of it; the message is for the report."""

    code = "BROWSER_FAILED"


class PageCrashed(BrowserFailed):
    """The page's process ended by itself."""


class Part(StrEnum):
    """What costs the processor something to gather, and not every scan reads."""

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
    """What scans of these types read of a visit."""
    return frozenset().union(*(READ_BY[each] for each in types))


def user_agent_of(version: str, service: str) -> str:
    """That of Chrome on a phone, which sites know what to send to, with our own name in it."""
    major = version.partition(".")[0]
    chrome = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Mobile Safari/537.36"
    return f"Mozilla/5.0 (Linux; Android 10; K) {chrome} {service}"


@dataclass(frozen=True, slots=True)
class Visit:
    """What to load, how, and which parts of it to gather.

    `again`: how many further loads there may be, for the spread of the figures.
    Only where there may be some, the main thread's tasks are traced, in the first two loads: nobody else asks for them.
    """

    url: str
    proxy: BrowserProxy
    user_agent: str
    time_limit_s: float
    again: int = 0
    trusts_anybody: bool = False  # the page's own certificate is not trusted, and that was found already
    parts: frozenset[Part] = frozenset(Part)
    credentials: OriginCredentials | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The browsers of a process: how many were started, how many ended and why, and what all of them took.

    `ends` by reason: worn, unneeded (for a while, or its process ends), memory, failed. `cpu_s` is that of their visits
    and of their starts.
    """

    starts: int
    ends: Mapping[str, int]
    cpu_s: float


class Browser(Protocol):
    """Loads pages. Thread-safe, one load at a time."""

    def load(self, visit: Visit) -> BrowserLoad:
        """Load the page in a fresh context. Raises `BrowserFailed`."""
        ...
