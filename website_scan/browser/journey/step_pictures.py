"""Take the pictures of steps, one of them for several steps that leave the page as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from website_scan.browser.devtools import ProtocolError
from website_scan.browser.evidence import PagePicture
from website_scan.browser.journey.camera import MAX_STEP_PICTURE_BYTES, MaskedCamera
from website_scan.browser.journey.failures import StepFailed
from website_scan.browser.journey.worlds import ScriptFailed
from website_scan.browser.visit import BrowserFailed
from website_scan.journeys.journey import Judge, Step, WaitForElement
from website_scan.journeys.walk import Picture, StepResult

MAX_PICTURE_S = 5.0


class StepPictures:
    """Pictures of the steps of one journey, which are put into their `results`.

    A picture costs more processor time than most steps. `is_there` returns True if what a step waits for is on the
    page.
    """

    def __init__(
        self,
        camera: MaskedCamera,
        steps: tuple[Step, ...],
        results: list[StepResult],
        is_there: Callable[[WaitForElement], Awaitable[bool]],
    ) -> None:
        self._camera = camera
        self._steps = steps
        self._results = results
        self._is_there = is_there
        self._missing: list[int] = []  # Positions of the last steps, which expect a picture.

    async def take(self) -> Picture | None:
        """Return a picture of the page as it stands now. None if that is impossible."""
        try:
            async with asyncio.timeout(MAX_PICTURE_S):
                return await self._camera.take_picture()
        except (ProtocolError, BrowserFailed, ScriptFailed, TimeoutError):
            return None

    def expect(self, number: int) -> None:
        """Give a step that has ended the next picture."""
        if not isinstance(self._steps[number], Judge):
            self._missing.append(number)

    async def complete(self, number: int, *, judges_next: bool) -> None:
        """Take a picture after a step, if one is expected, unless the picture after the next step is the same.

        That is a step that waits for what is already there, or one that judges the page, if `judges_next`.
        """
        following = self._steps[number + 1] if number + 1 < len(self._steps) else None
        if isinstance(following, Judge) and judges_next:
            return
        if isinstance(following, WaitForElement) and await self._leaves_page(following):
            return
        if self._missing:
            self.use(await self.take())

    def use(self, picture: Picture | PagePicture | None) -> None:
        """Use a picture for the steps that expect one, if it is not too large."""
        if picture is None or len(picture.data) > MAX_STEP_PICTURE_BYTES:
            return
        shown = Picture(picture.data, picture.width, picture.height)
        for number in self._missing:
            self._results[number] = replace(self._results[number], picture=shown)
        self._missing.clear()

    async def _leaves_page(self, step: WaitForElement) -> bool:
        try:
            async with asyncio.timeout(MAX_PICTURE_S):
                return await self._is_there(step)
        except (ProtocolError, ScriptFailed, StepFailed, TimeoutError):
            return False
