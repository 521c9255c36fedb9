"""Tests for the migration that stores findings as data.

The migration is reports/migrations/0004_findings_as_data.py.
"""

from __future__ import annotations

import copy
import json
from importlib import import_module
from typing import Any

from django.db import connection
from django.db.migrations.state import ProjectState

from infrastructure.postgresql import stored_json
from reports.models import Report
from tests.factories import Member, finished_scan
from tests.reports.people import person, text_of
from website_scan.report.storage import read_export

migration = import_module("reports.migrations.0004_findings_as_data")
WHY = "Anyone on the network can read it."
COOKIES = [{"cookie": "session", "host": "example.com", "secure": False}, {"cookie": "lang", "secure": False}]


def report_in_former_format(export: Any) -> Any:
    """Return the report in the format that preceded the migration.

    It has a failed, a warned and a passed check.
    """
    export = copy.deepcopy(export)
    head = {"references": [], "points": 1.0, "later": 1.0, "holds": False}
    bad = {
        "id": "bad",
        "name": "Bad thing",
        "title": "Bad thing found",
        "status": "fail",
        "severity": "high",
        "message": f"Secure is missing on session. {WHY}",
        "fix": "Add Secure.",
        "why": WHY,
        "evidence": COOKIES,
    }
    review = {
        "id": "meh",
        "name": "Names",
        "title": "Check by hand: Names",
        "status": "warn",
        "severity": "low",
        "message": "Are these names right?",
        "why": "",
        "evidence": [{"selector": "#a", "snippet": "<a>"}, {"selector": "#b"}, {"selector": "#c", "snippet": "<i>"}],
    }
    good = {"id": "good", "name": "Good", "title": "Good", "status": "pass", "severity": None, "message": "Well."}
    checks = [bad | head, review | head, good | head | {"evidence": []}]
    export["categories"] = [{"name": "Things", "score": 50, "checks": checks}]
    export["skipped_checks"] = [{"name": "Gone", "reason": "Too late.", "id": "gone"}]
    return export


def converted(export: Any) -> Any:
    export = copy.deepcopy(export)
    assert migration.convert_export(export)
    return export


def read(export: Any) -> Any:
    return read_export(json.dumps(export))


def test_evidence_becomes_detail_tables(home: Member) -> None:
    export = read(converted(report_in_former_format(finished_scan(home).report.export_json)))
    bad, review, good = export["categories"][0]["checks"]
    assert bad["details"] == [
        {
            "kind": "evidence",
            "columns": [
                {"name": "cookie", "label": "Cookie", "format": "text"},
                {"name": "host", "label": "Host", "format": "text"},
                {"name": "secure", "label": "Secure", "format": "text"},
            ],
            "rows": [["session", "example.com", False]],
            "total": 1,
        },
        {
            "kind": "evidence",
            "columns": [
                {"name": "cookie", "label": "Cookie", "format": "text"},
                {"name": "secure", "label": "Secure", "format": "text"},
            ],
            "rows": [["lang", False]],
            "total": 1,
        },
    ]
    assert (bad["outcome"], bad["summary"], bad["places"]) == ("", "Secure is missing on session.", [])
    assert bad["how_to_fix"] == {"text": "Add Secure.", "snippets": []}
    assert (bad["needs_review"], review["needs_review"]) == (False, True)
    assert review["how_to_fix"] == {"text": "", "snippets": []}
    assert [bad["message"], bad["fix"]] == [f"Secure is missing on session. {WHY}", "Add Secure."]
    assert (good["details"], "places" in good) == ([], False)
    assert export["skipped_checks"] == [{"name": "Gone", "reason": "Too late.", "id": "gone", "code": ""}]


def test_converted_elements_keep_their_pictures(home: Member) -> None:
    export = read(converted(report_in_former_format(finished_scan(home).report.export_json)))
    (table,) = export["categories"][0]["checks"][1]["details"]
    assert table["rows"] == [["#a", "<a>"], ["#b", None], ["#c", "<i>"]]


def test_conversion_can_be_repeated(home: Member) -> None:
    former = report_in_former_format(finished_scan(home).report.export_json)
    export = converted(former)
    copied = copy.deepcopy(export)
    assert not migration.convert_export(copied)
    assert copied == export
    assert migration.restore_export(copied)
    assert copied == former
    assert not migration.restore_export(copied)


def test_revert_restores_evidence_from_places(home: Member) -> None:
    export: Any = json.loads(finished_scan(home).report.export)
    assert migration.restore_export(export)
    meh, bad, good = export["categories"][0]["checks"]
    assert [check["evidence"] for check in (meh, bad, good)] == [[], [{"value": "=1+1"}], []]
    assert not {"places", "details", "outcome", "how_to_fix", "summary", "values"} & set(bad)


def run(name: str) -> None:
    """Run the migration's operations, `forwards` or `backwards`."""
    with connection.schema_editor(atomic=False) as editor:
        for operation in migration.Migration.operations:
            getattr(operation, f"database_{name}")("reports", editor, ProjectState(), ProjectState())


def test_migration_can_be_reverted(home: Member, monkeypatch: Any) -> None:
    monkeypatch.setattr(stored_json, "ROWS_AT_ONCE", 2)
    scans = [finished_scan(home) for _ in range(5)]
    notice = f"A bot protection answered the browser. {migration.NOT_JUDGED}"
    for scan in scans[:4]:
        export = json.dumps(report_in_former_format(scan.report.export_json), ensure_ascii=False, separators=(",", ":"))
        Report.objects.filter(scan=scan).update(export=export, facts={"notice": notice})
    stored = dict(Report.objects.values_list("scan_id", "export"))
    run("forwards")
    for scan in scans[:4]:
        report = Report.objects.get(scan=scan)
        assert report.facts["unseen"] == "not-judged"
        check = report.export_json["categories"][0]["checks"][0]
        assert check["status"] != "pass"
        assert check["how_to_fix"]["text"] == "Add Secure."
    text = text_of(person(home.organization).get(f"/report/{scans[0].id}"))
    for expected in ("Secure is missing on session.", WHY, "Add Secure.", "lang", "#b"):
        assert expected in text
    assert Report.objects.get(scan=scans[4]).export == stored[scans[4].id]
    exported = home.api.get(f"/v1/report/{scans[0].id}/export").json()
    assert exported["categories"][0]["checks"][0]["evidence"] == COOKIES
    for extension in ("sarif", "csv"):
        assert home.api.get(f"/v1/report/{scans[0].id}/export?format={extension}").status_code == 200
    difference = home.api.get(f"/v1/report/{scans[4].id}/diff?with={scans[0].id}").json()
    assert [change["id"] for change in (*difference["new"], *difference["worse"])] == []
    run("backwards")
    for scan in scans[:4]:
        assert json.loads(Report.objects.get(scan=scan).export) == json.loads(stored[scan.id])
