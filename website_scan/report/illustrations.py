"""Illustrations of a report's page, from the stored screenshots and film (templates/report/illustrations.html)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck
from website_scan.stored_data import PicturePlaces

# In CSS pixels of the page. A crop includes surroundings, to show where the element is, and only the top of a tall one.
AROUND_X, AROUND_Y = 40, 28
LEAST_WIDTH, LEAST_HEIGHT = 200, 90
MAX_HEIGHT = 240
OUTLINE = 3
SELECTOR_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Crop:
    """Crop of a page's picture with an element outlined. All sizes are in CSS pixels of the page.

    `of` is the HTML ID of the whole picture. `view` is left, top, width and height of the crop, `outline` those of the
    frame around the element, both within the whole picture.
    """

    of: str
    size: tuple[int, int]
    view: tuple[int, int, int, int]
    outline: tuple[int, int, int, int]
    selector: str
    alt: str


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """A frame of the film: the screen at a time of the load. `marks` are the metrics first reached in this frame."""

    url: str
    seconds: str
    marks: tuple[str, ...]
    alt: str


@dataclass(frozen=True, slots=True)
class Illustrations:
    """Illustrations of one report. `id`, `url` and `size` are those of the whole picture.

    `boxes` are the elements' boxes by check ID and number of the row.
    """

    id: str = ""
    url: str = ""
    size: tuple[int, int] = (0, 0)
    boxes: Mapping[str, Mapping[str, list[int]]] | None = None
    frames: tuple[FilmFrame, ...] = ()

    def crops(self, check: ExportedCheck) -> dict[int, Crop]:
        """Return the crops for a check of the JSON export, by the number of the row."""
        found: dict[str, tuple[int, Crop]] = {}
        found_rows = list(rows_of(check))
        for number, box in (self.boxes or {}).get(check["id"], {}).items():
            selector = str(found_rows[int(number)].get("selector", ""))
            # An element that occurs twice is shown once.
            found.setdefault(selector, (int(number), self._crop(box, selector)))
        return dict(found.values())

    def _crop(self, box: list[int], selector: str) -> Crop:
        left, top, width, height = box
        shown = min(height, MAX_HEIGHT)
        x, across = _around(left, width, AROUND_X, LEAST_WIDTH, self.size[0])
        y, down = _around(top, shown, AROUND_Y, LEAST_HEIGHT, self.size[1])
        named = selector if len(selector) <= SELECTOR_LENGTH else f"{selector[: SELECTOR_LENGTH - 1]}…"
        return Crop(
            of=self.id,
            size=self.size,
            view=(x, y, across, down),
            outline=(left - OUTLINE, top - OUTLINE, width + 2 * OUTLINE, height + 2 * OUTLINE),
            selector=selector,
            alt=f"Screenshot of {named}, outlined, with its surroundings",
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
    """Return a JPEG of the film, or None if the film has no frame of this number."""
    if film is None or stored is None or number >= len(stored["frames"]):
        return None
    begins = sum(size for _, _, size in stored["frames"][:number])
    return bytes(film[begins : begins + stored["frames"][number][2]])


def _frame(url: str, at_ms: int, marks: list[str]) -> FilmFrame:
    seconds = f"{at_ms / 1000:.2f} s"
    told = f": {' and '.join(marks).lower()}" if marks else ""
    return FilmFrame(url, seconds, tuple(marks), f"The screen after {seconds}{told}")


def _around(begins: int, length: int, around: int, least: int, whole: int) -> tuple[int, int]:
    """Return start and length, in one dimension, of a crop with surroundings within the whole picture."""
    size = min(whole, max(least, length + 2 * around))
    return max(0, min(begins - (size - length) // 2, whole - size)), size
