"""Tables of places and details on the report page.

A table with one row is displayed as pairs of label and value.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from website_scan.json_types import JsonValue
from website_scan.places import BYTES, Column
from website_scan.report_json import StoredTable

# Maximum length of a value on the page, because sites choose the length of URLs and headers.
MAX_CELL_CHARACTERS = 1000
# A shorter value may be in the message by chance.
MIN_OMITTED_CHARACTERS = 4
# Number of characters at the end of a long URL that remain visible when CSS hides its middle.
END = 16
SECURE = "https://"
KB, MB = 1_000, 1_000_000
NUMBER = (int, float)
COLOUR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)


class Cell(Struct, frozen=True):
    """Cell of a table.

    CSS may hide the middle and the `scheme` of a long URL, but not its `end`.
    """

    text: str
    is_code: bool = False
    scheme: str = ""
    end: str = ""
    is_colour: bool = False

    @property
    def whole(self) -> str:
        return self.scheme + self.text + self.end

    @property
    def is_plain(self) -> bool:
        """Return True if the cell contains only text."""
        return not (self.is_code or self.scheme or self.end or self.is_colour)


EMPTY = Cell("")
# Nouns for the rows of a table, by the format or by the label of a column.
NOUNS = {"code": "elements", "address": "addresses"}
NOUNS_BY_LABEL = {"Comment": "comments", "Exception": "errors", "Policy": "policies", "Record": "records"}


class ColumnHead(Struct, frozen=True):
    """Head of a table column.

    It has a label with unit, and a format (`kind`, one of `website_scan.places.Format`).
    """

    label: str
    kind: str


class Table(Struct, frozen=True):
    """Table of places or details of one kind.

    `same` has the columns with the same text in all rows, which the page displays once. `numbers` are the numbers of
    the rows among all rows of the check. `size` is the sum of the only column of sizes, with its unit. `total` is the
    number of rows that the check found.
    """

    heads: tuple[ColumnHead, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    same: tuple[tuple[ColumnHead, Cell], ...] = ()
    numbers: range = range(0)
    size: str = ""

    @property
    def count(self) -> str:
        """Text with the number of rows, such as "12 files, 340 kB".

        Returns "Details" for a single row that is no element, because the message has its name.
        """
        rows = f"The first {len(self.rows)} of {self.total:,}" if self.is_cut else f"{len(self.rows)}"
        nouns = (NOUNS_BY_LABEL.get(head.label, NOUNS.get(head.kind)) for head in self.heads)
        noun = next(filter(None, nouns), "entries")
        if len(self.rows) == 1:
            return "1 element" if noun == "elements" else "Details"
        if noun == "addresses" and self.size:
            noun = "files"
        return f"{rows} {noun}" + (f", {self.size}" if self.size and not self.is_cut else "")

    @property
    def is_cut(self) -> bool:
        """Return True if the report stores only a part of the rows."""
        return self.total > len(self.rows)

    @property
    def pairs(self) -> list[tuple[ColumnHead, Cell]] | None:
        """Return (head, value) pairs of a table with one row, without empty values.

        None for several rows.
        """
        if len(self.rows) != 1:
            return None
        return [(head, cell) for head, cell in zip(self.heads, self.rows[0], strict=True) if cell.whole]

    def beside(self, message: str) -> list[tuple[ColumnHead, Cell]] | None:
        """Return `pairs` without values that the message repeats.

        Code is kept, because users copy it.
        """
        if (pairs := self.pairs) is None:
            return None
        return [(head, cell) for head, cell in pairs if cell.is_code or not _contains_words(message, cell.whole)]


def tables(stored: Iterable[StoredTable], *, without: Container[str] = ()) -> tuple[Table, ...]:
    """Convert stored tables for the page.

    Columns in `without` are omitted; the page shows them elsewhere.
    """
    made, first = [], 0
    for stored_table in stored:
        if table := _table(stored_table, without, first):
            made.append(table)
        first += len(stored_table["rows"])
    return tuple(made)


def _table(stored: StoredTable, without: Container[str], first: int) -> Table | None:
    columns, sizes = [], []
    for number, stored_column in enumerate(stored["columns"]):
        if stored_column["name"] in without:
            continue
        values = [row[number] for row in stored["rows"]]
        unit = stored_column.get("unit", "")
        columns.append(_column(stored_column["label"], stored_column["format"], unit, values))
        if unit == BYTES:
            sizes.append(sum(value for value in values if isinstance(value, NUMBER)))
    if not columns:
        return None
    same = [(head, cells) for head, cells in columns if _has_one_text(head, cells)]
    if len(same) == len(columns):
        same = []
    different = [column for column in columns if column not in same]
    return Table(
        heads=tuple(head for head, _ in different),
        rows=tuple(zip(*(cells for _, cells in different), strict=True)),
        total=stored["total"],
        same=tuple((head, cells[0]) for head, cells in same),
        numbers=range(first, first + len(stored["rows"])),
        size=_size(sizes[0]) if len(sizes) == 1 else "",
    )


def _size(total: float) -> str:
    unit, divisor = _scale(BYTES, [total])
    return f"{_number(total, divisor)} {unit}"


def _contains_words(message: str, value: str) -> bool:
    """Return True if the message contains the value as whole words.

    The value must not be too short.
    """
    return len(value) >= MIN_OMITTED_CHARACTERS and bool(
        re.search(rf"(?<![\w./-]){re.escape(value)}(?![\w/?#=&-]|\.\w)", message)
    )


def _has_one_text(head: ColumnHead, cells: Sequence[Cell]) -> bool:
    """Return True if all rows have the same text in a column."""
    return head.kind == "text" and len(cells) > 1 and all(other == cells[0] for other in cells)


def _column(label: str, format: str, unit: str, values: Sequence[JsonValue]) -> tuple[ColumnHead, list[Cell]]:
    """Return the head and the cells of a column.

    The unit of numbers is in the head, or after the number if the column has only one cell.
    """
    if format == "number":
        numbers = [value for value in values if isinstance(value, NUMBER)]
        unit, divisor = _scale(unit, numbers)
        suffix = f" {unit}" if unit and len(values) == 1 else ""
        cells = [Cell(_number(value, divisor) + suffix) if isinstance(value, NUMBER) else EMPTY for value in values]
        return ColumnHead(f"{label} ({unit})" if unit and not suffix else label, "number"), cells
    return ColumnHead(label, format), [cell(value, format) for value in values]


def _scale(unit: str, numbers: Sequence[float]) -> tuple[str, int]:
    """Return the displayed unit and its divisor.

    The divisor applies to stored numbers, such as 1,000 for kB.
    """
    if unit != BYTES:
        return unit, 1
    largest = max(numbers, default=0)
    return ("B", 1) if largest < KB else ("kB", KB) if largest < 10 * MB else ("MB", MB)


def _number(value: float, divisor: int) -> str:
    if divisor == 1:
        return f"{value:,}"
    scaled = value / divisor
    return f"{scaled:,.1f}" if scaled < 100 else f"{scaled:,.0f}"


def formatted(column: Column, value: JsonValue) -> str:
    """Format a single value with the unit of its column."""
    _, (cell_,) = _column(column.label, column.format, column.unit, [value])
    return cell_.whole


def cell(value: JsonValue, format: str = "text") -> Cell:
    """Return the cell of a single value.

    Text is cut at MAX_CELL_CHARACTERS, because sites choose its length.
    """
    if value is None:
        return EMPTY
    if isinstance(value, bool):
        return Cell("Yes" if value else "No")
    if isinstance(value, NUMBER):
        return Cell(f"{value:,}")
    text = value
    if len(text) > MAX_CELL_CHARACTERS:
        return Cell(f"{text[:MAX_CELL_CHARACTERS]}… ({len(text):,} characters; the JSON export has them all)")
    match format:
        case "code":
            return Cell(text, is_code=True)
        case "address":
            return address(text)
        case "moment":
            return Cell(moment(text))
        case "colour":
            return Cell(text, is_colour=COLOUR.fullmatch(text) is not None)
    return Cell(text)


def address(text: str) -> Cell:
    """Return a one-line cell for a URL.

    CSS may hide `https://`, but not `http://`.
    """
    scheme = SECURE if text.startswith(SECURE) else ""
    rest = text[len(scheme) :]
    if len(rest) <= 2 * END or rest.split(maxsplit=1) != [rest]:
        return Cell(rest, scheme=scheme)
    return Cell(rest[:-END], scheme=scheme, end=rest[-END:])


def moment(text: str) -> str:
    """Format a timestamp for people.

    `2026-11-21T07:15:00Z` becomes "2026-11-21 07:15 UTC". Other text is unchanged.
    """
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text
