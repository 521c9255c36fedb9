"""Streaming writer for XLSX workbooks.

A workbook has one sheet with a header line and rows of values. All texts are inline strings, which no spreadsheet
calculates, whatever they begin with.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from html import escape

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELL_CHARACTERS = 32_767
# Characters that XML 1.0 cannot have.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPES}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
    '<sheets><sheet name="Sites" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
# The first line stays visible while scrolling.
SHEET_START = (
    f'<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)
SHEET_END = "</sheetData></worksheet>"


class _Pipe:
    """Write-only file for ZipFile.

    Its content is taken out while it is written.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def workbook(batches: Iterable[Iterable[Iterable[object]]]) -> Iterator[bytes]:
    """Yield an XLSX workbook with these batches of rows, in pieces.

    Values are text, numbers or None.
    """
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]  # It only writes.
        for name, text in PARTS.items():
            archive.writestr(_part(name), DECLARATION + text)
        with archive.open(_part("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as sheet:
            sheet.write((DECLARATION + SHEET_START).encode())
            for batch in batches:
                sheet.write("".join(map(_row, batch)).encode())
                yield pipe.take()
            sheet.write(SHEET_END.encode())
    yield pipe.take()


def _part(name: str) -> zipfile.ZipInfo:
    """Return a ZIP entry with a fixed date.

    The same rows then always give the same workbook.
    """
    part = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _row(values: Iterable[object]) -> str:
    return f"<row>{''.join(map(_cell, values))}</row>"


def _cell(value: object) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"<c><v>{value}</v></c>"
    text = escape(NOT_XML.sub("\ufffd", str(value)[:MAX_CELL_CHARACTERS]), quote=False)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
