"""Record the load of a page that a step opens: the main thread's tasks, the visual progress and unused code.

The frames of the filmstrip are only compared with each other, because they might show secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.coverage import CoverageRecorder
from website_scan.browser.devtools import Session
from website_scan.browser.evidence import FileCoverage
from website_scan.browser.main_thread import Trace
from website_scan.browser.pictures import Filmstrip
from website_scan.browser.visit import Part


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
