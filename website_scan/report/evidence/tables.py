"""Tables of a check's evidence, or pairs of head and value if there is only one row."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from website_scan.fingerprints import EVIDENCE_ITEMS
from website_scan.report.evidence.columns import BYTES, Column, column
from website_scan.report.evidence.contrasts import Contrast

# The most characters of a value on the page. Sites choose the length of their addresses and headers, and a report,
# which anybody may request, has thousands of them.
MAX_CELL = 1000
# The fewest characters of a value that is looked for in a message.
LEAST = 4
# Characters at the end of an address that stay visible when a line is too short; those before them are cut.
END = 16
SECURE = "https://"
KB, MB = 1_000, 1_000_000
NUMBER, NO_NUMBER = (int, float), (str, bool)


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a table. A long address has an `end` that stays visible when it is cut; its `scheme` may be hidden."""

    text: str
    is_code: bool = False
    scheme: str = ""
    end: str = ""
    colours: tuple[str, ...] = ()  # as #rrggbb

    @property
    def whole(self) -> str:
        return self.scheme + self.text + self.end

    @property
    def is_plain(self) -> bool:
        """Return True if the cell is only text."""
        return not (self.is_code or self.scheme or self.end or self.colours)


EMPTY = Cell("")
# Names of a table's rows, by the head of its first column that has one, or that column's kind.
NOUNS = {"code": "elements", "address": "addresses"}
NOUNS_OF_HEADS = {"Comment": "comments", "Exception": "errors", "Policy": "policies", "Record": "records"}


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a table's column: `label` with the unit, and the format, one of `columns.Kind`."""

    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """Table of evidence: one row for each item, one column for each name with a value in any item.

    `same` has the columns whose text is the same in all rows; the page shows it once. `numbers` are the indexes of the
    rows' items in the check's evidence. `size` is the sum of a table's only column of sizes, with its unit.
    """

    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    same: tuple[tuple[Head, Cell], ...] = ()
    numbers: tuple[int, ...] = ()
    size: str = ""

    @property
    def count(self) -> str:
        """The number of rows in words, such as "12 files, 340 kB"; the size is that of all, if it is known.

        A single row that is no element is "Details": the message has its name.
        """
        rows = f"The first {len(self.rows)}" if self.is_cut else f"{len(self.rows)}"
        nouns = (NOUNS_OF_HEADS.get(head.label, NOUNS.get(head.kind)) for head in self.heads)
        noun = next(filter(None, nouns), "entries")
        if len(self.rows) == 1:
            return "1 element" if noun == "elements" else "Details"
        if noun == "addresses" and self.size:
            noun = "files"
        return f"{rows} {noun}" + (f", {self.size}" if self.size and not self.is_cut else "")

    @property
    def is_cut(self) -> bool:
        """Return True if the check may have had more items than a report keeps."""
        return len(self.rows) >= EVIDENCE_ITEMS

    @property
    def pairs(self) -> list[tuple[Head, Cell]] | None:
        """Heads and non-empty values of a table with one row, None if it has more."""
        if len(self.rows) != 1:
            return None
        return [(head, cell) for head, cell in zip(self.heads, self.rows[0], strict=True) if cell.whole]

    def beside(self, message: str) -> list[tuple[Head, Cell]] | None:
        """Return the pairs without what the message says already; code stays, because it can be copied."""
        if (pairs := self.pairs) is None:
            return None
        return [(head, cell) for head, cell in pairs if cell.is_code or not _says(message, cell.whole)]


def tables(
    items: Iterable[Mapping[str, object]], *, without: Container[str] = (), units: Mapping[str, str] | None = None
) -> tuple[Table, ...]:
    """Return the tables of evidence. Items with a common name share a table; others, such as a sum, have their own.

    `without` are names to leave out, because the page shows them elsewhere. `units` are the units of names that do not
    contain theirs.
    """
    groups: list[tuple[dict[str, None], dict[int, Mapping[str, object]]]] = []
    for number, full in enumerate(items):
        item = {name: value for name, value in full.items() if value not in (None, "") and name not in without}
        if not item:
            continue
        for names, members in groups:
            if names.keys() & item.keys():
                names.update(dict.fromkeys(item))
                members[number] = item
                break
        else:
            groups.append((dict.fromkeys(item), {number: item}))
    return tuple(_table(tuple(names), members, units or {}) for names, members in groups)


