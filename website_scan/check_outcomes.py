"""Names of the outcomes of the catalogue's checks, without an import of the scan engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def outcomes_by_check() -> Mapping[str, tuple[str, ...]]:
    """Return the names of each check's outcomes, by the check's ID."""
    checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
    return {check["id"]: tuple(outcome["name"] for outcome in check["outcomes"]) for check in checks}
