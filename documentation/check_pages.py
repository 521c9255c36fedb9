"""Content for check pages beyond the catalogue: deviations, related checks, and search."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from django.utils.safestring import SafeString
from msgspec import Struct

from documentation.contents import resolver
from documentation.markdown import chunks, inline
from scans.check_catalogue import CheckEntry, entries
from website_scan.findings import ScanType

DEVIATIONS = "checks-deviations.md"
CELL = re.compile(r"(?<!\\)\|")
# Phrases that stand for many checks in the table, with the common prefix of their IDs.
ABOUT_MANY = {"all exposure checks": "exposed-", "all hreflang checks": "hreflang-"}
ABOUT_ALL = "all"


class Deviation(Struct, frozen=True):
    """How a check deviates from other tools, and why."""

    decision: SafeString
    reason: SafeString


def deviations(check: CheckEntry) -> list[Deviation]:
    """Return the check's deviations from other tools, which checks-deviations.md lists."""
    return [
        Deviation(*(inline(cell.replace("\\|", "|"), resolver(DEVIATIONS)) for cell in cells))
        for section, about, *cells in _deviations()
        if _concerns(check, section, about)
    ]


def neighbours(check: CheckEntry) -> list[CheckEntry]:
    """Return the other checks in the check's category."""
    return [
        other
        for other in entries().values()
        if (other.type, other.category) == (check.type, check.category) and other.id != check.id
    ]


def search(scan_type: ScanType | None, words: str) -> list[tuple[str, str, list[CheckEntry]]]:
    """Return the checks with all `words` in their ID, name, title or category.

    If `scan_type` is None, return the checks of all types.

    The result is a list of groups: the label of the type, the category and the checks.
    """
    terms = words.lower().split()
    groups: dict[tuple[str, str], list[CheckEntry]] = {}
    for check in entries().values():
        titles = " ".join(outcome.outline for outcome in check.outcomes)
        text = f"{check.id} {check.name} {titles} {check.category}".lower()
        if (scan_type is None or check.type is scan_type) and all(term in text for term in terms):
            groups.setdefault((check.type.label, check.category), []).append(check)
    return [(label, category, members) for (label, category), members in groups.items()]


def _concerns(check: CheckEntry, section: str, about: str) -> bool:
    """Return True if a row in the table of deviations is about the check.

    `about` is the row's first cell.
    """
    if f"`{check.id}`" in about:
        return True
    if about in ABOUT_MANY:
        return check.id.startswith(ABOUT_MANY[about])
    return about == ABOUT_ALL and section == check.category


@functools.cache
def _deviations() -> tuple[tuple[str, str, str, str], ...]:
    """Return the table rows in checks-deviations.md as section, checks, decision and reason."""
    return tuple(_rows())


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for chunk in chunks(DEVIATIONS):
        for line in chunk.text.splitlines():
            cells = [cell.strip() for cell in CELL.split(line)[1:-1]]
            if len(cells) == 3 and cells[0] != "check" and not cells[0].startswith("-"):
                yield chunk.title, cells[0], cells[1], cells[2]
