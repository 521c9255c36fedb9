"""Sections of a report's page besides the checks, from exhibits that the scan stored and from rows of checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from website_scan.json_types import JsonValue
from website_scan.priority import priority_of
from website_scan.report.sections.files import FaultyFile, faulty_files
from website_scan.report.sections.headers import JudgedHeader, judged_headers
from website_scan.report.sections.policies import Policy, policy_tables
from website_scan.report.sections.previews import SearchResult, SharedLink, search_result, shared_link
from website_scan.report.sections.treemap import Weights, weights
from website_scan.report.tables import Table, tables
from website_scan.report_json import ExportJson, StoredColumn
from website_scan.stored_data import StoredExhibits, StoredHop

CHAIN = "tls-cert-trusted"
REDIRECT: list[StoredColumn] = [
    {"name": "from", "label": "From", "format": "address"},
    {"name": "status", "label": "HTTP status", "format": "number"},
    {"name": "to", "label": "To", "format": "address"},
]


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry in the table of contents of a report. The template puts the page's prefix before `anchor`."""

    name: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections of a report. Sections are empty or None for other scan types, and for reports without their exhibit."""

    headers: tuple[JudgedHeader, ...] = ()
    policies: tuple[Policy, ...] = ()
    certificates: tuple[Table, ...] = ()
    redirects: tuple[Table, ...] = ()
    search_result: SearchResult | None = None
    shared_link: SharedLink | None = None
    files: tuple[FaultyFile, ...] = ()
    weights: Weights | None = None

    @property
    def contents(self) -> list[Entry]:
        """Entries of the sections in the page's order."""
        sections = (
            (self.search_result or self.shared_link, Entry("How others show it", "previews")),
            (self.headers, Entry("Response headers", "headers")),
            (self.policies, Entry("CSP by directive", "policies")),
            (self.certificates, Entry("Certificate chain", "certificates")),
            (self.redirects, Entry("Redirects", "redirects")),
            (self.files, Entry("Files", "files")),
            (self.weights, Entry("Transfer size", "weights")),
        )
        return [entry for section, entry in sections if section]


def sections_of(export: ExportJson, stored: StoredExhibits | None, prefix: str) -> Sections:
    """Return the sections. `export` is the JSON export, `stored` has the exhibits from `website_scan.exhibits`.

    `prefix` goes before anchors.
    """
    stored = stored or {}
    checks = {check["id"]: check for category in export["categories"] for check in category["checks"]}
    is_security = export["type"] == "security"
    return Sections(
        headers=judged_headers(stored["headers"], checks, prefix) if "headers" in stored else (),
        policies=policy_tables(stored.get("policies", ()), checks, prefix),
        certificates=tables(checks[CHAIN]["details"]) if is_security and CHAIN in checks else (),
        redirects=_redirects(stored.get("redirects", ())),
        search_result=search_result(stored["search_result"], checks) if "search_result" in stored else None,
        shared_link=shared_link(stored["shared_link"]) if "shared_link" in stored else None,
        files=faulty_files(sorted(checks.values(), key=priority_of), prefix) if export["type"] == "performance" else (),
        weights=weights(stored.get("weights", ())),
    )


def _redirects(hops: Sequence[StoredHop]) -> tuple[Table, ...]:
    """Return the redirects as a table of source, status and target."""
    rows: list[list[JsonValue]] = [[before["url"], before["status"], after["url"]] for before, after in pairwise(hops)]
    return tables([{"kind": "redirect", "columns": REDIRECT, "rows": rows, "total": len(rows)}] if rows else [])
