"""Pictures of a page for its report: the first screen, the page down to the reported elements, and a filmstrip.

Checks read only whether the screen has a single colour, so missing pictures are left out. An element gets a box only
if its position is the same before and after the picture was taken.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from website_scan.browser.devtools import ProtocolError, Target
from website_scan.browser.evidence import AxeReport, Box, Frame, Layout, Load, PagePicture, Progress
from website_scan.browser.injected_scripts import script
from website_scan.browser.visit import BrowserFailed

PICTURE_S = 5.0  # for the whole page's picture
SCREEN_BYTES = 500_000
SCREEN_QUALITIES = (60, 25)
WIDTH = 412
MAX_HEIGHT = 5000  # in pixels of the picture
PAGE_BYTES = 200_000
PAGE_QUALITIES = (50, 20)
MARGIN = 60  # below the last named element
EACH_RULE = 5  # elements per rule: as many as a report shows before "all"
NAMED = 100
SHIFTS = 5
TARGETS = 20
IMAGES = 20

FRAMES = 8
FRAME = {"format": "jpeg", "quality": 50, "maxWidth": 206, "maxHeight": 412, "everyNthFrame": 1}
FRAME_BYTES = 20_000
KEPT_FRAMES = 80
COMPARED = 20  # frames whose content is compared
PAUSE_S = 0.05  # between two frames; doubled when there are too many
AFTER_MS = 250  # after the last mark; later changes are no longer part of the load
REFRESH_MS = 20  # a frame may be drawn up to one refresh before its mark


@dataclass(frozen=True, slots=True)
class _Raw:
    at_s: float  # since 1970
    data: str  # base64


class Filmstrip:
    """Recorder of screenshots from its start on, at most a few per second."""

    def __init__(self, cdp: Target) -> None:
        self._cdp = cdp
        self._frames: list[_Raw] = []
        self._pause_s = PAUSE_S
        self._pending: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start recording. Raises `ProtocolError`."""
        self._cdp.on("Page.screencastFrame", self._keep)
        await self._cdp.send("Page.startScreencast", FRAME)

    async def stop(self) -> None:
        """Stop recording. Raises `ProtocolError`."""
        await self._cdp.send("Page.stopScreencast")
        for each in self._pending:
            each.cancel()

    def frames(self, load: Load, began_ms: float) -> tuple[Frame, ...]:
        """Return at most `FRAMES` frames of the load, in order. The load began `began_ms` after 1970."""
        marks = {"First paint": load.fcp_s, "Largest paint": load.lcp.time_s if load.lcp else None}
        small = [each for each in self._frames if len(each.data) * 3 // 4 <= FRAME_BYTES]
        return chosen(
            [(round(1000 * each.at_s - began_ms), base64.b64decode(each.data)) for each in small],
            {name: round(1000 * at_s) for name, at_s in marks.items() if at_s is not None},
            round(1000 * (load.load_s or 0.0)),
        )

    async def progress(self, world: int, load: Load, began_ms: float) -> Progress:
        """Compute the visual progress of the load in the page. Raises `BrowserFailed`, `ProtocolError`."""
        frames = [each for each in self._frames if 1000 * each.at_s >= began_ms]
        if not frames:
            raise BrowserFailed("The page was not drawn while it was loaded.")
        frames = [*frames[: -1 : -(-len(frames) // COMPARED)], frames[-1]]  # the last one is what the others come to
        times = [each.at_s - began_ms / 1000 for each in frames]
        images = {each.url: each.end_s for each in reversed(load.requests) if each.end_s is not None}
        answer = await self._cdp.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": script("progress.js"),
                "executionContextId": world,
                "arguments": [
                    {"value": [[at_s, each.data] for at_s, each in zip(times, frames, strict=True)]},
                    {"value": list(images.items())},
                ],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in answer:
            raise BrowserFailed("The frames of the load could not be compared.")
        found = answer["result"]["value"]
        return Progress(
            tuple(zip(times, map(float, found["progress"]), strict=True)),
            tuple((str(url), float(part)) for url, part in found["images"]),
        )

    def _keep(self, event: Mapping[str, Any]) -> None:
        data, at_s = str(event["data"]), event["metadata"].get("timestamp")
        if at_s is not None and (self._last is None or data != self._last.data):
            self._frames.append(_Raw(float(at_s), data))
        if len(self._frames) > KEPT_FRAMES:
            del self._frames[1::2]
            self._pause_s *= 2
        task = asyncio.ensure_future(self._ask_for_next(int(event["sessionId"])))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    @property
    def _last(self) -> _Raw | None:
        return self._frames[-1] if self._frames else None

    async def _ask_for_next(self, session: int) -> None:
        await asyncio.sleep(self._pause_s)
        with contextlib.suppress(ProtocolError):  # the page may be closed
            await self._cdp.send("Page.screencastFrameAck", {"sessionId": session})


def chosen(frames: Sequence[tuple[int, bytes]], marks: Mapping[str, int], loaded_ms: int) -> tuple[Frame, ...]:
    """Choose the frames for a filmstrip from all frames, each with its milliseconds since the load began.

    Chosen are the screen before anything was shown, the frame of each mark, the last one, and some at equal intervals.
    """
    if not frames or not marks:
        return ()
    seen = [(at, data) for at, data in frames if at >= 0]
    if before := [data for at, data in frames if at < 0]:
        seen.insert(0, (0, before[-1]))
    first_after = {name: _first_after(seen, at - REFRESH_MS) for name, at in marks.items()}
    ends = max(*marks.values(), loaded_ms) + AFTER_MS
    last = max(*first_after.values(), *(at for at, (ms, _) in enumerate(seen) if ms <= ends))
    picked = {0, last, *first_after.values()}
    total = seen[last][0]
    for slot in range(1, FRAMES):
        if len(picked) < FRAMES:
            picked.add(max(at for at, (ms, _) in enumerate(seen) if ms <= max(seen[0][0], total * slot / FRAMES)))
    return tuple(
        Frame(seen[at][0], tuple(name for name, first in first_after.items() if first == at), seen[at][1])
        for at in sorted(picked)
    )


def _first_after(frames: Sequence[tuple[int, bytes]], ms: int) -> int:
    return next((index for index, (at, _) in enumerate(frames) if at >= ms), len(frames) - 1)


def named_first(load: Load, layout: Layout | None) -> list[str]:
    """Return selectors of the elements that findings about the first screen may name."""
    shifts = sorted(load.shifts, key=lambda each: -each.value)[:SHIFTS]
    found = [load.lcp.selector if load.lcp else "", *(each.source for each in shifts)]
    if layout is not None:
        found += [each.selector for each in layout.targets if each.is_crowded][:TARGETS]
        images = [each for each in layout.images if each.is_visible and each.top_px < layout.viewport.height_px]
        found += [each.selector for each in images[:IMAGES]]
    return _distinct(found)


def named_by(axe: AxeReport | None) -> list[str]:
    """Return selectors of the first elements of each rule with violations or incomplete results."""
    if axe is None:
        return []
    rules = [*axe.violations.values(), *axe.incomplete.values()]
    return _distinct(node.selector for rule in rules for node in rule.nodes[:EACH_RULE])


def _distinct(selectors: Iterable[str]) -> list[str]:
    # A box around the whole page would show nothing.
    return [each for each in dict.fromkeys(selectors) if each not in ("", "html", "body")][:NAMED]


async def first_screen(cdp: Target, world: int, selectors: Sequence[str]) -> PagePicture | None:
    """Take a picture of the screen. Raises `BrowserFailed`, `ProtocolError`."""
    return await _screen(cdp, world, selectors, SCREEN_QUALITIES, SCREEN_BYTES)


async def _screen(
    cdp: Target, world: int, selectors: Sequence[str], qualities: Iterable[int], most_bytes: int
) -> PagePicture | None:
    before = await _places(cdp, world, selectors)
    data = await _picture(cdp, qualities, most_bytes, {"captureBeyondViewport": False})
    if data is None:
        return None
    view = (await cdp.send("Page.getLayoutMetrics"))["cssLayoutViewport"]
    width, height = int(view["clientWidth"]), int(view["clientHeight"])
    after = await _places(cdp, world, None)
    return PagePicture(data, width, height, _at_rest(selectors, before, after, height))


async def is_plain(cdp: Target, world: int, picture: bytes) -> bool:
    """Return True if a picture has the same colour everywhere. Raises `BrowserFailed`, `ProtocolError`."""
    answer = await cdp.send(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": script("plain.js"),
            "executionContextId": world,
            "arguments": [{"value": base64.b64encode(picture).decode()}],
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    if "exceptionDetails" in answer:
        raise BrowserFailed("The picture of the page could not be read.")
    return bool(answer["result"]["value"])


async def has_colours(cdp: Target, world: int) -> bool:
    """Return True if the page, down to `MAX_HEIGHT`, has more than one colour. Raises like `is_plain`."""
    page = (await cdp.send("Page.getLayoutMetrics"))["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": page["width"], "height": min(page["height"], MAX_HEIGHT), "scale": 0.5}
    data = await _picture(cdp, PAGE_QUALITIES, PAGE_BYTES, {"captureBeyondViewport": True, "clip": clip})
    return data is None or not await is_plain(cdp, world, data)


async def page_picture(cdp: Target, world: int, selectors: Sequence[str]) -> PagePicture | None:
    """Take a picture of the page down to the lowest element, at most `MAX_HEIGHT`; None if no element is visible.

    Raises `BrowserFailed`, `ProtocolError`.
    """
    try:
        async with asyncio.timeout(PICTURE_S):
            return await _page_picture(cdp, world, selectors)
    except TimeoutError:
        raise BrowserFailed("No picture could be taken of the page.") from None


async def _page_picture(cdp: Target, world: int, selectors: Sequence[str]) -> PagePicture | None:
    if (await cdp.send("Page.getLayoutMetrics"))["cssVisualViewport"]["scale"] != 1:
        # A page that is wider than the screen is zoomed out, and a full picture would change its layout. But its screen
        # shows more of it.
        return await _screen(cdp, world, selectors, PAGE_QUALITIES, PAGE_BYTES)
    before = await _places(cdp, world, selectors)
    lowest = max((top + height for _, top, _, height in filter(None, before["boxes"])), default=0)
    width = int(before["page"]["width"])
    if not lowest or not width:
        return None
    height = min(lowest + MARGIN, int(before["page"]["height"]), MAX_HEIGHT * width // WIDTH)
    # Chromium lays the page out again for a moment, even if the size stays the same.
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": WIDTH / width}
    data = await _picture(cdp, PAGE_QUALITIES, PAGE_BYTES, {"captureBeyondViewport": True, "clip": clip})
    if data is None:
        return None
    after = await _places(cdp, world, None)
    boxes = _at_rest(selectors, before, after, height)
    return PagePicture(data, width, height, boxes) if boxes else None


async def _picture(cdp: Target, qualities: Iterable[int], most_bytes: int, options: Mapping[str, Any]) -> bytes | None:
    """Return a WebP in the best quality that is small enough; None if none is."""
    for quality in qualities:
        taken = await cdp.send("Page.captureScreenshot", {"format": "webp", "quality": quality, **options})
        if len(taken["data"]) * 3 // 4 <= most_bytes:
            return base64.b64decode(taken["data"])
    return None


async def _places(cdp: Target, world: int, selectors: Sequence[str] | None) -> Any:
    answer = await cdp.send(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": script("boxes.js"),
            "executionContextId": world,
            "arguments": [{"value": None if selectors is None else list(selectors)}],
            "returnByValue": True,
        },
    )
    if "exceptionDetails" in answer:
        raise BrowserFailed("The page's elements could not be found.")
    return answer["result"]["value"]


def _at_rest(
    selectors: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any], height: int
) -> dict[str, Box]:
    """Return the boxes of elements that did not move between before and after, within the picture's height."""
    if before["scroll"] != after["scroll"]:
        return {}
    found = {}
    for selector, was, stands in zip(selectors, before["boxes"], after["boxes"], strict=True):
        if was and was == stands and was[1] < height:
            found[selector] = Box(was[0], was[1], was[2], min(was[3], height - was[1]))
    return found
