"""Fingerprints, which recognize the same fault in other scans.

They also recognize it on another page. A fingerprint identifies a check and one place: an element, file, header or
cookie (`website_scan.places`). A finding has a multiset of fingerprints: elements of one kind are counted. Groups,
mutes, baselines, monitors and comparisons use fingerprints to distinguish new places from known ones (ADR 11).
Fingerprints are stored outside of reports, so the normal forms must not change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from website_scan.places import Place
from website_scan.written_urls import split_url

DIGITS = 16


def fingerprint(check_id: str, place: str = "") -> str:
    """Return the fingerprint of a check and a place.

    16 hexadecimal digits. `place` is the normal form of the place, or empty.
    """
    return hashlib.sha256(f"{check_id}\n{place}".encode()).hexdigest()[:DIGITS]


def fingerprints(check_id: str, places: Iterable[Place], url: str) -> dict[str, str]:
    """Return a finding's fingerprints with descriptions.

    A description is of the fingerprint's first place. `url` is the page. Never empty: a finding without places has one
    fingerprint, with an empty text.
    """
    places_by_fingerprint: dict[str, str] = {}
    page = split_url(url)
    for place in places:
        places_by_fingerprint.setdefault(fingerprint(check_id, place.normal(page)), place.short_name)
    return places_by_fingerprint or {fingerprint(check_id): ""}


def page_path(url: str) -> str:
    """Return path and query of a URL.

    They identify a page independently of its host.
    """
    parts = split_url(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
