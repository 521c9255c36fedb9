"""Table of the files of a performance report that several findings name: each file once, with its findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from website_scan.places import BYTES, Column
from website_scan.report.places import rows_of
from website_scan.report.sections.headers import HeaderCheck
from website_scan.report.tables import Cell, address, formatted
from website_scan.report_json import ExportedCheck

ADDRESS_COLUMN = "url"
SIZE_COLUMNS = ("wire_bytes", "sent_bytes", "bytes")  # columns of a file's transferred size, the most exact first
SIZE = Column("Transferred", "number", BYTES)
MAX_ROWS = 50  # the site chooses how many files a page loads


@dataclass(frozen=True, slots=True)
class FaultyFile:
    """File with the findings that name it, in order of priority, and its transferred size, empty if unknown."""

    address: Cell
    size: str
    verdicts: tuple[HeaderCheck, ...]


def faulty_files(checks: Iterable[ExportedCheck], prefix: str) -> tuple[FaultyFile, ...]:
    """Return the files that findings name, files with most findings first; empty if no file has two findings.

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
    if all(len(by_check) < 2 for by_check in verdicts.values()):
        return ()
    ordered = sorted(verdicts.items(), key=lambda pair: -len(pair[1]))[:MAX_ROWS]
    return tuple(FaultyFile(address(file), sizes.get(file, ""), tuple(by_check.values())) for file, by_check in ordered)
