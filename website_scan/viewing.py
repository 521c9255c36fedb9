"""Widths and colour scheme in which a browser shows a page to be judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict, get_args

from msgspec import Struct

ColorScheme = Literal["light", "dark"]

MIN_WIDTH, MAX_WIDTH, MAX_WIDTHS = 320, 2560, 3
COLOR_SCHEMES: tuple[ColorScheme, ...] = get_args(ColorScheme)
WIDTHS_RULE = (
    f"widths must be a list of 1 to {MAX_WIDTHS} different whole numbers from {MIN_WIDTH} to {MAX_WIDTH}, in pixels."
)


class StoredViewing(TypedDict):
    """JSON form of `Viewing`."""

    widths: list[int]
    color_scheme: ColorScheme


class Viewing(Struct, frozen=True):
    """How a browser shows a page: its widths in CSS pixels, the main one first, and the preferred colour scheme.

    Accessibility is judged at each width. Performance and SEO are always judged on a phone.
    """

    widths: tuple[int, ...] = (412, 1440)
    color_scheme: ColorScheme = "light"

    @classmethod
    def from_json(cls, stored: StoredViewing) -> Viewing:
        return cls(tuple(stored["widths"]), stored["color_scheme"])

    @property
    def json(self) -> StoredViewing:
        return {"widths": list(self.widths), "color_scheme": self.color_scheme}


def are_valid_widths(widths: Sequence[int]) -> bool:
    """Return True if a scan may be made at these widths."""
    return (
        1 <= len(widths) <= MAX_WIDTHS
        and len(set(widths)) == len(widths)
        and all(MIN_WIDTH <= width <= MAX_WIDTH for width in widths)
    )