def _table(names: Sequence[str], items: Mapping[int, Mapping[str, object]], units: Mapping[str, str]) -> Table:
    columns, sizes = [], []
    for name in names:
        known = column(name)
        if unit := units.get(name):
            known = replace(known, unit=unit)
        values = [item.get(name) for item in items.values()]
        columns.append(_written(known, values))
        if known.unit == BYTES:
            sizes.append(sum(value for value in values if isinstance(value, NUMBER)))
    same = [(head, cells) for head, cells in columns if _is_same(head, cells)]
    if len(same) == len(columns):
        same = []
    told = [column for column in columns if column not in same]
    return Table(
        heads=tuple(head for head, _ in told),
        rows=tuple(zip(*(cells for _, cells in told), strict=True)),
        same=tuple((head, cells[0]) for head, cells in same),
        numbers=tuple(items),
        size=_size(sizes[0]) if len(sizes) == 1 else "",
    )


def _size(total: float) -> str:
    unit, per_unit = _scale(BYTES, [total])
    return f"{_number(total, per_unit)} {unit}"


def _says(message: str, value: str) -> bool:
    """Return True if the message contains the value as whole words; a shorter one may be there by chance."""
    return len(value) >= LEAST and re.search(rf"(?<![\w./-]){re.escape(value)}(?![\w/?#=&-]|\.\w)", message) is not None


def _is_same(head: Head, cells: Sequence[Cell]) -> bool:
    """Return True for a text column with the same text in all rows. Short words and numbers stay in their column."""
    return head.kind == "text" and len(cells) > 1 and all(each == cells[0] for each in cells)


def _written(known: Column, values: Sequence[object]) -> tuple[Head, list[Cell]]:
    """Return head and cells of a column. Its numbers share a unit, in the head unless there is only one number."""
    if known.kind == "number":
        if any(isinstance(value, NO_NUMBER) for value in values):
            return Head(known.label, "text"), [cell(value) for value in values]
        numbers = [value for value in values if isinstance(value, NUMBER)]
        unit, per_unit = _scale(known.unit, numbers)
        suffix = f" {unit}" if unit and len(values) == 1 else ""
        written = [EMPTY if value is None else Cell(_number(value, per_unit) + suffix) for value in values]  # type: ignore[arg-type]  # numbers
        return Head(f"{known.label} ({unit})" if unit and not suffix else known.label, "number"), written
    kind = known.kind
    # Not every value of such a name is an address: "900 by 900" is the size of an image file.
    if kind == "address" and not any("/" in str(value) or "." in str(value) for value in values):
        kind = "short"
    return Head(known.label, kind), [cell(value, kind) for value in values]


def _scale(unit: str, numbers: Sequence[float]) -> tuple[str, int]:
    """Return the unit to show, and how many of the engine's units make one of it (1 kB is 1,000 bytes)."""
    if unit != BYTES:
        return unit, 1
    largest = max(numbers, default=0)
    return ("B", 1) if largest < KB else ("kB", KB) if largest < 10 * MB else ("MB", MB)


def _number(value: float, per_unit: int) -> str:
    if per_unit == 1:
        return f"{value:,}"
    scaled = value / per_unit
    return f"{scaled:,.1f}" if scaled < 100 else f"{scaled:,.0f}"


def written(name: str, value: object) -> str:
    """Format a single value with the unit of its name."""
    _, (only,) = _written(column(name), [value])
    return only.whole


def cell(value: object, kind: str = "text") -> Cell:
    """Return the cell of a single value. Text is cut at `MAX_CELL` characters, because a site chooses its length."""
    if value is None:
        return EMPTY
    if isinstance(value, str):
        text = value
    elif isinstance(value, bool):
        return Cell("Yes" if value else "No")
    elif isinstance(value, NUMBER):
        return Cell(f"{value:,}")
    elif isinstance(value, Contrast):
        return Cell(value.text, colours=value.colours)
    else:
        text = str(value)
    if len(text) > MAX_CELL:
        return Cell(f"{text[:MAX_CELL]}… ({len(text):,} characters; the JSON export has them all)")
    match kind:
        case "code":
            return Cell(text, is_code=True)
        case "address":
            return address(text)
        case "moment":
            return Cell(moment(text))
    return Cell(text)


def address(text: str) -> Cell:
    """Return the cell of an address for one line. `https://` may be hidden, `http://` is always shown."""
    scheme = SECURE if text.startswith(SECURE) else ""
    rest = text[len(scheme) :]
    if len(rest) <= 2 * END or rest.split(maxsplit=1) != [rest]:
        return Cell(rest, scheme=scheme)
    return Cell(rest[:-END], scheme=scheme, end=rest[-END:])


def moment(text: str) -> str:
    """Format a timestamp such as `2026-11-21T07:15:00Z` for people; other text is unchanged."""
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text
