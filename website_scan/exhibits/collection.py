"""Exhibits that a scan stores for its report page.

Examples are redirects and response headers. All values are plain JSON, bounded and masked, because sites send them.
"""

from __future__ import annotations

from collections.abc import Mapping

from website_scan.crawl.canonicals import Canonicals
from website_scan.exhibits.weights import page_weights
from website_scan.findings import ScanType
from website_scan.messages import MASK, excerpt
from website_scan.net.http.response import Headers
from website_scan.page.evidence import Document, Page
from website_scan.security.csp import Policies
from website_scan.seo.previews import search_result, shared_link
from website_scan.stored_data import StoredExhibits, StoredPolicy

MAX_URL_LENGTH = 300
MAX_HEADERS, MAX_HEADER_LENGTH = 60, 300
MAX_POLICIES, MAX_POLICY_LENGTH = 4, 4000


def exhibits(scan_type: ScanType, evidence: Mapping[type, object]) -> StoredExhibits:
    """Return the exhibits that the evidence allows, by name.

    Empty if there is no page.
    """
    page = evidence.get(Page)
    if not isinstance(page, Page):
        return {}
    stored: StoredExhibits = {}
    if len(page.hops) > 1:
        stored["redirects"] = [{"url": excerpt(hop.url, MAX_URL_LENGTH), "status": hop.status} for hop in page.hops]
    document = evidence.get(Document)
    if scan_type is ScanType.SECURITY:
        stored["headers"] = _masked_headers(page.headers)
        policies = evidence.get(Policies)
        if isinstance(policies, Policies):
            stored["policies"] = _stored_policies(policies)
    elif scan_type is ScanType.PERFORMANCE:
        stored["weights"] = page_weights(page, evidence)
    elif scan_type is ScanType.SEO and isinstance(document, Document) and page.is_html:
        canonicals = evidence.get(Canonicals)
        canonical = canonicals.url if isinstance(canonicals, Canonicals) else None
        stored["search_result"] = search_result(document, canonical or page.target.url)
        stored["shared_link"] = shared_link(document, page.target.url)
    return stored


def _masked_headers(headers: Headers) -> list[list[str]]:
    """Return names and masked values of the response headers.

    They are in the order received.
    """
    return [[excerpt(name, 80), _masked_header_value(name, value)] for name, value in headers.items[:MAX_HEADERS]]


def _masked_header_value(name: str, value: str) -> str:
    if name.lower() == "set-cookie":
        pair, semicolon, attributes = value.partition(";")
        cookie, equals, _ = pair.partition("=")
        return excerpt(f"{cookie if equals else ''}{equals}{MASK}{semicolon}{attributes}", MAX_HEADER_LENGTH)
    # The name may indicate that the value is a secret.
    return excerpt(f"{name}: {value}", MAX_HEADER_LENGTH + len(name)).removeprefix(f"{name}:").strip()


def _stored_policies(policies: Policies) -> list[StoredPolicy]:
    policies_by_way = (("header", policies.header), ("meta", policies.meta), ("report only", policies.report_only))
    stored: list[StoredPolicy] = [
        {"way": way, "text": excerpt(policy.text, MAX_POLICY_LENGTH)}
        for way, group in policies_by_way
        for policy in group
    ]
    return stored[:MAX_POLICIES]
