"""Illustrations of a report's page, from the stored screenshots and film (templates/report/illustrations.html)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck
from website_scan.stored_data import PicturePlaces

# In CSS pixels of the page. A crop includes the surroundings of its element. Of a tall element, it has only the top.
AROUND_X, AROUND_Y = 40, 28
MIN_WIDTH, MIN_HEIGHT = 200, 90
MAX_HEIGHT = 240
OUTLINE = 3
SELECTOR_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Crop:
    """Crop of a page's picture with an element outlined. All sizes are in CSS pixels of the page.

    `of` is the HTML ID of the whole picture. `view` and `outline` (the frame around the element) are left, top, width
    and height within the whole picture.
    """

    of: str
    size: tuple[int, int]
    view: tuple[int, int, int, int]
    outline: tuple[int, int, int, int]
    selector: str
    alt: str


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """Frame of the film: the screen at a time of the load. `marks` are metrics that are reached by this frame."""

    url: str
    seconds: str
    marks: tuple[str, ...]
    alt: str


@dataclass(frozen=True, slots=True)
class Illustrations:
    """Illustrations of one report. `id`, `url` and `size` belong to the whole picture.

    `boxes` are the elements' boxes by check ID and number of the row.
    """

    id: str = ""
    url: str = ""
    size: tuple[int, int] = (0, 0)
    boxes: Mapping[str, Mapping[str, list[int]]] | None = None
    frames: tuple[FilmFrame, ...] = ()

    def crops(self, check: ExportedCheck) -> dict[int, Crop]:
        """Return the crops for a check of the JSON export, by the number of the row."""
        crops: dict[str, tuple[int, Crop]] = {}
        rows = list(rows_of(check))
        for number, box in (self.boxes or {}).get(check["id"], {}).items():
            selector = str(rows[int(number)].get("selector", ""))
            # An element with two rows has only one crop.
            crops.setdefault(selector, (int(number), self._crop(box, selector)))
        return dict(crops.values())

    def _crop(self, box: list[int], selector: str) -> Crop:
        left, top, width, height = box
        visible_height = min(height, MAX_HEIGHT)
        x, across = _around(left, width, AROUND_X, MIN_WIDTH, self.size[0])
        y, down = _around(top, visible_height, AROUND_Y, MIN_HEIGHT, self.size[1])
        short_selector = selector if len(selector) <= SELECTOR_LENGTH else f"{selector[: SELECTOR_LENGTH - 1]}…"
        return Crop(
            of=self.id,
            size=self.size,
            view=(x, y, across, down),
            outline=(left - OUTLINE, top - OUTLINE, width + 2 * OUTLINE, height + 2 * OUTLINE),
            selector=selector,
            alt=f"Screenshot of {short_selector}, outlined, with its surroundings",
        )


NO_ILLUSTRATIONS = Illustrations()


def illustrations_of(
    stored: PicturePlaces | None, *, screenshot: str, page: str, frame: Callable[[int], str], prefix: str = ""
) -> Illustrations:
    """Return the stored pictures with the addresses of their images."""
    if not stored:
        return NO_ILLUSTRATIONS
    width, height = stored["size"] or (0, 0)
    return Illustrations(
        id=f"{prefix}picture",
        url=page if stored["of"] == "page" else screenshot,
        size=(width, height),
        boxes=stored["crops"],
        frames=tuple(_frame(frame(number), at_ms, marks) for number, (at_ms, marks, _) in enumerate(stored["frames"])),
    )


def illustrations_in_file(
    stored: PicturePlaces | None, *, screenshot: bytes | None, page: bytes | None, film: bytes | None, prefix: str
) -> Illustrations:
    """Return the stored pictures with `data:` URLs, for a document that needs no server."""
    return illustrations_of(
        stored,
        screenshot=data_url("image/webp", screenshot),
        page=data_url("image/webp", page),
        frame=lambda number: data_url("image/jpeg", frame_of(film, stored, number)),
        prefix=prefix,
    )


def data_url(media_type: str, content: bytes | None) -> str:
    """Return the content as a `data:` URL, empty without content."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}" if content else ""


def frame_of(film: bytes | memoryview | None, stored: PicturePlaces | None, number: int) -> bytes | None:
    """Return a frame of the film as JPEG, or None if the film has no frame of this number."""
    if film is None or stored is None or number >= len(stored["frames"]):
        return None
    start = sum(size for _, _, size in stored["frames"][:number])
    return bytes(film[start : start + stored["frames"][number][2]])


def _frame(url: str, at_ms: int, marks: list[str]) -> FilmFrame:
    seconds = f"{at_ms / 1000:.2f} s"
    marks_text = f": {' and '.join(marks).lower()}" if marks else ""
    return FilmFrame(url, seconds, tuple(marks), f"The screen after {seconds}{marks_text}")


def _around(start: int, length: int, around: int, least: int, whole: int) -> tuple[int, int]:
    """Return start and length, in one dimension, of a crop with surroundings within the whole picture."""
    size = min(whole, max(least, length + 2 * around))
    return max(0, min(start - (size - length) // 2, whole - size)), size
