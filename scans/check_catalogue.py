"""Catalogue of checks as the service displays it.

`make docs` writes it to `website_scan/checks.json`. Importing `website_scan.catalogue` instead would load the scan
engine into each process.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib.resources import files

from django.conf import settings
from django.urls import reverse

from website_scan.findings import ScanType
from website_scan.report.fixes import Part, parts
from website_scan.report.references import ReferenceLink, page_url, reference
from website_scan.report.snippets import ServerFix, fixes
from website_scan.report_json import StoredFix
from website_scan.values import outline


@dataclass(frozen=True, slots=True)
class Cap:
    """Upper limit of the score while the check fails."""

    limit: int
    reason: str


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
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


@dataclass(frozen=True, slots=True)
class CheckEntry:
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


@functools.cache
def entries() -> dict[str, CheckEntry]:
    """Return the catalogue's entries by check ID, in the order of reports."""
    stored_checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
    entries_of_checks = (
        CheckEntry(
            **check
            | {
                "type": ScanType(check["type"]),
                "caps": tuple(Cap(**cap) for cap in check["caps"]),
                "outcomes": tuple(
                    OutcomeEntry(**outcome | {"severities": tuple(outcome["severities"])})
                    for outcome in check["outcomes"]
                ),
                "evidence": tuple(check["evidence"]),
                "references": tuple(check["references"]),
            }
        )
        for check in stored_checks
    )
    return {entry.id: entry for entry in entries_of_checks}


def check_name(check_id: str) -> str:
    """Return the name of a check, or its ID if the check was removed from the catalogue."""
    entry = entries().get(check_id)
    return entry.name if entry else check_id


def failure_title(check_id: str, name: str = "") -> str:
    """Return the title under which failures of a check are counted: that of its most common outcome.

    Returns `name`, or the ID, if the check was removed from the catalogue.
    """
    entry = entries().get(check_id)
    return entry.found if entry else name or check_id


@functools.lru_cache(maxsize=1024)
def check_page(check_id: str) -> str:
    """Return the path of a check's documentation page, or "" for a removed check."""
    return page_url(reverse("docs-checks"), check_id)


def check_pages() -> str:
    """Return the absolute base URL of the checks' documentation pages, for exports and e-mails."""
    return f"{settings.BASE_URL}{reverse('docs-checks')}"
