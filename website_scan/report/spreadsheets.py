"""CSV output that is safe from formula injection in spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

MEDIA_TYPE = "text/csv; charset=utf-8"
# Spreadsheets take a cell with such a beginning for a formula, and may split text at ";" (OWASP, CSV injection).
FORMULA = re.compile(r"""((?:\A|[;,|\t\r\n])(?:[^\S\t\r\n]|")*+)(?=[=+@-])""")
# Without one of these characters, a cell is no formula. Most cells have none, and searching is faster than replacing.
FORMULA_CHARACTERS = re.compile(r"[=+@\t\r\n-]")
# Begins a file for people. Excel reads a file without it in the code page of the computer, so that "ü" becomes "Ã¼".
BYTE_ORDER_MARK = "\ufeff"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: object) -> object:
    """Insert apostrophes where a spreadsheet would find a formula in text.

    Other values are unchanged.
    """
    if not isinstance(value, str) or not FORMULA_CHARACTERS.search(value):
        return value
    text = FORMULA.sub(r"\1'", value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def lines(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV lines (RFC 4180).

    The caller must first pass text from scanned sites through `cell`.
    """
    output = io.StringIO()
    csv.writer(output, lineterminator="\r\n").writerows(rows)
    return output.getvalue()
