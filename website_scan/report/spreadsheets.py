"""CSV for spreadsheets, safe from formula injection."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

MEDIA_TYPE = "text/csv; charset=utf-8"
# Spreadsheets read a cell that begins with one of these characters as a formula (OWASP, CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: object) -> object:
    """Prefix text with an apostrophe if a spreadsheet would read it as a formula; other values are unchanged."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def lines(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV lines (RFC 4180). The caller must have passed texts of scanned sites through `cell`."""
    output = io.StringIO()
    csv.writer(output, lineterminator="\r\n").writerows(rows)
    return output.getvalue()
