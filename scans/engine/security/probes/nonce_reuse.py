"""The page a second time: what should differ between two visits."""

from __future__ import annotations

from scans.engine.catalogue import probe
from scans.engine.page.evidence import Document, Page
from scans.engine.page.fetch import ACCEPT, PAGE_MAX_BYTES, parse_document, refuse_when_tired
from scans.engine.security.csp import header_policies, is_nonce, meta_policies
from scans.engine.security.evidence import SecondLook
from scans.net.client import Network


@probe()
def second_look(page: Page, document: Document, network: Network) -> SecondLook:
    """The page asked for again where its policy has a nonce; without a page otherwise.

    Caches are asked to fetch anew. Raises `SiteProtected` when the site has enough of requests.
    """
    policies = (*header_policies(page.headers), *meta_policies(document))
    if not any(is_nonce(value) for policy in policies for values in policy.directives.values() for value in values):
        return SecondLook()
    response = network.fetch(
        page.target, headers={**ACCEPT, "Cache-Control": "no-cache"}, max_bytes=PAGE_MAX_BYTES, verify=False
    )
    refuse_when_tired(response)
    again = Page(requested=page.target, target=page.target, hops=(response,))
    return SecondLook(again, parse_document(again))
