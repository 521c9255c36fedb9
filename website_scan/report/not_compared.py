"""Reasons why a finding of one report cannot be compared with another report."""

from __future__ import annotations

from enum import StrEnum

from website_scan.report_json import ComparableJson
from website_scan.requirements.model import is_own_check
from website_scan.security_categories import LABELS


class Reason(StrEnum):
    """Reason why a finding cannot be compared with the other report.

    `said` is the text for users.
    """

    COULD_NOT_RUN = "could_not_run"
    NEEDS_BROWSER = "needs_browser"
    TOLD_BY_ANOTHER = "told_by_another"
    NOT_APPLICABLE = "not_applicable"
    NOT_CHOSEN = "not_chosen"
    OTHER_RULES = "other_rules"

    @property
    def said(self) -> str:
        return {
            Reason.COULD_NOT_RUN: "the check could not run",
            Reason.NEEDS_BROWSER: "no browser was available",
            Reason.TOLD_BY_ANOTHER: "another check reported the same fact",
            Reason.NOT_APPLICABLE: "the check does not apply",
            Reason.NOT_CHOSEN: "the scan was limited to other categories",
            Reason.OTHER_RULES: "other rules, which may not have included the check",
        }[self]


def reason_of_absence(id: str, category: str, report: ComparableJson, *, has_same_rules: bool) -> Reason:
    """Return the reason why a report has no verdict on a check. `category` is the name of the check's category."""
    if any(check["id"] == id for check in report["skipped_checks"]):
        return Reason.COULD_NOT_RUN
    # Older exports have neither `omitted_checks` nor `repeated_checks`.
    if any(check["id"] == id for check in report.get("omitted_checks", ())):
        return Reason.NEEDS_BROWSER
    if any(check["id"] == id for check in report.get("repeated_checks", ())):
        return Reason.TOLD_BY_ANOTHER
    # Own requirements are judged in each report that has them, so one without them had no such requirement.
    if is_own_check(id):
        return Reason.NOT_APPLICABLE
    chosen = report.get("chosen_categories")
    if chosen is not None and category not in {LABELS.get(name) for name in chosen}:
        return Reason.NOT_CHOSEN
    return Reason.NOT_APPLICABLE if has_same_rules else Reason.OTHER_RULES
