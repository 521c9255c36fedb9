"""Tests for the migration that stores findings as data.

The migration is sites/migrations/0004_findings_as_data.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.db import connection
from django.db.migrations.state import ProjectState
from django.utils import timezone

from sites.models import AuditFinding, ListResult, MonitorRun, MonitorState
from tests.factories import Member
from tests.populated_audits import make_audit
from tests.sites.lists.cast import make_list
from tests.sites.monitors.cast import make_monitor
from website_scan.report_json import StoredFix

migration = import_module("sites.migrations.0004_findings_as_data")


def run_migration(name: str) -> None:
    """Run the operations of the migration forwards or backwards."""
    with connection.schema_editor(atomic=False) as editor:
        for operation in migration.Migration.operations:
            getattr(operation, f"database_{name}")("sites", editor, ProjectState(), ProjectState())


def test_migration_keeps_fixes_as_text(home: Member) -> None:
    audit = make_audit(home, kind="site", url="https://example.com/", max_pages=9)
    head: dict[str, Any] = {"audit": audit, "type": "seo", "pages_affected": 1, "points": 1.0, "status": "fail"}
    fixes: StoredFix = {"text": "Mend `it`.", "snippets": [{"label": "nginx", "code": "it on;"}]}
    AuditFinding.objects.create(**head, check_id="old", fix="Add Secure.")
    AuditFinding.objects.create(**head, check_id="none")
    AuditFinding.objects.create(**head, check_id="new", fix="Mend `it`. nginx: `it on;`", how_to_fix=fixes)
    for name in ("forwards", "forwards", "backwards"):
        run_migration(name)
        assert dict(AuditFinding.objects.values_list("check_id", "how_to_fix")) == {
            "old": {"text": "Add Secure.", "snippets": []},
            "none": {"text": "", "snippets": []},
            "new": fixes,
        }


def test_migration_adds_empty_outcomes(home: Member) -> None:
    now, monitor = timezone.now(), make_monitor(home)
    checks: list[dict[str, Any]] = [{"id": "bad", "status": "fail", "places": {}}, {"id": "good", "status": "pass"}]
    document: Any = {"categories": [{"name": "Things", "checks": checks}]}
    empty: Any = {}
    news: Any = {"new": [{"check": "bad"}], "worse": [{"check": "bad", "outcome": "short"}], "reasons": ["x"]}
    findings: Any = [{"check": "bad", "status": "fail"}, {"check": "meh", "status": "warn", "outcome": "long"}]
    state_columns: dict[str, Any] = {
        "monitor": monitor,
        "url": "https://example.com/",
        "type": "seo",
        "confirmed_at": now,
    }
    known_state = MonitorState.objects.create(**state_columns, page="known", document=document)
    unknown_state = MonitorState.objects.create(**state_columns, page="unknown", document=empty)
    run_with_news = MonitorRun.objects.create(monitor=monitor, due_at=now, not_before=now, news=news)
    run_without_news = MonitorRun.objects.create(monitor=make_monitor(home), due_at=now, not_before=now)
    result = ListResult.objects.create(
        site_list=make_list(home), starts_at=now, url="https://a.com/", findings=findings
    )
    for _ in range(2):
        run_migration("forwards")
        for row in (known_state, unknown_state, run_with_news, run_without_news, result):
            row.refresh_from_db()
        assert known_state.document["categories"][0]["checks"] == [checks[0] | {"outcome": ""}, checks[1]]
        assert not unknown_state.document
        assert not run_without_news.news
        assert [finding["outcome"] for finding in (*run_with_news.news["new"], *run_with_news.news["worse"])] == [
            "",
            "short",
        ]
        assert [finding["outcome"] for finding in result.findings] == ["", "long"]
    run_migration("backwards")
    known_state.refresh_from_db()
    assert known_state.document == document
