"""Options that choose how the browser shows a page: `--width` and `--color-scheme`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from website_scan.command.errors import WrongUsage
from website_scan.viewing import COLOR_SCHEMES, MAX_WIDTH, MAX_WIDTHS, MIN_WIDTH, ColorScheme, Viewing, are_valid_widths

RULE = f"1 to {MAX_WIDTHS} different widths from {MIN_WIDTH} to {MAX_WIDTH} pixels"


def add_viewing_options(group: argparse._ArgumentGroup) -> None:
    """Add the options to the parser. The help mentions them in one line."""
    about = "of accessibility (412, 1440); also --color-scheme"
    group.add_argument("--width", type=int, action="append", metavar="PIXELS", help=about)
    group.add_argument("--color-scheme", choices=COLOR_SCHEMES, metavar="SCHEME", help=argparse.SUPPRESS)


def chosen_viewing(chosen: Mapping[str, Any]) -> Viewing | None:
    """Return the chosen widths and colour scheme, or None without any. Raises WrongUsage."""
    widths: Sequence[int] | None = chosen.get("width")
    color_scheme: ColorScheme | None = chosen.get("color_scheme")
    if widths is None and color_scheme is None:
        return None
    if widths is not None and not are_valid_widths(widths):
        raise WrongUsage(f"--width: use {RULE}.")
    usual = Viewing()
    return Viewing(tuple(widths or usual.widths), color_scheme or usual.color_scheme)


def widths_of_file(value: object) -> list[int]:
    """Parse the value of `widths` in website-scan.toml. Raises ValueError."""
    numbers = value if isinstance(value, list) else [value]
    # True and False are numbers in Python, but not widths.
    widths = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
    if len(widths) != len(numbers) or not are_valid_widths(widths):
        raise ValueError(f"must be {RULE}")
    return widths
