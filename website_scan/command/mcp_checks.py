"""Checks that `website-scan mcp` lists and explains: those of the catalogue, of plug-ins and of own requirements.

Texts that are not of the catalogue are data for agents, because others have written them.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence

from website_scan import catalogue
from website_scan.catalogue import Check
from website_scan.command.additional_checks import additional_checks
from website_scan.command.terminal import printable
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.plan import needs_browser
from website_scan.requirements.model import Requirements
from website_scan.values import outline
from website_scan.wording import catalogue_fix


class UnknownCheck(Exception):
    """Raised for an ID that no check has. The message names similar IDs."""


class KnownChecks:
    """Checks of the catalogue, and those that scans run in addition to it.

    It loads plug-ins, which can take some seconds.
    """

    def __init__(self, requirements: Requirements, *, uses_plug_ins: bool = True) -> None:
        self._rules = {rule.check_id: rule for rule in requirements.rules}
        self._extension = additional_checks(requirements, uses_plug_ins=uses_plug_ins)

    def is_added(self, check_id: str) -> bool:
        """Return True if the check is not in the catalogue."""
        return any(check.id == check_id for check in self._extension.checks)

    def listed(self, types: Sequence[ScanType]) -> str:
        """Return the checks of the catalogue as lines of Markdown."""
        return _lines(check for scan_type in types for check in catalogue.checks(scan_type))

    def added(self, types: Sequence[ScanType]) -> str:
        """Return the checks that are not in the catalogue as lines of Markdown. Empty without any."""
        return _lines((check for check in self._extension.checks if check.type in types), self._extension)

    def explained(self, check_id: str) -> str:
        """Explain a check: what it finds, why that matters, when it fails, the fix, and the sources.

        Raises UnknownCheck.
        """
        built_in = {check.id: check for scan_type in ScanType for check in catalogue.checks(scan_type)}
        checks = built_in | {check.id: check for check in self._extension.checks}
        if check_id not in checks:
            near = " or ".join(difflib.get_close_matches(check_id, checks, 3))
            raise UnknownCheck(f"No check has this ID.{f' Did you mean {near}?' if near else ''}")
        check = checks[check_id]
        about = [str(check.type), check.category.name, str(check.severity)]
        about += ["needs a browser"] if needs_browser(check, self._extension) else []
        about += [self._source(check)] if self.is_added(check_id) else []
        rule = self._rules.get(check_id)
        parts = {
            "": ", ".join(filter(None, about)),
            "Requirement: ": json.dumps(rule.json(), ensure_ascii=False) if rule else "",
            "Finds: ": "; ".join(outline(check.outcome(name).title) for name in check.outcomes),
            "Why: ": check.why,
            "When: ": check.judged,
            "Fix: ": catalogue_fix(check.own_fix),
            "Sources: ": "; ".join(check.references),
        }
        lines = [f"# {check.name}", *(f"{title}{text}" for title, text in parts.items() if text)]
        if not self.is_added(check_id):
            return "\n\n".join(lines)
        return "\n\n".join("\n".join(map(printable, line.splitlines())) for line in lines)

    def _source(self, check: Check) -> str:
        plug_in = self._extension.plug_ins.get(check.category_id)
        return f"plug-in {plug_in.name} {plug_in.version}" if plug_in else ""


def _lines(checks: Iterator[Check], extension: Extension = NO_EXTENSION) -> str:
    return "\n".join(printable(_line(check, extension)) for check in checks)


def _line(check: Check, extension: Extension) -> str:
    plug_in = extension.plug_ins.get(check.category_id)
    source = f", plug-in {plug_in.name}" if plug_in else ""
    return f"- `{check.id}` ({check.type}, {check.severity}{source}): {check.name}"
