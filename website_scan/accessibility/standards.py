"""Accessibility standards, and the success criteria that they require.

The criteria are in standards.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from msgspec import Struct

TABLE = Path(__file__).with_name("standards.toml")
UNDERSTANDING = "https://www.w3.org/WAI/WCAG22/Understanding/"
NEWEST_WCAG = "2.2"
LEVELS = ("A", "AA", "AAA")


class Standard(StrEnum):
    """Standard that a page may be judged by."""

    WCAG_22 = "wcag22"
    WCAG_21 = "wcag21"
    WCAG_20 = "wcag20"
    EN_301_549 = "en301549"
    SECTION_508 = "section508"

    @property
    def label(self) -> str:
        return LABELS[self]

    @property
    def wcag_version(self) -> str:
        """Return the version of WCAG whose criteria the standard requires."""
        return WCAG_VERSIONS[self]

    @property
    def highest_level(self) -> str:
        """Return the highest level of criteria that the standard knows."""
        return "AAA" if self.value.startswith("wcag") else "AA"

    def at_level(self, level: str) -> str:
        """Return the part of the standard that covers the criteria up to a level, in words.

        Only WCAG has levels. EN 301 549 and Section 508 include criteria of WCAG by reference.
        """
        if self.value.startswith("wcag"):
            return f"{self.label}, level {level}"
        levels = LEVELS[: min(LEVELS.index(level), LEVELS.index(self.highest_level)) + 1]
        criteria = f"WCAG {self.wcag_version} {'levels' if len(levels) > 1 else 'level'} {' and '.join(levels)}"
        return f"{self.label}{', clause 9' if self is Standard.EN_301_549 else ''} ({criteria})"


LABELS: Mapping[Standard, str] = {
    Standard.WCAG_22: "WCAG 2.2",
    Standard.WCAG_21: "WCAG 2.1",
    Standard.WCAG_20: "WCAG 2.0",
    Standard.EN_301_549: "EN 301 549 V3.2.1",
    Standard.SECTION_508: "Section 508",
}
WCAG_VERSIONS: Mapping[Standard, str] = {
    Standard.WCAG_22: "2.2",
    Standard.WCAG_21: "2.1",
    Standard.WCAG_20: "2.0",
    Standard.EN_301_549: "2.1",
    Standard.SECTION_508: "2.0",
}


class SuccessCriterion(Struct, frozen=True):
    """Success criterion of WCAG.

    `since` and `until` are the first and the last version of WCAG with the criterion. `asks` is what it asks of a page,
    `machine` what automatic checks can decide, `procedure` the steps of a test by a person, and `applies` the content
    that it is limited to, or empty.
    """

    number: str
    name: str
    level: str
    since: str
    until: str
    page: str
    asks: str
    machine: str
    procedure: tuple[str, ...]
    applies: str

    @property
    def url(self) -> str:
        """URL of the W3C's explanation."""
        return f"{UNDERSTANDING}{self.page}"

    @property
    def order(self) -> tuple[int, ...]:
        """Sort key for the order of the standard, in which 1.4.10 follows 1.4.9."""
        return tuple(int(part) for part in self.number.split("."))

    def is_in(self, version: str) -> bool:
        """Return True if this version of WCAG has the criterion."""
        return self.since <= version <= self.until

    def clause(self, standard: Standard) -> str:
        """Return the number of the criterion's clause in the standard, which for WCAG is its own number."""
        return f"9.{self.number}" if standard is Standard.EN_301_549 else self.number


@cache
def success_criteria() -> Mapping[str, SuccessCriterion]:
    """Return all success criteria by number, in the order of the standard."""
    import tomllib  # Import tomllib only here, because the command's help needs only the names of standards.

    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    criteria = [
        SuccessCriterion(
            number=number,
            name=row["name"],
            level=row["level"],
            since=row["since"],
            until=row.get("until", NEWEST_WCAG),
            page=row["page"],
            asks=row["asks"],
            machine=row["machine"],
            procedure=tuple(row["procedure"]),
            applies=row.get("applies", ""),
        )
        for number, row in table.items()
    ]
    return {criterion.number: criterion for criterion in sorted(criteria, key=lambda criterion: criterion.order)}


@cache
def required_criteria(standard: Standard, level: str) -> tuple[SuccessCriterion, ...]:
    """Return the criteria that conformance to the standard requires at a level: A, AA or AAA.

    EN 301 549 and Section 508 require none of level AAA.
    """
    levels = LEVELS[: min(LEVELS.index(level), LEVELS.index(standard.highest_level)) + 1]
    return tuple(
        criterion
        for criterion in success_criteria().values()
        if criterion.level in levels and criterion.is_in(standard.wcag_version)
    )
