"""Table of files with findings in a performance report."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from website_scan.places import BYTES, Column
from website_scan.report.places import rows_of
from website_scan.report.sections.headers import HeaderCheck
from website_scan.report.tables import Cell, address, formatted
from website_scan.report_json import ExportedCheck

ADDRESS_COLUMN = "url"
# Columns with the transferred size of a file, the most exact first.
SIZE_COLUMNS = ("wire_bytes", "sent_bytes", "bytes")
SIZE = Column("Transferred", "number", BYTES)
# The table has a limit, because the site chooses how many files a page loads.
MAX_ROWS = 50


class FaultyFile(Struct, frozen=True):
    """File with its findings in order of priority.

    Its transferred size is empty if unknown.
    """

    address: Cell
    size: str
    verdicts: tuple[HeaderCheck, ...]


def faulty_files(checks: Iterable[ExportedCheck], prefix: str) -> tuple[FaultyFile, ...]:
    """Return the files with findings, those with the most findings first.

    Empty if no file has two findings.

    `checks` are the checks of the report in order of priority; `prefix` goes before anchors.
    """
    verdicts: dict[str, dict[str, HeaderCheck]] = {}
    sizes: dict[str, str] = {}
    for check in checks:
        if check["status"] == "pass":
            continue
        verdict = HeaderCheck.of(check, prefix)
        for row in rows_of(check):
            file = row.get(ADDRESS_COLUMN)
            if not isinstance(file, str) or not file.startswith(("https://", "http://")):
                continue
            verdicts.setdefault(file, {})[check["id"]] = verdict
            if size := next((formatted(SIZE, row[name]) for name in SIZE_COLUMNS if row.get(name)), ""):
                sizes.setdefault(file, size)
    if all(len(verdict_by_check) < 2 for verdict_by_check in verdicts.values()):
        return ()
    ordered = sorted(verdicts.items(), key=lambda pair: -len(pair[1]))[:MAX_ROWS]
    return tuple(
        FaultyFile(address(file), sizes.get(file, ""), tuple(verdict_by_check.values()))
        for file, verdict_by_check in ordered
    )
