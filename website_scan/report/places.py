"""Access to the places of stored findings.

Places are elements, files and headers with a fault (ADR 11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from website_scan.fingerprints import fingerprint
from website_scan.json_types import JsonValue
from website_scan.places import MAX_STORED_PLACES
from website_scan.report_json import ComparableFinding, ExportedCheck, ExportedFinding, StoredTable

Row = Mapping[str, JsonValue]


class StoredPlace(Struct, frozen=True):
    """Place of a stored finding.

    It has a fingerprint, a description and a table row.

    The place of a finding about the whole page has an empty name and an empty row.
    """

    fingerprint: str
    text: str
    row: Row
    is_counted: bool = False


def stored_places(finding: ExportedFinding) -> Iterator[StoredPlace]:
    """Yield a finding's places in order.

    A finding about the whole page has one place without text or row.
    """
    if not finding["places"]:
        yield StoredPlace(fingerprint(finding["id"]), "", {})
    for table in finding["places"]:
        for place_fingerprint, row in zip(table["fingerprints"], rows(table), strict=True):
            text = " ".join(str(row[name]) for name in table["names"] if row[name] not in (None, ""))
            yield StoredPlace(place_fingerprint, text, row, table["is_counted"])


def count_places(finding: ExportedFinding) -> int:
    """Return the number of places of a finding, including those that are not stored."""
    return sum(table["total"] for table in finding["places"])


def rows(table: StoredTable) -> Iterator[Row]:
    """Yield the rows of a table as dictionaries by column name."""
    names = [column["name"] for column in table["columns"]]
    yield from (dict(zip(names, row, strict=True)) for row in table["rows"])


def rows_of(check: ExportedCheck) -> Iterator[Row]:
    """Yield a check's table rows, first the details, then the places.

    Empty values are left out.
    """
    tables: list[StoredTable] = [*check["details"], *(check["places"] if check["status"] != "pass" else ())]
    for table in tables:
        yield from ({name: value for name, value in row.items() if value is not None} for row in rows(table))


def describe_places(finding: ComparableFinding) -> Mapping[str, str]:
    """Return descriptions of a finding's places by fingerprint.

    Never empty: a finding about the whole page has one fingerprint, with an empty text.
    """
    return {place: _join_place_texts(texts) for place, texts in occurrences_by_fingerprint(finding).items()}


def occurrences_by_fingerprint(finding: ComparableFinding) -> Mapping[str, Sequence[str]]:
    """Return a finding's place descriptions by fingerprint.

    With the occurrences, a fourth image with the same fingerprint is a new place. Only counted places occur more than
    once.
    """
    if isinstance(finding["places"], dict):
        return finding["places"]
    occurrences: dict[str, list[str]] = {}
    for place in stored_places(finding):
        texts = occurrences.setdefault(place.fingerprint, [])
        if not texts or place.is_counted:
            texts.append(place.text)
    return occurrences


def _join_place_texts(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more of its kind"


def is_cut(finding: ComparableFinding) -> bool:
    """Return True if the finding may have more places than the report contains."""
    return (
        finding["is_cut"]
        if "is_cut" in finding
        else sum(len(table["rows"]) for table in finding["places"]) >= MAX_STORED_PLACES
    )
