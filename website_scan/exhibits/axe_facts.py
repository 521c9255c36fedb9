"""Facts about the examination by axe-core for the report page."""

from __future__ import annotations

from website_scan.browser.evidence import AxeReport
from website_scan.stored_data import Facts


def axe_facts(axe: AxeReport) -> Facts:
    facts: Facts = {"axe_core": axe.version, "widths": list(axe.widths)}
    if axe.untested_frames:
        facts["frames_not_judged"] = axe.untested_frames
    return facts
