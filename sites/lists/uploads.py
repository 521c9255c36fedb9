"""Parser of uploaded entries of a list: CSV, plain text and JSON. Pure functions.

Limits on bytes, lines, characters of a line and tags bound the cost of parsing any input.
"""

from __future__ import annotations

import csv
import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from infrastructure.api.errors import InvalidParams
from infrastructure.api.names import Names
from sites.lists.tags import SEPARATOR, tidy_note, tidy_tags
from website_scan.errors import Refusal
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target

MAX_ROWS = 100_000
MAX_LINE = 8_192  # characters
MAX_VALUES = 16 * MAX_ROWS  # approximate number of values in JSON
MAX_REPORTED = 100  # invalid lines
NO_ADDRESS = "There is no address. To empty a list, send JSON with no entries."
FIELDS = ("url", "tags", "note")
# Accepted names of columns in the header line of a table, in lower case.
COLUMN_NAMES = {
    "url": frozenset(
        {"url", "address", "web address", "website", "site", "homepage", "link", "domain", "host", "hostname"}
    ),
    "tags": frozenset({"tags", "tag", "labels", "label"}),
    "note": frozenset({"note", "notes", "comment", "comments"}),
}
DELIMITERS = "\t,;"
LINES_FOR_DELIMITER = 100
LINE_END = re.compile(r"\r\n|\r|\n")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
FIRST_DELIMITER = re.compile(rf'(?:"[^"]*"|[^"{DELIMITERS}])*+([{DELIMITERS}])')
# First bytes of files that are not UTF-8 text, with the kind of file for the message.
OTHER_FILES = {
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
    b"\x00\x00\xfe\xff": "text in UTF-32",
    b"PK\x03\x04": "a workbook or an archive",
    b"\xd0\xcf\x11\xe0": "a workbook",
    b"\x1f\x8b": "compressed",
    b"%PDF": "a PDF file",
}
UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)


class InvalidEntries(Refusal):
    """Refusal of an upload with invalid lines.

    The details have `entries`, the first invalid lines (`line` from 1, `code`, `error`), and their total, `count`.
    """

    code = "INVALID_ENTRIES"
    status = 400


@dataclass(frozen=True, slots=True)
class Row:
    """Site of an upload. `url` is canonical, `host` includes a port other than the default, `line` counts from 1."""

    line: int
    url: str
    host: str
    tags: tuple[str, ...]
    note: str


@dataclass(slots=True)
class Faults:
    """Invalid lines of an upload: the first `MAX_REPORTED` lines, and the number of all."""

    reported: list[dict[str, object]] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, refusal: Refusal) -> None:
        self.count += 1
        if len(self.reported) < MAX_REPORTED:
            self.reported.append({"line": line, "code": refusal.code, "error": str(refusal)})

    def refuse(self) -> None:
        """Raise InvalidEntries if any line is invalid."""
        if not self.count:
            return
        first = self.reported[0]
        number = f"{self.count:,} lines are" if self.count > 1 else "One line is"
        refusal = InvalidEntries(f"{number} not valid, so nothing was changed. Line {first['line']}: {first['error']}")
        refusal.details = {"entries": self.reported, "count": self.count}
        raise refusal


def refuse_line(line: int, message: str) -> None:
    """Raise InvalidEntries for a single invalid line."""
    faults = Faults()
    faults.add(line, InvalidParams(message))
    faults.refuse()


# Cells of a line: URL, tags and note. A Refusal replaces the cells of a line that cannot be parsed.
Cells = tuple[str, Sequence[str], str]
Line = tuple[int, Cells | Refusal]


def read_rows(data: bytes, media_type: str, policy: Policy) -> list[Row]:
    """Parse an upload: JSON, CSV with or without a header line, or plain text with a URL on each line.

    A URL without a scheme gets https://. Rows with the same canonical URL are merged, with the tags of all rows and the
    first note. Raises InvalidEntries, or InvalidParams for JSON of another form.
    """
    text = _decoded(data, media_type)
    kind = media_type.partition(";")[0].strip().lower()
    rows: dict[str, Row] = {}
    faults = Faults()
    for line, cells in _READERS[kind](text):
        try:
            if isinstance(cells, Refusal):
                raise cells
            _add(rows, _row(line, cells, policy))
        except (InvalidUrl, Blocked, InvalidParams) as refusal:
            faults.add(line, refusal)
    faults.refuse()
    if not rows and kind != "application/json":
        refuse_line(1, NO_ADDRESS)
    return list(rows.values())


def _row(line: int, cells: Cells, policy: Policy) -> Row:
    address, tags, note = cells
    address = address.strip()
    if not address:
        raise InvalidUrl("The address is missing.")
    target = parse_target(address if SCHEME.match(address) else f"https://{address}", policy)
    return Row(line, target.url, target.origin.partition("://")[2][:300], _tags(tuple(tags)), tidy_note(note))


# Cached, because most sites of an upload have one of a few combinations of tags.
_tags: Callable[[tuple[str, ...]], tuple[str, ...]] = functools.lru_cache(1_000)(tidy_tags)


def _add(rows: dict[str, Row], row: Row) -> None:
    earlier = rows.get(row.url)
    if earlier is not None:
        row = replace(earlier, tags=tidy_tags((*earlier.tags, *row.tags)), note=earlier.note or row.note)
    rows[row.url] = row


