"""From a check's evidence to something that can be read: tables, or pairs where there is only one thing to tell."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from scans.engine.messages import size

# Words that are not written as other words are.
SPELLINGS = {
    word.lower(): word for word in ("URL", "WCAG", "HTML", "CSS", "HTTP", "TLS", "DNS", "IP", "ID", "ARIA", "CSP")
}
# Characters of a value on the page. Sites choose how long their addresses and headers are, and thousands of them stand
# in a report that anybody may ask for.
MAX_CELL = 1000


@dataclass(frozen=True, slots=True)
class Table:
    """One row for each thing seen, and a column for every name that any of them has."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def pairs(self) -> list[tuple[str, str]] | None:
        """Names and values, where there is one row only; what is empty is left out."""
        if len(self.rows) != 1:
            return None
        return [(name, value) for name, value in zip(self.columns, self.rows[0], strict=True) if value]


def tables(items: Iterable[Mapping[str, object]], *, without: Container[str] = ()) -> tuple[Table, ...]:
    """Things that have a name in common share a table; others, such as a sum before its parts, have their own.

    `without`: names to leave out, because the page tells them elsewhere.
    """
    groups: list[tuple[dict[str, None], list[Mapping[str, object]]]] = []
    for full in items:
        item = {name: value for name, value in full.items() if name not in without}
        if not item:
            continue
        for columns, members in groups:
            if columns.keys() & item.keys():
                columns.update(dict.fromkeys(item))
                members.append(item)
                break
        else:
            groups.append((dict.fromkeys(item), [item]))
    return tuple(
        Table(
            columns=tuple(label(name) for name in columns),
            rows=tuple(tuple(cell(name, item.get(name)) for name in columns) for item in members),
        )
        for columns, members in groups
    )


def label(name: str) -> str:
    """A name of the engine's in words, without its unit."""
    words = re.sub(r"_(bytes|ms|s)$", "", name).split("_")
    text = " ".join(SPELLINGS.get(word, word) for word in words)
    return text[:1].upper() + text[1:]


def cell(name: str, value: object) -> str:
    """A value with the unit that its name tells."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name.endswith("_bytes"):
            return size(value)
        for unit in ("ms", "s"):
            if name.endswith(f"_{unit}"):
                return f"{value} {unit}"
    text = str(value)
    if len(text) > MAX_CELL:
        return f"{text[:MAX_CELL]}… ({len(text):,} characters; the JSON export has them all)"
    return text
