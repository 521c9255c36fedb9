"""Checks for their documentation pages, read from docs/checks.json. Importing the catalogue would load the engine."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString

from documentation.contents import resolver
from documentation.documents import chunks, inline
from website_scan.findings import ScanType
from website_scan.report.references import ReferenceLink, page_url, reference
from website_scan.report.snippets import ServerFix, fixes

DEVIATIONS = "checks-deviations.md"
CELL = re.compile(r"(?<!\\)\|")
# Rows of the table that are about many checks, with the common prefix of their IDs.
ABOUT_MANY = {"all exposure checks": "exposed-", "all hreflang checks": "hreflang-"}
ABOUT_ALL = "all"


@dataclass(frozen=True, slots=True)
class Cap:
    """Cap of the score that a failure of the check sets."""

    limit: int
    reason: str


@dataclass(frozen=True, slots=True)
class Deviation:
    """A deviation of a check from other tools, and its reason."""

    says: SafeString
    because: SafeString


@dataclass(frozen=True, slots=True)
class CheckEntry:
    """Entry of a check in docs/checks.json (`manage.py checks --format json`)."""

    id: str
    name: str
    found: str
    why: str
    judged: str
    type: ScanType
    category: str
    category_weight: int
    category_weight_without_browser: int | None
    weight_of_all: int
    share_percent: float
    severity: str
    evidence: tuple[str, ...]
    caps: tuple[Cap, ...]
    html_only: bool
    error_pages: bool
    measured: bool
    needs_browser: bool
    fix: str
    references: tuple[str, ...]

    @property
    def sources(self) -> list[ReferenceLink]:
        return [reference(each) for each in self.references]

    @property
    def fixes(self) -> tuple[ServerFix, ...]:
        return fixes().get(self.id, ())

    @property
    def deviations(self) -> list[Deviation]:
        return [
            Deviation(*(inline(cell.replace("\\|", "|"), resolver(DEVIATIONS)) for cell in cells))
            for section, about, *cells in _deviations()
            if self._is_meant(section, about)
        ]

    @property
    def neighbours(self) -> list[CheckEntry]:
        """The other checks of its category."""
        same = (each for each in entries().values() if (each.type, each.category) == (self.type, self.category))
        return [each for each in same if each.id != self.id]

    def _is_meant(self, section: str, about: str) -> bool:
        if f"`{self.id}`" in about:
            return True
        if about in ABOUT_MANY:
            return self.id.startswith(ABOUT_MANY[about])
        return about == ABOUT_ALL and section == self.category


@functools.cache
def entries() -> dict[str, CheckEntry]:
    """Return all checks by ID, in the order of reports."""
    written = json.loads((settings.BASE_DIR / "docs" / "checks.json").read_text(encoding="utf-8"))["checks"]
    made = (
        CheckEntry(
            **each
            | {
                "type": ScanType(each["type"]),
                "caps": tuple(Cap(**cap) for cap in each["caps"]),
                "evidence": tuple(each["evidence"]),
                "references": tuple(each["references"]),
            }
        )
        for each in written
    )
    return {each.id: each for each in made}


def check_name(check_id: str) -> str:
    """Return the name of a check, or the ID itself for a removed check."""
    found = entries().get(check_id)
    return found.name if found else check_id


@functools.lru_cache(maxsize=1024)
def check_page(check_id: str) -> str:
    """Return the path of a check's page, empty for a removed check."""
    return page_url(reverse("docs-checks"), check_id)


def check_pages() -> str:
    """Return the absolute base URL of the checks' pages, for exports and e-mails."""
    return f"{settings.BASE_URL}{reverse('docs-checks')}"


@functools.cache
def _deviations() -> tuple[tuple[str, str, str, str], ...]:
    """Return the rows of the tables in checks-deviations.md: section, checks, our decision and its reason."""
    return tuple(_rows())


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for chunk in chunks(DEVIATIONS):
        for line in chunk.text.splitlines():
            cells = [each.strip() for each in CELL.split(line)[1:-1]]
            if len(cells) == 3 and cells[0] != "check" and not cells[0].startswith("-"):
                yield chunk.title, cells[0], cells[1], cells[2]


def search(scan_type: ScanType | None, words: str) -> list[tuple[str, str, list[CheckEntry]]]:
    """Return the checks of a type (None: of all) with all these words in ID, name, title or category.

    They are grouped by type and category.
    """
    wanted = words.lower().split()
    groups: dict[tuple[str, str], list[CheckEntry]] = {}
    for each in entries().values():
        text = f"{each.id} {each.name} {each.found} {each.category}".lower()
        if (scan_type is None or each.type is scan_type) and all(word in text for word in wanted):
            groups.setdefault((each.type.label, each.category), []).append(each)
    return [(label, category, members) for (label, category), members in groups.items()]
