"""Tables of a check's places and details on the page, or pairs of head and value if there is only one row."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from website_scan.json_types import JsonValue
from website_scan.places import BYTES, Column
from website_scan.report_json import StoredTable

# Length of a value on the page at most: sites choose the length of addresses and headers, of which a report has
# thousands.
MAX_CELL = 1000
# Length from which a value is searched for in a message.
MIN_SEARCHED = 4
# Number of characters at the end of an address that stay visible when the line is too short; the middle is cut.
END = 16
SECURE = "https://"
KB, MB = 1_000, 1_000_000
NUMBER = (int, float)
COLOUR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a table. Of a long address, `end` stays visible when the line is cut; its `scheme` may be hidden."""

    text: str
    is_code: bool = False
    scheme: str = ""
    end: str = ""
    is_colour: bool = False  # #rrggbb

    @property
    def whole(self) -> str:
        return self.scheme + self.text + self.end

    @property
    def is_plain(self) -> bool:
        """Return True if the cell is only text."""
        return not (self.is_code or self.scheme or self.end or self.is_colour)


EMPTY = Cell("")
# Names of a table's rows, by the label or the kind of a column.
NOUNS = {"code": "elements", "address": "addresses"}
NOUNS_OF_HEADS = {"Comment": "comments", "Exception": "errors", "Policy": "policies", "Record": "records"}


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a column: the label with the unit, and the format (`kind`), one of `website_scan.places.Format`."""

    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """Table of the places or details of one kind.

    `same` has the columns with the same text in all rows, which the page displays once. `numbers` are the numbers of
    the rows among all rows of the check. `size` is the sum of the only column of sizes, with its unit. `total` is the
    number of rows that the check found.
    """

    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    same: tuple[tuple[Head, Cell], ...] = ()
    numbers: range = range(0)
    size: str = ""

    @property
    def count(self) -> str:
        """Number of rows in words, such as "12 files, 340 kB", with the size of all files if known.

        A single row that is no element is "Details": the message has its name.
        """
        rows = f"The first {len(self.rows)} of {self.total:,}" if self.is_cut else f"{len(self.rows)}"
        nouns = (NOUNS_OF_HEADS.get(head.label, NOUNS.get(head.kind)) for head in self.heads)
        noun = next(filter(None, nouns), "entries")
        if len(self.rows) == 1:
            return "1 element" if noun == "elements" else "Details"
        if noun == "addresses" and self.size:
            noun = "files"
        return f"{rows} {noun}" + (f", {self.size}" if self.size and not self.is_cut else "")

    @property
    def is_cut(self) -> bool:
        """Return True if the check found more rows than the report stores."""
        return self.total > len(self.rows)

    @property
    def pairs(self) -> list[tuple[Head, Cell]] | None:
        """Heads and non-empty values of a table with one row, None for several rows."""
        if len(self.rows) != 1:
            return None
        return [(head, cell) for head, cell in zip(self.heads, self.rows[0], strict=True) if cell.whole]

    def beside(self, message: str) -> list[tuple[Head, Cell]] | None:
        """Return the pairs except for values that the message contains; code stays, because users copy it."""
        if (pairs := self.pairs) is None:
            return None
        return [(head, cell) for head, cell in pairs if cell.is_code or not _contains_words(message, cell.whole)]


def tables(stored: Iterable[StoredTable], *, without: Container[str] = ()) -> tuple[Table, ...]:
    """Return the tables of a check, except for the columns `without`, which other parts of the page contain."""
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
    same = [(head, cells) for head, cells in columns if _is_same(head, cells)]
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
    unit, per_unit = _scale(BYTES, [total])
    return f"{_number(total, per_unit)} {unit}"


def _contains_words(message: str, value: str) -> bool:
    """Return True if the message contains the value as whole words. Short values may be in the message by chance."""
    return len(value) >= MIN_SEARCHED and bool(
        re.search(rf"(?<![\w./-]){re.escape(value)}(?![\w/?#=&-]|\.\w)", message)
    )


def _is_same(head: Head, cells: Sequence[Cell]) -> bool:
    """Return True for a text column with the same text in all rows; other formats always stay columns."""
    return head.kind == "text" and len(cells) > 1 and all(other == cells[0] for other in cells)


def _column(label: str, format: str, unit: str, values: Sequence[JsonValue]) -> tuple[Head, list[Cell]]:
    """Return head and cells of a column. Its numbers share a unit, in the head or beside the only number."""
    if format == "number":
        numbers = [value for value in values if isinstance(value, NUMBER)]
        unit, per_unit = _scale(unit, numbers)
        suffix = f" {unit}" if unit and len(values) == 1 else ""
        cells = [Cell(_number(value, per_unit) + suffix) if isinstance(value, NUMBER) else EMPTY for value in values]
        return Head(f"{label} ({unit})" if unit and not suffix else label, "number"), cells
    return Head(label, format), [cell(value, format) for value in values]


def _scale(unit: str, numbers: Sequence[float]) -> tuple[str, int]:
    """Return the unit for the page, and by how much to divide stored numbers (1,000 for kB)."""
    if unit != BYTES:
        return unit, 1
    largest = max(numbers, default=0)
    return ("B", 1) if largest < KB else ("kB", KB) if largest < 10 * MB else ("MB", MB)


def _number(value: float, per_unit: int) -> str:
    if per_unit == 1:
        return f"{value:,}"
    scaled = value / per_unit
    return f"{scaled:,.1f}" if scaled < 100 else f"{scaled:,.0f}"


def formatted(column: Column, value: JsonValue) -> str:
    """Format a single value with the unit of its column."""
    _, (cell_,) = _column(column.label, column.format, column.unit, [value])
    return cell_.whole


def cell(value: JsonValue, format: str = "text") -> Cell:
    """Return the cell of a single value. Text is cut at `MAX_CELL` characters, because sites choose its length."""
    if value is None:
        return EMPTY
    if isinstance(value, bool):
        return Cell("Yes" if value else "No")
    if isinstance(value, NUMBER):
        return Cell(f"{value:,}")
    text = value
    if len(text) > MAX_CELL:
        return Cell(f"{text[:MAX_CELL]}… ({len(text):,} characters; the JSON export has them all)")
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
    """Return the cell of an address for one line. `https://` may be hidden, `http://` is always visible."""
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
