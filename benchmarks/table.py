"""Print benchmark figures in tables with their goals, and summarize all goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

NAME_WIDTH, FIGURE_WIDTH = 50, 14
GOAL_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Goal:
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
        return f"{self.sign} {', '.join(f'{goal:,.4g} {column}'.strip() for goal, column in named)}"


class Table:
    """Prints tables. Figures that have a goal are collected in `goals`."""

    def __init__(self) -> None:
        self.goals: list[Goal] = []
        self._title = ""
        self._columns: tuple[str, ...] = ()

    def head(self, title: str, *columns: str) -> None:
        """Print a new table's header."""
        self._title, self._columns = title, columns
        print(f"\n{title:{NAME_WIDTH}}" + "".join(f"{column:>{FIGURE_WIDTH}}" for column in columns), flush=True)

    def row(
        self, name: str, *figures: float | str, most: tuple[float, ...] = (), least: tuple[float, ...] = ()
    ) -> None:
        """Print a row.

        `most` and `least` are upper and lower limits for its first columns.
        """
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
        goals = "".join(
            f"  {goal_row.sign} {', '.join(f'{limit:,.4g}' for limit in goal_row.goals)}" for goal_row in set_goals
        )
        verdict = f"{goals}: {'met' if all(goal_row.is_met for goal_row in set_goals) else 'MISSED'}" if goals else ""
        print(
            f"{name:{NAME_WIDTH}}" + "".join(f"{_text(figure):>{FIGURE_WIDTH}}" for figure in figures) + verdict,
            flush=True,
        )


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
        _text(worst(goal_row.figures[number] for goal_row in rows)) for number in range(len(first_row.goals))
    )
    missed_rows = [goal_row.row.strip() for goal_row in rows if not goal_row.is_met]
    measure = first_row.table.strip() + (f": {first_row.row.strip()}" if len(rows) == 1 else f" ({len(rows)})")
    verdict = "met" if not missed_rows else "MISSED" if len(rows) == 1 else f"MISSED: {', '.join(missed_rows)}"
    return f"{measure:{NAME_WIDTH + FIGURE_WIDTH - 1}} {first_row.text:{GOAL_WIDTH - 1}} {worst_figures}  {verdict}"


def _text(figure: float | str) -> str:
    if isinstance(figure, float):
        return f"{figure:,.{2 if abs(figure) < 10 else 1 if abs(figure) < 100 else 0}f}"
    return figure if isinstance(figure, str) else f"{figure:,}"
