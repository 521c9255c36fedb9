"""Facts about sites that the scans of a list can find out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from website_scan.findings import ScanType
from website_scan.page.evidence import Document, Page
from website_scan.plan import plan
from website_scan.security_categories import Categories

# Evidence by name of the fact that it contains.
EVIDENCE: Mapping[str, type] = {"status": Page, "hsts": Page, "generator": Document, "language": Document}


@lru_cache(maxsize=64)
def is_asked(fact: str, types: tuple[str, ...], categories: Categories | None) -> bool:
    """Return True if scans of these types and categories of security gather the evidence for a fact."""
    return any(EVIDENCE[fact] in plan(ScanType(type), categories=categories).probes for type in types)
