"""Probe of the page's sub-resources: those that a browser requested, else those that the markup references.

Each URL is requested once, for its headers and body, which the checks read.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from website_scan.browser.evidence import BrowserLoad
from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.http.request import Request, Reuse
from website_scan.net.targets import InvalidUrl
from website_scan.page.css import Allowance, style_references
from website_scan.page.evidence import Page
from website_scan.page.image_headers import ImageFormat, ImageHeader, read_image_header
from website_scan.page.outside_names import OutsideNames
from website_scan.page.references import Reference, References, ResourceKind, keep
from website_scan.performance.browser_resources import from_log, is_worth_fetching, merged
from website_scan.performance.evidence import Resource, Resources, Timing

MAX_RESOURCES = 150
AT_ONCE = 8
MAX_BYTES = 3 * 1024 * 1024
MEDIA_BYTES = 64 * 1024  # of media: enough to know that they exist
KEPT_BYTES = 64 * 1024  # for bodies that are not text
HELD_BYTES = 32 * 1024 * 1024  # for all decoded bodies together: a few hundred bytes can become megabytes
READING_S = 1.0  # processor time for the style sheets; references in the rest are not loaded
TIME_LIMIT_S = 25.0
SHARE = 0.6  # share of the remaining time
TIMEOUT_S = 10.0
ACCEPT = {
    ResourceKind.IMAGE: "image/avif,image/webp,image/*,*/*;q=0.8",
    ResourceKind.ICON: "image/avif,image/webp,image/*,*/*;q=0.8",
    ResourceKind.STYLESHEET: "text/css,*/*;q=0.1",
}
TEXTUAL = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})
PICTURES = frozenset({ResourceKind.IMAGE, ResourceKind.ICON})


@probe()
def resources(
    page: Page, references: References, timing: Timing, network: Network, load: BrowserLoad | None = None
) -> Resources:
    """Load the sub-resources that the browser loaded; without a browser, those of the markup and its style sheets.

    Style sheets are followed one level. At most 150 resources in at most 25 s, eight at a time. The rest is counted as
    left out, or known only from the browser. A resource that fails is evidence, not an error. The probe waits for
    `timing`, which must not be disturbed.
    """
    loader = _Loader(page, network)
    if load is not None and load.first.requests:
        return _of_browser(page, load, loader)
    first = references.items
    items = loader.load(first[:MAX_RESOURCES], depth=1)
    known = {each.url for each in first}
    second = [each for each in _of_style_sheets(items) if each.url not in known]
    room = max(0, MAX_RESOURCES - len(first))
    items += loader.load(second[:room], depth=2)
    wanted = sum(each.eager for each in [*first, *second])
    return Resources(tuple(items), wanted - sum(each.eager for each in items))


def _of_browser(page: Page, load: BrowserLoad, loader: _Loader) -> Resources:
    """Return the browser's log, completed with the scanner's own requests for the page's files."""
    logged = from_log(page, load.first)
    wanted = dict.fromkeys(
        Reference(each.url, each.kind, eager=True)
        for each, request in zip(logged, load.first.requests[1:], strict=True)
        if is_worth_fetching(request)
    )
    fetched = {each.url: each for each in loader.load(list(wanted)[:MAX_RESOURCES], depth=1)}
    # Only one of two requests for the same URL gets the body, so that no check judges it twice.
    items = [merged(each, fetched.pop(each.url)) if each.url in fetched else each for each in logged]
    return Resources(tuple(items), load.first.left_out)


class _Loader:
    """Loader of resources for one page, until its time is up."""

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._names = OutsideNames(page, network)
        # After a slow load in the browser, this probe must not use up the whole scan's time.
        self._ends = time.monotonic() + min(TIME_LIMIT_S, SHARE * network.remaining_s)
        self._spent = threading.Event()
        self._lock = threading.Lock()
        self._unheld = HELD_BYTES

    def load(self, wanted: Sequence[Reference], depth: int) -> list[Resource]:
        """Load the resources and return the results in order, without those beyond the time or budget."""
        if not wanted:
            return []
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "resource") as pool:
            found = list(pool.map(lambda each: self._load(each, depth), wanted))
        return [each for each in found if each is not None]

    def _load(self, wanted: Reference, depth: int) -> Resource | None:
        left_s = self._ends - time.monotonic()
        if left_s <= 0 or self._spent.is_set():
            return None
        empty = Resource(wanted.url, wanted.kind, wanted.eager, depth, None)
        timeout_s = min(TIMEOUT_S, left_s)
        page = self._page.target
        own = wanted.url.startswith(f"{page.origin}/")
        try:
            target = page.join(wanted.url)
            hops = self._network.follow(
                Request(
                    target,
                    headers={
                        "Accept": ACCEPT.get(wanted.kind, "*/*"),
                        "Referer": page.url,
                    },
                    max_bytes=MEDIA_BYTES if wanted.kind is ResourceKind.MEDIA else MAX_BYTES,
                    timeout_s=timeout_s,
                    # A visitor who accepted a bad certificate for the page loads files of the same host with it, too.
                    verify=not own,
                    with_credentials=True,
                    reuse=Reuse.ALLOWED,
                )
            )
        except BudgetExceeded:
            self._spent.set()
            return None
        except (NetError, InvalidUrl) as error:
            if isinstance(error, TimedOut) and (timeout_s < TIMEOUT_S or self._network.remaining_s <= 0):
                return None  # the scanner's own time ran out
            may_exist = isinstance(error, NotReachable) and self._names.may_exist(target, error)
            return replace(empty, error=str(error), may_exist=may_exist)
        last = hops[-1]
        self._names.note(target.host)
        picture = read_image_header(last.body) if wanted.kind in PICTURES else None
        body = last.body if _is_text(wanted.kind, picture) else last.body[:KEPT_BYTES]
        with self._lock:
            self._unheld -= len(body)
            if self._unheld < 0:
                self._spent.set()
                return None
        return replace(
            empty,
            status=last.status,
            wire_bytes=sum(each.body_wire_bytes for each in hops),
            own_wire_bytes=last.body_wire_bytes,
            body_bytes=len(last.body),
            is_cut=last.truncated,
            header_bytes=max(each.header_bytes for each in hops),
            http_version=last.http_version,
            headers=last.headers,
            body=body,
            body_sha256=hashlib.sha256(last.body).hexdigest(),
            final_url=last.url,
            redirects=len(hops) - 1,
            picture=picture,
        )


def _is_text(kind: ResourceKind, picture: ImageHeader | None) -> bool:
    return kind in TEXTUAL or (picture is not None and picture.format is ImageFormat.SVG)


def _of_style_sheets(items: Sequence[Resource]) -> list[Reference]:
    """Return the references of the loaded style sheets. Backgrounds and fonts are not eager: they load only if used."""
    found: dict[str, Reference] = {}
    ends_s = time.thread_time() + READING_S
    allowance = Allowance()
    for sheet in items:
        if time.thread_time() > ends_s:
            break
        if sheet.kind is not ResourceKind.STYLESHEET or sheet.status != 200:
            continue
        inside = style_references(sheet.body.decode("utf-8", "replace"), allowance)
        for address in inside.imports:
            keep(found, sheet.final_url, address, ResourceKind.STYLESHEET, sheet.eager)
        for address in inside.fonts:
            keep(found, sheet.final_url, address, ResourceKind.FONT, eager=False)
        for address in inside.images:
            keep(found, sheet.final_url, address, ResourceKind.IMAGE, eager=False)
    return list(found.values())
