"""Sections of the report page besides the checks.

They are made from stored exhibits and check details.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from website_scan.json_types import JsonValue
from website_scan.priority import priority_of
from website_scan.report.sections.files import FaultyFile, faulty_files
from website_scan.report.sections.headers import JudgedHeader, headers_with_verdicts
from website_scan.report.sections.policies import Policy, policy_tables
from website_scan.report.sections.previews import SearchResult, SharedLink, search_result, shared_link
from website_scan.report.sections.treemap import TransferSizes, weights
from website_scan.report.tables import Table, tables
from website_scan.report_json import ExportJson, StoredColumn
from website_scan.stored_data import StoredExhibits, StoredHop

CHAIN = "tls-cert-trusted"
REDIRECT: list[StoredColumn] = [
    {"name": "from", "label": "From", "format": "address"},
    {"name": "status", "label": "HTTP status", "format": "number"},
    {"name": "to", "label": "To", "format": "address"},
]


class Entry(Struct, frozen=True):
    """Entry in the table of contents of a report page.

    The template adds the prefix of the page to `anchor`.
    """

    name: str
    anchor: str


class Sections(Struct, frozen=True):
    """Sections of a report page.

    A section is empty or None if the report has no data for the section.
    """

    headers: tuple[JudgedHeader, ...] = ()
    policies: tuple[Policy, ...] = ()
    certificates: tuple[Table, ...] = ()
    redirects: tuple[Table, ...] = ()
    search_result: SearchResult | None = None
    shared_link: SharedLink | None = None
    files: tuple[FaultyFile, ...] = ()
    weights: TransferSizes | None = None

    @property
    def contents(self) -> list[Entry]:
        """Entries for the table of contents.

        There is one for each non-empty section, in the order on the page.
        """
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


def create_sections(export: ExportJson, stored: StoredExhibits | None, prefix: str) -> Sections:
    """Create the sections of a report page.

    Their sources are the JSON export and the stored exhibits.

    `prefix` goes before anchors.
    """
    stored = stored or {}
    checks = {check["id"]: check for category in export["categories"] for check in category["checks"]}
    is_security = export["type"] == "security"
    return Sections(
        headers=headers_with_verdicts(stored["headers"], checks, prefix) if "headers" in stored else (),
        policies=policy_tables(stored.get("policies", ()), checks, prefix),
        certificates=tables(checks[CHAIN]["details"]) if is_security and CHAIN in checks else (),
        redirects=_redirects(stored.get("redirects", ())),
        search_result=search_result(stored["search_result"], checks) if "search_result" in stored else None,
        shared_link=shared_link(stored["shared_link"]) if "shared_link" in stored else None,
        files=faulty_files(sorted(checks.values(), key=priority_of), prefix) if export["type"] == "performance" else (),
        weights=weights(stored.get("weights", ())),
    )


def _redirects(hops: Sequence[StoredHop]) -> tuple[Table, ...]:
    """Return a table of the redirects with source, status and target."""
    rows: list[list[JsonValue]] = [[before["url"], before["status"], after["url"]] for before, after in pairwise(hops)]
    return tables([{"kind": "redirect", "columns": REDIRECT, "rows": rows, "total": len(rows)}] if rows else [])
