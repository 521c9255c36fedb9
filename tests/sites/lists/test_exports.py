"""Tests for snapshot exports as CSV and JSON Lines."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from sites.lists import exports
from sites.models import ListResult, ListRun
from sites.models.site_list import Fact, ResultFinding
from tests.factories import Member, browser_of, person_of
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

A, B, C = (f"https://{letter}.example/" for letter in "abc")
FACTS: Fact = {
    "final_url": f"{A}start",
    "status": 200,
    "https": True,
    "hsts": False,
    "tls_versions": ["TLS 1.2", "TLS 1.3"],
    "title": "=HYPERLINK(“x”)\u2028\r\n'@SUM(1)",
    "generator": '+cmd|" /C calc"!A0',
    "language": "de-AT",
}
FINDING: ResultFinding = {
    "type": "security",
    "check": "hsts",
    "status": "fail",
    "severity": "high",
    "outcome": "missing",
    "title": "No HSTS header",
    "message": "The header is missing.\u2028",
}


@pytest.fixture
def run(home: Member) -> ListRun:
    columns = {"facts": FACTS, "severities": {"high": 2, "low": 1}, "findings": [FINDING], "is_partial": True}
    moved = {"moved_to": "www.c.example", "status": "left_out", "error_code": "QUOTA_EXCEEDED"}
    sites = [
        SnapshotSite(A, {"security": 71, "seo": 97}, "pfpf", ("-north", "south"), {"seo": "A+"}, columns),
        SnapshotSite(B),
        SnapshotSite(C, columns=moved),
    ]
    return snapshot(make_list(home), sites)


def read_csv_rows(run: ListRun) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(exports.csv_rows(run)), newline="")))


def test_csv_export_has_a_row_per_site(run: ListRun) -> None:
    first, second, third = read_csv_rows(run)
    assert tuple(first) == exports.CSV_COLUMNS
    assert len(exports.FACTS) == 31
    expected = {
        "url": A,
        "tags": "'-north;south",
        "status": "partial",
        "error": "",
        "moved_to": "",
        "pages": "1",
        "security_score": "71",
        "security_grade": "C",
        "seo_score": "97",
        "seo_grade": "A+",
        "performance_score": "",
        "performance_grade": "",
        "findings_critical": "0",
        "findings_high": "2",
        "findings_medium": "0",
        "findings_low": "1",
        "http_status": "200",
        "https": "yes",
        "hsts": "no",
        "csp": "",
        "tls_versions": "TLS 1.2, TLS 1.3",
    }
    assert expected.items() <= first.items()
    assert (second["status"], second["error"], second["findings_high"]) == ("failed", "TARGET_UNREACHABLE", "")
    assert (third["status"], third["moved_to"]) == ("left_out", "www.c.example")


def test_csv_export_escapes_formulas(run: ListRun) -> None:
    first = read_csv_rows(run)[0]
    assert first["title"] == "'=HYPERLINK(“x”)\u2028\r\n'@SUM(1)"
    assert first["generator"].startswith("'+cmd")


def test_jsonl_export_has_a_line_per_site(run: ListRun) -> None:
    text = "".join(exports.json_lines(run))
    assert text.isascii()
    first, second, _ = map(json.loads, text.splitlines())
    assert first["results"] == {"security": {"score": 71, "grade": "C"}, "seo": {"score": 97, "grade": "A+"}}
    assert (first["facts"], first["findings"]) == (FACTS, [FINDING])
    assert first["severities"] == {"critical": 0, "high": 2, "medium": 0, "low": 1}
    assert second["error"] == {"code": "TARGET_UNREACHABLE", "message": "The site cannot be reached."}
    assert second["results"] == {}


@pytest.mark.parametrize("ending", exports.WRITERS)
def test_snapshot_export_ignores_deleted_entries(home: Member, run: ListRun, ending: str) -> None:
    before = b"".join(exports.export(run, ending))
    entries = run.site_list.entries
    path = f"/v1/lists/{run.site_list_id}/entries"
    assert home.api.delete(f"{path}/{entries.get(url=A).id}").status_code == 204
    assert home.api.put(path, {"entries": []}).status_code == 200
    assert not entries.exists()
    assert b"".join(exports.export(run, ending)) == before


def test_api_streams_csv_and_json_lines(home: Member, stranger: Member, run: ListRun) -> None:
    path = f"/v1/lists/{run.site_list_id}/snapshots/{run.id}/export"
    for ending, writer in exports.WRITERS.items():
        answer: Any = home.api.get(f"{path}/{ending}")
        assert (answer.status_code, answer.streaming) == (200, True)
        assert answer["Content-Type"] == writer.media_type
        assert answer["Content-Disposition"] == f'attachment; filename="{run.id}.{ending}"'
        assert answer.getvalue() == b"".join(writer.write(run))
        assert stranger.api.get(f"{path}/{ending}").status_code == 404
    assert home.api.get(f"{path}/pdf").json()["code"] == "INVALID_PARAMS"
    ListRun.objects.update(status="running", ended_at=None)
    assert home.api.get(f"{path}/csv").json()["code"] == "SNAPSHOT_NOT_FOUND"


def test_snapshot_with_more_sites_than_rows_of_a_sheet_has_no_workbook(
    home: Member, run: ListRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = browser_of(person_of(home, "viewer", "viewer@example.com"))
    snapshot = f"/o/{home.organization.slug}/lists/{run.site_list_id}/runs/{run.id}"
    exported = f"/v1/lists/{run.site_list_id}/snapshots/{run.id}/export"
    assert "export/xlsx" in person.get(snapshot).content.decode()
    assert person.get(f"{snapshot}/export/xlsx").status_code == 200
    monkeypatch.setattr(exports, "MAX_WORKBOOK_SITES", run.entries - 1)
    answer = home.api.get(f"{exported}/xlsx")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS")
    assert "Download it as CSV or JSON Lines." in answer.json()["error"]
    assert home.api.get(f"{exported}/csv").status_code == 200
    assert "export/xlsx" not in person.get(snapshot).content.decode()
    assert person.get(f"{snapshot}/export/xlsx").status_code == 404


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_export_continues_in_another_thread(run: ListRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads may stream one export.

    If a client is slow, the web process pauses the response and may continue it in another thread.
    """
    monkeypatch.setattr(exports, "BATCH", 1)
    pieces = exports.export(run, "csv")
    lines = [next(pieces), next(pieces)]

    def read_next() -> bytes:
        try:
            return next(pieces)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        lines.append(thread.submit(read_next).result())
    assert b"".join([*lines, *pieces]) == b"".join(exports.export(run, "csv"))


@pytest.mark.parametrize("ending", sorted(exports.WRITERS))
def test_export_memory_is_constant(home: Member, ending: str) -> None:
    run = snapshot(make_list(home), [])
    findings: list[ResultFinding] = [{**FINDING, "message": "x" * 500}] * 20
    ListResult.objects.bulk_create(
        ListResult(
            site_list=run.site_list,
            run=run,
            position=number,
            starts_at=timezone.now(),
            status="done",
            url=f"https://{number}.example/",
            findings=findings,
            facts=FACTS,
        )
        for number in range(2_000)
    )
    with counted() as queries:
        sum(map(len, exports.export(run, ending)))
    assert len(queries) == 2_000 / exports.BATCH + 1
    tracemalloc.start()
    try:
        size = sum(map(len, exports.export(run, ending)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > (10_000 if ending == "xlsx" else 300_000)
    assert peak < 12_000_000
