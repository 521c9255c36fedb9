"""Tests for the nightly deletion of old rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from celery import current_app

from infrastructure import retention, tasks
from infrastructure.retention import Retention, table


def test_retention_table_covers_all_apps() -> None:
    names = [entry.name for entry in table()]
    assert len(set(names)) == len(names)
    assert {"audits", "scans", "deliveries", "reports", "mutes", "activity log", "sessions", "e-mails"} <= set(names)
    assert names.index("audits") < names.index("scans")


def entry(name: str, done: list[str], is_finished: bool = True) -> Retention:
    def delete(has_time: Callable[[], bool]) -> bool:
        assert has_time()
        done.append(name)
        return is_finished

    return Retention(name, delete)


def run_delete_old(monkeypatch: pytest.MonkeyPatch, *entries: Retention) -> list[tuple[str, Any]]:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(retention, "table", lambda: entries)
    monkeypatch.setattr(current_app, "send_task", lambda *message: sent.append(message))
    tasks.delete_old()
    return sent


def test_delete_old_runs_every_retention_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    assert run_delete_old(monkeypatch, entry("a", done), entry("b", done)) == []
    assert done == ["a", "b"]


def test_deletion_continues_in_new_task(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    entries = [entry("a", done), entry("b", done, is_finished=False), entry("c", done)]
    assert run_delete_old(monkeypatch, *entries) == [("infrastructure.tasks.delete_old", ("b",))]
    assert done == ["a", "b"]
    assert retention.delete_from("b") == "b"
    assert retention.delete_from("c") is None
    assert done == ["a", "b", "b", "c"]
    assert retention.delete_from("a", limit_s=0) == "a"


def test_failed_retention_entry_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    def fail(_: Callable[[], bool]) -> bool:
        raise ValueError("broken")

    assert run_delete_old(monkeypatch, Retention("a", fail), entry("b", done)) == []
    assert done == ["b"]
    assert "a that are kept no longer could not be deleted" in caplog.text
