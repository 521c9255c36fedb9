"""A visit gathers exactly the evidence that its scan's checks read."""

from __future__ import annotations

import pytest

from website_scan.browser import evidence
from website_scan.browser.visit import PARTS_BY_SCAN_TYPE, Part, parts_for
from website_scan.catalogue import checks, probes
from website_scan.findings import ScanType

MADE_OF = {evidence.Coverage: Part.COVERAGE, evidence.Layout: Part.LAYOUT, evidence.AxeReport: Part.AXE}


@pytest.mark.parametrize("scan_type", ScanType)
def test_a_visit_gathers_what_the_checks_of_its_scan_read(scan_type: ScanType) -> None:
    makers = probes()
    pending = [need.evidence for each in checks(scan_type) for need in each.needs]
    if scan_type is ScanType.ACCESSIBILITY:
        pending.append(evidence.AxeReport)  # its results decide over the static rules
    read: set[type] = set()
    while pending:
        each = pending.pop()
        if each not in read and each in makers:
            pending += [need.evidence for need in makers[each].needs]
        read.add(each)
    found = {part for kind, part in MADE_OF.items() if kind in read}
    assert found == PARTS_BY_SCAN_TYPE[scan_type] - {Part.MACHINE_SPEED, Part.FILMSTRIP}


def test_a_visit_for_several_scans_gathers_for_all() -> None:
    assert parts_for(ScanType) == frozenset(Part)
    assert parts_for([ScanType.SECURITY]) == frozenset()
