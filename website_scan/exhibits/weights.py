"""Page weight: transferred bytes by host and kind of file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from website_scan.browser.evidence import BrowserLoad
from website_scan.messages import excerpt
from website_scan.page.evidence import Page
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import Resources
from website_scan.stored_data import StoredWeight
from website_scan.urls import host_of

# A further row has the sums of all other files.
MAX_WEIGHT_ROWS = 40


def page_weights(page: Page, evidence: Mapping[type, object]) -> list[StoredWeight]:
    """Return bytes and requests for hosts and kinds of file.

    Bytes are those transferred. The heaviest rows come first.
    """
    sums: dict[tuple[str, str], list[int]] = {}
    for url, kind, wire_bytes in _files(page, evidence):
        kind_sums = sums.setdefault((host_of(url), kind), [0, 0])
        kind_sums[0] += wire_bytes
        kind_sums[1] += 1
    heaviest = sorted(sums.items(), key=lambda pair: -pair[1][0])
    own = page.target.host
    rows: list[StoredWeight] = [
        {
            "host": excerpt(host, 100),
            "kind": kind,
            "wire_bytes": wire_bytes,
            "requests": requests,
            "is_third_party": not is_same_site(host, own),
        }
        for (host, kind), (wire_bytes, requests) in heaviest[:MAX_WEIGHT_ROWS]
    ]
    if rest := [row_sums for _, row_sums in heaviest[MAX_WEIGHT_ROWS:]]:
        wire_bytes, requests = (sum(column) for column in zip(*rest, strict=True))
        rows.append(
            {"host": "", "kind": "other", "wire_bytes": wire_bytes, "requests": requests, "is_third_party": True}
        )
    return rows


def _files(page: Page, evidence: Mapping[type, object]) -> Iterable[tuple[str, str, int]]:
    """Return the URL, kind and transferred bytes of the page's files.

    The browser's files are used if it loaded the page, otherwise the scanner's.
    """
    load = evidence.get(BrowserLoad)
    if isinstance(load, BrowserLoad):
        return [
            (request.url, str(request.kind or "document"), request.wire_bytes)
            for request in load.first.requests
            if request.wire_bytes
        ]
    resources = evidence.get(Resources)
    items = resources.items if isinstance(resources, Resources) else ()
    loaded = [(item.url, item.kind.value, item.wire_bytes) for item in items if item.eager]
    return [(page.target.url, "document", page.response.body_wire_bytes), *loaded]
