"""Treemap of a page's transfer size by host and kind of file (Bruls et al., Squarified Treemaps)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from website_scan.messages import size
from website_scan.stored_data import StoredWeight

# Width and height of the drawing; positions and sizes of areas are in per cent of these.
WIDTH, HEIGHT = 3.0, 1.0
# The least width and height of an area with a label, in per cent of the drawing.
WORDS_WIDTH, WORDS_HEIGHT = 9.0, 16.0
# The width of a character of the label in per cent of the drawing, on a wide screen and on a phone.
CHARACTER, CHARACTER_ON_PHONE = 0.95, 2.8
MAX_ROWS = 8
LEAST = 1e-9  # least length of a side, against division by zero after rounding


@dataclass(frozen=True, slots=True)
class Area:
    """Rectangle of the treemap, in per cent of the drawing."""

    label: str
    host: str
    size: str
    kind: str
    x: float
    y: float
    width: float
    height: float

    @property
    def has_words(self) -> bool:
        return self.width >= max(WORDS_WIDTH, CHARACTER * self._length) and self.height >= WORDS_HEIGHT

    @property
    def is_slim(self) -> bool:
        return self.width < CHARACTER_ON_PHONE * self._length

    @property
    def _length(self) -> int:
        """Number of characters of the first line of the label, such as "Document, 16 kB"."""
        return len(self.label) + 2 + len(self.size)


@dataclass(frozen=True, slots=True)
class Sum:
    """Row of a table of sums. `share` is in per cent; `kind` is the kind of file if the row is about one."""

    name: str
    note: str
    requests: int
    size: str
    share: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Weights:
    total: str
    requests: int
    third_party: str  # empty without third parties
    areas: tuple[Area, ...]
    kinds: tuple[Sum, ...]
    hosts: tuple[Sum, ...]


def weights(stored: Sequence[StoredWeight]) -> Weights | None:
    """Return treemap and tables of the stored transfer sizes, None if no bytes were transferred."""
    rows = [each for each in stored if each["wire_bytes"] > 0]
    total = sum(each["wire_bytes"] for each in rows)
    if not total:
        return None
    foreign = sum(each["wire_bytes"] for each in rows if each["is_third_party"])
    ordered = sorted(rows, key=lambda each: -each["wire_bytes"])
    places = squarified([each["wire_bytes"] for each in ordered], WIDTH, HEIGHT)
    return Weights(
        total=size(total),
        requests=sum(each["requests"] for each in rows),
        third_party=f"{size(foreign)} ({round(100 * foreign / total)} %)" if foreign else "",
        areas=tuple(
            Area(
                each["kind"].capitalize(),
                each["host"],
                size(each["wire_bytes"]),
                each["kind"],
                *(
                    round(100 * value / whole, 2)
                    for value, whole in zip(place, (WIDTH, HEIGHT, WIDTH, HEIGHT), strict=True)
                ),
            )
            for each, place in zip(ordered, places, strict=True)
        ),
        kinds=_sums(rows, "kind", total),
        hosts=_sums(rows, "host", total),
    )


def _sums(rows: Sequence[StoredWeight], by: Literal["kind", "host"], total: int) -> tuple[Sum, ...]:
    """Return sums by kind or host, the largest first, with one row for all beyond `MAX_ROWS`."""
    grouped: dict[str, list[StoredWeight]] = {}
    for each in rows:
        grouped.setdefault(each[by], []).append(each)
    ordered = sorted(grouped.items(), key=lambda each: -_bytes(each[1]))
    shown = ordered[:MAX_ROWS]
    if rest := [each for _, members in ordered[MAX_ROWS:] for each in members]:
        shown.append((f"{len(ordered) - MAX_ROWS} more", rest))
    return tuple(
        Sum(
            name=(name.capitalize() if by == "kind" else name) or "Other hosts",
            note="third party" if by == "host" and members[0]["is_third_party"] else "",
            requests=sum(each["requests"] for each in members),
            size=size(_bytes(members)),
            share=f"{round(100 * _bytes(members) / total) or '< 1'} %",
            kind=name if by == "kind" and name in grouped else "",
        )
        for name, members in shown
    )


def _bytes(rows: Sequence[StoredWeight]) -> int:
    return sum(each["wire_bytes"] for each in rows)


def squarified(values: Sequence[int], width: float, height: float) -> list[tuple[float, float, float, float]]:
    """Return a rectangle (x, y, width, height) for each of the values, which are positive and in descending order.

    The areas are proportional to the values and fill the whole. Rows lie along the shorter side; a row takes values
    as long as that does not worsen its aspect ratios.
    """
    scale = width * height / sum(values)
    left = [value * scale for value in values]
    x = y = 0.0
    found = []
    while left:
        side = max(min(width - x, height - y), LEAST)
        count = 1
        while count < len(left) and _worst(left[: count + 1], side) <= _worst(left[:count], side):
            count += 1
        row, left = left[:count], left[count:]
        thickness = sum(row) / side
        at = 0.0
        is_column = width - x >= height - y
        for area in row:
            length = area / thickness
            found.append((x, y + at, thickness, length) if is_column else (x + at, y, length, thickness))
            at += length
        x, y = (x + thickness, y) if is_column else (x, y + thickness)
    return found


def _worst(row: Sequence[float], side: float) -> float:
    """Return the worst aspect ratio in a row of areas along a side."""
    thickness = sum(row) / side
    return max(max(thickness**2 / area, area / thickness**2) for area in row)
