"""Places of a finding: the elements, files, headers or cookies that its evidence names (ADR 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from website_scan.document import ComparableFinding, ExportedFinding
from website_scan.fingerprints import EVIDENCE_ITEMS, normal_places, occurrences


def places_of(finding: ComparableFinding, url: str) -> Mapping[str, str]:
    """Return the fingerprints of a finding on the page `url`, each with its place in words.

    Never empty: a finding that names no place has one fingerprint, with an empty text.
    """
    return {each: _in_words(texts) for each, texts in occurrences_of(finding, url).items()}


def occurrences_of(finding: ComparableFinding, url: str) -> Mapping[str, Sequence[str]]:
    """Return the fingerprints as `places_of` does, each with all its occurrences in words."""
    if "places" in finding:
        return finding["places"]
    return occurrences(finding["id"], finding["evidence"], url)


def normal_places_of(finding: ExportedFinding, url: str) -> Mapping[str, str]:
    """Return the fingerprints as `places_of` does, each with the normal form of its place, which does not change."""
    return normal_places(finding["id"], finding["evidence"], url)


def _in_words(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more of its kind"


def is_cut(finding: ComparableFinding) -> bool:
    """Return True if the finding may have more places than its document names."""
    return finding["is_cut"] if "is_cut" in finding else len(finding["evidence"]) >= EVIDENCE_ITEMS
