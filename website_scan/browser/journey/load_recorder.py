"""Record the load of a page that a step opens: the main thread's tasks, the visual progress and unused code.

Only loads of pages that are judged are recorded, because a recording costs as much as the step itself.

The frames of the filmstrip are only compared with each other, because they might show secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.coverage import CoverageRecorder
from website_scan.browser.devtools import Session
from website_scan.browser.evidence import FileCoverage
from website_scan.browser.journey.activity import PageActivity
from website_scan.browser.journey.failures import Deadline
from website_scan.browser.main_thread import Trace
from website_scan.browser.pictures import Filmstrip
from website_scan.browser.visit import Part
from website_scan.journeys.journey import Click, Journey, Judge, KeyDown, Navigate, StateRule

OPENING_STEPS = (Click, KeyDown, Navigate)
RECORDED_PARTS = frozenset({Part.COVERAGE, Part.FILMSTRIP})


class LoadRecorder:
    """Recorder of one load. All methods raise `ProtocolError`.

    It has the filmstrip and the traced events after `stop_load`, if the evidence needs them.
    """

    def __init__(self, page: Session, parts: frozenset[Part]) -> None:
        self._page = page
        self._coverage = CoverageRecorder() if Part.COVERAGE in parts else None
        self._trace = Trace(page) if Part.FILMSTRIP in parts else None
        self._is_loading = False
        self.film = Filmstrip(page) if Part.FILMSTRIP in parts else None
        self.traced: list[Mapping[str, Any]] = []

    async def start(self) -> None:
        """Start before the input that may open a page."""
        self._is_loading = True
        if self._coverage:
            await self._coverage.start(self._page)
        if self._trace:
            await self._trace.start()
        if self.film:
            await self.film.start()

    async def stop_load(self) -> None:
        """Stop the filmstrip and the trace when the page has been loaded."""
        if not self._is_loading:
            return
        self._is_loading = False
        if self.film:
            await self.film.stop()
        if self._trace:
            self.traced = await self._trace.stop()

    async def stop(self) -> tuple[FileCoverage, ...] | None:
        """Stop everything, and return the sizes of the unused parts of scripts and style sheets."""
        await self.stop_load()
        coverage, self._coverage = self._coverage, None
        return tuple(await coverage.stop(self._page)) if coverage else None


class StepRecorder:
    """Recorder of the page that a step may open. All methods raise `StepFailed`, `ProtocolError`."""

    def __init__(self, page: Session, activity: PageActivity, journey: Journey, parts: frozenset[Part]) -> None:
        self._page = page
        self._activity = activity
        self._journey = journey
        self._parts = parts
        self._load: LoadRecorder | None = None
        self._documents_before = 0

    async def start(self, number: int, deadline: Deadline) -> None:
        """Start before the input of a step, if the evidence needs the load of the page that it may open."""
        if not isinstance(self._journey.steps[number], OPENING_STEPS) or not RECORDED_PARTS & self._parts:
            return
        if self._load is not None:
            await deadline.run(self._load.stop())
            self._load = None
        if is_load_judged(self._journey, number):
            self._load = LoadRecorder(self._page, self._parts)
            self._documents_before = self._activity.documents
            await deadline.run(self._load.start())

    async def finish(self, deadline: Deadline) -> None:
        """Stop the filmstrip and the trace after a step, and everything if it has opened no page."""
        if self._load is None:
            return
        await deadline.run(self._load.stop_load())
        if self._activity.documents == self._documents_before:
            await deadline.run(self._load.stop())
            self._load = None

    def take(self) -> LoadRecorder | None:
        """Return the record of the last page that a step opened, only once."""
        load, self._load = self._load, None
        return load

    async def stop(self) -> None:
        """Stop everything at the end of the journey."""
        if self._load is not None:
            await self._load.stop()


def is_load_judged(journey: Journey, number: int) -> bool:
    """Return True if the page that a step opens may be judged before another step may open a page."""
    if journey.rule is StateRule.NAVIGATIONS:
        return True
    for step in journey.steps[number + 1 :]:
        if isinstance(step, Judge):
            return True
        if isinstance(step, OPENING_STEPS):
            return False
    return journey.rule is StateRule.END
