"""Interface of a browser that visits pages.

Its implementation `warm.WarmBrowser` needs the extra `browser`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from website_scan.browser.devices import DESKTOP, PHONE, Device
from website_scan.browser.evidence import BrowserLoad, Load
from website_scan.findings import ScanType
from website_scan.net.credentials import OriginCredentials
from website_scan.net.errors import NetError

if TYPE_CHECKING:
    from website_scan.net.proxy import BrowserProxy


class BrowserFailed(NetError):
    """Raised when the browser crashes or cannot load the page.

    The report shows the message.
    """

    code = "BROWSER_FAILED"


class PageCrashed(BrowserFailed):
    """Raised when the page's renderer process crashes."""


class LeadsElsewhere(BrowserFailed):
    """Raised when a script or refresh leads to another page.

    The page is `url`. It leads there before anybody can use the first page.
    """

    def __init__(self, url: str) -> None:
        super().__init__("The page leads to another page by a script or refresh.")
        self.url = url


class Part(StrEnum):
    """Part of the browser's evidence that only some scans need.

    It costs processor time.
    """

    COVERAGE = "coverage"
    LAYOUT = "layout"
    MACHINE_SPEED = "machine speed"
    AXE = "axe"
    FILMSTRIP = "filmstrip"


# Parts of the evidence that the checks of each scan type need.
PARTS_BY_SCAN_TYPE: Mapping[ScanType, frozenset[Part]] = {
    ScanType.SECURITY: frozenset(),
    ScanType.PERFORMANCE: frozenset({Part.COVERAGE, Part.LAYOUT, Part.MACHINE_SPEED, Part.FILMSTRIP}),
    ScanType.ACCESSIBILITY: frozenset({Part.AXE}),
    ScanType.SEO: frozenset({Part.LAYOUT}),
}


def parts_for_scan_types(types: Iterable[ScanType]) -> frozenset[Part]:
    """Return the browser evidence that scans of these types need."""
    return frozenset().union(*(PARTS_BY_SCAN_TYPE[type] for type in types))


def chrome_user_agent(version: str, service: str, *, is_mobile: bool = True) -> str:
    """Return the User-Agent of Chrome on an Android phone, or on Linux.

    Followed by the service's name. Sites recognize this browser.
    """
    major = version.partition(".")[0]
    system, mobile = ("Linux; Android 10; K", "Mobile ") if is_mobile else ("X11; Linux x86_64", "")
    chrome = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 {mobile}Safari/537.36"
    return f"Mozilla/5.0 ({system}) {chrome} {service}"


class Visit(Struct, frozen=True):
    """Parameters of a visit.

    Examples are the page's URL and the parts of the evidence to gather. `again` is the minimum number of further loads,
    to measure how much the figures vary. If `again` is above 0, all loads are traced for the main thread's tasks, which
    nothing else needs, and the page is loaded again as long as `needs_another_load` returns True for its loads. It is
    not loaded again at all if `is_one_load_enough` returns True for the first load.
    """

    url: str
    proxy: BrowserProxy
    user_agent: str
    time_limit_s: float
    again: int = 0
    needs_another_load: Callable[[Sequence[Load]], bool] = lambda _loads: False
    is_one_load_enough: Callable[[Load], bool] = lambda _load: False
    ignores_certificate_errors: bool = False  # True if another probe has found an untrusted certificate.
    parts: frozenset[Part] = frozenset(Part)
    has_pictures: bool = True  # False if no output shows pictures of the page.
    axe_time_limit_s: float = 0.0  # Additional time for axe-core, after `time_limit_s`.
    device: Device = PHONE  # Screen on which the page is loaded.
    axe_devices: tuple[Device, ...] = (PHONE, DESKTOP)  # Screens for axe-core.
    color_scheme: str = "light"
    credentials: OriginCredentials | None = None

    def continues_after(self, loads: Sequence[Load]) -> bool:
        """Return True if the page has to be loaded again after these loads."""
        if not self.again or (len(loads) == 1 and self.is_one_load_enough(loads[0])):
            return False
        return len(loads) <= self.again or self.needs_another_load(loads)


class Repetition(Struct, frozen=True):
    """Decisions whether to load the page again: after the loads so far, and after the first one."""

    needs_another_load: Callable[[Sequence[Load]], bool]
    is_one_load_enough: Callable[[Load], bool]


class History(Struct, frozen=True):
    """Statistics about the browsers that a process has started.

    `ends` are counted by reason. Reasons in `ends`: worn (`MAX_LOADS_PER_BROWSER` is reached), unneeded (idle for a
    while, or the process ends), memory, failed. `cpu_s` is the processor time of visits and starts.
    """

    starts: int
    ends: Mapping[str, int]
    cpu_s: float


class Browser(Protocol):
    """Interface of a browser that loads one page at a time.

    Thread-safe.
    """

    def start(self, limit_s: float) -> None:
        """Start the browser if it is not running.

        Visits need not wait for it then. Raises `BrowserFailed`.
        """
        ...

    def load(self, visit: Visit) -> BrowserLoad:
        """Load the page in a fresh browser context.

        Raises `BrowserFailed`.
        """
        ...
