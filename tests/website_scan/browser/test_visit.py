"""Test that a visit gathers only the evidence that it needs."""

from __future__ import annotations

import pytest

from website_scan.browser import evidence
from website_scan.browser.visit import PARTS_BY_SCAN_TYPE, Part, parts_for_scan_types
from website_scan.catalogue import checks, probes
from website_scan.findings import ScanType

PARTS_BY_EVIDENCE = {evidence.Coverage: Part.COVERAGE, evidence.Layout: Part.LAYOUT, evidence.AxeReport: Part.AXE}


@pytest.mark.parametrize("scan_type", ScanType)
def test_visit_gathers_only_what_its_checks_read(scan_type: ScanType) -> None:
    probes_by_evidence = probes()
    pending = [need.evidence for check in checks(scan_type) for need in check.needs]
    if scan_type is ScanType.ACCESSIBILITY:
        pending.append(evidence.AxeReport)  # The results of axe-core override static rules.
    visited: set[type] = set()
    while pending:
        evidence_type = pending.pop()
        if evidence_type not in visited and evidence_type in probes_by_evidence:
            pending += [need.evidence for need in probes_by_evidence[evidence_type].needs]
        visited.add(evidence_type)
    parts = {part for kind, part in PARTS_BY_EVIDENCE.items() if kind in visited}
    assert parts == PARTS_BY_SCAN_TYPE[scan_type] - {Part.MACHINE_SPEED, Part.FILMSTRIP}


def test_visit_for_all_scan_types_gathers_all_parts() -> None:
    assert parts_for_scan_types(ScanType) == frozenset(Part)
    assert parts_for_scan_types([ScanType.SECURITY]) == frozenset()
