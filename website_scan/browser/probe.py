"""Probes that load the page in a browser.

One loads the page, and the others provide parts of its evidence.
"""

from __future__ import annotations

import logging
from collections import Counter

from selectolax.lexbor import LexborHTMLParser

from website_scan.browser.devices import PHONE, device_of_width
from website_scan.browser.evidence import (
    AxeReport,
    BrowserLoad,
    Coverage,
    Layout,
    Load,
    MixedRequests,
    Rendered,
    Viewport,
)
from website_scan.browser.shown_content import ShownContent
from website_scan.browser.unshown import judge_screen
from website_scan.browser.visit import Browser, BrowserFailed, Repetition, Visit, parts_for_scan_types
from website_scan.catalogue import probe
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.page.bounded_parser import limit_markup
from website_scan.page.evidence import Document, Page, ScanTypes
from website_scan.viewing import Viewing

logger = logging.getLogger(__name__)

VISIT_TIME_LIMIT_S = 25.0
# Starting the browser takes half a minute on a busy machine.
START_TIME_SHARE = 0.5
# Probes that need the visit's evidence get the rest of the scan's time.
VISIT_TIME_SHARE = 0.45
# axe-core takes long for large pages and on a busy machine.
AXE_TIME_SHARE = 0.65
# Other work of this machine only increases measured times.
FURTHER_LOADS = 1
# Their checks judge what a phone shows and downloads.
JUDGED_ON_PHONES = frozenset({ScanType.PERFORMANCE, ScanType.SEO})
NOT_A_PAGE = "The page is not one that a browser shows."
NOTHING = BrowserLoad(
    product="",
    first=Load(None, None, (), None, 0.0, 0.0, ()),
    layout=Layout(None, {}, (), (), Viewport(0, 0, 0.0)),
    files=(),
)


@probe()
def load_in_browser(
    page: Page,
    network: Network,
    browser: Browser,
    types: ScanTypes,
    viewing: Viewing,
    repetition: Repetition | None = None,
) -> BrowserLoad:
    """Load the page in a browser behind its own proxy.

    Performance scans load it repeatedly if further loads could change a verdict. If scans of performance or SEO judge
    it, it is loaded on a phone. Raises `BrowserFailed`. A page that is not HTML is not loaded: a browser would show
    nothing of it.
    """
    if not page.is_html:
        return NOTHING
    # The import is here, because scans without a browser need no proxy.
    from website_scan.net.proxy import BrowserProxy

    browser.start(network.remaining_s * START_TIME_SHARE)
    tls = page.response.tls
    is_trusted = tls is None or tls.trust_error is None
    credentials = network.credentials if is_trusted else None
    has_cookies = credentials is not None and bool(credentials.cookies_for(page.target.origin))
    time_limit_s = min(VISIT_TIME_LIMIT_S, network.remaining_s * VISIT_TIME_SHARE)
    with BrowserProxy(network, only_port_of=page.target if has_cookies else None) as proxy:
        result = browser.load(
            Visit(
                url=page.target.url,
                proxy=proxy,
                user_agent=network.policy.user_agent,
                time_limit_s=time_limit_s,
                axe_time_limit_s=max(0.0, network.remaining_s * AXE_TIME_SHARE - time_limit_s),
                again=FURTHER_LOADS if ScanType.PERFORMANCE in types else 0,
                needs_another_load=repetition.needs_another_load if repetition else lambda _loads: False,
                is_one_load_enough=repetition.is_one_load_enough if repetition else lambda _load: False,
                ignores_certificate_errors=not is_trusted,
                parts=parts_for_scan_types(types),
                device=device_of_width(viewing.widths[0]) if types.isdisjoint(JUDGED_ON_PHONES) else PHONE,
                axe_devices=tuple(map(device_of_width, viewing.widths)),
                color_scheme=viewing.color_scheme,
                credentials=credentials,
            )
        )
        if refused := Counter(refusal.code for refusal in proxy.refused):
            counts = ", ".join(f"{code} {count}" for code, count in refused.items())
            logger.info("the browser on %s was refused connections: %s", page.target.host, counts)
    status = next((request.status for request in result.first.requests if request.kind is None), None)
    if status is not None and status != page.response.status and status >= 400:
        scan_status = page.response.status
        raise BrowserFailed(f"The site answered the browser with status {status}, and ourselves with {scan_status}.")
    return result


@probe()
def shown(page: Page, load: BrowserLoad) -> ShownContent:
    """Judge whether the page shows its content in the browser.

    A page with an error status always passes. Raises `BrowserFailed`.
    """
    if not page.is_html:
        raise BrowserFailed(NOT_A_PAGE)
    if page.response.status >= 400:
        return ShownContent()
    if load.screen is None:
        raise _missing_evidence(load, "screen")
    return judge_screen(load, load.screen)


@probe()
def mixed_requests(load: BrowserLoad) -> MixedRequests:
    """Return the plain HTTP requests that were blocked or upgraded."""
    return MixedRequests(load.mixed_requests)


@probe()
def layout(load: BrowserLoad) -> Layout:
    """Return the page's layout from the browser's evidence.

    Raises `BrowserFailed`.
    """
    if load.layout is None:
        raise _missing_evidence(load, "layout")
    return load.layout


@probe()
def coverage(load: BrowserLoad) -> Coverage:
    """Return the coverage of the page's scripts and style sheets.

    Raises `BrowserFailed`.
    """
    if load.files is None:
        raise _missing_evidence(load, "files")
    return Coverage(load.files)


@probe()
def axe_report(page: Page, load: BrowserLoad) -> AxeReport:
    """Return axe-core's results for the page.

    Raises `BrowserFailed`.
    """
    if load.axe is None:
        raise _missing_evidence(load, "axe")
    return load.axe


@probe()
def rendered(page: Page, document: Document, layout: Layout) -> Rendered:
    """Parse the page's DOM after its scripts have run.

    Raises `BrowserFailed` if the DOM is too large.
    """
    if not page.is_html:
        raise BrowserFailed(NOT_A_PAGE)
    if layout.markup is None:
        raise BrowserFailed("The page is too large to be examined in the browser.")
    tree = LexborHTMLParser(limit_markup(layout.markup), scripting=True)
    return Rendered(
        document=Document(tree=tree, text=layout.markup, encoding=document.encoding, base=document.base),
        letters_by_px=layout.letters_by_px,
        targets=layout.targets,
    )


def _missing_evidence(load: BrowserLoad, name: str) -> BrowserFailed:
    return BrowserFailed(load.problems.get(name, NOT_A_PAGE))
