"""Tests for the insertion of a run's results in batches, and for leaving them out in batches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from infrastructure import queue
from sites.lists import counting, insertion, leaving_out, result_deletion, runs
from sites.lists.insertion import insert_missed_results, insert_results, permutation
from sites.lists.result_deletion import delete_results
from sites.models import ListResult, ListRun, SiteList
from tests.factories import Member, key_caller
from tests.sites.lists.cast import make_entry
from tests.sites.lists.running import FakeWorker, get_entry, make_numbered_list, usual_result
from tests.sites.lists.test_runs import begin_run
from tests.sites.lists.test_runs import owner as owner

pytestmark = pytest.mark.django_db


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Make batches small, and return the messages that were enqueued."""
    monkeypatch.setattr(insertion, "ENTRIES_PER_BATCH", 4)
    monkeypatch.setattr(leaving_out, "LEFT_OUT_AT_ONCE", 3)
    monkeypatch.setattr(counting, "LEFT_OUT_AT_ONCE", 3)
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *message: sent.append(message))
    return sent


def cancel(site_list: SiteList, run: ListRun) -> ListRun:
    return runs.cancel_run(caller=key_caller(site_list.organization_id), list_id=site_list.id, run_id=run.id)


@pytest.mark.parametrize("number", [1, 2, 3, 10, 48, 97, 1_000])
def test_positions_are_a_permutation(number: int) -> None:
    orders = []
    for run_id in ("run_a", "run_b"):
        multiplier, shift = permutation(run_id, number)
        orders.append([(multiplier * n + shift) % number for n in range(number)])
        assert sorted(orders[-1]) == list(range(number))
    assert number < 10 or orders[0] != orders[1]


def test_results_of_a_large_list_are_inserted_in_batches(
    owner: Member, messages: list[tuple[str, ...]], django_capture_on_commit_callbacks: Any
) -> None:
    towns = make_numbered_list(owner, 10, window_hours=10)
    with django_capture_on_commit_callbacks(execute=True):
        run = begin_run(towns)
    assert (run.entries, run.results.count()) == (10, 4)
    assert ("sites.tasks.insert_results", run.id) in messages
    counting.count_results(run.id)
    run.refresh_from_db()
    assert run.status == "running"
    insert_missed_results(lambda: True)
    run.refresh_from_db()
    assert (run.insertion, run.entries, run.results.count()) == (None, 10, 10)
    assert set(run.results.values_list("entry", flat=True)) == set(towns.entries.values_list("id", flat=True))
    starts = list(run.results.order_by("position").values_list("position", "starts_at"))
    assert [position for position, _ in starts] == list(range(10))
    assert {(after - before).total_seconds() for (_, before), (_, after) in pairwise(starts)} == {3600.0}


def test_sites_deleted_or_added_meanwhile_are_not_in_the_run(owner: Member, messages: list[tuple[str, ...]]) -> None:
    towns = make_numbered_list(owner, 10)
    run = begin_run(towns)
    get_entry(towns, 9).delete()
    added = make_entry(towns, "https://site-85.example.com/")
    insert_results(run.id)
    run.refresh_from_db()
    assert (run.entries, run.results.count()) == (9, 9)
    assert not run.results.filter(url=added.url).exists()


def test_run_with_batches_scans_every_site_once(owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insertion, "ENTRIES_PER_BATCH", 4)
    towns, script = make_numbered_list(owner, 10), FakeWorker(usual_result)
    run = begin_run(towns)
    script.run_all_work(towns)
    assert len(script.visited) == 4
    insert_results(run.id)
    script.run_all_work(towns)
    run.refresh_from_db()
    assert (run.status, run.entries, run.done) == ("completed", 10, 10)
    assert sorted(script.visited) == sorted(towns.entries.values_list("url", flat=True))


def test_cancelled_run_leaves_out_its_sites_in_batches(
    owner: Member, messages: list[tuple[str, ...]], django_capture_on_commit_callbacks: Any
) -> None:
    towns = make_numbered_list(owner, 10)
    run = begin_run(towns)
    insert_results(run.id)
    with django_capture_on_commit_callbacks(execute=True):
        run = cancel(towns, run)
    assert (run.status, run.results.filter(status="left_out").count()) == ("running", 3)
    assert ("sites.tasks.count_results", run.id) in messages
    assert FakeWorker(usual_result).start_entries(towns, timezone.now()) == 0
    counting.count_missed_results(timezone.now(), lambda: True)
    run.refresh_from_db()
    assert (run.status, run.left_out, run.done) == ("cancelled", 10, 0)
    assert set(run.results.values_list("status", "error_code")) == {("left_out", "SCAN_CANCELLED")}


def test_run_cancelled_during_the_insertion_ends(owner: Member, messages: list[tuple[str, ...]]) -> None:
    towns = make_numbered_list(owner, 10)
    run = cancel(towns, begin_run(towns))
    insert_results(run.id)
    counting.count_results(run.id)
    run.refresh_from_db()
    assert (run.status, run.entries, run.left_out, run.results.count()) == ("cancelled", 10, 10, 4)


def test_results_are_deleted_in_batches(owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_deletion, "RESULTS_PER_DELETION", 2)
    towns = make_numbered_list(owner, 5)
    run = begin_run(towns)
    entry = get_entry(towns, 0)
    entry.result = run.results.get(entry=entry)
    entry.save()
    calls = iter([True, False])
    assert not delete_results(run.id, lambda: next(calls))
    assert ListResult.objects.count() == 3
    assert delete_results(run.id, lambda: True)
    assert not ListResult.objects.exists()
    assert get_entry(towns, 0).result_id is None
