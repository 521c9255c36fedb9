"""What a scan has checked, for the section "What was checked" of a report page."""

from __future__ import annotations

from msgspec import Struct

from website_scan.report.browserless import MEANING_WITHOUT_BROWSER
from website_scan.report.places import rows_of
from website_scan.report_json import ExportJson, checks_of
from website_scan.stored_data import Facts


class SkippedChecks(Struct, frozen=True):
    reason: str
    names: tuple[str, ...]


class Repeated(Struct, frozen=True):
    """Suppressed check with the reason.

    The anchor belongs to the finding that states the same fact.
    """

    name: str
    reason: str
    anchor: str


class CoverageSummary(Struct, frozen=True):
    """Coverage of the scan: numbers of checks and names of omitted checks.

    `browser` and `axe` are versions. `color_scheme` is empty unless the scan was made with it. `worth` is a sentence
    about the score of a scan without a browser. `reference_ms` is the duration of the benchmark task on the scanning
    machine.
    """

    planned: int
    known: int
    not_applicable: int
    browser: str
    axe: str
    widths: tuple[int, ...]
    color_scheme: str
    skipped: tuple[SkippedChecks, ...]
    omitted: tuple[str, ...]
    repeated: tuple[Repeated, ...]
    worth: str
    reference_ms: float | None

    @property
    def is_static(self) -> bool:
        """Return True if checks were omitted because no browser was available."""
        return self.planned < self.known


def coverage_of(export: ExportJson, facts: Facts, prefix: str) -> CoverageSummary:
    """Return the coverage of a report. `prefix` goes before the anchors."""
    names_by_reason: dict[str, list[str]] = {}
    for check in export["skipped_checks"]:
        names_by_reason.setdefault(check["reason"], []).append(check["name"])
    planned = facts.get("checks_planned", 0)
    repeated = export.get("repeated_checks", [])
    judged = export["summary"]["total_checks"] + len(export["skipped_checks"]) + len(repeated)
    return CoverageSummary(
        planned=planned,
        not_applicable=max(0, planned - judged),
        known=facts.get("checks_known", 0),
        browser=facts.get("browser", ""),
        # Only accessibility uses the results of axe-core from the shared page load.
        axe=facts.get("axe_core", "") if export["type"] == "accessibility" else "",
        widths=tuple(facts.get("widths", ())),
        color_scheme=export.get("color_scheme", ""),
        skipped=tuple(SkippedChecks(reason, tuple(names)) for reason, names in names_by_reason.items()),
        omitted=tuple(check["name"] for check in export.get("omitted_checks", ())),
        repeated=tuple(
            Repeated(check["name"], check["reason"], f"{prefix}check-{check['told_by']}") for check in repeated
        ),
        worth=MEANING_WITHOUT_BROWSER.get(export["type"], ""),
        reference_ms=_reference_ms(export),
    )


def _reference_ms(export: ExportJson) -> float | None:
    """Return the duration of the benchmark task in milliseconds.

    The details of checks that measure speed contain it.
    """
    values = (row.get("host_ms") for _, check in checks_of(export) for row in rows_of(check))
    return next((value for value in values if isinstance(value, int | float)), None)
