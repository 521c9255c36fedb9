"""Reader for uploads in CSV and plain text. Pure functions.

Limits of bytes, lines and characters per line prevent that reading any input takes long.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from infrastructure.api.errors import InvalidParams
from sites.lists.tags import SEPARATOR
from sites.lists.upload_faults import refuse_line
from website_scan.address_texts import is_like_address
from website_scan.errors import Refusal
from website_scan.messages import cut

MAX_ROWS = 100_000
MAX_LINE = 8_192
NO_ADDRESS = "There is no address. To empty a list, send JSON with no entries."
FIELDS = ("url", "tags", "note")
# Accepted column names in the header line of a table, in lower case.
COLUMN_NAMES = {
    "url": frozenset(
        {"url", "address", "web address", "website", "site", "homepage", "link", "domain", "host", "hostname"}
    ),
    "tags": frozenset({"tags", "tag", "labels", "label"}),
    "note": frozenset({"note", "notes", "comment", "comments"}),
}
DELIMITERS = "\t,;"
# Number of first lines from which the delimiter and the column of addresses are detected.
SAMPLED_LINES = 100
MAX_HEADER_CHARACTERS = 60
LINE_END = re.compile(r"\r\n|\r|\n")
FIRST_DELIMITER = re.compile(rf'(?:"[^"]*"|[^"{DELIMITERS}])*+([{DELIMITERS}])')
# Excel reads and writes a first line such as `sep=;`, which names the delimiter.
DELIMITER_LINE = re.compile(rf'"?sep=([{DELIMITERS}|])"?[{DELIMITERS}]*', re.IGNORECASE)

# The cells of a line are URL, tags and note. A line that cannot be read has a Refusal instead of cells. The second
# element of a line is its text, or its item of JSON, for error messages.
Cells: TypeAlias = tuple[str, Sequence[str], str]
Line: TypeAlias = tuple[int, object, Cells | Refusal]
# Line of a table whose columns are not known yet.
TableLine: TypeAlias = tuple[int, str, Sequence[str] | Refusal]


class Columns(Struct, frozen=True):
    """Columns of a table with a header line.

    Each field has an index and a header. `ignored` are the headers without a field. `is_guessed` is True if no header
    names the addresses, so that their column follows from the lines below.
    """

    indexes: Mapping[str, int]
    headers: Mapping[str, str]
    ignored: tuple[str, ...]
    is_guessed: bool

    @property
    def text(self) -> str:
        """Return a sentence that says which columns the header line names."""
        understood = [f"“{header}” is {field}" for field, header in self.headers.items()]
        ignored = f" Ignored: {', '.join(f'“{header}”' for header in self.ignored)}." if self.ignored else ""
        return f"The first line is a header: {', '.join(understood)}.{ignored}"


def text_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a text that has one address per line."""
    for number, line in enumerate(_split_lines(text), 1):
        if len(line) > MAX_LINE:
            yield number, line[:MAX_LINE], _refuse_long_line(line)
        elif line.strip():
            yield number, line, (line, (), "")


def csv_table(text: str) -> tuple[Columns | None, Iterator[Line]]:
    """Return the columns of a CSV file and the lines below its header.

    The columns are None if the file has no header line.
    """
    lines = _split_lines(text)
    first = next(index for index, line in enumerate(lines) if line.strip())
    named = DELIMITER_LINE.fullmatch(lines[first].strip(" "))
    if named:
        first = next((index for index in range(first + 1, len(lines)) if lines[index].strip()), len(lines))
        if first == len(lines):
            refuse_line(1, NO_ADDRESS)
    delimiter = named[1] if named else _delimiter(lines[first : first + SAMPLED_LINES])
    numbered = enumerate(lines[first:], first + 1)
    return table((number, line, _cells(line, delimiter)) for number, line in numbered if line.strip())


