"""Fingerprints of findings: recognize the same finding in another scan or on another page despite generated details.

A fingerprint identifies a check and one place: an element, file, header or cookie (`website_scan.places`). A finding
has a multiset of fingerprints: elements of one kind are counted. Groups, mutes, baselines, monitors and comparisons use
fingerprints to distinguish new places from known ones (ADR 11). Fingerprints are stored outside of reports, so the
normal forms must not change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from website_scan.places import Place
from website_scan.written_urls import split_url

DIGITS = 16


def fingerprint(check_id: str, place: str = "") -> str:
    """Return 16 hexadecimal digits for a check and the normal form of a place; for the check alone without a place."""
    return hashlib.sha256(f"{check_id}\n{place}".encode()).hexdigest()[:DIGITS]


def fingerprints(check_id: str, places: Iterable[Place], url: str) -> dict[str, str]:
    """Return the fingerprints of a failed or warned check on the page `url`, each with its first place in words.

    Never empty: a finding without places has one fingerprint, with an empty text.
    """
    places_by_fingerprint: dict[str, str] = {}
    page = split_url(url)
    for place in places:
        places_by_fingerprint.setdefault(fingerprint(check_id, place.normal(page)), place.in_words)
    return places_by_fingerprint or {fingerprint(check_id): ""}


def page_path(url: str) -> str:
    """Return path and query of a URL, which identify the same page on another host, such as a preview."""
    parts = split_url(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
