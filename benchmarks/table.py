"""Output of all benchmarks: tables of figures with their goals."""

from __future__ import annotations

NAME, FIGURE = 50, 14


class Table:
    """Printer of tables. `missed` is True once a figure has missed its goal."""

    def __init__(self) -> None:
        self.missed = False

    def head(self, title: str, *columns: str) -> None:
        """Begin a table."""
        print(f"\n{title:{NAME}}" + "".join(f"{each:>{FIGURE}}" for each in columns), flush=True)

    def row(
        self, name: str, *figures: float | str, most: tuple[float, ...] = (), least: tuple[float, ...] = ()
    ) -> None:
        """Print a row. `most` and `least` are the goals of the first columns."""
        goals = "".join(
            f"  {sign} {', '.join(f'{each:,.4g}' for each in of)}" for sign, of in (("≤", most), ("≥", least)) if of
        )
        missed = any(float(figure) > goal for figure, goal in zip(figures, most, strict=False))
        missed |= any(float(figure) < goal for figure, goal in zip(figures, least, strict=False))
        self.missed |= missed
        verdict = f"{goals}: {'MISSED' if missed else 'met'}" if goals else ""
        print(f"{name:{NAME}}" + "".join(f"{_text(each):>{FIGURE}}" for each in figures) + verdict, flush=True)


def _text(figure: float | str) -> str:
    if isinstance(figure, float):
        return f"{figure:,.{2 if abs(figure) < 10 else 1 if abs(figure) < 100 else 0}f}"
    return figure if isinstance(figure, str) else f"{figure:,}"
