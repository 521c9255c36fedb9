"""Places of a stored finding: the elements, files, headers or cookies where the check found it (ADR 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from website_scan.fingerprints import fingerprint
from website_scan.json_types import JsonValue
from website_scan.places import MOST_ROWS
from website_scan.report_json import ComparableFinding, ExportedCheck, ExportedFinding, StoredTable

Row = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """Place of a stored finding: its fingerprint, its name in words, and its row by the names of the columns.

    The place of a finding about the whole page has an empty name and an empty row.
    """

    fingerprint: str
    text: str
    row: Row
    is_counted: bool = False


def stored_places(finding: ExportedFinding) -> Iterator[StoredPlace]:
    """Yield the places of a finding, in order; a finding about the whole page has one place, without name and row."""
    if not finding["places"]:
        yield StoredPlace(fingerprint(finding["id"]), "", {})
    for table in finding["places"]:
        for place_fingerprint, row in zip(table["fingerprints"], rows(table), strict=True):
            text = " ".join(str(row[name]) for name in table["names"] if row[name] not in (None, ""))
            yield StoredPlace(place_fingerprint, text, row, table["is_counted"])


def rows(table: StoredTable) -> Iterator[Row]:
    """Yield the rows of a table by the names of its columns."""
    names = [column["name"] for column in table["columns"]]
    yield from (dict(zip(names, row, strict=True)) for row in table["rows"])


def rows_of(check: ExportedCheck) -> Iterator[Row]:
    """Yield all rows of a check, details first and then places, without empty values."""
    tables: list[StoredTable] = [*check["details"], *(check["places"] if check["status"] != "pass" else ())]
    for table in tables:
        yield from ({name: value for name, value in row.items() if value is not None} for row in rows(table))


def places_of(finding: ComparableFinding) -> Mapping[str, str]:
    """Return the places of a finding, in words, by fingerprint.

    Never empty: a finding about the whole page has one fingerprint, with an empty text.
    """
    return {place: _in_words(texts) for place, texts in occurrences_of(finding).items()}


def occurrences_of(finding: ComparableFinding) -> Mapping[str, Sequence[str]]:
    """Return the places of a finding by fingerprint, with all occurrences of a place on the page, in words.

    So a fourth image with the same fingerprint is noticed. Only counted places occur more than once.
    """
    if isinstance(finding["places"], dict):
        return finding["places"]
    occurrences: dict[str, list[str]] = {}
    for place in stored_places(finding):
        texts = occurrences.setdefault(place.fingerprint, [])
        if not texts or place.is_counted:
            texts.append(place.text)
    return occurrences


def _in_words(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more of its kind"


def is_cut(finding: ComparableFinding) -> bool:
    """Return True if the finding may have more places than its report contains."""
    return (
        finding["is_cut"]
        if "is_cut" in finding
        else sum(len(table["rows"]) for table in finding["places"]) >= MOST_ROWS
    )
