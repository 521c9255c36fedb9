"""Probe of the page's sub-resources: the browser's requests or, without a browser, the references of the markup.

The scanner requests each URL once, because checks need the headers and the body.
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
from website_scan.performance.browser_resources import is_worth_fetching, merge_resources, resources_from_log
from website_scan.performance.evidence import Resource, Resources, Timing

MAX_RESOURCES = 150
AT_ONCE = 8
MAX_BYTES = 3 * 1024 * 1024
MEDIA_BYTES = 64 * 1024  # downloaded part of a media file: enough to know that it exists
STORED_BYTES = 64 * 1024  # stored part of a body that is not text
MAX_STORED_BYTES = 32 * 1024 * 1024  # for all decoded bodies together: a few hundred bytes can become megabytes
STYLE_SHEETS_S = 1.0  # processor time for parsing style sheets; references in the rest are not loaded
TIME_LIMIT_S = 25.0
SHARE = 0.6  # share of the scan's remaining time
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

    References of style sheets in loaded style sheets are not loaded. At most 150 resources in at most 25 s, eight at a
    time. The rest is counted as left out, or has only the browser's facts. A resource that fails is evidence, not an
    error. The probe waits for `timing`, so that its requests do not disturb the measurement.
    """
    loader = _Loader(page, network)
    if load is not None and load.first.requests:
        return _from_browser(page, load, loader)
    first = references.items
    items = loader.load(first[:MAX_RESOURCES], depth=1)
    first_urls = {reference.url for reference in first}
    second = [reference for reference in _style_sheet_references(items) if reference.url not in first_urls]
    capacity = max(0, MAX_RESOURCES - len(first))
    items += loader.load(second[:capacity], depth=2)
    eager_count = sum(reference.eager for reference in [*first, *second])
    return Resources(tuple(items), eager_count - sum(resource.eager for resource in items))


def _from_browser(page: Page, load: BrowserLoad, loader: _Loader) -> Resources:
    """Return the resources of the browser's log, with headers and bodies from the scanner's own requests."""
    logged = resources_from_log(page, load.first)
    references = dict.fromkeys(
        Reference(resource.url, resource.kind, eager=True)
        for resource, request in zip(logged, load.first.requests[1:], strict=True)
        if is_worth_fetching(request)
    )
    fetched = {resource.url: resource for resource in loader.load(list(references)[:MAX_RESOURCES], depth=1)}
    # Of two requests for the same URL, only one gets the body, so that no check judges the file twice.
    items = [
        merge_resources(resource, fetched.pop(resource.url)) if resource.url in fetched else resource
        for resource in logged
    ]
    return Resources(tuple(items), load.first.left_out)


class _Loader:
    """Loader of resources for one page, with a time limit and a size limit."""

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._names = OutsideNames(page, network)
        # After a slow load in the browser, the probe must not use up the time of the whole scan.
        self._deadline = time.monotonic() + min(TIME_LIMIT_S, SHARE * network.remaining_s)
        self._is_exhausted = threading.Event()
        self._lock = threading.Lock()
        self._storable_bytes = MAX_STORED_BYTES

    def load(self, references: Sequence[Reference], depth: int) -> list[Resource]:
        """Load the references and return the resources in order, without those beyond the time or size limit."""
        if not references:
            return []
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "resource") as pool:
            loaded = list(pool.map(lambda reference: self._load(reference, depth), references))
        return [resource for resource in loaded if resource is not None]

    def _load(self, reference: Reference, depth: int) -> Resource | None:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0 or self._is_exhausted.is_set():
            return None
        empty = Resource(reference.url, reference.kind, reference.eager, depth, None)
        timeout_s = min(TIMEOUT_S, left_s)
        page = self._page.target
        is_same_origin = reference.url.startswith(f"{page.origin}/")
        try:
            target = page.join(reference.url)
            hops = self._network.follow(
                Request(
                    target,
                    headers={
                        "Accept": ACCEPT.get(reference.kind, "*/*"),
                        "Referer": page.url,
                    },
                    max_bytes=MEDIA_BYTES if reference.kind is ResourceKind.MEDIA else MAX_BYTES,
                    timeout_s=timeout_s,
                    # A visitor who accepts the page's bad certificate accepts it for all files of the origin.
                    verify=not is_same_origin,
                    with_credentials=True,
                    reuse=Reuse.ALLOWED,
                )
            )
        except BudgetExceeded:
            self._is_exhausted.set()
            return None
        except (NetError, InvalidUrl) as error:
            if isinstance(error, TimedOut) and (timeout_s < TIMEOUT_S or self._network.remaining_s <= 0):
                return None  # the scanner's time ran out, so the timeout is not the server's fault
            may_exist = isinstance(error, NotReachable) and self._names.may_exist(target, error)
            return replace(empty, error=str(error), may_exist=may_exist)
        last = hops[-1]
        self._names.note(target.host)
        picture = read_image_header(last.body) if reference.kind in PICTURES else None
        body = last.body if _is_text(reference.kind, picture) else last.body[:STORED_BYTES]
        with self._lock:
            self._storable_bytes -= len(body)
            if self._storable_bytes < 0:
                self._is_exhausted.set()
                return None
        return replace(
            empty,
            status=last.status,
            wire_bytes=sum(hop.body_wire_bytes for hop in hops),
            own_wire_bytes=last.body_wire_bytes,
            body_bytes=len(last.body),
            is_cut=last.truncated,
            header_bytes=max(hop.header_bytes for hop in hops),
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


def _style_sheet_references(items: Sequence[Resource]) -> list[Reference]:
    """Return the references of the loaded style sheets. Backgrounds and fonts are not eager, as they may be unused."""
    references: dict[str, Reference] = {}
    ends_s = time.thread_time() + STYLE_SHEETS_S
    allowance = Allowance()
    for sheet in items:
        if time.thread_time() > ends_s:
            break
        if sheet.kind is not ResourceKind.STYLESHEET or sheet.status != 200:
            continue
        sheet_references = style_references(sheet.body.decode("utf-8", "replace"), allowance)
        for address in sheet_references.imports:
            keep(references, sheet.final_url, address, ResourceKind.STYLESHEET, sheet.eager)
        for address in sheet_references.fonts:
            keep(references, sheet.final_url, address, ResourceKind.FONT, eager=False)
        for address in sheet_references.images:
            keep(references, sheet.final_url, address, ResourceKind.IMAGE, eager=False)
    return list(references.values())
