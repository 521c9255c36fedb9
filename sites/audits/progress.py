"""Progress of an audit in words."""

from __future__ import annotations

from dataclasses import dataclass

from scans.models import Scan
from sites.models import Audit

WAITS = "Waiting in the queue"
SEARCHES = "Finding pages"
LOOKS = "Checking the page"
PHASES = {
    "connecting": "connecting",
    "collecting": "loading it",
    "checking": "running the checks",
    "done": "creating the report",
}


@dataclass(frozen=True, slots=True)
class Step:
    """Step of an audit with a detail, such as a count; `state` is `done`, `current` or `next`."""

    name: str
    detail: str
    state: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Steps of an audit, and the `percent` of the current step, None if unknown."""

    steps: tuple[Step, ...]
    percent: int | None

    @property
    def current(self) -> Step:
        """Return the current step, or the last one if none is current."""
        return next((each for each in self.steps if each.state == "current"), self.steps[-1])

    @property
    def text(self) -> str:
        """Return the current step in one line."""
        current = self.current
        return f"{current.name} · {current.detail}" if current.detail else current.name

    @classmethod
    def of_scan(cls, scan: Scan) -> Progress:
        """Return the progress of a single scan, or of the leading scan of a visit."""
        if scan.status == Scan.Status.QUEUED:
            return cls((Step(WAITS, "", "current"), Step(LOOKS, "", "next")), 0)
        return cls((Step(WAITS, "", "done"), Step(LOOKS, PHASES.get(scan.phase, ""), "current")), scan.percent)


def progress_of(audit: Audit, lead: Scan | None = None) -> Progress:
    """Return the progress of an audit. `lead` is the leading scan of an audit of one page."""
    if audit.kind == Audit.Kind.PAGE:
        return _of_page(audit, lead)
    ended = audit.pages_done + audit.pages_failed
    pages = Step("Checking the pages", _counted(audit, ended), _state(audit, Audit.Status.RUNNING))
    end = Step(_end(audit), "", "current" if audit.is_final else "next")
    percent = None
    if audit.status == Audit.Status.RUNNING and audit.pages_planned:
        percent = 100 * ended // audit.pages_planned
    if audit.kind == Audit.Kind.PAGES:
        return Progress((pages, end), 100 if audit.is_final else percent)
    if audit.status == Audit.Status.QUEUED:
        return Progress((Step(WAITS, "", "current"), Step(SEARCHES, "", "next"), pages, end), None)
    search = Step(SEARCHES, f"{audit.pages_found:,} found", _state(audit, Audit.Status.DISCOVERING))
    return Progress((search, pages, end), 100 if audit.is_final else percent)


def _of_page(audit: Audit, lead: Scan | None) -> Progress:
    end = Step(_end(audit), "", "current" if audit.is_final else "next")
    if audit.is_final:
        return Progress((Step(LOOKS, "", "done"), end), 100)
    if lead is None:
        return Progress((Step(WAITS, "", "current"), Step(LOOKS, "", "next"), end), 0)
    running = Progress.of_scan(lead)
    return Progress((*running.steps, end), running.percent)


def _state(audit: Audit, step: str) -> str:
    """Return the state of a step, which is named after the audit's status during it."""
    order = (Audit.Status.QUEUED, Audit.Status.DISCOVERING, Audit.Status.RUNNING)
    if audit.is_final or order.index(Audit.Status(step)) < order.index(Audit.Status(audit.status)):
        return "done"
    return "current" if step == audit.status else "next"


def _counted(audit: Audit, ended: int) -> str:
    if not audit.pages_planned:
        return ""
    return f"{ended:,} of {audit.pages_planned:,}"


def _end(audit: Audit) -> str:
    if audit.status == Audit.Status.CANCELLED:
        return "Cancelled"
    return "Failed" if audit.status == Audit.Status.FAILED else "Done"
