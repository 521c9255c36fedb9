"""Take pictures of the page in which secrets are covered.

The pixels of the picture are covered, not the page: a page could see and undo changes of itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from website_scan.browser.devtools import Session
from website_scan.browser.injected_scripts import read_script
from website_scan.browser.journey.secrets import SecretMask
from website_scan.browser.journey.worlds import FrameNode, Frames, ScriptFailed
from website_scan.browser.pictures import SCREENSHOT_ENCODINGS, Encoding, capture_screenshot
from website_scan.browser.visit import BrowserFailed
from website_scan.journeys.walk import Picture

ATTEMPTS = 3
MAX_STEP_PICTURE_BYTES = 60 * 1024  # A journey has up to fifty pictures, which the service stores.
# A page that needs a larger JPEG costs so much processor time that a WebP costs little beside it.
STEP_ENCODINGS = (
    Encoding("jpeg", 50, MAX_STEP_PICTURE_BYTES),
    *(Encoding("webp", quality, MAX_STEP_PICTURE_BYTES) for quality in (50, 20, 5)),
)
STATE_ENCODINGS = (Encoding("jpeg", 60, MAX_STEP_PICTURE_BYTES), *SCREENSHOT_ENCODINGS)
CAPTURE = "Page.captureScreenshot"
UNSTABLE = "No picture was taken, because a secret is on the page and does not stop moving."
TOO_LARGE_TO_MASK = "No picture of the whole page was taken, because a secret is on it."

Box = tuple[float, float, float, float]


class MaskedCamera:
    """Session without an emulated screen whose screenshots have no secrets (see `pictures`)."""

    def __init__(self, session: Session, frames: Frames, mask: SecretMask, allowed: Callable[[str], bool]) -> None:
        self._session = session
        self._frames = frames
        self._mask = mask
        self._allowed = allowed
        # The page cannot show secrets before one is typed.
        self.has_secrets = False

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        self._session.on(event, handler)

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Send a command. Screenshots have no secrets. Raises `ProtocolError`, `BrowserFailed`."""
        if method != CAPTURE or not self.has_secrets:
            return await self._session.send(method, params)
        try:
            return await self._capture(params or {})
        except ScriptFailed:
            raise BrowserFailed(UNSTABLE) from None

    async def take_picture(self) -> Picture | None:
        """Return a picture of the screen. None if it is too large. Raises `ProtocolError`, `BrowserFailed`."""
        data = await capture_screenshot(self, STEP_ENCODINGS, {"captureBeyondViewport": False})
        if data is None:
            return None
        view = (await self._session.send("Page.getLayoutMetrics"))["cssLayoutViewport"]
        return Picture(data, int(view["clientWidth"]), int(view["clientHeight"]))

    async def _capture(self, params: dict[str, Any]) -> Mapping[str, Any]:
        for _ in range(ATTEMPTS):
            if await self._secret_boxes():
                if params.get("captureBeyondViewport"):
                    raise BrowserFailed(TOO_LARGE_TO_MASK)  # The layout of such a picture is another one.
                async with self._paused_animations():
                    before = await self._secret_boxes()
                    shot = await self._session.send(CAPTURE, {**params, "format": "png", "optimizeForSpeed": True})
                    if before == await self._secret_boxes():
                        return {"data": await self._cover(shot["data"], before, params)}
                continue
            # Without a secret on the page, the browser encodes the picture only once.
            shot = await self._session.send(CAPTURE, params)
            if not await self._secret_boxes():
                return cast(Mapping[str, Any], shot)
        raise BrowserFailed(UNSTABLE)

    @asynccontextmanager
    async def _paused_animations(self) -> AsyncIterator[None]:
        """Pause the animations of styles. A moving secret could be at the same place before and after a picture.

        The end of the pause is not waited for, because the time limit of a picture could not interrupt it.
        """
        await self._session.send("Animation.enable")
        await self._session.send("Animation.setPlaybackRate", {"playbackRate": 0})
        try:
            yield
        finally:
            self._session.post("Animation.setPlaybackRate", {"playbackRate": 1})
            self._session.post("Animation.disable")

    async def _secret_boxes(self) -> list[Box]:
        """Return the boxes of everything that shows a secret, in the layout viewport of the page."""
        tree = await self._frames.tree()
        return await self._boxes_in(tree)

    async def _boxes_in(self, frame: FrameNode, left: float = 0.0, top: float = 0.0) -> list[Box]:
        world = await self._frames.world(frame.id)
        context = await world.call("context")
        boxes: list[Box] = []
        if self._allowed(str(context["origin"] if context["origin"] != "null" else context["url"])):
            found = await world.call("secretBoxes", self._mask.values)
            boxes = [(left + x, top + y, width, height) for x, y, width, height in found]
        for child in frame.children:
            owner = await self._frames.owner(child, world)
            dx, dy = await world.call("frameOffset", owner)
            boxes += await self._boxes_in(child, left + dx, top + dy)
        return boxes

    async def _cover(self, picture: str, boxes: list[Box], params: Mapping[str, Any]) -> str:
        metrics = await self._session.send("Page.getLayoutMetrics")
        view = metrics["cssVisualViewport"]
        corner = (float(view["offsetX"]), float(view["offsetY"]))
        moved = [[x - corner[0], y - corner[1], width, height] for x, y, width, height in boxes]
        world = await self._frames.main()
        response = await self._session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": read_script("journey/mask.js"),
                "executionContextId": world.id,
                "arguments": [
                    {"value": picture},
                    {"value": moved},
                    {"value": [view["clientWidth"], view["clientHeight"]]},
                    {"value": f"image/{params['format']}"},
                    {"value": int(params["quality"]) / 100},
                ],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in response:
            raise BrowserFailed(UNSTABLE)
        return str(response["result"]["value"])
