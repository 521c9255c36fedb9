"""Treemap of a page's transfer size by host and kind of file.

Bruls et al., Squarified Treemaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from website_scan.messages import size
from website_scan.stored_data import StoredWeight

# Positions and sizes of areas are in per cent of the drawing.
WIDTH, HEIGHT = 3.0, 1.0
# Minimum width and height of an area with a label, in per cent of the drawing.
LABEL_WIDTH, LABEL_HEIGHT = 9.0, 16.0
# Width of a label's character in per cent of the drawing, on a wide screen and on a phone.
CHARACTER_WIDTH, CHARACTER_WIDTH_ON_PHONE = 0.95, 2.8
MAX_ROWS = 8
# Minimum length of a side, which prevents a division by zero after rounding.
MIN_SIDE = 1e-9


class Area(Struct, frozen=True):
    """Rectangle of the treemap with its label.

    Position and size are in per cent of the drawing.
    """

    label: str
    host: str
    size: str
    kind: str
    x: float
    y: float
    width: float
    height: float

    @property
    def fits_label(self) -> bool:
        return self.width >= max(LABEL_WIDTH, CHARACTER_WIDTH * self._length) and self.height >= LABEL_HEIGHT

    @property
    def fits_no_label_on_phone(self) -> bool:
        return self.width < CHARACTER_WIDTH_ON_PHONE * self._length

    @property
    def _length(self) -> int:
        """Number of characters in the first line of the label.

        An example of a line is "Document, 16 kB".
        """
        return len(self.label) + 2 + len(self.size)


class TransferSize(Struct, frozen=True):
    """Transfer size of one host or one kind of file.

    `share` is in per cent; `kind` is empty for a host.
    """

    name: str
    note: str
    requests: int
    size: str
    share: str
    kind: str = ""


class TransferSizes(Struct, frozen=True):
    total: str
    requests: int
    third_party: str
    areas: tuple[Area, ...]
    kinds: tuple[TransferSize, ...]
    hosts: tuple[TransferSize, ...]


def weights(stored: Sequence[StoredWeight]) -> TransferSizes | None:
    """Create the treemap and the tables of transfer sizes.

    Returns None if the page transferred no bytes.
    """
    rows = [row for row in stored if row["wire_bytes"] > 0]
    total = sum(row["wire_bytes"] for row in rows)
    if not total:
        return None
    third_party_bytes = sum(row["wire_bytes"] for row in rows if row["is_third_party"])
    ordered = sorted(rows, key=lambda row: -row["wire_bytes"])
    rectangles = squarify([row["wire_bytes"] for row in ordered], WIDTH, HEIGHT)
    return TransferSizes(
        total=size(total),
        requests=sum(row["requests"] for row in rows),
        third_party=f"{size(third_party_bytes)} ({round(100 * third_party_bytes / total)} %)"
        if third_party_bytes
        else "",
        areas=tuple(
            Area(
                row["kind"].capitalize(),
                row["host"],
                size(row["wire_bytes"]),
                row["kind"],
                *(
                    round(100 * value / whole, 2)
                    for value, whole in zip(rectangle, (WIDTH, HEIGHT, WIDTH, HEIGHT), strict=True)
                ),
            )
            for row, rectangle in zip(ordered, rectangles, strict=True)
        ),
        kinds=_transfer_sizes(rows, "kind", total),
        hosts=_transfer_sizes(rows, "host", total),
    )


def _transfer_sizes(rows: Sequence[StoredWeight], by: Literal["kind", "host"], total: int) -> tuple[TransferSize, ...]:
    """Return the transfer sizes by kind or host, largest first.

    The last row sums up all beyond MAX_ROWS.
    """
    grouped: dict[str, list[StoredWeight]] = {}
    for weight in rows:
        grouped.setdefault(weight[by], []).append(weight)
    ordered = sorted(grouped.items(), key=lambda pair: -_bytes(pair[1]))
    groups = ordered[:MAX_ROWS]
    if rest := [row for _, members in ordered[MAX_ROWS:] for row in members]:
        groups.append((f"{len(ordered) - MAX_ROWS} more", rest))
    return tuple(
        TransferSize(
            name=(name.capitalize() if by == "kind" else name) or "Other hosts",
            note="third party" if by == "host" and members[0]["is_third_party"] else "",
            requests=sum(row["requests"] for row in members),
            size=size(_bytes(members)),
            share=f"{round(100 * _bytes(members) / total) or '< 1'} %",
            kind=name if by == "kind" and name in grouped else "",
        )
        for name, members in groups
    )


def _bytes(rows: Sequence[StoredWeight]) -> int:
    return sum(row["wire_bytes"] for row in rows)


def squarify(values: Sequence[int], width: float, height: float) -> list[tuple[float, float, float, float]]:
    """Return a rectangle (x, y, width, height) for each value.

    Values are positive and in descending order.

    The areas are proportional to the values and fill the whole. Rows are along the shorter side; values are added to a
    row as long as its worst aspect ratio does not become worse.
    """
    scale = width * height / sum(values)
    remaining = [value * scale for value in values]
    x = y = 0.0
    rectangles = []
    while remaining:
        side = max(min(width - x, height - y), MIN_SIDE)
        count = 1
        while count < len(remaining) and _worst_ratio(remaining[: count + 1], side) <= _worst_ratio(
            remaining[:count], side
        ):
            count += 1
        row, remaining = remaining[:count], remaining[count:]
        thickness = sum(row) / side
        at = 0.0
        is_vertical_row = width - x >= height - y
        for area in row:
            length = area / thickness
            rectangles.append((x, y + at, thickness, length) if is_vertical_row else (x + at, y, length, thickness))
            at += length
        x, y = (x + thickness, y) if is_vertical_row else (x, y + thickness)
    return rectangles


def _worst_ratio(row: Sequence[float], side: float) -> float:
    """Return the worst aspect ratio of the areas in a row along a side."""
    thickness = sum(row) / side
    return max(max(thickness**2 / area, area / thickness**2) for area in row)
