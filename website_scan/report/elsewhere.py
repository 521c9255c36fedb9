"""Links between the reports of a visit, for facts that checks of two types find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from website_scan.findings import ScanType
from website_scan.repeats import CheckKey, Reporters, reported_elsewhere
from website_scan.report_json import ExportedCheck, ExportJson


@dataclass(frozen=True, slots=True)
class OtherReport:
    """Report of the same visit for another type. The ID of a check completes `anchor` to the address of its card."""

    document: ExportJson
    anchor: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Finding of another report, which tells the same fact."""

    type: ScanType
    id: str
    title: str
    url: str

    @property
    def label(self) -> str:
        """The report's type as people write it."""
        return self.type.label


def elsewhere(document: ExportJson, others: Iterable[OtherReport]) -> Mapping[str, tuple[Elsewhere, ...]]:
    """Return the findings of other reports that tell the same as the findings of a JSON export, by check ID."""
    reports = _by_type(others)
    own = ScanType(document["type"])
    found: dict[str, list[Elsewhere]] = {}
    for pair in _pairs(document, reports):
        for here, there in (pair, pair[::-1]):
            if here.type is own:
                found.setdefault(here.id, []).append(_link(reports[there.type], there.type, there.id))
    return {id: tuple(links) for id, links in found.items()}


def told_by(document: ExportJson, others: Iterable[OtherReport]) -> Mapping[str, Elsewhere]:
    """Return the findings of a JSON export that another report tells in full, by check ID, each with that finding."""
    reports = _by_type(others)
    own = ScanType(document["type"])
    return {
        here.id: _link(reports[there.type], there.type, there.id)
        for here, there in _pairs(document, reports)
        if here.type is own
    }


def _by_type(others: Iterable[OtherReport]) -> dict[ScanType, OtherReport]:
    return {ScanType(each.document["type"]): each for each in others}


def _pairs(document: ExportJson, reports: Mapping[ScanType, OtherReport]) -> Iterable[tuple[CheckKey, CheckKey]]:
    own = ScanType(document["type"])
    told_of = {own: _told(document)} | {scan_type: _told(each.document) for scan_type, each in reports.items()}
    return reported_elsewhere(told_of).items()


def _told(document: ExportJson) -> Reporters:
    """Return which check tells what. Warnings that only ask for a review, which win no points, tell nothing."""
    found = {
        id: id
        for id, check in _checks(document).items()
        if check["status"] == "fail" or (check["status"] == "warn" and check["later"])
    }
    return found | {each["id"]: each["told_by"] for each in document.get("repeated_checks", ())}


def _checks(document: ExportJson) -> dict[str, ExportedCheck]:
    return {check["id"]: check for category in document["categories"] for check in category["checks"]}


def _link(report: OtherReport, scan_type: ScanType, id: str) -> Elsewhere:
    check = _checks(report.document)[id]
    return Elsewhere(scan_type, id, check["title"], f"{report.anchor}{id}")
