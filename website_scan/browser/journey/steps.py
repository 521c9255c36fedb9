"""Execute the steps of a journey, and wait for what follows them."""

from __future__ import annotations

import re
from typing import Any

from website_scan.browser.devices import Device
from website_scan.browser.devtools import ProtocolError, Session
from website_scan.browser.journey.actions import Actions
from website_scan.browser.journey.activity import PageActivity
from website_scan.browser.journey.failures import Deadline, StepFailed, raise_if_closed
from website_scan.browser.journey.finder import Finder
from website_scan.browser.journey.inputs import Inputs
from website_scan.browser.journey.keys import key_named
from website_scan.browser.journey.request import WalkRequest, device_of
from website_scan.browser.journey.secrets import SecretMask
from website_scan.browser.journey.worlds import Frames, ScriptFailed
from website_scan.journeys.journey import (
    PLACEHOLDER,
    Change,
    Click,
    ExpectedNavigation,
    Hover,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    SetViewport,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.urls import Url, origin_of

# Time in which a page may react to an input with a request.
QUIET_AFTER_INPUT_S = 0.1
# Part of a path that differs in each execution, such as the number of an order.
CHANGING_PART = re.compile(r"[0-9]|^.{20,}$")


class StepRunner:
    """Executor of steps. `device` is the current screen. Methods raise `StepFailed`, `ProtocolError`."""

    def __init__(
        self, page: Session, frames: Frames, activity: PageActivity, request: WalkRequest, mask: SecretMask
    ) -> None:
        self._page = page
        self._frames = frames
        self._activity = activity
        self._request = request
        self._mask = mask
        self.finder = Finder(page, frames, request.allowed, activity.note)
        self._inputs = Inputs(page)
        self._actions = Actions(self.finder, self._inputs, activity)
        self._moves_before_key: dict[str, int] = {}  # Number of navigations before a key was pressed, by its name.
        self.device: Device = request.first_device

    def has_secret(self, step: Change) -> bool:
        """Return True if a step types a secret."""
        return PLACEHOLDER.search(step.value) is not None

    async def run(self, step: Step, deadline: Deadline) -> None:
        """Execute a step."""
        match step:
            case SetViewport():
                await deadline.run(self._set_viewport(step))
            case Navigate():
                await self._navigate(step, deadline)
            case Click():
                await self._actions.click(step, deadline)
            case Hover():
                await self._actions.hover(step.target, deadline)
            case Change():
                await self._actions.change(step, self._mask.fill(step.value), deadline)
            case KeyDown() | KeyUp():
                await self._use_key(step, deadline)
            case Scroll():
                await self._scroll(step, deadline)
            case WaitForElement():
                await self._actions.wait_for(step, deadline)
            case WaitForAddress():
                await self._wait_for_address(step, deadline)
            case WaitForTitle():
                await self._wait_for_title(step, deadline)
            case Judge():
                pass
            case _:
                raise StepFailed(f"the scanner has no step {type(step).__name__}.")

    async def is_there(self, step: WaitForElement) -> bool:
        """Return True if what a step waits for is on the page now."""
        return await self._actions.is_there(step)

    async def finish(self, step: Step, moves: int, deadline: Deadline) -> None:
        """Wait until the page has reacted to a step. `moves` is the number of navigations before the step."""
        if isinstance(step, SetViewport | Judge):
            return
        activity = self._activity
        if isinstance(step, KeyUp):
            # The Recorder expects the navigation after the release of Enter, which sends a form when it is pressed.
            moves = self._moves_before_key.pop(step.key, moves)
        try:
            await activity.run_unless_leaving(self._wait_for_frames(), deadline)
        except (ProtocolError, ScriptFailed) as error:
            if isinstance(error, ProtocolError):
                raise_if_closed(error)  # The page is being replaced.
        expected = step.expected_navigation
        if expected is not None:
            await activity.wait_for(lambda: activity.moves != moves or bool(activity.problem), deadline.remaining_s)
            if activity.moves == moves:
                raise StepFailed(activity.problem or "the step did not open another page, as it should.")
        await activity.settle(max(1.0, deadline.remaining_s), QUIET_AFTER_INPUT_S)
        if activity.problem:
            raise StepFailed(activity.problem)
        if activity.is_waiting_for_page:
            await self._page.send("Page.stopLoading")
            raise activity.no_response()
        if expected is not None:
            await self._require_expected(expected, deadline)

    async def _wait_for_frames(self) -> None:
        """Wait until the browser has drawn the page."""
        await (await self._frames.main()).call("nextFrames")

    async def _require_expected(self, expected: ExpectedNavigation, deadline: Deadline) -> None:
        """Wait for the address that a step has to open. Parts that change in each execution are not compared."""
        activity = self._activity
        if expected.url and not await activity.wait_for(
            lambda: is_same_page(activity.url, expected.url), deadline.remaining_s
        ):
            raise StepFailed(f"the step opened {activity.url} instead of {expected.url}.")

    async def _set_viewport(self, step: SetViewport) -> None:
        self.device = device_of(step)
        for method, params in self.device.commands().items():
            await self._page.send(method, params)
        await self._page.send("Emulation.setTouchEmulationEnabled", {"enabled": step.has_touch or step.is_mobile})

    async def _navigate(self, step: Navigate, deadline: Deadline) -> None:
        base = self._activity.url if self._activity.documents else None
        url = Url.parse(step.url, base if base != "about:blank" else None)
        if url is None or not url.is_http:
            raise StepFailed(f"{step.url[:200]} is not the address of a web page.")
        if not self._request.allowed(url.href):
            raise StepFailed(f"{origin_of(url.href)} is not part of the site.")
        try:
            response = await deadline.run(self._page.send("Page.navigate", {"url": url.href}))
        except StepFailed:
            if not self._activity.is_waiting_for_page:
                raise
            await self._page.send("Page.stopLoading")
            raise self._activity.no_response() from None
        error = str(response.get("errorText", ""))
        if self._activity.problem:
            raise StepFailed(self._activity.problem)
        if error:
            self._activity.fail_to_load(url.href, error)
            raise StepFailed(self._activity.problem)
        loaded = await self._activity.wait_for(lambda: not self._activity.is_navigating, deadline.remaining_s)
        if not loaded:
            self._activity.note("The page was still loading when the time of the step was over.")

    async def _use_key(self, step: KeyDown | KeyUp, deadline: Deadline) -> None:
        key = key_named(step.key)
        if key is None:
            raise StepFailed(f"a keyboard has no key “{step.key}”.")
        if isinstance(step, KeyUp):
            await self._activity.run_unless_leaving(self._inputs.release_key(key), deadline)
            return
        await deadline.run(self.finder.require_allowed_focus())
        self._moves_before_key[step.key] = self._activity.moves
        await self._activity.run_unless_leaving(self._inputs.hold_key(key), deadline)

    async def _scroll(self, step: Scroll, deadline: Deadline) -> None:
        if step.target is None:
            await deadline.run((await deadline.run(self._frames.main())).call("scrollTo", None, step.x, step.y))
            return
        element = await self.finder.wait_for_element(step.target, deadline)
        await deadline.run(element.world.call("scrollTo", element.handle, step.x, step.y))

    async def _wait_for_address(self, step: WaitForAddress, deadline: Deadline) -> None:
        def has_address() -> bool:
            url = Url.parse(self._activity.url)
            actual = url.path if step.url.startswith("/") and url else self._activity.url
            return actual.startswith(step.url) if step.is_prefix else actual == step.url

        if not await self._activity.wait_for(has_address, deadline.remaining_s):
            raise StepFailed(f"the address of the page is {self._activity.url} instead of {step.url}.")

    async def _wait_for_title(self, step: WaitForTitle, deadline: Deadline) -> None:
        title: Any = ""
        while True:
            try:
                title = await deadline.run((await deadline.run(self._frames.main())).call("title"))
            except ProtocolError as error:
                raise_if_closed(error)
            if title == step.title:
                return
            if deadline.is_over:
                raise StepFailed(f"the title of the page is “{title}” instead of “{step.title}”.")
            await deadline.pause()


def is_same_page(actual: str, expected: str) -> bool:
    """Return True if two addresses have the same host and path.

    Queries and fragments often have values of a session. Parts of the path with digits, or of 20 and more characters,
    are equal to each other.
    """
    one, other = Url.parse(actual), Url.parse(expected)
    if one is None or other is None:
        return actual == expected

    def parts(url: Url) -> list[str]:
        return ["*" if CHANGING_PART.search(part) else part for part in url.path.rstrip("/").split("/")]

    return (one.host, parts(one)) == (other.host, parts(other))