def table(lines: Iterable[TableLine]) -> tuple[Columns | None, Iterator[Line]]:
    """Return the columns of a table and the lines below its header.

    The columns are None if the table has no header line.
    """
    iterator = iter(lines)
    sample = list(itertools.islice(iterator, SAMPLED_LINES))
    cells = [cells for _, _, cells in sample if not isinstance(cells, Refusal)]
    columns = columns_of(cells[0], cells[1:]) if sample and cells and cells[0] is sample[0][2] else None
    return columns, _table_lines(itertools.chain(sample[1:] if columns else sample, iterator), columns)


def columns_of(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Columns | None:
    """Return the columns if the first line is a header, else None.

    A header line names the addresses, or it has no address although a line below has one. The first line of a table
    without a header has an address itself.
    """
    names = [cell.strip().casefold() for cell in header]
    indexes = {
        field: next(index for index, name in enumerate(names) if name in accepted)
        for field, accepted in COLUMN_NAMES.items()
        if not accepted.isdisjoint(names)
    }
    is_guessed = "url" not in indexes
    if is_guessed:
        column = _column_of_addresses(lines)
        if column is None or column in indexes.values() or any(map(is_like_address, header)):
            return None
        indexes = {"url": column, **indexes}
    shown = [cut(" ".join(cell.split()), MAX_HEADER_CHARACTERS) for cell in header]
    headers = {field: shown[index] if index < len(shown) else "" for field, index in indexes.items()}
    ignored = tuple(name for index, name in enumerate(shown) if name and index not in indexes.values())
    return Columns(indexes, headers, ignored, is_guessed)


def _column_of_addresses(lines: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the column with the most addresses, or None without any address."""
    numbers = [sum(map(is_like_address, column)) for column in itertools.zip_longest(*lines, fillvalue="")]
    return numbers.index(max(numbers)) if any(numbers) else None


def _split_lines(text: str) -> list[str]:
    """Split a text into lines.

    Raises InvalidEntries if there are too many, or none.
    """
    text = text.rstrip()
    number = text.count("\n") + text.count("\r") - text.count("\r\n") + 1
    # One more line is allowed for the header.
    if number > MAX_ROWS + 1:
        refuse_line(MAX_ROWS + 2, f"There are {number:,} lines; at most {MAX_ROWS:,} sites can be sent at once.")
    if not text:
        refuse_line(1, NO_ADDRESS)
    return LINE_END.split(text)


def _refuse_long_line(line: str) -> Refusal:
    return InvalidParams(f"The line has {len(line):,} characters, which is more than {MAX_LINE:,}.")


def _table_lines(lines: Iterable[TableLine], columns: Columns | None) -> Iterator[Line]:
    indexes = columns.indexes if columns else {name: FIELDS.index(name) for name in FIELDS}
    width = None if columns else len(FIELDS)
    for number, text, cells in lines:
        if isinstance(cells, Refusal):
            yield number, text[:MAX_LINE], cells
        elif not any(cells):
            continue
        elif width and any(cells[width:]):
            yield number, text, InvalidParams(f"The line has {len(cells)} columns. Allowed: {', '.join(FIELDS)}.")
        else:
            values = {name: cells[index] if index < len(cells) else "" for name, index in indexes.items()}
            tags = values.get("tags", "")
            yield number, text, (values["url"], tags.split(SEPARATOR) if tags else (), values.get("note", ""))


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter of a CSV file.

    It is the one with which the first line names the addresses, else the one that most often follows the first cell.
    The first cell of most lines is an address, which has no delimiters.
    """
    for delimiter in DELIMITERS:
        cells = _cells(lines[0], delimiter)
        if not isinstance(cells, Refusal) and not COLUMN_NAMES["url"].isdisjoint(cell.casefold() for cell in cells):
            return delimiter
    delimiters = [match[1] for line in lines if (match := FIRST_DELIMITER.match(line[:MAX_LINE]))]
    return max(DELIMITERS, key=delimiters.count)


def _cells(line: str, delimiter: str) -> list[str] | Refusal:
    """Return the stripped cells of a CSV line, or a refusal.

    A cell cannot span several lines.
    """
    if len(line) > MAX_LINE:
        return _refuse_long_line(line)
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, strict=True))]
    except csv.Error:
        return InvalidParams("The quotation marks of the line are not in pairs, or text follows one.")
