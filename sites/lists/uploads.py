"""Parser for uploaded list entries in CSV, XLSX, plain text or JSON. Pure functions."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from infrastructure.api.errors import InvalidParams
from sites.lists import upload_workbooks
from sites.lists.tags import tidy_note, tidy_tags
from sites.lists.upload_faults import Faults, refuse_line
from sites.lists.upload_json import JSON_VALUES_PER_ROW, json_items
from sites.lists.upload_tables import LINE_END, NO_ADDRESS, Cells, Columns, Line, csv_table, text_lines
from website_scan.errors import Refusal
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# Beginnings that are not a host name: a web scheme with the wrong number of slashes, or a scheme without a host.
FAULTY_SCHEME = re.compile(r"https?[:/\\]|[a-z][a-z0-9+-]*:(?![0-9]|$)", re.IGNORECASE)
# Invisible characters that often get into copied addresses. Some scripts use the two joiners between letters that are
# not ASCII.
INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
# Kinds of files that are not UTF-8 text, by their first bytes, for error messages.
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


class Row(Struct, frozen=True):
    """Uploaded site.

    `url` is canonical, `host` includes a non-default port, `line` counts from 1.
    """

    line: int
    url: str
    host: str
    tags: tuple[str, ...]
    note: str


class Upload(Struct, frozen=True):
    """Parsed upload with its sites, its invalid lines and the columns of its header line."""

    rows: list[Row]
    faults: Faults
    columns: Columns | None

    def refuse_faults(self) -> None:
        """Raise InvalidEntries if any line is invalid."""
        self.faults.refuse(self.columns.text if self.columns and self.columns.is_guessed else "")


def read_rows(data: bytes, media_type: str, policy: Policy) -> list[Row]:
    """Return the sites of an upload.

    Raises InvalidEntries if any line is invalid, and the errors of `parse_upload`.
    """
    upload = parse_upload(data, media_type, policy)
    upload.refuse_faults()
    return upload.rows


def parse_upload(data: bytes, media_type: str, policy: Policy) -> Upload:
    """Parse an upload as JSON, CSV or plain text.

    CSV may have a header line. Plain text has one URL per line. URLs without a scheme get https://. Rows with the same
    canonical URL are merged, with the tags of all rows and the first note. Raises InvalidEntries for an upload without
    any line, or InvalidParams for JSON of another structure.
    """
    kind = kind_of(media_type)
    if kind == upload_workbooks.MEDIA_TYPE:
        columns, lines = upload_workbooks.workbook_table(data)
    else:
        columns, lines = _READERS[kind](_decode(data, media_type))
    rows: dict[str, Row] = {}
    faults = Faults()
    for line, source, cells in lines:
        try:
            if isinstance(cells, Refusal):
                raise cells
            _merge_row(rows, _parse_row(line, cells, policy))
        except (InvalidUrl, Blocked, InvalidParams) as refusal:
            faults.add(line, refusal, source)
    if not rows and not faults.count and kind != "application/json":
        refuse_line(1, NO_ADDRESS)
    return Upload(list(rows.values()), faults, columns)


def estimate_rows(data: bytes, media_type: str) -> int:
    """Return the approximate number of rows of an upload without parsing it.

    Counts the lines of text, or the JSON values divided by the values per row. The number may be too large for text
    with empty lines and for JSON with long notes. Raises InvalidEntries for a workbook that is not safe to read.
    """
    if kind_of(media_type) == upload_workbooks.MEDIA_TYPE:
        return upload_workbooks.count_rows(data)
    if kind_of(media_type) == "application/json":
        return sum(map(data.count, (b"{", b"[", b","))) // JSON_VALUES_PER_ROW
    data = data.rstrip()
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") + 1


def kind_of(media_type: str) -> str:
    """Return a media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def _parse_row(line: int, cells: Cells, policy: Policy) -> Row:
    address, tags, note = cells
    target = parse_target(_with_scheme(INVISIBLE.sub("", address).strip()), policy)
    return Row(line, target.url, target.origin.partition("://")[2][:300], _tags(tuple(tags)), tidy_note(note))


def _with_scheme(address: str) -> str:
    """Return the address, with https:// if it has no scheme.

    Raises InvalidUrl if the host name is missing.
    """
    if not address:
        raise InvalidUrl("The address is missing.")
    if SCHEME.match(address):
        return address
    if FAULTY_SCHEME.match(address):
        raise InvalidUrl("url must start with https:// or http://, followed by a host name.")
    return f"https://{address}"


# The result is cached, because an upload usually has only a few different combinations of tags.
_tags: Callable[[tuple[str, ...]], tuple[str, ...]] = functools.lru_cache(1_000)(tidy_tags)


def _merge_row(rows: dict[str, Row], row: Row) -> None:
    earlier = rows.get(row.url)
    if earlier is not None:
        row = replace(earlier, tags=tidy_tags((*earlier.tags, *row.tags)), note=earlier.note or row.note)
    rows[row.url] = row


def _decode(data: bytes, media_type: str) -> str:
    """Decode the text of an upload.

    Raises InvalidEntries if the bytes are not UTF-8 text.
    """
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


_READERS: dict[str, Callable[[str], tuple[Columns | None, Iterator[Line]]]] = {
    "application/json": lambda text: (None, json_items(text)),
    "text/csv": csv_table,
    "text/plain": lambda text: (None, text_lines(text)),
}
MEDIA_TYPES = (*_READERS, upload_workbooks.MEDIA_TYPE)
