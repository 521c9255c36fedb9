"""A scan that is under way, in steps with names: what the engine says that it is at, and nothing made up."""

from __future__ import annotations

from dataclasses import dataclass

from scans.models import Scan

# The phases of `GET /v1/scan/:id` in their order, in words for people.
NAMES = {
    "queued": "Waiting in the queue",
    "connecting": "Connecting to the site",
    "collecting": "Loading the page and its resources",
    "checking": "Running the checks",
    "done": "Report",
}


@dataclass(frozen=True, slots=True)
class Step:
    """`state` is done, current or ahead."""

    name: str
    state: str
    detail: str = ""


def steps_of(scan: Scan) -> list[Step]:
    """All steps of a scan; one is current."""
    phases = list(NAMES)
    at = phases.index(scan.phase)
    told = f"{scan.checks_done} of {scan.checks_total}" if scan.checks_total else ""
    return [
        Step(
            NAMES[phase],
            "done" if number < at else "current" if number == at else "ahead",
            told if phase == "checking" and number == at else "",
        )
        for number, phase in enumerate(phases)
    ]
