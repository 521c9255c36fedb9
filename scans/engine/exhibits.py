"""What a report's page shows beside the checks: where the page came from, how it answers, is found and what it weighs.

Plain JSON values, bounded and masked, for all of it is what a site has sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from scans.engine.browser.evidence import BrowserLoad
from scans.engine.crawling.canonicals import Canonicals
from scans.engine.findings import ScanType
from scans.engine.messages import MASK, excerpt
from scans.engine.page.evidence import Document, Page
from scans.engine.page.registrable_domain import is_same_site
from scans.engine.performance.evidence import Resources
from scans.engine.security.csp import Policies
from scans.engine.seo.previews import search_result, shared_link
from scans.net.http.response import Headers

URL_LENGTH = 300
MAX_HEADERS, HEADER_LENGTH = 60, 300
MAX_POLICIES, POLICY_LENGTH = 4, 4000
# Hosts and kinds of files; what is beyond is counted as one.
MAX_WEIGHTS = 40

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
        shown["headers"] = _headers(page.headers)
        policies = evidence.get(Policies)
        if isinstance(policies, Policies):
            shown["policies"] = _policies(policies)
    elif scan_type is ScanType.PERFORMANCE:
        shown["weights"] = _weights(page, evidence)
    elif scan_type is ScanType.SEO and isinstance(document, Document) and page.is_html:
        canonicals = evidence.get(Canonicals)
        canonical = canonicals.url if isinstance(canonicals, Canonicals) else None
        shown["search_result"] = search_result(document, canonical or page.target.url)
        shown["shared_link"] = shared_link(document, page.target.url)
    return shown


def _headers(headers: Headers) -> list[list[str]]:
    """Names and values in the order received."""
    return [[excerpt(name, 80), _value(name, value)] for name, value in headers.items[:MAX_HEADERS]]


def _value(name: str, value: str) -> str:
    if name.lower() == "set-cookie":
        pair, semicolon, attributes = value.partition(";")
        cookie, equals, _ = pair.partition("=")
        return excerpt(f"{cookie if equals else ''}{equals}{MASK}{semicolon}{attributes}", HEADER_LENGTH)
    # With its name, which may say that the value is a secret.
    return excerpt(f"{name}: {value}", HEADER_LENGTH + len(name)).removeprefix(f"{name}:").strip()


def _policies(policies: Policies) -> list[dict[str, str]]:
    each_way = (("header", policies.header), ("meta", policies.meta), ("report only", policies.report_only))
    found = [{"way": way, "text": excerpt(csp.text, POLICY_LENGTH)} for way, those in each_way for csp in those]
    return found[:MAX_POLICIES]


def _weights(page: Page, evidence: Mapping[type, object]) -> list[dict[str, Any]]:
    """Bytes on the wire and requests by host and kind of file, the heaviest first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for url, kind, wire_bytes in _files(page, evidence):
        of_kind = sums.setdefault((_host(url), kind), [0, 0])
        of_kind[0] += wire_bytes
        of_kind[1] += 1
    heaviest = sorted(sums.items(), key=lambda each: -each[1][0])
    own = page.target.host
    shown = [
        {
            "host": excerpt(host, 100),
            "kind": kind,
            "wire_bytes": wire_bytes,
            "requests": requests,
            "is_third_party": not is_same_site(host, own),
        }
        for (host, kind), (wire_bytes, requests) in heaviest[:MAX_WEIGHTS]
    ]
    if beyond := [each for _, each in heaviest[MAX_WEIGHTS:]]:
        wire_bytes, requests = (sum(each) for each in zip(*beyond, strict=True))
        shown.append(
            {"host": "", "kind": "other", "wire_bytes": wire_bytes, "requests": requests, "is_third_party": True}
        )
    return shown


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _files(page: Page, evidence: Mapping[type, object]) -> Iterable[tuple[str, str, int]]:
    """What a browser loaded; without one what the page makes browsers load."""
    seen = evidence.get(BrowserLoad)
    if isinstance(seen, BrowserLoad):
        return [
            (each.url, str(each.kind or "document"), each.wire_bytes) for each in seen.first.requests if each.wire_bytes
        ]
    resources = evidence.get(Resources)
    items = resources.items if isinstance(resources, Resources) else ()
    loaded = [(each.url, each.kind.value, each.wire_bytes) for each in items if each.eager]
    return [(page.target.url, "document", page.response.body_wire_bytes), *loaded]
