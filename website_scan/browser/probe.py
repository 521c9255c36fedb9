"""Probes of the page in a browser: one visit, and the parts of its evidence."""

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
from website_scan.browser.unshown import shown_content
from website_scan.browser.visit import Browser, BrowserFailed, Visit, parts_for
from website_scan.catalogue import probe
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.page.bounded_parser import bounded
from website_scan.page.evidence import Document, Page, ScanTypes

logger = logging.getLogger(__name__)

TIME_LIMIT_S = 25.0
START_SHARE = 0.5  # share of the remaining time of the scan: on a busy machine a start takes half a minute
SHARE = 0.45  # share of the remaining time of the scan: other probes wait for this one
# Figures vary from load to load. Other work of this machine only adds to them, so checks use the lower ones of two.
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
    """Visit the page behind a proxy of its own, with a further load for performance scans. Raises `BrowserFailed`.

    A page that is not HTML is not loaded: there is nothing to see.
    """
    if not page.is_html:
        return NOTHING
    from website_scan.net.proxy import BrowserProxy  # scans without a browser need none

    browser.start(network.remaining_s * START_SHARE)
    tls = page.response.tls
    is_trusted = tls is None or tls.trust_error is None
    given = network.credentials if is_trusted else None
    has_cookies = given is not None and bool(given.cookies_for(page.target.origin))
    with BrowserProxy(network, only_port_of=page.target if has_cookies else None) as proxy:
        found = browser.load(
            Visit(
                url=page.target.url,
                proxy=proxy,
                user_agent=network.policy.user_agent,
                time_limit_s=min(TIME_LIMIT_S, network.remaining_s * SHARE),
                again=FURTHER_LOADS if ScanType.PERFORMANCE in types else 0,
                trusts_anybody=not is_trusted,
                parts=parts_for(types),
                credentials=given,
            )
        )
        if refused := Counter(each.code for each in proxy.refused):
            counts = ", ".join(f"{code} {count}" for code, count in refused.items())
            logger.info("the browser on %s was refused connections: %s", page.target.host, counts)
    status = next((each.status for each in found.first.requests if each.kind is None), None)
    if status is not None and status != page.response.status and status >= 400:
        ours = page.response.status
        raise BrowserFailed(f"The site answered the browser with status {status}, and ourselves with {ours}.")
    return found


@probe()
def shown(page: Page, load: BrowserLoad) -> ShownContent:
    """Judge what the page showed in the end. Raises `BrowserFailed`. A page with an error status may show an error."""
    if not page.is_html:
        raise BrowserFailed(NO_PAGE)
    if page.response.status >= 400:
        return ShownContent()
    if load.screen is None:
        raise _missing(load, "screen")
    return shown_content(load, load.screen)


@probe()
def layout(load: BrowserLoad) -> Layout:
    """Return the layout of the page. Raises `BrowserFailed`."""
    if load.layout is None:
        raise _missing(load, "layout")
    return load.layout


@probe()
def coverage(load: BrowserLoad) -> Coverage:
    """Return the coverage of scripts and style sheets. Raises `BrowserFailed`."""
    if load.files is None:
        raise _missing(load, "files")
    return Coverage(load.files)


@probe()
def axe_report(page: Page, load: BrowserLoad) -> AxeReport:
    """Return axe-core's results. Raises `BrowserFailed`."""
    if load.axe is None:
        raise _missing(load, "axe")
    return load.axe


@probe()
def rendered(page: Page, document: Document, seen: Layout) -> Rendered:
    """Parse the markup after the page's scripts have run. Raises `BrowserFailed` if it is too long to examine."""
    if not page.is_html:
        raise BrowserFailed(NO_PAGE)
    if seen.markup is None:
        raise BrowserFailed("The page is too large in the browser to be looked at.")
    tree = LexborHTMLParser(bounded(seen.markup), scripting=True)
    return Rendered(
        document=Document(tree=tree, text=seen.markup, encoding=document.encoding, base=document.base),
        letters_by_px=seen.letters_by_px,
        targets=seen.targets,
    )


def _missing(load: BrowserLoad, name: str) -> BrowserFailed:
    return BrowserFailed(load.problems.get(name, NO_PAGE))
