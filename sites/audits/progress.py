"""Progress of an audit or a scan, as steps and a percentage."""

from __future__ import annotations

from msgspec import Struct

from scans.models import Scan
from sites.models import Audit

WAITING_STEP = "Waiting in the queue"
DISCOVERY_STEP = "Finding pages"
CHECKING_STEP = "Checking the page"
JOURNEY_STEP = "Running the journey"
PHASES = {
    "connecting": "connecting",
    "collecting": "loading it",
    "checking": "running the checks",
    "done": "creating the report",
}


class Step(Struct, frozen=True):
    """Step of a progress display.

    `state` is `done`, `current` or `next`. The detail is, for example, a count.
    """

    name: str
    detail: str
    state: str


class Progress(Struct, frozen=True):
    """Steps of an audit.

    `percent` is how much of the current step is done. It is None if unknown.
    """

    steps: tuple[Step, ...]
    percent: int | None

    @property
    def current(self) -> Step:
        """Return the current step, or the last one if none is current."""
        return next((step for step in self.steps if step.state == "current"), self.steps[-1])

    @property
    def text(self) -> str:
        """Return the current step in one line."""
        current = self.current
        return f"{current.name} · {current.detail}" if current.detail else current.name

    @classmethod
    def of_scan(cls, scan: Scan) -> Progress:
        """Return the progress of a single scan, or of the lead scan of a visit."""
        if scan.status == Scan.Status.QUEUED:
            return cls((Step(WAITING_STEP, "", "current"), Step(CHECKING_STEP, "", "next")), 0)
        return cls(
            (Step(WAITING_STEP, "", "done"), Step(CHECKING_STEP, PHASES.get(scan.phase, ""), "current")), scan.percent
        )


def progress_of(audit: Audit, lead: Scan | None = None) -> Progress:
    """Return the progress of an audit.

    `lead` is the lead scan of a one-page audit, or of a run of a journey.
    """
    if audit.kind == Audit.Kind.PAGE:
        return _progress_of_page(audit, lead)
    if audit.kind == Audit.Kind.JOURNEY:
        return _progress_of_journey(audit, lead)
    ended = audit.pages_done + audit.pages_failed
    pages = Step("Checking the pages", _page_count_text(audit, ended), _step_state(audit, Audit.Status.RUNNING))
    end = Step(_end_label(audit), "", "current" if audit.is_final else "next")
    percent = None
    if audit.status == Audit.Status.RUNNING and audit.pages_planned:
        percent = 100 * ended // audit.pages_planned
    if audit.kind == Audit.Kind.PAGES:
        return Progress((pages, end), 100 if audit.is_final else percent)
    if audit.status == Audit.Status.QUEUED:
        return Progress((Step(WAITING_STEP, "", "current"), Step(DISCOVERY_STEP, "", "next"), pages, end), None)
    search = Step(DISCOVERY_STEP, f"{audit.pages_found:,} found", _step_state(audit, Audit.Status.DISCOVERING))
    return Progress((search, pages, end), 100 if audit.is_final else percent)


def _progress_of_page(audit: Audit, lead: Scan | None) -> Progress:
    end = Step(_end_label(audit), "", "current" if audit.is_final else "next")
    if audit.is_final:
        return Progress((Step(CHECKING_STEP, "", "done"), end), 100)
    if lead is None:
        return Progress((Step(WAITING_STEP, "", "current"), Step(CHECKING_STEP, "", "next"), end), 0)
    running = Progress.of_scan(lead)
    return Progress((*running.steps, end), running.percent)


def _progress_of_journey(audit: Audit, lead: Scan | None) -> Progress:
    """Return the progress of a run of a journey. It is unknown without the lead scan."""
    end = Step(_end_label(audit), "", "current" if audit.is_final else "next")
    if audit.is_final:
        return Progress((Step(JOURNEY_STEP, "", "done"), end), 100)
    if lead is not None and lead.status == Scan.Status.QUEUED:
        return Progress((Step(WAITING_STEP, "", "current"), Step(JOURNEY_STEP, "", "next"), end), 0)
    detail = "" if lead is None or lead.phase == "collecting" else PHASES.get(lead.phase, "")
    return Progress((Step(JOURNEY_STEP, detail, "current"), end), None if lead is None else lead.percent)


def _step_state(audit: Audit, step: str) -> str:
    """Return the state of a step.

    `step` is the audit's status during this step.
    """
    order = (Audit.Status.QUEUED, Audit.Status.DISCOVERING, Audit.Status.RUNNING)
    if audit.is_final or order.index(Audit.Status(step)) < order.index(Audit.Status(audit.status)):
        return "done"
    return "current" if step == audit.status else "next"


def _page_count_text(audit: Audit, ended: int) -> str:
    if not audit.pages_planned:
        return ""
    return f"{ended:,} of {audit.pages_planned:,}"


def _end_label(audit: Audit) -> str:
    if audit.status == Audit.Status.CANCELLED:
        return "Cancelled"
    return "Failed" if audit.status == Audit.Status.FAILED else "Done"
