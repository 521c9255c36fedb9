"""Steps on the progress page of a running scan, derived from the phase of the scan."""

from __future__ import annotations

from msgspec import Struct

from scans.models import Scan

# Maps the phases of a scan, in order, to labels. GET /v1/scan/:id has the same phases.
LABELS = {
    "queued": "Waiting in the queue",
    "connecting": "Connecting to the site",
    "collecting": "Loading the page and its resources",
    "checking": "Running the checks",
    "done": "Report",
}


class Step(Struct, frozen=True):
    """Step of a scan on its progress page.

    `state` is `done`, `current` or `ahead`.
    """

    name: str
    state: str
    detail: str = ""


def progress_steps(scan: Scan) -> list[Step]:
    """Return all steps of a scan. Exactly one step is the current one."""
    phases = list(LABELS)
    current = phases.index(scan.phase)
    progress = f"{scan.checks_done} of {scan.checks_total}" if scan.checks_total else ""
    return [
        Step(
            LABELS[phase],
            "done" if number < current else "current" if number == current else "ahead",
            progress if phase == "checking" and number == current else "",
        )
        for number, phase in enumerate(phases)
    ]
