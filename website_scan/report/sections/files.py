"""Files in which several checks of a performance report found something: each once, with all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from website_scan.places import BYTES, Column
from website_scan.report.places import rows_of
from website_scan.report.sections.headers import HeaderCheck
from website_scan.report.tables import Cell, address, written
from website_scan.report_json import ExportedCheck

ADDRESSED = "url"  # the name of the column of a file's address
SENT = ("wire_bytes", "sent_bytes", "bytes")  # names of the columns of a file's transferred size, the most exact first
SIZE = Column("Transferred", "number", BYTES)
MOST = 50  # rows; the site chooses how many files a page loads


@dataclass(frozen=True, slots=True)
class FaultyFile:
    """File with its transferred size, empty if no check states it, and the findings that name it, by priority."""

    address: Cell
    size: str
    verdicts: tuple[HeaderCheck, ...]


def faulty_files(checks: Iterable[ExportedCheck], prefix: str) -> tuple[FaultyFile, ...]:
    """Return the files that findings name, those with the most findings first; nothing if none has two.

    `checks` are the report's, by priority; `prefix` goes before anchors.
    """
    verdicts: dict[str, dict[str, HeaderCheck]] = {}
    sizes: dict[str, str] = {}
    for check in checks:
        if check["status"] == "pass":
            continue
        verdict = HeaderCheck.of(check, prefix)
        for item in rows_of(check):
            file = item.get(ADDRESSED)
            if not isinstance(file, str) or not file.startswith(("https://", "http://")):
                continue
            verdicts.setdefault(file, {})[check["id"]] = verdict
            if size := next((written(SIZE, item[name]) for name in SENT if item.get(name)), ""):
                sizes.setdefault(file, size)
    if all(len(each) < 2 for each in verdicts.values()):
        return ()
    ordered = sorted(verdicts.items(), key=lambda each: -len(each[1]))[:MOST]
    return tuple(FaultyFile(address(file), sizes.get(file, ""), tuple(each.values())) for file, each in ordered)
