"""Header probes: parsed CSP and cookies of the page."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.page.evidence import Clock, Document, Page
from website_scan.security.cookies import Cookies, cookies_of
from website_scan.security.csp import Policies, policies_of


@probe()
def policies(page: Page, document: Document) -> Policies:
    return policies_of(page, document)


@probe()
def cookies(page: Page, clock: Clock) -> Cookies:
    return Cookies(tuple(cookies_of(page.hops, page.target.host, clock.now)))
