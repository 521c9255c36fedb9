"""Probes for Content Security Policies and cookies.

They parse the page's headers.
"""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.page.evidence import Clock, Document, Page
from website_scan.security.cookies import Cookies, read_cookies
from website_scan.security.csp import Policies, read_policies


@probe()
def policies(page: Page, document: Document) -> Policies:
    return read_policies(page, document)


@probe()
def cookies(page: Page, clock: Clock) -> Cookies:
    return Cookies(tuple(read_cookies(page.hops, page.target.host, clock.now)))
