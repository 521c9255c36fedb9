"""What several checks read from the page's headers, parsed once."""

from __future__ import annotations

from scans.engine.catalogue import probe
from scans.engine.page.evidence import Clock, Document, Page
from scans.engine.security.cookies import Cookies, cookies_of
from scans.engine.security.csp import Policies, policies_of


@probe()
def policies(page: Page, document: Document) -> Policies:
    return policies_of(page, document)


@probe()
def cookies(page: Page, clock: Clock) -> Cookies:
    return Cookies(tuple(cookies_of(page.hops, page.target.host, clock.now)))
