"""Screenshot crops and filmstrip of the report page.

The template is report/illustrations.html.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

from msgspec import Struct

from website_scan.picture_types import picture_type
from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck
from website_scan.stored_data import PicturePlaces

# Margins and sizes of crops in CSS pixels, where a tall element is cropped to its top.
MARGIN_X, MARGIN_Y = 40, 28
MIN_CROP_WIDTH, MIN_CROP_HEIGHT = 200, 90
MAX_ELEMENT_HEIGHT = 240
OUTLINE = 3
MAX_SELECTOR_CHARACTERS = 80


class Crop(Struct, frozen=True):
    """Crop of a screenshot with an outlined element.

    All sizes are in CSS pixels of the page.

    `of` is the HTML ID of the whole picture. `view` and `outline` (the frame around the element) are left, top, width
    and height within the whole picture.
    """

    of: str
    size: tuple[int, int]
    view: tuple[int, int, int, int]
    outline: tuple[int, int, int, int]
    selector: str
    alt: str


class FilmFrame(Struct, frozen=True):
    """Frame of the filmstrip, which shows the screen at a time of the page load.

    `marks` are the metrics that the page load reached at this time.
    """

    url: str
    seconds: str
    marks: tuple[str, ...]
    alt: str


class Illustrations(Struct, frozen=True):
    """Illustrations of a report.

    `id`, `url` and `size` belong to the whole screenshot.

    `boxes` are the elements' boxes by check ID and number of the row.
    """

    id: str = ""
    url: str = ""
    size: tuple[int, int] = (0, 0)
    boxes: Mapping[str, Mapping[str, list[int]]] | None = None
    frames: tuple[FilmFrame, ...] = ()

    def crops(self, check: ExportedCheck) -> dict[int, Crop]:
        """Return the screenshot crops of a check by row number."""
        crops: dict[str, tuple[int, Crop]] = {}
        rows = list(rows_of(check))
        for number, box in (self.boxes or {}).get(check["id"], {}).items():
            selector = str(rows[int(number)].get("selector", ""))
            # Crop each element only once, even if it has two rows.
            crops.setdefault(selector, (int(number), self._crop(box, selector)))
        return dict(crops.values())

    def _crop(self, box: list[int], selector: str) -> Crop:
        left, top, width, height = box
        visible_height = min(height, MAX_ELEMENT_HEIGHT)
        x, across = _crop_range(left, width, MARGIN_X, MIN_CROP_WIDTH, self.size[0])
        y, down = _crop_range(top, visible_height, MARGIN_Y, MIN_CROP_HEIGHT, self.size[1])
        short_selector = (
            selector if len(selector) <= MAX_SELECTOR_CHARACTERS else f"{selector[: MAX_SELECTOR_CHARACTERS - 1]}…"
        )
        return Crop(
            of=self.id,
            size=self.size,
            view=(x, y, across, down),
            outline=(left - OUTLINE, top - OUTLINE, width + 2 * OUTLINE, height + 2 * OUTLINE),
            selector=selector,
            alt=f"Screenshot of {short_selector}, outlined, with its surroundings",
        )


NO_ILLUSTRATIONS = Illustrations()


def create_illustrations(
    stored: PicturePlaces | None, *, screenshot: str, page: str, frame: Callable[[int], str], prefix: str = ""
) -> Illustrations:
    """Create the illustrations from stored positions and the URLs of the images."""
    if not stored:
        return NO_ILLUSTRATIONS
    width, height = stored["size"] or (0, 0)
    return Illustrations(
        id=f"{prefix}picture",
        url=page if stored["of"] == "page" else screenshot,
        size=(width, height),
        boxes=stored["crops"],
        frames=tuple(
            _frame(frame(number), time_ms, marks) for number, (time_ms, marks, _) in enumerate(stored["frames"])
        ),
    )


def illustrations_in_file(
    stored: PicturePlaces | None, *, screenshot: bytes | None, page: bytes | None, film: bytes | None, prefix: str
) -> Illustrations:
    """Create illustrations with `data:` URLs.

    An HTML file with them needs no server.
    """
    return create_illustrations(
        stored,
        screenshot=picture_url(screenshot),
        page=picture_url(page),
        frame=lambda number: data_url("image/jpeg", extract_frame(film, stored, number)),
        prefix=prefix,
    )


def data_url(media_type: str, content: bytes | None) -> str:
    """Convert content to a `data:` URL; empty without content."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}" if content else ""


def picture_url(picture: bytes | None) -> str:
    """Convert a picture of the page to a `data:` URL; empty without a picture."""
    return data_url(picture_type(picture), picture) if picture else ""


def extract_frame(film: bytes | memoryview | None, stored: PicturePlaces | None, number: int) -> bytes | None:
    """Return a frame of the filmstrip as JPEG.

    None if the filmstrip has no frame with this number.
    """
    if film is None or stored is None or number >= len(stored["frames"]):
        return None
    start = sum(size for _, _, size in stored["frames"][:number])
    return bytes(film[start : start + stored["frames"][number][2]])


def _frame(url: str, time_ms: int, marks: list[str]) -> FilmFrame:
    seconds = f"{time_ms / 1000:.2f} s"
    marks_text = f": {' and '.join(marks).lower()}" if marks else ""
    return FilmFrame(url, seconds, tuple(marks), f"The screen after {seconds}{marks_text}")


def _crop_range(start: int, length: int, around: int, least: int, whole: int) -> tuple[int, int]:
    """Return the start and length of a crop on one axis.

    The crop has margins and stays inside the screenshot.
    """
    size = min(whole, max(least, length + 2 * around))
    return max(0, min(start - (size - length) // 2, whole - size)), size
