"""Catalogue of checks as the service displays it.

`make docs` writes it to `website_scan/checks.json`. Importing `website_scan.catalogue` instead would load the scan
engine into each process.
"""

from __future__ import annotations

import functools
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from django.conf import settings
from django.urls import reverse

from scans.check_entries import Cap, OutcomeEntry
from scans.check_entries import CheckEntry as CheckEntry
from scans.plug_ins import enabled_plug_ins
from website_scan.findings import ScanType
from website_scan.requirements.model import CHECK_ID_PREFIX, is_own_check

if TYPE_CHECKING:
    from website_scan.plugins.registry import UsedPlugIn

# Every ID that an own requirement can have. Which requirements exist depends on the organization, and they may change.
OWN_CHECK = re.compile(rf"{CHECK_ID_PREFIX}[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_CHECK_ID_CHARACTERS = 80
# Outcomes of the checks of own requirements, of which each has one or two.
OWN_OUTCOMES = ("missing", "different", "present", "above")


def entries() -> dict[str, CheckEntry]:
    """Return the catalogue's entries by check ID, in the order of reports. Those of enabled plug-ins are the last."""
    return _entries(enabled_plug_ins())


@functools.lru_cache(maxsize=2)
def _entries(plug_ins: tuple[UsedPlugIn, ...]) -> dict[str, CheckEntry]:
    own = _own_entries()
    if not plug_ins:
        return own
    from scans.plug_in_entries import entries_of_plug_ins  # Most installations have no plug-ins.

    return own | entries_of_plug_ins(plug_ins, own)


@functools.cache
def _own_entries() -> dict[str, CheckEntry]:
    stored_checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
    entries_of_checks = (
        CheckEntry(
            **check
            | {
                "type": ScanType(check["type"]),
                "caps": tuple(Cap(**cap) for cap in check["caps"]),
                "outcomes": tuple(
                    OutcomeEntry(**outcome | {"severities": tuple(outcome["severities"])})
                    for outcome in check["outcomes"]
                ),
                "evidence": tuple(check["evidence"]),
                "references": tuple(check["references"]),
            }
        )
        for check in stored_checks
    )
    return {entry.id: entry for entry in entries_of_checks}


def is_check_id(text: str) -> bool:
    """Return True for the ID of a check of the catalogue, and for every ID that an own requirement can have."""
    return text in entries() or (len(text) <= MAX_CHECK_ID_CHARACTERS and OWN_CHECK.fullmatch(text) is not None)


def outcomes_of_check(check_id: str) -> list[str]:
    """Return the names of all outcomes that a check has. Those of an own requirement are some of the returned ones."""
    entry = entries().get(check_id)
    if entry is None:
        return list(OWN_OUTCOMES) if is_own_check(check_id) else []
    return [outcome.name for outcome in entry.outcomes]


def check_name(check_id: str) -> str:
    """Return the name of a check.

    It is the ID if the check was removed from the catalogue. That of an own requirement is read from its ID, which
    has the words of the name.
    """
    if entry := entries().get(check_id):
        return entry.name
    if is_own_check(check_id):
        return check_id.removeprefix(CHECK_ID_PREFIX).replace("-", " ").capitalize()
    return check_id


def failure_title(check_id: str, name: str = "") -> str:
    """Return the title under which failures of a check are counted: that of its most common outcome.

    Returns `name`, or what `check_name` returns, if the catalogue does not have the check.
    """
    entry = entries().get(check_id)
    return entry.found if entry else name or check_name(check_id)


def check_page(check_id: str) -> str:
    """Return the path of a check's documentation page, or "" for a removed check."""
    return f"{_checks_path()}{check_id}" if check_id in entries() else ""


@functools.cache
def _checks_path() -> str:
    return reverse("docs-checks")


def check_pages() -> str:
    """Return the absolute base URL of the checks' documentation pages, for exports and e-mails."""
    return f"{settings.BASE_URL}{reverse('docs-checks')}"
