"""What a report's page shows beside the checks: where the page came from, how it answers, is found and what it weighs.

Plain JSON values, bounded and masked, for all of it is what a site has sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scanner.crawl.canonicals import Canonicals
from scanner.exhibits.response import headers_of, policies_of
from scanner.exhibits.weights import weights_of
from scanner.findings import ScanType
from scanner.messages import excerpt
from scanner.page.evidence import Document, Page
from scanner.security.csp import Policies
from scanner.seo.previews import search_result, shared_link

URL_LENGTH = 300

Exhibits = dict[str, Any]


def exhibits(scan_type: ScanType, evidence: Mapping[type, object]) -> Exhibits:
    """By name, those for which the type's plan has gathered what they show; empty where there is no page."""
    page = evidence.get(Page)
    if not isinstance(page, Page):
        return {}
    shown: Exhibits = {}
    if len(page.hops) > 1:
        shown["redirects"] = [{"url": excerpt(hop.url, URL_LENGTH), "status": hop.status} for hop in page.hops]
    document = evidence.get(Document)
    if scan_type is ScanType.SECURITY:
        shown["headers"] = headers_of(page.headers)
        policies = evidence.get(Policies)
        if isinstance(policies, Policies):
            shown["policies"] = policies_of(policies)
    elif scan_type is ScanType.PERFORMANCE:
        shown["weights"] = weights_of(page, evidence)
    elif scan_type is ScanType.SEO and isinstance(document, Document) and page.is_html:
        canonicals = evidence.get(Canonicals)
        canonical = canonicals.url if isinstance(canonicals, Canonicals) else None
        shown["search_result"] = search_result(document, canonical or page.target.url)
        shown["shared_link"] = shared_link(document, page.target.url)
    return shown
