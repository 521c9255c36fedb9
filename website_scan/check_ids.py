"""IDs of the catalogue's checks, without an import of the scan engine."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from website_scan.findings import ScanType

CHECK_ID = re.compile(r'^@check\(\s*"([^"]+)"', re.MULTILINE)


@cache
def check_ids(scan_type: ScanType) -> frozenset[str]:
    """Return the IDs of a scan type's checks.

    Reads the source files, because importing the checks takes long.
    """
    folder = Path(__file__).parent / scan_type / "checks"
    sources = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    return frozenset(id for source in sources for id in CHECK_ID.findall(source))
