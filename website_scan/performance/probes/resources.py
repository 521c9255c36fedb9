"""Probe of the page's sub-resources.

They come from the browser's requests or, without a browser, from the markup.

The scanner requests each URL once, because checks need the headers and the body.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import threading
import time
from collections.abc import Sequence

from msgspec.structs import replace

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.unanswered import unanswered_requests
from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.http.request import Request, Reuse
from website_scan.net.targets import InvalidUrl
from website_scan.page.css import Allowance, style_references
from website_scan.page.encodings import decode_style_sheet
from website_scan.page.evidence import Page
from website_scan.page.image_headers import ImageFormat, ImageHeader, read_image_header
from website_scan.page.markup import is_plaintext
from website_scan.page.outside_names import OutsideNames
from website_scan.page.references import Reference, References, ResourceKind, keep
from website_scan.performance.browser_resources import (
    MIXED_CONTENT,
    is_worth_fetching,
    merge_resources,
    resources_from_log,
)
from website_scan.performance.evidence import Resource, Resources, Timing
from website_scan.urls import Url

MAX_RESOURCES = 150
MAX_CONCURRENT_REQUESTS = 8
MAX_BODY_BYTES = 3 * 1024 * 1024
MAX_MEDIA_BYTES = 64 * 1024  # Media files are only tested for existence, so a part suffices.
MAX_STORED_BINARY_BYTES = 64 * 1024  # Limit of a stored body that is not text.
# A few hundred bytes can decode to megabytes.
MAX_STORED_TOTAL_BYTES = 32 * 1024 * 1024
MAX_PARSING_S = 1.0  # References in style sheets that are not parsed in this time are not loaded.
MAX_LOADING_S = 25.0
MAX_SHARE_OF_REMAINING_TIME = 0.6
REQUEST_TIMEOUT_S = 10.0
ACCEPT = {
    ResourceKind.IMAGE: "image/avif,image/webp,image/*,*/*;q=0.8",
    ResourceKind.ICON: "image/avif,image/webp,image/*,*/*;q=0.8",
    ResourceKind.STYLESHEET: "text/css,*/*;q=0.1",
}
TEXTUAL = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})
# Directive of a policy that makes browsers load files over HTTPS instead of plain HTTP.
UPGRADE = "upgrade-insecure-requests"
BLOCKED_KINDS = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.FONT})
PICTURES = frozenset({ResourceKind.IMAGE, ResourceKind.ICON})


@probe()
def resources(
    page: Page, references: References, timing: Timing, network: Network, load: BrowserLoad | None = None
) -> Resources:
    """Load the sub-resources of the page.

    They come from the browser or, without a browser, from the markup and style sheets.

    References of style sheets in loaded style sheets are not loaded. At most 150 resources in at most 25 s, eight at a
    time. The rest is counted as left out, or has only the browser's facts. A resource that fails is evidence, not an
    error. The probe waits for `timing`, so that its requests do not disturb the measurement.
    """
    loader = _ResourceLoader(page, network)
    if load is not None and load.first.requests:
        return _load_logged_resources(page, load, loader)
    first_level = references.items
    items = loader.load(first_level[:MAX_RESOURCES], depth=1)
    first_level_urls = {reference.url for reference in first_level}
    second_level = [reference for reference in _style_sheet_references(items) if reference.url not in first_level_urls]
    capacity = max(0, MAX_RESOURCES - len(first_level))
    items += loader.load(second_level[:capacity], depth=2)
    eager_count = sum(reference.eager for reference in [*first_level, *second_level])
    return Resources(tuple(items), eager_count - sum(resource.eager for resource in items))


def _load_logged_resources(page: Page, load: BrowserLoad, loader: _ResourceLoader) -> Resources:
    """Return the resources in the browser's log.

    Headers and bodies come from the scanner's own requests.
    """
    logged = resources_from_log(page, load.first)
    unanswered = set(unanswered_requests(load.first))
    references = dict.fromkeys(
        Reference(resource.url, resource.kind, eager=True)
        for resource, request in zip(logged, load.first.requests[1:], strict=True)
        if is_worth_fetching(request, is_unanswered=request in unanswered)
    )
    fetched = {resource.url: resource for resource in loader.load(list(references)[:MAX_RESOURCES], depth=1)}
    # If the browser requested a URL twice, only one resource gets the body, so that it is judged once.
    items = [
        merge_resources(resource, fetched.pop(resource.url)) if resource.url in fetched else resource
        for resource in logged
    ]
    return Resources(tuple(items), load.first.left_out)


class _ResourceLoader:
    """Loader of a page's sub-resources, with a time limit and a size limit."""

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._names = OutsideNames(page, network)
        policies = " ".join(page.headers.all("Content-Security-Policy"))
        self._upgrades = UPGRADE in policies.lower() or UPGRADE.encode() in page.response.body.lower()
        # The probe must not use up the remaining time of the scan after a slow load in the browser.
        self._deadline = time.monotonic() + min(MAX_LOADING_S, MAX_SHARE_OF_REMAINING_TIME * network.remaining_s)
        self._is_exhausted = threading.Event()
        self._lock = threading.Lock()
        self._storable_bytes = MAX_STORED_TOTAL_BYTES

    def load(self, references: Sequence[Reference], depth: int) -> list[Resource]:
        """Load the referenced files and return the resources in order.

        Resources beyond the time or size limit are left out.
        """
        if not references:
            return []
        with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, "resource") as pool:
            loaded = list(pool.map(lambda reference: self._load(reference, depth), references))
        return [resource for resource in loaded if resource is not None]

    def _is_blocked(self, reference: Reference) -> bool:
        """Return True if browsers block the reference as mixed content.

        W3C Mixed Content, section 5.3.
        """
        if not self._page.target.is_https or self._upgrades or reference.kind not in BLOCKED_KINDS:
            return False
        url = Url.parse(reference.url)
        return url is not None and is_plaintext(url)

    def _load(self, reference: Reference, depth: int) -> Resource | None:
        remaining_s = self._deadline - time.monotonic()
        if remaining_s <= 0 or self._is_exhausted.is_set():
            return None
        empty = Resource(reference.url, reference.kind, reference.eager, depth, None)
        if self._is_blocked(reference):
            return replace(empty, error=MIXED_CONTENT)
        timeout_s = min(REQUEST_TIMEOUT_S, remaining_s)
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
                    max_bytes=MAX_MEDIA_BYTES if reference.kind is ResourceKind.MEDIA else MAX_BODY_BYTES,
                    timeout_s=timeout_s,
                    # A visitor who accepts an invalid certificate accepts it for all files of the origin.
                    verify=not is_same_origin,
                    with_credentials=True,
                    reuse=Reuse.ALLOWED,
                )
            )
        except BudgetExceeded:
            self._is_exhausted.set()
            return None
        except (NetError, InvalidUrl) as error:
            if isinstance(error, TimedOut) and (timeout_s < REQUEST_TIMEOUT_S or self._network.remaining_s <= 0):
                return None  # The scan's time limit caused the timeout, which is not the server's fault.
            may_exist = isinstance(error, NotReachable) and self._names.may_exist(target, error)
            return replace(empty, error=str(error), may_exist=may_exist)
        last = hops[-1]
        self._names.note(target.host)
        picture = read_image_header(last.body) if reference.kind in PICTURES else None
        body = last.body if _is_text_file(reference.kind, picture) else last.body[:MAX_STORED_BINARY_BYTES]
        with self._lock:
            self._storable_bytes -= len(body)
            if self._storable_bytes < 0:
                self._is_exhausted.set()
                return None
        return replace(
            empty,
            status=last.status,
            wire_bytes=sum(hop.body_wire_bytes for hop in hops),
            last_response_wire_bytes=last.body_wire_bytes,
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


def _is_text_file(kind: ResourceKind, picture: ImageHeader | None) -> bool:
    return kind in TEXTUAL or (picture is not None and picture.format is ImageFormat.SVG)


def _style_sheet_references(items: Sequence[Resource]) -> list[Reference]:
    """Return the URLs that the loaded style sheets refer to.

    Backgrounds and fonts are not eager, because they may be unused.
    """
    references: dict[str, Reference] = {}
    parsing_end_s = time.thread_time() + MAX_PARSING_S
    allowance = Allowance()
    for sheet in items:
        if time.thread_time() > parsing_end_s:
            break
        if sheet.kind is not ResourceKind.STYLESHEET or sheet.status != 200:
            continue
        sheet_references = style_references(
            decode_style_sheet(sheet.body, sheet.headers.get("Content-Type") or ""), allowance
        )
        for address in sheet_references.imports:
            keep(references, sheet.final_url, address, ResourceKind.STYLESHEET, sheet.eager)
        for address in sheet_references.fonts:
            keep(references, sheet.final_url, address, ResourceKind.FONT, eager=False)
        for address in sheet_references.images:
            keep(references, sheet.final_url, address, ResourceKind.IMAGE, eager=False)
    return list(references.values())
