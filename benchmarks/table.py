"""Output of all benchmarks: tables of figures with their goals, and one summary of all goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

NAME, FIGURE = 50, 14
GOAL = 40


@dataclass(frozen=True, slots=True)
class Goal:
    """Goals of a row's first columns, and its figures: at most these if `sign` is ≤, at least if it is ≥."""

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
    """Printer of tables. It collects the figures with goals in `goals`."""

    def __init__(self) -> None:
        self.goals: list[Goal] = []
        self._title = ""
        self._columns: tuple[str, ...] = ()

    def head(self, title: str, *columns: str) -> None:
        """Begin a table."""
        self._title, self._columns = title, columns
        print(f"\n{title:{NAME}}" + "".join(f"{each:>{FIGURE}}" for each in columns), flush=True)

    def row(
        self, name: str, *figures: float | str, most: tuple[float, ...] = (), least: tuple[float, ...] = ()
    ) -> None:
        """Print a row. `most` and `least` are the goals of the first columns."""
        columns = (*self._columns, *("",) * len(figures))
        numbers = [float(each) if isinstance(each, str) else each for each in figures[: max(len(most), len(least))]]
        set_goals = [
            Goal(self._title, name, columns[: len(of)], sign, of, numbers[: len(of)])
            for sign, of in (("≤", most), ("≥", least))
            if of
        ]
        self.goals += set_goals
        goals = "".join(f"  {each.sign} {', '.join(f'{goal:,.4g}' for goal in each.goals)}" for each in set_goals)
        verdict = f"{goals}: {'met' if all(each.is_met for each in set_goals) else 'MISSED'}" if goals else ""
        print(f"{name:{NAME}}" + "".join(f"{_text(each):>{FIGURE}}" for each in figures) + verdict, flush=True)


def summary(goals: Sequence[Goal]) -> str:
    """Return all goals as one table: measure, goal, now. Rows of a table with the same goals are one line.

    Such a line has the worst figure of each column.
    """
    lines = [f"{'measure':{NAME + FIGURE}}{'goal':{GOAL}}now"]
    for _, rows in groupby(goals, key=lambda each: (each.table, each.text)):
        lines.append(_line(list(rows)))
    missed = sum(not each.is_met for each in goals)
    return "\n".join([*lines, f"{len(goals)} figures with goals, {missed} missed"])


def _line(rows: Sequence[Goal]) -> str:
    first = rows[0]
    worst = max if first.sign == "≤" else min
    now = ", ".join(_text(worst(each.figures[number] for each in rows)) for number in range(len(first.goals)))
    missed = [each.row.strip() for each in rows if not each.is_met]
    measure = first.table.strip() + (f": {first.row.strip()}" if len(rows) == 1 else f" ({len(rows)})")
    verdict = "met" if not missed else "MISSED" if len(rows) == 1 else f"MISSED: {', '.join(missed)}"
    return f"{measure:{NAME + FIGURE - 1}} {first.text:{GOAL - 1}} {now}  {verdict}"


def _text(figure: float | str) -> str:
    if isinstance(figure, float):
        return f"{figure:,.{2 if abs(figure) < 10 else 1 if abs(figure) < 100 else 0}f}"
    return figure if isinstance(figure, str) else f"{figure:,}"
