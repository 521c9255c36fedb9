"""Entries of the catalogue of checks as the service displays it."""

from __future__ import annotations

from msgspec import Struct

from website_scan.findings import ScanType
from website_scan.report.fixes import Part, parts
from website_scan.report.references import ReferenceLink, reference
from website_scan.report.snippets import ServerFix, fixes
from website_scan.report_json import StoredFix
from website_scan.values import outline


class Cap(Struct, frozen=True):
    """Upper limit of the score while the check fails."""

    limit: int
    reason: str


class OutcomeEntry(Struct, frozen=True):
    """Outcome of a check, as the catalogue describes it."""

    name: str
    title: str
    severities: tuple[str, ...]
    consequence: str
    example: str

    @property
    def outline(self) -> str:
        """Return the title with dots in place of its values."""
        return outline(self.title)


class CheckEntry(Struct, frozen=True):
    """Entry of a check in the catalogue, as `manage.py checks --format json` prints it."""

    id: str
    name: str
    found: str
    outcomes: tuple[OutcomeEntry, ...]
    why: str
    judged: str
    type: ScanType
    category: str
    category_weight: int
    category_weight_without_browser: int | None
    weight_of_all: int
    journeys_only: bool
    share_percent: float
    severity: str
    evidence: tuple[str, ...]
    caps: tuple[Cap, ...]
    html_only: bool
    error_pages: bool
    measured: bool
    needs_browser: bool
    fix: str
    how_to_fix: StoredFix
    references: tuple[str, ...]
    # Name and version of the plug-in that added the check; empty for the scanner's own checks.
    plug_in: str = ""

    @property
    def consequences(self) -> tuple[str, ...]:
        """Return the sentences for site owners, without repetitions."""
        return tuple(dict.fromkeys(outcome.consequence for outcome in self.outcomes if outcome.consequence))

    @property
    def sources(self) -> list[ReferenceLink]:
        return [reference(source) for source in self.references]

    @property
    def fix_parts(self) -> tuple[Part, ...]:
        return parts(self.how_to_fix)

    @property
    def fixes(self) -> tuple[ServerFix, ...]:
        return fixes().get(self.id, ())
