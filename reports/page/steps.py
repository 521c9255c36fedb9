"""Steps of a running scan for its progress page, from the phase that the engine reports."""

from __future__ import annotations

from dataclasses import dataclass

from scans.models import Scan

# Labels of the phases of `GET /v1/scan/:id`, in order.
NAMES = {
    "queued": "Waiting in the queue",
    "connecting": "Connecting to the site",
    "collecting": "Loading the page and its resources",
    "checking": "Running the checks",
    "done": "Report",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a scan. `state` is `done`, `current` or `ahead`."""

    name: str
    state: str
    detail: str = ""


def steps_of(scan: Scan) -> list[Step]:
    """Return all steps of a scan; one is current."""
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
