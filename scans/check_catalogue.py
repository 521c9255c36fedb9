"""Catalogue of checks as the service displays it.

`make docs` writes it to `website_scan/checks.json`. Importing `website_scan.catalogue` instead would load the scan
engine into each process.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from importlib.resources import files

from django.conf import settings
from django.urls import reverse

from website_scan.findings import ScanType
from website_scan.report.fixes import Part, parts
from website_scan.report.references import ReferenceLink, page_url, reference
from website_scan.report.snippets import ServerFix, fixes
from website_scan.report_json import StoredFix
from website_scan.requirements.model import CHECK_ID_PREFIX, is_own_check
from website_scan.values import outline

# Every ID that an own requirement can have. Which requirements exist depends on the organization, and they may change.
OWN_CHECK = re.compile(rf"{CHECK_ID_PREFIX}[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_CHECK_ID_CHARACTERS = 80
# Outcomes of the checks of own requirements, of which each has one or two.
OWN_OUTCOMES = ("missing", "different", "present", "above")


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


def is_check_id(text: str) -> bool:
    """Return True for the ID of a check of the catalogue, and for every ID that an own requirement can have."""
    return text in entries() or (len(text) <= MAX_CHECK_ID_CHARACTERS and OWN_CHECK.fullmatch(text) is not None)


def outcomes_of_check(check_id: str) -> list[str]:
    """Return the names of all outcomes that a check has. Those of an own requirement are some of the returned ones."""
    entry = entries().get(check_id)
    if entry is None:
        return list(OWN_OUTCOMES) if is_own_check(check_id) else []
    return [outcome.name for outcome in entry.outcomes]


def check_name(check_id: str) -> str:
    """Return the name of a check.

    It is the ID if the check was removed from the catalogue. That of an own requirement is read from its ID, which
    has the words of the name.
    """
    if entry := entries().get(check_id):
        return entry.name
    if is_own_check(check_id):
        return check_id.removeprefix(CHECK_ID_PREFIX).replace("-", " ").capitalize()
    return check_id


def failure_title(check_id: str, name: str = "") -> str:
    """Return the title under which failures of a check are counted: that of its most common outcome.

    Returns `name`, or what `check_name` returns, if the catalogue does not have the check.
    """
    entry = entries().get(check_id)
    return entry.found if entry else name or check_name(check_id)


@functools.lru_cache(maxsize=1024)
def check_page(check_id: str) -> str:
    """Return the path of a check's documentation page, or "" for a removed check."""
    return page_url(reverse("docs-checks"), check_id)


def check_pages() -> str:
    """Return the absolute base URL of the checks' documentation pages, for exports and e-mails."""
    return f"{settings.BASE_URL}{reverse('docs-checks')}"
