"""Places of a finding: the elements, files, headers or cookies that its evidence names (ADR 11)."""

from __future__ import annotations

from collections.abc import Mapping

from scanner.document import ComparableFinding
from scanner.fingerprints import EVIDENCE_ITEMS, fingerprints


def places_of(finding: ComparableFinding, url: str) -> Mapping[str, str]:
    """Return the fingerprints of a finding on the page `url`, each with its place in words.

    Never empty: a finding that names no place has one fingerprint, with an empty text.
    """
    if "places" in finding:
        return finding["places"]
    return fingerprints(finding["id"], finding["evidence"], url)


def is_cut(finding: ComparableFinding) -> bool:
    """Return True if the finding may have more places than its document names."""
    return finding["is_cut"] if "is_cut" in finding else len(finding["evidence"]) >= EVIDENCE_ITEMS
