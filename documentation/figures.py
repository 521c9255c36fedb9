"""Generated tables of docs/benchmarks.md: the figures that `make bench` has stored in benchmarks/baseline.json."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypedDict

from django.conf import settings

Row = tuple[str, ...]

# Headings of columns, as docs/benchmarks.md has them. The stored names are those that `make bench` prints.
HEADINGS = {
    "CPU-s": "processor time, s",
    "CPU ms": "processor time, ms",
    "application": "of the application, ms",
    "database ms": "of PostgreSQL, ms",
    "CPU ratio": "processor time",
    "request ratio": "requests",
    "of the bare": "of the bare view's requests per second",
    "a second": "per second",
    "of one": "rate, relative",
    "kB": "compressed kB",
    "kB each": "kB",
    "longest wait": "longest wait, s",
    "median wait": "median wait, s",
    "s to the page": "until the page answers, s",
    "Redis commands": "Redis commands",
    "seconds": "duration, s",
    "table": "bytes of the table",
    "indexes": "bytes of indexes",
}
PAGE_COLUMNS = ("CPU ms", "kB", "queries")
LIST_COLUMNS = ("CPU ms", "application", "database ms")
PEER_PAGES = ("tiny", "shop", "dashboard", "gallery")
# Generated tables by name: the part of `make bench`, the title of the printed table, and its columns.
SECTIONS = {
    "visits without a browser": ("scans", "a visit without a browser", "CPU-s", "requests"),
    "visits with a browser": ("scans", "a visit with a browser", "CPU-s", "requests"),
    "ratios without a browser": (
        "scans",
        "a visit without a browser: beside four separate scans",
        "CPU ratio",
        "request ratio",
    ),
    "ratios with a browser": (
        "scans",
        "a visit with a browser: beside four separate scans",
        "CPU ratio",
        "request ratio",
    ),
    "chosen categories": (
        "categories",
        "a scan of one of 20 typical sites, mean",
        *("CPU ms", "requests", "connections", "DNS queries", "received kB"),
    ),
    "a page of an audit": ("audits", "a page of an audit", "CPU ms", "ratio"),
    "servers of an audit": ("audits", "a page of an audit: servers", "commits", "rows read", "Redis commands"),
    "requests of an audit": ("audits", "requests of an audit", "requests"),
    "waits": ("queue", "a single scan begins, seconds after its request", "longest wait", "median wait"),
    "workers": ("queue", "scans each", "of one", "idle %"),
    "bare view": ("api", "beside a bare view", "of the bare", "a second", "p50 ms", "p99 ms"),
    "requests of the API": ("api", "processor time of a request, 4 rounds", "CPU ms"),
    "pages": ("pages", "pages of an organization, 20 times each", *PAGE_COLUMNS),
    "longest pages": ("pages", "the longest pages, 20 times each", *PAGE_COLUMNS),
    "lists of the API": ("pages", "lists of the API, 20 times each", *PAGE_COLUMNS),
    "metrics endpoint": ("pages", "metrics, 20 times each", *PAGE_COLUMNS),
    "pages of a list": ("lists", "pages of a list", *LIST_COLUMNS),
    "API calls of a list": ("lists", "API calls of a list", *LIST_COLUMNS),
    "bytes of a site": ("lists", "bytes of a site", "table", "indexes"),
    "run of a list": ("list_run", "sites", "a second", "seconds"),
    "results of a run": ("list_run", "results of a run", "scans"),
    "a site of a run": ("list_run", "a site of a run", "CPU ms"),
    "bytes of a run": ("list_run", "bytes of a site of a run", "kB each"),
    "deliveries": ("webhooks", "receivers", "a second", "of one"),
    "start": ("idle", "start until it is calm", "CPU-s", "s to the page"),
    "idle": ("idle", "idle", "processes", "MiB"),
    "idle minute": ("idle", "a minute of it", "CPU-s", "Redis commands"),
    "after scans": ("idle", "scans", "MiB", "processes"),
    "precision without a browser": ("verdicts", "static", "precision", "findings"),
    "precision with a browser": ("verdicts", "browser", "precision", "findings"),
    "commands": ("peers", "processor time of a command", *(f"{page} CPU-s" for page in PEER_PAGES)),
    "ratios to other tools": (
        "peers",
        "processor time of a command: beside the other tool",
        *(f"{page} ratio" for page in PEER_PAGES),
    ),
}
SIZES = re.compile(r"([\d,]+) scans")


class Figure(TypedDict):
    """A stored figure (benchmarks/baseline.py)."""

    unit: str
    median: float
    noise: float
    samples: int
    most: float | None
    least: float | None


class Part(TypedDict):
    """A stored part of `make bench`."""

    share: float
    date: str
    commit: str
    seconds: float
    machine: Mapping[str, str | int]
    calibration_ms: float
    figures: Mapping[str, Figure]


@cache
def stored_parts() -> Mapping[str, Part]:
    """Return the stored parts. The key of a part is its name, with ` --share 1` if that is not the default."""
    parts: Mapping[str, Part] = json.loads((settings.BASE_DIR / "benchmarks" / "baseline.json").read_text())
    return parts


def figures_of(name: str) -> Mapping[str, Figure]:
    """Return the figures of a part, of the full run if it is stored, and none if the part has not been measured."""
    parts = stored_parts()
    part = parts.get(f"{name} --share 1") or parts.get(name)
    return part["figures"] if part else {}


def runs(_old_table: str) -> Iterator[Row]:
    """Yield when and on what machine each part was measured."""
    yield "run", "date", "duration", "processor", "cores", "Python", "Chromium"
    for key, part in stored_parts().items():
        machine = part["machine"]
        facts = (machine["processor"], machine["cores"], machine["python"], machine["chromium"])
        yield f"`{key}`", part["date"], f"{part['seconds']:,.0f} s", *map(str, facts)


def section(part: str, title: str, *columns: str) -> Callable[[str], Iterator[Row]]:
    """Return a generator of the rows of a printed table, with these columns and the goal of the first one.

    Titles of tables may begin with a number that depends on the share, so `title` is a part of the printed title.
    """

    def rows(_old_table: str) -> Iterator[Row]:
        cells: dict[str, dict[str, Figure]] = {}
        for name, figure in figures_of(part).items():
            before, _, column = name.rpartition(": ")
            beginning, separator, row = before.rpartition(f"{title}: ")
            if separator and column in columns and ": " not in beginning:
                cells.setdefault(row, {})[column] = figure
        has_goal = any(goal_of(figures[columns[0]]) for figures in cells.values() if columns[0] in figures)
        yield title, *(HEADINGS.get(column, column) for column in columns), *(("goal",) if has_goal else ())
        for row, figures in cells.items():
            goal = goal_of(figures[columns[0]]) if columns[0] in figures else ""
            values = (text_of(figures[column]) if column in figures else "" for column in columns)
            yield row, *values, *((goal,) if has_goal else ())

    return rows


def growth(_old_table: str) -> Iterator[Row]:
    """Yield the processor time of each action by the number of stored scans, and its queries."""
    figures = figures_of("growth")
    sizes = list(dict.fromkeys(match[1] for name in figures if (match := SIZES.match(name))))
    yield "action", *(f"{size} scans, ms" for size in sizes), "queries"
    for name in figures:
        if sizes and name.startswith(f"{sizes[0]} scans: ") and name.endswith(": CPU ms"):
            row = name.removeprefix(f"{sizes[0]} scans: ").removesuffix(": CPU ms")
            times = (text_of(figures[f"{size} scans: {row}: CPU ms"]) for size in sizes)
            queries = {text_of(figures[f"{size} scans: {row}: queries"]) for size in sizes}
            yield row, *times, " or ".join(sorted(queries))


def misses(_old_table: str) -> Iterator[Row]:
    """Yield the stored figures that miss their goals."""
    yield "run", "figure", "stored", "goal"
    for key, part in stored_parts().items():
        for name, figure in part["figures"].items():
            most, least = figure["most"], figure["least"]
            if (most is not None and figure["median"] > most) or (least is not None and figure["median"] < least):
                yield f"`{key}`", name, text_of(figure), goal_of(figure)


def goal_of(figure: Figure) -> str:
    """Return the limits of a figure as text, such as "≤ 1,300", or an empty text without limits."""
    limits = (("≤", figure["most"]), ("≥", figure["least"]))
    return " and ".join(
        f"{sign} {limit:,.0f}" if limit >= 1_000 else f"{sign} {limit:.4g}"
        for sign, limit in limits
        if limit is not None
    )


def text_of(figure: Figure) -> str:
    """Return the median with three digits, or two if the noise exceeds a hundredth of it. Integers are exact."""
    median = figure["median"]
    if isinstance(median, int):
        return f"{median:,}"
    digits = 2 if figure["noise"] > abs(median) / 100 else 3
    rounded = float(f"{median:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 ** (digits - 1) else f"{rounded:,.{digits}g}"
