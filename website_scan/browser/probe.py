"""Probes that load the page in a browser, and probes for parts of the evidence from that visit."""

from __future__ import annotations

import logging
from collections import Counter

from selectolax.lexbor import LexborHTMLParser

from website_scan.browser.evidence import (
    AxeReport,
    BrowserLoad,
    Coverage,
    Layout,
    Load,
    Rendered,
    ShownContent,
    Viewport,
)
from website_scan.browser.unshown import judge_screen
from website_scan.browser.visit import Browser, BrowserFailed, Visit, parts_for
from website_scan.catalogue import probe
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.page.bounded_parser import bounded
from website_scan.page.evidence import Document, Page, ScanTypes

logger = logging.getLogger(__name__)

TIME_LIMIT_S = 25.0
START_SHARE = 0.5  # share of the scan's remaining time: on a busy machine a start takes half a minute
SHARE = 0.45  # share of the scan's remaining time: other probes wait for the visit
# Figures vary from load to load. Other work of this machine only increases them, so checks use the lower of two.
FURTHER_LOADS = 1
NO_PAGE = "The page is no page that a browser shows."
NOTHING = BrowserLoad(
    product="",
    first=Load(None, None, (), None, 0.0, 0.0, ()),
    layout=Layout(None, {}, (), (), Viewport(0, 0, 0.0)),
    files=(),
)


@probe()
def load_in_browser(page: Page, network: Network, browser: Browser, types: ScanTypes) -> BrowserLoad:
    """Load the page in a browser behind its own proxy, twice for performance scans. Raises `BrowserFailed`.

    A page that is not HTML is not loaded: a browser would show nothing of it.
    """
    if not page.is_html:
        return NOTHING
    from website_scan.net.proxy import BrowserProxy  # imported here, because scans without a browser need no proxy

    browser.start(network.remaining_s * START_SHARE)
    tls = page.response.tls
    is_trusted = tls is None or tls.trust_error is None
    credentials = network.credentials if is_trusted else None
    has_cookies = credentials is not None and bool(credentials.cookies_for(page.target.origin))
    with BrowserProxy(network, only_port_of=page.target if has_cookies else None) as proxy:
        result = browser.load(
            Visit(
                url=page.target.url,
                proxy=proxy,
                user_agent=network.policy.user_agent,
                time_limit_s=min(TIME_LIMIT_S, network.remaining_s * SHARE),
                again=FURTHER_LOADS if ScanType.PERFORMANCE in types else 0,
                ignores_certificate_errors=not is_trusted,
                parts=parts_for(types),
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
    """Judge whether the page shows its content. A page with an error status may show an error.

    Raises `BrowserFailed`.
    """
    if not page.is_html:
        raise BrowserFailed(NO_PAGE)
    if page.response.status >= 400:
        return ShownContent()
    if load.screen is None:
        raise _missing_evidence(load, "screen")
    return judge_screen(load, load.screen)


@probe()
def layout(load: BrowserLoad) -> Layout:
    """Return the layout of the page. Raises `BrowserFailed`."""
    if load.layout is None:
        raise _missing_evidence(load, "layout")
    return load.layout


@probe()
def coverage(load: BrowserLoad) -> Coverage:
    """Return the coverage of scripts and style sheets. Raises `BrowserFailed`."""
    if load.files is None:
        raise _missing_evidence(load, "files")
    return Coverage(load.files)


@probe()
def axe_report(page: Page, load: BrowserLoad) -> AxeReport:
    """Return axe-core's results. Raises `BrowserFailed`."""
    if load.axe is None:
        raise _missing_evidence(load, "axe")
    return load.axe


@probe()
def rendered(page: Page, document: Document, layout: Layout) -> Rendered:
    """Parse the markup after the page's scripts have run. Raises `BrowserFailed` if the markup is too long."""
    if not page.is_html:
        raise BrowserFailed(NO_PAGE)
    if layout.markup is None:
        raise BrowserFailed("The page is too large in the browser to be looked at.")
    tree = LexborHTMLParser(bounded(layout.markup), scripting=True)
    return Rendered(
        document=Document(tree=tree, text=layout.markup, encoding=document.encoding, base=document.base),
        letters_by_px=layout.letters_by_px,
        targets=layout.targets,
    )


def _missing_evidence(load: BrowserLoad, name: str) -> BrowserFailed:
    return BrowserFailed(load.problems.get(name, NO_PAGE))
