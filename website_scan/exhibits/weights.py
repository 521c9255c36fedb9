"""Weight of a page by host and kind of file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from website_scan.browser.evidence import BrowserLoad
from website_scan.messages import excerpt
from website_scan.page.evidence import Page
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import Resources
from website_scan.stored_data import StoredWeight
from website_scan.urls import host_of

# What is beyond is counted as one.
MAX_WEIGHTS = 40


def weights_of(page: Page, evidence: Mapping[type, object]) -> list[StoredWeight]:
    """Bytes on the wire and requests by host and kind of file, the heaviest first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for url, kind, wire_bytes in _files(page, evidence):
        of_kind = sums.setdefault((host_of(url), kind), [0, 0])
        of_kind[0] += wire_bytes
        of_kind[1] += 1
    heaviest = sorted(sums.items(), key=lambda each: -each[1][0])
    own = page.target.host
    shown: list[StoredWeight] = [
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


def _files(page: Page, evidence: Mapping[type, object]) -> Iterable[tuple[str, str, int]]:
    """Return the files that a browser loaded; without one, those that the page makes browsers load."""
    seen = evidence.get(BrowserLoad)
    if isinstance(seen, BrowserLoad):
        return [
            (each.url, str(each.kind or "document"), each.wire_bytes) for each in seen.first.requests if each.wire_bytes
        ]
    resources = evidence.get(Resources)
    items = resources.items if isinstance(resources, Resources) else ()
    loaded = [(each.url, each.kind.value, each.wire_bytes) for each in items if each.eager]
    return [(page.target.url, "document", page.response.body_wire_bytes), *loaded]
