"""CSV that spreadsheets open, and in which they find no formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

MEDIA_TYPE = "text/csv; charset=utf-8"
# A cell that begins so is a formula to a spreadsheet (OWASP, CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: object) -> object:
    """A cell of a CSV file that no spreadsheet takes for a formula."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def lines(rows: Iterable[Iterable[object]]) -> str:
    """Lines as RFC 4180 has them; the caller has made cells of what others have written."""
    output = io.StringIO()
    csv.writer(output, lineterminator="\r\n").writerows(rows)
    return output.getvalue()
