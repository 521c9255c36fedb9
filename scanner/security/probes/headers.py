"""Header probes: CSP and cookies, parsed once for several checks."""

from __future__ import annotations

from scanner.catalogue import probe
from scanner.page.evidence import Clock, Document, Page
from scanner.security.cookies import Cookies, cookies_of
from scanner.security.csp import Policies, policies_of


@probe()
def policies(page: Page, document: Document) -> Policies:
    return policies_of(page, document)


@probe()
def cookies(page: Page, clock: Clock) -> Cookies:
    return Cookies(tuple(cookies_of(page.hops, page.target.host, clock.now)))
