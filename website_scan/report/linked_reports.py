"""Links between reports of the same visit.

They are for facts that checks of two scan types find.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from website_scan import repeats
from website_scan.findings import ScanType
from website_scan.repeats import CheckKey, Reporters
from website_scan.report_json import ExportedCheck, ExportJson


class OtherReport(Struct, frozen=True):
    """Report of the same visit for another scan type.

    The URL of a card is `anchor` plus the ID of the check.
    """

    export: ExportJson
    anchor: str


class LinkedFinding(Struct, frozen=True):
    """Finding of another report that states the same fact."""

    type: ScanType
    id: str
    title: str
    url: str

    @property
    def label(self) -> str:
        """Name of the scan type for users."""
        return self.type.label


def linked_findings(export: ExportJson, others: Iterable[OtherReport]) -> Mapping[str, tuple[LinkedFinding, ...]]:
    """Map each finding's check ID to findings of other reports.

    They state the same fact.
    """
    reports = _reports_by_type(others)
    own = ScanType(export["type"])
    links_by_id: dict[str, list[LinkedFinding]] = {}
    for pair in _duplicates(export, reports):
        for here, there in (pair, pair[::-1]):
            if here.type is own:
                links_by_id.setdefault(here.id, []).append(_link(reports[there.type], there.type, there.id))
    return {id: tuple(links) for id, links in links_by_id.items()}


def reported_elsewhere(export: ExportJson, others: Iterable[OtherReport]) -> Mapping[str, LinkedFinding]:
    """Map each duplicate finding's check ID to another report's finding.

    Both findings state the same fact.
    """
    reports = _reports_by_type(others)
    own = ScanType(export["type"])
    return {
        here.id: _link(reports[there.type], there.type, there.id)
        for here, there in _duplicates(export, reports)
        if here.type is own
    }


def _reports_by_type(others: Iterable[OtherReport]) -> dict[ScanType, OtherReport]:
    return {ScanType(report.export["type"]): report for report in others}


def _duplicates(export: ExportJson, reports: Mapping[ScanType, OtherReport]) -> Iterable[tuple[CheckKey, CheckKey]]:
    own = ScanType(export["type"])
    facts = {own: _reported_facts(export)} | {
        scan_type: _reported_facts(report.export) for scan_type, report in reports.items()
    }
    return repeats.reported_elsewhere(facts).items()


def _reported_facts(export: ExportJson) -> Reporters:
    """Map each check with a finding to the check that reports the fact.

    Keys and values are IDs.

    Warnings that only ask for a review, and win no points, are not included.
    """
    facts = {
        id: id
        for id, check in _checks(export).items()
        if check["status"] == "fail" or (check["status"] == "warn" and check["later"])
    }
    return facts | {repeat["id"]: repeat["told_by"] for repeat in export.get("repeated_checks", ())}


def _checks(export: ExportJson) -> dict[str, ExportedCheck]:
    return {check["id"]: check for category in export["categories"] for check in category["checks"]}


def _link(report: OtherReport, scan_type: ScanType, id: str) -> LinkedFinding:
    check = _checks(report.export)[id]
    return LinkedFinding(scan_type, id, check["title"], f"{report.anchor}{id}")
