"""Tests for importing and exporting XLSX workbooks."""

from __future__ import annotations

import datetime
import io
import time
import tracemalloc
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook, load_workbook

from accounts.models import Tier
from sites.lists import exports, upload_workbooks, workbooks
from sites.lists.upload_faults import InvalidEntries
from sites.lists.uploads import estimate_rows, parse_upload
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.processor_time import slowness
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot
from website_scan.net.policy import Policy

XLSX = upload_workbooks.MEDIA_TYPE
POLICY = Policy()


def make_workbook(rows: Iterable[Sequence[Any]], *, hidden: Iterable[Sequence[Any]] | None = None) -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    if hidden is not None:
        for row in hidden:
            sheet.append(list(row))
        sheet.sheet_state = "hidden"
        sheet = book.create_sheet("Shown")
    for row in rows:
        sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def with_parts(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Replace parts of the workbook or add new ones."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in {*old.namelist(), *parts}:
            new.writestr(name, parts.get(name) or old.read(name))
    return file.getvalue()


def read_cells(data: bytes) -> list[tuple[str, tuple[str, ...], str]]:
    return [(row.url, row.tags, row.note) for row in parse_upload(data, XLSX, POLICY).rows]


def test_workbook_rows_equal_csv_rows() -> None:
    data = make_workbook(
        [
            ["Ort", "Webseite", "Tags", "Note"],
            ["Köln", "www.koeln.de", "nrw;north", "Line 1\nline 2"],
            [],
            ["Bonn", "https://bonn.de/?id=7", None, 2026.0],
            [None, "b\u200bern.example.com", "x", datetime.datetime(2026, 11, 1)],  # Cells have no time zone.
        ]
    )
    upload = parse_upload(data, XLSX, POLICY)
    assert upload.columns is not None
    assert upload.columns.text == (
        "The first line is a header: “Webseite” is url, “Tags” is tags, “Note” is note. Ignored: “Ort”."
    )
    assert [(row.line, row.url, row.tags, row.note) for row in upload.rows] == [
        (2, "https://www.koeln.de/", ("nrw", "north"), "Line 1 line 2"),
        (4, "https://bonn.de/?id=7", (), "2026"),
        (5, "https://bern.example.com/", ("x",), "2026-11-01T00:00:00"),
    ]
    assert estimate_rows(data, XLSX) >= 4


def test_only_the_first_sheet_is_read() -> None:
    data = make_workbook([["a.example.com"]], hidden=[["secret.example.com"]])
    assert read_cells(data) == [("https://a.example.com/", (), "")]


def test_formulas_are_not_calculated() -> None:
    """A formula without a stored value is an empty cell.

    Its text is not imported.
    """
    data = make_workbook([["url", "note"], ["a.example.com", '=HYPERLINK("https://evil.example.com/")'], ["=1+1", "b"]])
    upload = parse_upload(data, XLSX, POLICY)
    assert [(row.url, row.note) for row in upload.rows] == [("https://a.example.com/", "")]
    assert [fault.line for fault in upload.faults.reported] == [3]


def test_invalid_rows_have_their_numbers() -> None:
    upload = parse_upload(make_workbook([["a.example.com"], ["ftp://b.example.com", "tag"]]), XLSX, POLICY)
    (fault,) = upload.faults.reported
    assert (fault.line, fault.text, fault.refusal.code) == (2, "ftp://b.example.com tag", "INVALID_URL")


SMALL = make_workbook([["a.example.com"]])
SHEET = "xl/worksheets/sheet1.xml"
SHEET_XML = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
LAUGHS = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><worksheet>&b;</worksheet>'


def renamed_sheet(name: str, content: bytes) -> bytes:
    """Return a workbook with a sheet in a part that does not have the usual name."""
    path = "xl/_rels/workbook.xml.rels"
    with zipfile.ZipFile(io.BytesIO(SMALL)) as archive:
        relationships = archive.read(path)
    assert b"/xl/worksheets/sheet1.xml" in relationships
    return with_parts(SMALL, {path: relationships.replace(SHEET.encode(), name.encode()), name: content})


HOSTILE = {
    "no zip": b"PK\x03\x04" + b"\0" * 100,
    "no workbook": with_parts(SMALL, {"xl/workbook.xml": b"<html/>"}),
    "cut": SMALL[: len(SMALL) // 2],
    "long part": with_parts(SMALL, {"xl/media/image1.png": b"\0" * (upload_workbooks.MAX_UNPACKED_BYTES + 1)}),
    "long sheet": with_parts(SMALL, {SHEET: SHEET_XML % (b" " * upload_workbooks.MAX_UNPACKED_BYTES)}),
    "many cells": with_parts(SMALL, {SHEET: SHEET_XML % (b"<row/>" * (upload_workbooks.MAX_SHEET_TAGS + 1))}),
    "many strings": with_parts(SMALL, {"xl/sharedStrings.xml": b"<sst>" + b"<si/>" * 1_100_000 + b"</sst>"}),
    "many parts": with_parts(SMALL, {f"xl/{number}.bin": b"x" for number in range(600)}),
    "entities": with_parts(SMALL, {SHEET: LAUGHS}),
    "entities of strings": with_parts(SMALL, {"xl/sharedStrings.xml": LAUGHS}),
    "entities of a part with another name": renamed_sheet("xl/worksheets/sheet1.bin", LAUGHS),
    "entities of a picture": renamed_sheet("xl/media/image1.svg", LAUGHS),
    "many strings of a part with another name": renamed_sheet("xl/a.bin", SHEET_XML % (b"<row/>" * 1_100_000)),
    "other encoding of a part with another name": renamed_sheet("xl/a.bin", LAUGHS.decode().encode("utf-16")),
    "other encoding": with_parts(SMALL, {SHEET: LAUGHS.decode().encode("utf-16")}),
    "no sheet data": with_parts(SMALL, {SHEET: b"<worksheet"}),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_workbooks_are_refused_quickly(data: bytes) -> None:
    tracemalloc.start()
    begin = time.process_time()
    with pytest.raises(InvalidEntries, match=r"Save it as CSV in UTF-8\.|There is no address"):
        parse_upload(data, XLSX, POLICY)
    cpu_s = time.process_time() - begin
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert cpu_s < 5
    assert peak < 40_000_000


def test_declared_sizes_are_not_trusted() -> None:
    """The ZIP reader must detect a wrong size.

    It cuts a part that is longer than its header says, so the checksum does not match.
    """
    data = with_parts(SMALL, {SHEET: SHEET_XML % (b"<row/>" * 10_000)})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = archive.getinfo(SHEET).file_size.to_bytes(4, "little")
    with pytest.raises(InvalidEntries, match="damaged"):
        parse_upload(data.replace(size, (100).to_bytes(4, "little")), XLSX, POLICY)


def test_rows_beyond_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_workbooks, "MAX_ROWS", 3)
    assert len(read_cells(make_workbook([["url"], *([f"{n}.example.com"] for n in range(3))]))) == 3
    with pytest.raises(InvalidEntries, match="too large"):
        read_cells(make_workbook([["url"], *([f"{n}.example.com"] for n in range(4))]))


def test_distant_cells_are_parsed_quickly() -> None:
    row = b'<row r="1048576"><c r="A1048576" t="inlineStr"><is><t>a.example.com</t></is></c>'
    row += b'<c r="XFD1048576" t="inlineStr"><is><t>far.example.com</t></is></c></row>'
    data = with_parts(SMALL, {SHEET: SHEET_XML % row})
    begin = time.process_time()
    assert read_cells(data) == [("https://a.example.com/", (), "")]
    assert time.process_time() - begin < 5 * slowness()


def test_api_imports_a_workbook(home: Member) -> None:
    Tier.objects.update(list_entries=100)
    site_list = make_list(home)
    path = f"/v1/lists/{site_list.id}/entries"
    imported = home.api.call(
        "PUT", path, make_workbook([["url", "tags"], ["a.example.com", "x"], ["b.example.com"]]), XLSX
    )
    assert (imported.status_code, imported.json()["added"]) == (200, 2)
    refused = home.api.call("POST", path, HOSTILE["entities"], XLSX)
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_ENTRIES")
    assert sorted(site_list.entries.values_list("url", flat=True)) == [
        "https://a.example.com/",
        "https://b.example.com/",
    ]


def test_workbook_beyond_the_plan_is_not_parsed(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_workbooks, "workbook_table", lambda _: pytest.fail("the workbook was parsed"))
    data = with_parts(SMALL, {SHEET: SHEET_XML % (b"<row/>" * 5_000)})
    answer = home.api.call("PUT", f"/v1/lists/{make_list(home).id}/entries", data, XLSX)
    assert (answer.status_code, answer.json()["code"]) == (409, "LIST_LIMIT")


def test_workbook_is_recognized_by_its_content(home: Member) -> None:
    site_list = make_list(home)
    path = f"/o/{home.organization.slug}/lists/{site_list.id}/import"
    file = SimpleUploadedFile("sites.csv", make_workbook([["Website", "Tags"], ["a.example.com", "north"]]))
    preview = browser_of(home).post(path, {"file": file})
    assert "1 site was read." in text_of(preview)
    (row,) = page_of(preview).xpath("//table[contains(@class, 'preview-table')]/tbody/tr")
    assert "https://a.example.com/" in row.text_content()
    damaged = browser_of(home).post(path, {"file": SimpleUploadedFile("a.xlsx", HOSTILE["cut"])})
    assert damaged.status_code == 400
    assert "The workbook is damaged" in text_of(damaged)


FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "=HYPERLINK(“x”)",
    "'quoted",
    " ",
    "<b>&amp;</b>",
    "\x00\x0b\ud800",
    "🏫",
)


def test_exported_workbook_has_no_formulas(home: Member) -> None:
    sites = [
        SnapshotSite(
            f"https://{number}.example.com/",
            {"security": 71, "seo": 97},
            "pppp",
            columns={"facts": {"title": text.replace("\x00", "").replace("\ud800", ""), "hsts": True}, "pages": 3},
        )
        for number, text in enumerate(FORMULAS)
    ]
    run = snapshot(make_list(home), sites)
    data = b"".join(exports.export(run, "xlsx"))
    assert data == b"".join(exports.export(run, "xlsx"))
    book = load_workbook(io.BytesIO(data))
    assert book.sheetnames == ["Sites"]
    header, *rows = book["Sites"].iter_rows()
    assert tuple(cell.value for cell in header) == exports.CSV_COLUMNS
    assert {cell.data_type for row in rows for cell in row} <= {"s", "n", "inlineStr"}
    title, score = exports.CSV_COLUMNS.index("title"), exports.CSV_COLUMNS.index("seo_score")
    assert [row[title].value for row in rows][:4] == list(FORMULAS[:4])
    assert {row[score].value for row in rows} == {97}
    assert {row[exports.CSV_COLUMNS.index("hsts")].value for row in rows} == {"yes"}


def test_workbook_is_valid_for_any_text() -> None:
    values = [*FORMULAS, "x" * 50_000, None, 0, 1.5]
    data = b"".join(workbooks.workbook([[values], [["second"]]]))
    first, second = load_workbook(io.BytesIO(data), read_only=True)["Sites"].iter_rows(values_only=True)
    assert first[9] == "\ufffd" * 3
    assert first[-4] == "x" * workbooks.MAX_CELL_CHARACTERS
    assert first[-3:] == (None, 0, 1.5)
    assert second[0] == "second"


def test_exported_workbook_can_be_imported_again(home: Member) -> None:
    run = snapshot(make_list(home), [SnapshotSite("https://a.example.com/", {"seo": 97}, tags=("north",))])
    assert read_cells(b"".join(exports.export(run, "xlsx"))) == [("https://a.example.com/", ("north",), "")]
