"""What the documentation's pages of checks add to the catalogue: deviations from other tools, neighbours, search."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from documentation.contents import resolver
from documentation.markdown import chunks, inline
from scans.check_catalogue import CheckEntry, entries
from website_scan.findings import ScanType

DEVIATIONS = "checks-deviations.md"
CELL = re.compile(r"(?<!\\)\|")
# Rows of the table that are about many checks, with the common prefix of their IDs.
ABOUT_MANY = {"all exposure checks": "exposed-", "all hreflang checks": "hreflang-"}
ABOUT_ALL = "all"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A deviation of a check from other tools, and its reason."""

    says: SafeString
    because: SafeString


def deviations(check: CheckEntry) -> list[Deviation]:
    """Return how the check deviates from other tools, as checks-deviations.md lists it."""
    return [
        Deviation(*(inline(cell.replace("\\|", "|"), resolver(DEVIATIONS)) for cell in cells))
        for section, about, *cells in _deviations()
        if _concerns(check, section, about)
    ]


def neighbours(check: CheckEntry) -> list[CheckEntry]:
    """Return the other checks of the check's category."""
    same = (each for each in entries().values() if (each.type, each.category) == (check.type, check.category))
    return [each for each in same if each.id != check.id]


def search(scan_type: ScanType | None, words: str) -> list[tuple[str, str, list[CheckEntry]]]:
    """Return the checks of a type (None: of all) with all these words in ID, name, title or category.

    They are grouped by type and category.
    """
    wanted = words.lower().split()
    groups: dict[tuple[str, str], list[CheckEntry]] = {}
    for each in entries().values():
        titles = " ".join(outcome.outline for outcome in each.outcomes)
        text = f"{each.id} {each.name} {titles} {each.category}".lower()
        if (scan_type is None or each.type is scan_type) and all(word in text for word in wanted):
            groups.setdefault((each.type.label, each.category), []).append(each)
    return [(label, category, members) for (label, category), members in groups.items()]


def _concerns(check: CheckEntry, section: str, about: str) -> bool:
    """Return True if a row of the table, in this section and about these checks, concerns the check."""
    if f"`{check.id}`" in about:
        return True
    if about in ABOUT_MANY:
        return check.id.startswith(ABOUT_MANY[about])
    return about == ABOUT_ALL and section == check.category


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
