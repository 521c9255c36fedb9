"""Reader for uploads in XLSX.

It reads the rows of the first visible sheet as text. A workbook is a ZIP archive of XML, and 64 KiB of it can unpack to
gigabytes. So all parts are unpacked piece by piece before one of them is parsed, and are refused if they are too long
or have too many elements or a DTD.
"""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterator, Sequence

from infrastructure.api.errors import InvalidParams
from sites.lists.upload_faults import refuse_line
from sites.lists.upload_tables import MAX_LINE, MAX_ROWS, NO_ADDRESS, Columns, Line, TableLine, table
from website_scan.errors import Refusal

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# First bytes of a ZIP archive.
ZIP_START = b"PK\x03\x04"
MAX_PARTS = 500
MAX_UNPACKED_BYTES = 48 * 1024 * 1024
PIECE_BYTES = 64 * 1024
# Maximum numbers of elements, counted by "<". A sheet of 100,000 rows with four columns has 3,000,000. Other parts are
# loaded into memory, with one string for up to four elements.
MAX_SHEET_TAGS = 5_000_000
MAX_OTHER_TAGS = 1_000_000
SHEETS = "xl/worksheets/"
PICTURES = "xl/media/"
MAX_COLUMNS = 50
DAMAGED = "The workbook is damaged, or not in the format XLSX. Save it as CSV in UTF-8."
TOO_LARGE = f"The workbook is too large: its first sheet can have {MAX_ROWS:,} rows. Save it as CSV in UTF-8."


def workbook_table(data: bytes) -> tuple[Columns | None, Iterator[Line]]:
    """Return the columns of the first visible sheet and the rows below its header.

    The columns are None if the sheet has no header line.
    """
    count_rows(data)
    rows = list(_rows(data))
    if not rows:
        refuse_line(1, NO_ADDRESS)
    return table(rows)


def count_rows(data: bytes) -> int:
    """Return the approximate number of rows in a workbook.

    Raises InvalidEntries for an unsafe workbook.
    """
    rows = unpacked = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
                refuse_line(1, TOO_LARGE)
            for part in parts:
                length, tags, part_rows = _scan_part(archive, part)
                unpacked += length
                rows += part_rows
                most_tags = MAX_SHEET_TAGS if part.filename.startswith(SHEETS) else MAX_OTHER_TAGS
                if unpacked > MAX_UNPACKED_BYTES or tags > most_tags:
                    refuse_line(1, TOO_LARGE)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError):
        refuse_line(1, DAMAGED)
    return rows


def _scan_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> tuple[int, int, int]:
    """Unpack a part piece by piece and return its numbers of bytes, elements and rows.

    Raises ValueError for a DTD or an unexpected encoding. The standard of XLSX forbids DTDs (ECMA-376, part 2), whose
    entities can expand to gigabytes. Any part can be a sheet, whatever its name. Pictures in SVG may have a DTD, and
    defusedxml refuses their entities if one is read as a sheet.
    """
    length = tags = rows = 0
    before = b""
    is_markup = part.filename.lower().endswith((".xml", ".rels", ".vml"))
    may_have_dtd = part.filename.startswith(PICTURES)
    with archive.open(part) as file:
        while piece := file.read(PIECE_BYTES):
            length += len(piece)
            if length > MAX_UNPACKED_BYTES:
                break
            if is_markup and not before and b"\0" in piece[:4]:
                raise ValueError("The part is not in UTF-8.")
            # Without zeros, UTF-16 reads like ASCII. A name may be divided between two pieces.
            text = before[-8:] + piece.replace(b"\0", b"")
            if not may_have_dtd and b"<!" in text and (b"<!DOCTYPE" in text or b"<!ENTITY" in text):
                raise ValueError("The part has a DTD.")
            tags += piece.count(b"<")
            rows += piece.count(b"<row")
            before = text
    return length, tags, rows if part.filename.startswith(SHEETS) else 0


def _rows(data: bytes) -> Iterator[TableLine]:
    """Yield the non-empty rows of the first visible sheet with their numbers.

    Formulas are not calculated: their cells have the values that were stored with them.
    """
    # The library is imported here, because most processes never read a workbook.
    from openpyxl import load_workbook

    number_of_rows = 0
    try:
        workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        sheet = next(sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible")
        # The stored dimensions may be wrong.
        sheet.reset_dimensions()
        for number, values in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True), 1):
            cells = [_text_of(value) for value in values]
            if not any(cells):
                continue
            number_of_rows += 1
            # One more row is allowed for the header.
            if number_of_rows > MAX_ROWS + 1:
                refuse_line(number, TOO_LARGE)
            yield number, " ".join(filter(None, cells)), _shortened(cells)
    except Refusal:
        raise
    except Exception:  # noqa: BLE001  # The library raises errors of all kinds for damaged workbooks.
        refuse_line(1, DAMAGED)


def _shortened(cells: Sequence[str]) -> Sequence[str] | Refusal:
    length = sum(map(len, cells))
    if length > MAX_LINE:
        return InvalidParams(f"The row has {length:,} characters, which is more than {MAX_LINE:,}.")
    return cells


def _text_of(value: object) -> str:
    """Return a cell's value as one line of text."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    return " ".join(str(value).split())