def _decoded(data: bytes, media_type: str) -> str:
    """Return the text of an upload. Raises InvalidEntries if the bytes are not UTF-8 text."""
    for beginning, meaning in OTHER_FILES.items():
        if data.startswith(beginning):
            refuse_line(1, f"The file is {meaning}. Save it as CSV in UTF-8.")
    charset = CHARSET.search(media_type)
    if charset and charset[1].lower() not in UTF_8:
        raise InvalidParams(f"The charset is {charset[1]!a:.40}; send the text in UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(LINE_END.findall(data[: error.start].decode("utf-8-sig", "replace"))) + 1
        refuse_line(line, "The line has a character that is not in UTF-8. Save the file as CSV in UTF-8.")
        raise


def _lines(text: str) -> list[str]:
    text = text.rstrip()
    number = text.count("\n") + text.count("\r") - text.count("\r\n") + 1
    # One line more is allowed, for the header.
    if number > MAX_ROWS + 1:
        refuse_line(MAX_ROWS + 2, f"There are {number:,} lines; at most {MAX_ROWS:,} sites can be sent at once.")
    if not text:
        refuse_line(1, NO_ADDRESS)
    return LINE_END.split(text)


def _text_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(_lines(text), 1):
        if len(line) > MAX_LINE:
            yield number, _too_long(line)
        elif line.strip():
            yield number, (line, (), "")


def _too_long(line: str) -> Refusal:
    return InvalidParams(f"The line has {len(line):,} characters, which is more than {MAX_LINE:,}.")


def _table_lines(text: str) -> Iterator[Line]:
    lines = _lines(text)
    first = next(index for index, line in enumerate(lines) if line.strip())
    named = _named_columns(lines[first])
    unnamed = _delimiter(lines[first : first + LINES_FOR_DELIMITER]), {name: FIELDS.index(name) for name in FIELDS}
    delimiter, columns = named or unnamed
    width = None if named else len(FIELDS)
    for number, line in enumerate(lines, 1):
        if (named and number == first + 1) or not line.strip():
            continue
        cells = _cells(line, delimiter)
        if isinstance(cells, Refusal):
            yield number, cells
        elif not any(cells):
            continue
        elif width and any(cells[width:]):
            yield number, InvalidParams(f"The line has {len(cells)} columns; there are {', '.join(FIELDS)}.")
        else:
            values = {name: cells[index] if index < len(cells) else "" for name, index in columns.items()}
            tags = values.get("tags", "")
            yield number, (values["url"], tags.split(SEPARATOR) if tags else (), values.get("note", ""))


def _named_columns(line: str) -> tuple[str, dict[str, int]] | None:
    """Return the delimiter and the indexes of the columns in a header line; None if no column has URLs."""
    for delimiter in DELIMITERS:
        cells = _cells(line, delimiter)
        if isinstance(cells, Refusal):
            continue
        names = [cell.strip().casefold() for cell in cells]
        columns = {
            name: next(index for index, header in enumerate(names) if header in accepted)
            for name, accepted in COLUMN_NAMES.items()
            if not accepted.isdisjoint(names)
        }
        if "url" in columns:
            return delimiter, columns
    return None


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that most often follows the first cell of a line."""
    delimiters = [match[1] for line in lines if (match := FIRST_DELIMITER.match(line[:MAX_LINE]))]
    return max(DELIMITERS, key=delimiters.count)


def _cells(line: str, delimiter: str) -> list[str] | Refusal:
    """Return the stripped cells of a line, or a refusal. A cell cannot extend over several lines."""
    if len(line) > MAX_LINE:
        return _too_long(line)
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, strict=True))]
    except csv.Error:
        return InvalidParams("The quotation marks of the line are not in pairs, or text follows one.")


def _json_items(text: str) -> Iterator[Line]:
    """Yield the items of `entries` with their numbers, from 1. Raises InvalidParams if the JSON has another form."""
    # The number of values is limited before parsing, because parsed objects need many times the memory of the text.
    if sum(map(text.count, "{[,")) > MAX_VALUES:
        raise InvalidParams(f"At most {MAX_ROWS:,} sites can be sent at once.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParams("The body is not valid JSON.") from None
    items = body.get("entries") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise InvalidParams("The body must be a JSON object with the field entries, a list of objects with a url.")
    Names((), ("entries",), frozenset()).refuse_other_fields(body)
    if len(items) > MAX_ROWS:
        raise InvalidParams(f"entries has {len(items):,} items; at most {MAX_ROWS:,} sites can be sent at once.")
    for number, item in enumerate(items, 1):
        yield number, _item_cells(item)


def _item_cells(item: Any) -> Cells | Refusal:
    if not isinstance(item, dict):
        return InvalidParams("Each of entries must be an object with a url.")
    for name in item:
        if name not in FIELDS:
            return InvalidParams(f"{name!a:.60} is no field of an entry; there are {', '.join(FIELDS)}.")
    url, tags, note = item.get("url"), item.get("tags", []), item.get("note", "")
    if not isinstance(url, str):
        return InvalidUrl("url must be a string that starts with https:// or http://.")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return InvalidParams("tags must be a list of strings.")
    if not isinstance(note, str):
        return InvalidParams("note must be a string.")
    return url, tags, note


_READERS: dict[str, Callable[[str], Iterator[Line]]] = {
    "application/json": _json_items,
    "text/csv": _table_lines,
    "text/plain": _text_lines,
}
MEDIA_TYPES = tuple(_READERS)
