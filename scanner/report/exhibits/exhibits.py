"""What a report's page shows beside the checks, from what the scan has stored and from the evidence of its checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scanner.report.evidence.tables import Table, tables
from scanner.report.exhibits.headers import JudgedHeader, judged_headers
from scanner.report.exhibits.policies import Policy, policy_tables
from scanner.report.exhibits.previews import SearchResult, SharedLink, search_result, shared_link
from scanner.report.exhibits.treemap import Weights, weights

CHAIN = "tls-cert-trusted"


@dataclass(frozen=True, slots=True)
class Entry:
    """In the contents of a report; the page's prefix stands before `anchor`."""

    name: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Exhibits:
    """Each is empty, or None, in reports of other types, and in those that were stored without."""

    headers: tuple[JudgedHeader, ...] = ()
    policies: tuple[Policy, ...] = ()
    certificates: tuple[Table, ...] = ()
    redirects: tuple[Table, ...] = ()
    search_result: SearchResult | None = None
    shared_link: SharedLink | None = None
    weights: Weights | None = None

    @property
    def contents(self) -> list[Entry]:
        """Those that stand behind the categories, in the page's order."""
        named = (
            (self.headers, Entry("Response headers", "headers")),
            (self.policies, Entry("CSP by directive", "policies")),
            (self.certificates, Entry("Certificate chain", "certificates")),
            (self.redirects, Entry("Redirects", "redirects")),
            (self.weights, Entry("Transfer size", "weights")),
        )
        return [entry for shown, entry in named if shown]


def exhibits_of(document: Mapping[str, Any], stored: Mapping[str, Any] | None, prefix: str) -> Exhibits:
    """`document` is the JSON export, `stored` what `scanner.exhibits` made, `prefix` stands before anchors."""
    stored = stored or {}
    checks = {check["id"]: check for category in document["categories"] for check in category["checks"]}
    is_security = document["type"] == "security"
    return Exhibits(
        headers=judged_headers(stored["headers"], checks, prefix) if "headers" in stored else (),
        policies=policy_tables(stored.get("policies", ()), checks, prefix),
        certificates=tables(checks[CHAIN]["evidence"]) if is_security and CHAIN in checks else (),
        redirects=_redirects(stored.get("redirects", ())),
        search_result=search_result(stored["search_result"], checks) if "search_result" in stored else None,
        shared_link=shared_link(stored["shared_link"]) if "shared_link" in stored else None,
        weights=weights(stored.get("weights", ())),
    )


def _redirects(hops: Any) -> tuple[Table, ...]:
    """From where to where, and with which status."""
    return tables(
        {"from": before["url"], "status": before["status"], "to": after["url"]} for before, after in pairwise(hops)
    )
