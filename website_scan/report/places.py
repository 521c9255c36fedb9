"""Places of a stored finding: the elements, files, headers or cookies at which it was found (ADR 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from website_scan.fingerprints import fingerprint
from website_scan.json_types import JsonValue
from website_scan.places import MOST_ROWS
from website_scan.report_json import ComparableFinding, ExportedCheck, ExportedFinding, StoredTable

Row = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Place of a finding: its fingerprint, its name in words, and its row by the names of the columns.

    The place of a finding about the whole page has an empty name and an empty row.
    """

    fingerprint: str
    text: str
    row: Row
    is_counted: bool = False


def found_places(finding: ExportedFinding) -> Iterator[FoundPlace]:
    """Yield the places of a finding, in order; that of the check alone for a finding about the whole page."""
    if not finding["places"]:
        yield FoundPlace(fingerprint(finding["id"]), "", {})
    for table in finding["places"]:
        for each, row in zip(table["fingerprints"], rows(table), strict=True):
            text = " ".join(str(row[name]) for name in table["names"] if row[name] not in (None, ""))
            yield FoundPlace(each, text, row, table["is_counted"])


def rows(table: StoredTable) -> Iterator[Row]:
    """Yield the rows of a table by the names of its columns."""
    names = [column["name"] for column in table["columns"]]
    yield from (dict(zip(names, row, strict=True)) for row in table["rows"])


def rows_of(check: ExportedCheck) -> Iterator[Row]:
    """Yield all rows of a check, details first, without empty values."""
    tables: list[StoredTable] = [*check["details"], *(check["places"] if check["status"] != "pass" else ())]
    for table in tables:
        yield from ({name: value for name, value in row.items() if value is not None} for row in rows(table))


def places_of(finding: ComparableFinding) -> Mapping[str, str]:
    """Return the fingerprints of a finding, each with its place in words.

    Never empty: a finding that names no place has one fingerprint, with an empty text.
    """
    return {each: _in_words(texts) for each, texts in occurrences_of(finding).items()}


def occurrences_of(finding: ComparableFinding) -> Mapping[str, Sequence[str]]:
    """Return the fingerprints as `places_of` does, each with all its occurrences on the page in words.

    So a fourth image of a kind differs from three. Only counted places occur more than once.
    """
    if isinstance(finding["places"], dict):
        return finding["places"]
    found: dict[str, list[str]] = {}
    for each in found_places(finding):
        texts = found.setdefault(each.fingerprint, [])
        if not texts or each.is_counted:
            texts.append(each.text)
    return found


def _in_words(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more of its kind"


def is_cut(finding: ComparableFinding) -> bool:
    """Return True if the finding may have more places than its document names."""
    return (
        finding["is_cut"] if "is_cut" in finding else sum(len(each["rows"]) for each in finding["places"]) >= MOST_ROWS
    )
