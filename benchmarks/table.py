"""Print benchmark figures in tables with their goals, collect them, and summarize all goals."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from benchmarks.units import UNITS, Unit

NAME_WIDTH, FIGURE_WIDTH = 50, 16
GOAL_WIDTH = 40

# A row's entry: a figure, a list with samples of a figure, or a text that is only printed.
Entry = float | str | list[float]


class Goal(Struct, frozen=True):
    """Limits for a row's first columns, with the measured figures.

    `sign` is ≤ for upper limits, ≥ for lower ones.
    """

    table: str
    row: str
    columns: Sequence[str]
    sign: str
    goals: Sequence[float]
    figures: Sequence[float]

    @property
    def is_met(self) -> bool:
        pairs = zip(self.figures, self.goals, strict=True)
        return all(figure <= goal if self.sign == "≤" else figure >= goal for figure, goal in pairs)

    @property
    def text(self) -> str:
        named = zip(self.goals, self.columns, strict=True)
        return f"{self.sign} {', '.join(f'{limit_text(goal)} {column}'.strip() for goal, column in named)}"


class Figure(Struct, frozen=True):
    """A measured figure with its limits. `name` consists of the titles of its table, its row and its column."""

    name: str
    unit: Unit
    samples: tuple[float, ...]
    most: float | None = None
    least: float | None = None


class Table:
    """Prints tables. All figures are collected in `figures`, and goals in `goals`."""

    def __init__(self) -> None:
        self.goals: list[Goal] = []
        self.figures: dict[str, Figure] = {}
        self._title = self._section = ""
        self._columns: tuple[str, ...] = ()

    def head(self, title: str, *columns: str) -> None:
        """Print a new table's header. A title with leading spaces belongs to the last title without them."""
        if not title.startswith(" "):
            self._section = title
        self._title, self._columns = title, columns
        print(f"\n{title:{NAME_WIDTH}}" + "".join(f"{column:>{FIGURE_WIDTH}}" for column in columns), flush=True)

    def row(
        self,
        name: str,
        *entries: Entry,
        most: tuple[float, ...] = (),
        least: tuple[float, ...] = (),
        unit: Unit | None = None,
    ) -> None:
        """Print a row.

        `most` and `least` are upper and lower limits for its first columns. `unit` replaces the unit of the first
        column.
        """
        figures = [statistics.median(entry) if isinstance(entry, list) else entry for entry in entries]
        columns = (*self._columns, *("",) * len(figures))
        limited_figures = [
            float(figure) if isinstance(figure, str) else figure for figure in figures[: max(len(most), len(least))]
        ]
        set_goals = [
            Goal(self._title, name, columns[: len(limits)], sign, limits, limited_figures[: len(limits)])
            for sign, limits in (("≤", most), ("≥", least))
            if limits
        ]
        self.goals += set_goals
        for position, (entry, column) in enumerate(zip(entries, columns, strict=False)):
            if isinstance(entry, str):
                continue  # a text has no unit, and is not compared
            column_unit = unit if unit is not None and position == 0 else UNITS[column]
            limits = [bounds[position] if position < len(bounds) else None for bounds in (most, least)]
            self._collect(name, column, entry, column_unit, *limits)
        goals = "".join(f"  {goal_row.sign} {', '.join(map(limit_text, goal_row.goals))}" for goal_row in set_goals)
        verdict = f"{goals}: {'met' if all(goal_row.is_met for goal_row in set_goals) else 'MISSED'}" if goals else ""
        print(
            f"{name:{NAME_WIDTH}}" + "".join(f"{text_of(figure):>{FIGURE_WIDTH}}" for figure in figures) + verdict,
            flush=True,
        )

    def _collect(
        self, row: str, column: str, entry: float | list[float], unit: Unit, most: float | None, least: float | None
    ) -> None:
        titles = (self._section,) if self._title == self._section else (self._section, self._title)
        name = ": ".join(part.strip() for part in (*titles, row, column) if part.strip())
        if name in self.figures:
            raise ValueError(f"two figures are called {name!r}")
        samples = tuple(entry) if isinstance(entry, list) else (entry,)
        self.figures[name] = Figure(name, unit, samples, most, least)


def summary(goals: Sequence[Goal]) -> str:
    """Return a table that compares every goal with the actual figure.

    Rows of a table with the same goals are one line, with the worst figure of each column.
    """
    lines = [f"{'measure':{NAME_WIDTH + FIGURE_WIDTH}}{'goal':{GOAL_WIDTH}}now"]
    for _, rows in groupby(goals, key=lambda goal: (goal.table, goal.text)):
        lines.append(_line(list(rows)))
    missed = sum(not goal.is_met for goal in goals)
    return "\n".join([*lines, f"{len(goals)} figures with goals, {missed} missed"])


def _line(rows: Sequence[Goal]) -> str:
    first_row = rows[0]
    worst = max if first_row.sign == "≤" else min
    worst_figures = ", ".join(
        text_of(worst(goal_row.figures[number] for goal_row in rows)) for number in range(len(first_row.goals))
    )
    missed_rows = [goal_row.row.strip() for goal_row in rows if not goal_row.is_met]
    measure = first_row.table.strip() + (f": {first_row.row.strip()}" if len(rows) == 1 else f" ({len(rows)})")
    verdict = "met" if not missed_rows else "MISSED" if len(rows) == 1 else f"MISSED: {', '.join(missed_rows)}"
    return f"{measure:{NAME_WIDTH + FIGURE_WIDTH - 1}} {first_row.text:{GOAL_WIDTH - 1}} {worst_figures}  {verdict}"


def limit_text(limit: float) -> str:
    """Return a limit as it is printed."""
    return f"{limit:,.0f}" if limit >= 1_000 else f"{limit:.4g}"


def text_of(figure: float | str) -> str:
    """Return a figure as it is printed."""
    if isinstance(figure, float):
        return f"{figure:,.{2 if abs(figure) < 10 else 1 if abs(figure) < 100 else 0}f}"
    return figure if isinstance(figure, str) else f"{figure:,}"
