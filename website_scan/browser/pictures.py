"""Take the screenshots and the filmstrip of a page for its report.

No check needs the pictures, except to see whether the screen has a single colour, so a scan works without them. A
picture has an element's box only if the element is at the same position before and after the screenshot.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from website_scan.browser.devtools import ProtocolError, Target
from website_scan.browser.evidence import AxeReport, Box, Frame, Layout, Load, PagePicture, Progress
from website_scan.browser.injected_scripts import read_script
from website_scan.browser.visit import BrowserFailed

PICTURE_TIMEOUT_S = 5.0  # Time limit for the picture of the whole page.
WIDTH = 412
MAX_PICTURE_HEIGHT = 5000  # Maximum height of the picture in its own pixels.
MAX_PAGE_PICTURE_BYTES = 200_000
BOTTOM_MARGIN = 60  # The picture ends this number of CSS pixels below the last reported element.
ELEMENTS_PER_RULE = 5  # A report displays this number of elements of a rule at first.
MAX_ELEMENTS = 100
MAX_LAYOUT_SHIFTS = 5
MAX_TAP_TARGETS = 20
MAX_IMAGES = 20

MAX_FRAMES = 8
SCREENCAST = {"format": "jpeg", "quality": 50, "maxWidth": 206, "maxHeight": 412, "everyNthFrame": 1}
MAX_FRAME_BYTES = 20_000
MAX_RECORDED_FRAMES = 80
MAX_COMPARED_FRAMES = 20  # Maximum number of frames that progress.js compares.
MIN_FRAME_INTERVAL_S = 0.05  # The interval is doubled when there are too many frames.
MAX_MS_AFTER_LAST_MARK = 250  # Frames that are later than this are not part of the load.
SCREEN_REFRESH_MS = 20  # A frame may be drawn up to one screen refresh before its mark.


class Encoding(NamedTuple):
    """Format of a screenshot, with the size above which the next one is tried.

    Chromium encodes a JPEG in a third of the time of a WebP, but it is twice as large.
    """

    format: Literal["jpeg", "webp"]
    quality: int
    max_bytes: int


SCREENSHOT_ENCODINGS = (Encoding("webp", 60, 500_000), Encoding("webp", 25, 500_000))
# For the question whether the screen has a single colour.
COLOUR_ENCODINGS = (Encoding("jpeg", 30, 1_000_000),)
PAGE_ENCODINGS = (Encoding("webp", 50, MAX_PAGE_PICTURE_BYTES), Encoding("webp", 20, MAX_PAGE_PICTURE_BYTES))


class _RawFrame(Struct, frozen=True):
    at_s: float  # Unix time in seconds.
    data: str  # JPEG encoded as base64.


class Filmstrip:
    """Recorder of screenshots during a load, at most 20 per second."""

    def __init__(self, cdp: Target) -> None:
        self._cdp = cdp
        self._frames: list[_RawFrame] = []
        self._pause_s = MIN_FRAME_INTERVAL_S
        self._pending: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start recording screenshots.

        Raises `ProtocolError`.
        """
        self._cdp.on("Page.screencastFrame", self._record_frame)
        await self._cdp.send("Page.startScreencast", SCREENCAST)

    async def stop(self) -> None:
        """Stop recording screenshots.

        Raises `ProtocolError`.
        """
        await self._cdp.send("Page.stopScreencast")
        for task in self._pending:
            task.cancel()

    def frames(self, load: Load, began_ms: float) -> tuple[Frame, ...]:
        """Return at most `MAX_FRAMES` frames of the load, in order.

        `began_ms` is the load's start in ms since 1970.
        """
        marks = {"First paint": load.fcp_s, "Largest paint": load.lcp.time_s if load.lcp else None}
        small_frames = [frame for frame in self._frames if len(frame.data) * 3 // 4 <= MAX_FRAME_BYTES]
        return choose_frames(
            [(round(1000 * frame.at_s - began_ms), base64.b64decode(frame.data)) for frame in small_frames],
            {name: round(1000 * at_s) for name, at_s in marks.items() if at_s is not None},
            round(1000 * (load.load_s or 0.0)),
        )

    async def progress(self, world: int, load: Load, began_ms: float) -> Progress:
        """Compute the load's visual progress with a script in the page.

        Raises `BrowserFailed`, `ProtocolError`.
        """
        frames = [frame for frame in self._frames if 1000 * frame.at_s >= began_ms]
        if not frames:
            raise BrowserFailed("The page was not drawn while it was loaded.")
        # All other frames are compared with the last frame.
        frames = [*frames[: -1 : -(-len(frames) // MAX_COMPARED_FRAMES)], frames[-1]]
        times = [frame.at_s - began_ms / 1000 for frame in frames]
        images = {request.url: request.end_s for request in reversed(load.requests) if request.end_s is not None}
        response = await self._cdp.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": read_script("progress.js"),
                "executionContextId": world,
                "arguments": [
                    {"value": [[at_s, frame.data] for at_s, frame in zip(times, frames, strict=True)]},
                    {"value": list(images.items())},
                ],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in response:
            raise BrowserFailed("The frames of the load could not be compared.")
        result = response["result"]["value"]
        return Progress(
            tuple(zip(times, map(float, result["progress"]), strict=True)),
            tuple((str(url), float(part)) for url, part in result["images"]),
        )

    def _record_frame(self, event: Mapping[str, Any]) -> None:
        data, at_s = str(event["data"]), event["metadata"].get("timestamp")
        if at_s is not None and (self._last_frame is None or data != self._last_frame.data):
            self._frames.append(_RawFrame(float(at_s), data))
        if len(self._frames) > MAX_RECORDED_FRAMES:
            del self._frames[1::2]
            self._pause_s *= 2
        task = asyncio.ensure_future(self._request_next_frame(int(event["sessionId"])))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    @property
    def _last_frame(self) -> _RawFrame | None:
        return self._frames[-1] if self._frames else None

    async def _request_next_frame(self, session: int) -> None:
        await asyncio.sleep(self._pause_s)
        with contextlib.suppress(ProtocolError):  # The page may be closed.
            await self._cdp.send("Page.screencastFrameAck", {"sessionId": session})


def choose_frames(frames: Sequence[tuple[int, bytes]], marks: Mapping[str, int], loaded_ms: int) -> tuple[Frame, ...]:
    """Choose frames for the filmstrip.

    `frames` are pairs of the milliseconds since the load began and a JPEG. The filmstrip has the screen before the
    first paint, the frames of all marks, the last frame, and some frames at equal intervals.
    """
    if not frames or not marks:
        return ()
    visible = [(at_ms, data) for at_ms, data in frames if at_ms >= 0]
    if before := [data for at_ms, data in frames if at_ms < 0]:
        visible.insert(0, (0, before[-1]))
    first_frame_after_mark = {
        name: _index_of_first_frame_after(visible, metric_time_ms - SCREEN_REFRESH_MS)
        for name, metric_time_ms in marks.items()
    }
    end_ms = max(*marks.values(), loaded_ms) + MAX_MS_AFTER_LAST_MARK
    last = max(*first_frame_after_mark.values(), *(index for index, (ms, _) in enumerate(visible) if ms <= end_ms))
    chosen = {0, last, *first_frame_after_mark.values()}
    total_ms = visible[last][0]
    for step in range(1, MAX_FRAMES):
        if len(chosen) < MAX_FRAMES:
            chosen.add(
                max(
                    index
                    for index, (ms, _) in enumerate(visible)
                    if ms <= max(visible[0][0], total_ms * step / MAX_FRAMES)
                )
            )
    return tuple(
        Frame(
            visible[index][0],
            tuple(name for name, first in first_frame_after_mark.items() if first == index),
            visible[index][1],
        )
        for index in sorted(chosen)
    )


def _index_of_first_frame_after(frames: Sequence[tuple[int, bytes]], ms: int) -> int:
    return next((index for index, (at_ms, _) in enumerate(frames) if at_ms >= ms), len(frames) - 1)


def select_first_screen_elements(load: Load, layout: Layout | None) -> list[str]:
    """Return selectors for findings about the first screen.

    These findings may report the elements.
    """
    shifts = sorted(load.shifts, key=lambda shift: -shift.value)[:MAX_LAYOUT_SHIFTS]
    selectors = [load.lcp.selector if load.lcp else "", *(shift.source for shift in shifts)]
    if layout is not None:
        selectors += [target.selector for target in layout.targets if target.is_crowded][:MAX_TAP_TARGETS]
        images = [image for image in layout.images if image.is_visible and image.top_px < layout.viewport.height_px]
        selectors += [image.selector for image in images[:MAX_IMAGES]]
    return _distinct_selectors(selectors)


def select_axe_elements(axe: AxeReport | None) -> list[str]:
    """Return selectors of the first elements of each axe-core rule.

    The rule reports them as violations or incomplete.
    """
    if axe is None:
        return []
    rules = [*axe.violations.values(), *axe.incomplete.values()]
    return _distinct_selectors(node.selector for rule in rules for node in rule.nodes[:ELEMENTS_PER_RULE])


def _distinct_selectors(selectors: Iterable[str]) -> list[str]:
    # A box around the whole page would not help readers.
    return [selector for selector in dict.fromkeys(selectors) if selector not in ("", "html", "body")][:MAX_ELEMENTS]


async def take_first_screen(
    cdp: Target, world: int, selectors: Sequence[str], encodings: Iterable[Encoding]
) -> PagePicture | None:
    """Return a screenshot of the viewport.

    None if it is too large. Raises `BrowserFailed`, `ProtocolError`.
    """
    before = await _measure_boxes(cdp, world, selectors)
    data = await capture_screenshot(cdp, encodings, {"captureBeyondViewport": False})
    if data is None:
        return None
    view = (await cdp.send("Page.getLayoutMetrics"))["cssLayoutViewport"]
    width, height = int(view["clientWidth"]), int(view["clientHeight"])
    after = await _measure_boxes(cdp, world, None)
    return PagePicture(data, width, height, _select_unmoved_boxes(selectors, before, after, height))


async def has_one_colour(cdp: Target, world: int, picture: bytes) -> bool:
    """Return True if all pixels of a picture have the same colour.

    Raises `BrowserFailed`, `ProtocolError`.
    """
    response = await cdp.send(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": read_script("plain.js"),
            "executionContextId": world,
            "arguments": [{"value": base64.b64encode(picture).decode()}],
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    if "exceptionDetails" in response:
        raise BrowserFailed("The picture of the page could not be read.")
    return bool(response["result"]["value"])


async def page_has_colours(cdp: Target, world: int) -> bool:
    """Return True if the top of the page has several colours.

    The top ends at `MAX_PICTURE_HEIGHT`. Raises `BrowserFailed`, `ProtocolError`.
    """
    page = (await cdp.send("Page.getLayoutMetrics"))["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": page["width"], "height": min(page["height"], MAX_PICTURE_HEIGHT), "scale": 0.5}
    data = await capture_screenshot(cdp, PAGE_ENCODINGS, {"captureBeyondViewport": True, "clip": clip})
    return data is None or not await has_one_colour(cdp, world, data)


async def take_page_picture(cdp: Target, world: int, selectors: Sequence[str]) -> PagePicture | None:
    """Return a picture of the page down to the lowest element.

    None if no element is visible. Raises `BrowserFailed`, `ProtocolError`.
    """
    try:
        async with asyncio.timeout(PICTURE_TIMEOUT_S):
            return await _take_page_picture(cdp, world, selectors)
    except TimeoutError:
        raise BrowserFailed("No picture could be taken of the page.") from None


async def _take_page_picture(cdp: Target, world: int, selectors: Sequence[str]) -> PagePicture | None:
    if (await cdp.send("Page.getLayoutMetrics"))["cssVisualViewport"]["scale"] != 1:
        # A full-page screenshot would change the layout of a page that is wider than the screen.
        return await take_first_screen(cdp, world, selectors, PAGE_ENCODINGS)
    before = await _measure_boxes(cdp, world, selectors)
    lowest = max((top + height for _, top, _, height in filter(None, before["boxes"])), default=0)
    width = int(before["page"]["width"])
    if not lowest or not width:
        return None
    height = min(lowest + BOTTOM_MARGIN, int(before["page"]["height"]), MAX_PICTURE_HEIGHT * width // WIDTH)
    # Chromium repeats the layout for a full-page screenshot, so elements may move.
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": WIDTH / width}
    data = await capture_screenshot(cdp, PAGE_ENCODINGS, {"captureBeyondViewport": True, "clip": clip})
    if data is None:
        return None
    after = await _measure_boxes(cdp, world, None)
    boxes = _select_unmoved_boxes(selectors, before, after, height)
    return PagePicture(data, width, height, boxes) if boxes else None


async def capture_screenshot(cdp: Target, encodings: Iterable[Encoding], options: Mapping[str, Any]) -> bytes | None:
    """Return a screenshot in the first encoding in which it is not too large.

    Tries them in order. None if there is none. Raises `BrowserFailed`, `ProtocolError`.
    """
    for encoding in encodings:
        screenshot = await cdp.send(
            "Page.captureScreenshot", {"format": encoding.format, "quality": encoding.quality, **options}
        )
        if len(screenshot["data"]) * 3 // 4 <= encoding.max_bytes:
            return base64.b64decode(screenshot["data"])
    return None


async def _measure_boxes(cdp: Target, world: int, selectors: Sequence[str] | None) -> Any:
    response = await cdp.send(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": read_script("boxes.js"),
            "executionContextId": world,
            "arguments": [{"value": None if selectors is None else list(selectors)}],
            "returnByValue": True,
        },
    )
    if "exceptionDetails" in response:
        raise BrowserFailed("The page's elements could not be found.")
    return response["result"]["value"]


def _select_unmoved_boxes(
    selectors: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any], height: int
) -> dict[str, Box]:
    """Return boxes of elements that did not move.

    They are compared before and after the screenshot, and cut to the picture's height.
    """
    if before["scroll"] != after["scroll"]:
        return {}
    boxes = {}
    for selector, box, box_after in zip(selectors, before["boxes"], after["boxes"], strict=True):
        if box and box == box_after and box[1] < height:
            boxes[selector] = Box(box[0], box[1], box[2], min(box[3], height - box[1]))
    return boxes
