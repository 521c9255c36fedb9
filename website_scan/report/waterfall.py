"""Waterfall chart of a page load.

Positions are in thousandths of the duration (template report/waterfall.html).
"""

from __future__ import annotations

from urllib.parse import unquote

from msgspec import Struct

from website_scan.messages import plain, size
from website_scan.stored_data import StoredRequest, StoredWaterfall
from website_scan.written_urls import split_url, written_host

WIDTH = 1000
MAX_TICKS = 6
TICK_STEPS_MS = tuple(digit * 10**power for power in range(12) for digit in (1, 2, 5))
# The label of a later tick would not fit.
MAX_TICK_POSITION = 0.94
# Minimum length of a bar, so that short requests are visible.
MIN_BAR_LENGTH = 4


class Bar(Struct, frozen=True):
    """Bar of a request in the waterfall.

    `start` and `wait` are position and length of the waiting time, `received_at` and `receive` those of the transfer.
    `host` is empty for the host of the page.
    """

    name: str
    host: str
    url: str
    kind: str
    size: str
    seconds: str
    start: int
    wait: int
    received_at: int
    receive: int
    is_blocking: bool
    is_failed: bool
    is_third_party: bool


class Mark(Struct, frozen=True):
    name: str
    slug: str
    seconds: str
    at: int


class Tick(Struct, frozen=True):
    """Tick of the time axis."""

    text: str
    at: int

    @property
    def percent(self) -> float:
        return 100 * self.at / WIDTH


class WaterfallChart(Struct, frozen=True):
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    seconds: str
    left_out: int

    @property
    def third_parties(self) -> int:
        return sum(bar.is_third_party for bar in self.bars)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of requests for the legend, in the order in which they first occur."""
        return tuple(dict.fromkeys(bar.kind for bar in self.bars))


def waterfall(stored: StoredWaterfall | None) -> WaterfallChart | None:
    if not stored or not stored["rows"]:
        return None
    total = stored["total_ms"]
    page_host = written_host(stored["rows"][0]["url"])
    return WaterfallChart(
        bars=tuple(_bar(row, total, page_host) for row in stored["rows"]),
        marks=tuple(
            Mark(name, name.lower().replace(" ", "-"), _seconds(at), _position(at, total))
            for name, at in stored["marks"]
        ),
        ticks=_ticks(total),
        seconds=_seconds(total),
        left_out=stored["left_out"],
    )


def _ticks(total: int) -> tuple[Tick, ...]:
    """Return at most six ticks from 0, none close to the end.

    The step is 1, 2 or 5 times a power of ten.
    """
    step = next(step_ms for step_ms in TICK_STEPS_MS if total <= MAX_TICKS * step_ms)
    places = range(0, total, step)
    return tuple(Tick(f"{at / 1000:g} s", _position(at, total)) for at in places if at <= MAX_TICK_POSITION * total)


def _bar(row: StoredRequest, total: int, page_host: str) -> Bar:
    start, response, end = (_position(at, total) for at in (row["start_ms"], row["response_ms"], row["end_ms"]))
    host = written_host(row["url"])
    return Bar(
        name=_name(row["url"]),
        host="" if host == page_host else host,
        url=row["url"],
        kind=row["kind"],
        size=size(row["wire_bytes"]),
        seconds=_seconds(row["end_ms"] - row["start_ms"]),
        start=min(start, WIDTH - MIN_BAR_LENGTH),
        wait=max(response - start, 1),
        received_at=min(response, WIDTH - MIN_BAR_LENGTH),
        receive=max(end - response, MIN_BAR_LENGTH),
        is_blocking=row["is_blocking"],
        is_failed=row["is_failed"],
        # Older reports have no `is_third_party`.
        is_third_party=row.get("is_third_party", False),
    )


def _position(milliseconds: int, total: int) -> int:
    return round(WIDTH * milliseconds / total)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.2f} s"


def _name(url: str) -> str:
    """Return the name of the file or folder at the end of a URL path."""
    try:
        path = split_url(url).path
    except ValueError:
        return url
    return plain(unquote(path.rstrip("/").rpartition("/")[2])) or "/"
