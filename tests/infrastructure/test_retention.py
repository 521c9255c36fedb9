"""Nightly deletion: one task runs the entries of the table, and another one continues when its time is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from celery import current_app

from infrastructure import retention, tasks
from infrastructure.retention import Retention, table


def test_the_table_has_what_every_app_keeps_for_a_time() -> None:
    names = [each.name for each in table()]
    assert len(set(names)) == len(names)
    assert {"audits", "scans", "deliveries", "reports", "mutes", "activity log", "sessions", "e-mails"} <= set(names)
    assert names.index("audits") < names.index("scans")


def entry(name: str, done: list[str], ends: bool = True) -> Retention:
    def delete(has_time: Callable[[], bool]) -> bool:
        assert has_time()
        done.append(name)
        return ends

    return Retention(name, delete)


def night(monkeypatch: pytest.MonkeyPatch, *entries: Retention) -> list[tuple[str, Any]]:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(retention, "table", lambda: entries)
    monkeypatch.setattr(current_app, "send_task", lambda *message: sent.append(message))
    tasks.delete_old()
    return sent


def test_a_night_goes_through_all_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    assert night(monkeypatch, entry("a", done), entry("b", done)) == []
    assert done == ["a", "b"]


def test_what_has_no_time_goes_on_in_another_task(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    entries = [entry("a", done), entry("b", done, ends=False), entry("c", done)]
    assert night(monkeypatch, *entries) == [("infrastructure.tasks.delete_old", ("b",))]
    assert done == ["a", "b"]
    assert retention.delete_from("b") == "b"
    assert retention.delete_from("c") is None
    assert done == ["a", "b", "b", "c"]
    assert retention.delete_from("a", limit_s=0) == "a"


def test_an_entry_that_fails_does_not_keep_others_from_their_turn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def fail(_: Callable[[], bool]) -> bool:
        raise ValueError("broken")

    assert night(monkeypatch, Retention("a", fail), entry("b", done)) == []
    assert done == ["b"]
    assert "a that are kept no longer could not be deleted" in caplog.text
