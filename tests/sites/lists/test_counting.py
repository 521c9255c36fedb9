"""Tests that a list run counts a result once.

This also holds if processes compete or are killed.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from unittest import mock

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from scans.models import Scan
from sites.audits.dispatch import dispatch_pages
from sites.audits.services import add_pages
from sites.lists import counting, runs
from sites.models import Audit, ListCount, ListEntry, ListResult, ListRun
from tests.factories import Member, member_of
from tests.sites.lists.running import (
    UNREACHABLE,
    FakeWorker,
    ScriptedResult,
    get_entry,
    make_check,
    make_numbered_list,
    result_with_score,
    usual_result,
)
from tests.threads import close_connections
from website_scan.findings import LOW
from website_scan.result import ScanError

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(db: None) -> Member:
    return member_of("Owner", "business")


def result_by_number(scan: Scan) -> ScriptedResult:
    """Return the result of `site-N`.

    Every third site fails, and HSTS fails if N is even. The score is 60 + N.
    """
    number = int(scan.host.split(".")[0].removeprefix("site-"))
    if number % 3 == 2:
        return UNREACHABLE
    checks = [make_check("hsts", "fail" if number % 2 == 0 else "pass"), make_check("caa", "warn")]
    return 60 + number, checks if scan.type == "security" else []


def test_results_are_counted_by_grade(owner: Member) -> None:
    towns = make_numbered_list(owner, 9, types=["security", "seo"])
    ListEntry.objects.filter(host__in=[f"site-{number}.example.com" for number in (0, 1, 2)]).update(tags=["north"])
    run = FakeWorker(result_by_number).run(towns)
    assert (run.status, run.entries, run.done, run.failed) == ("completed", 9, 6, 3)
    counts_by_tag = {count.tag: count.data for count in run.counts.all()}
    failed = run.results.filter(status="failed").order_by("position").values_list("id", flat=True)
    histogram = {"60": 1, "61": 1, "63": 1, "64": 1, "66": 1, "67": 1}
    assert counts_by_tag[""] == {
        "sites": 9,
        "judged": 6,
        "scores": {"security": histogram, "seo": histogram},
        "grades": {"security": {"D": 6}, "seo": {"D": 6}},
        # HSTS fails on the even numbers of 0, 1, 3, 4, 6 and 7.
        "checks": {"hsts": [3, 0, 3], "caa": [0, 6, 0]},
        "not_judged": {"left_out": 0, "codes": {"URL_NOT_REACHABLE": 3}, "first_failed": list(failed)},
    }
    assert counts_by_tag["north"]["sites"] == 3
    assert counts_by_tag["north"]["judged"] == 2
    assert counts_by_tag["north"]["checks"] == {"hsts": [1, 0, 1], "caa": [0, 2, 0]}


def test_status_letters_match_the_checks(owner: Member) -> None:
    def result_for(scan: Scan) -> ScriptedResult:
        if scan.host == "site-0.example.com":
            return 80, [make_check("hsts"), make_check("caa", "warn")]
        return 80, [make_check("dnssec", "pass"), make_check("hsts", "pass")]

    towns, script = make_numbered_list(owner, 2), FakeWorker(result_for)
    run = runs.begin_run(list_id=towns.id)
    script.start_entries(towns)
    while script.visit(owner.organization.id):
        counting.count_results(run.id)
    run.refresh_from_db()
    assert (run.status, sorted(run.checks)) == ("completed", ["caa", "dnssec", "hsts"])
    letters = {}
    for result in run.results.all():
        letter_by_check = dict(zip(run.checks, result.statuses.ljust(3, "-"), strict=True))
        letters[result.url] = (letter_by_check["hsts"], letter_by_check["caa"], letter_by_check["dnssec"])
        assert result.seen == {}
    assert letters == {
        "https://site-0.example.com/": ("f", "w", "-"),
        "https://site-1.example.com/": ("p", "-", "p"),
    }


def test_entries_have_their_latest_result(owner: Member) -> None:
    towns = make_numbered_list(owner, 1, types=["security", "seo"])
    FakeWorker(lambda scan: (70 if scan.type == "seo" else 90, [make_check("hsts"), make_check("caa", "warn")])).run(
        towns
    )
    entry = get_entry(towns, 0)
    assert (entry.state, entry.error_code, entry.failing, entry.history) == ("judged", "", ["hsts"], [80])
    assert entry.outcomes == ["caa.faulty", "hsts.faulty"]
    assert (entry.security_score, entry.security_grade, entry.security_change) == (90, "A", None)
    FakeWorker(lambda scan: (80, [make_check("hsts", "pass")])).run(towns)
    entry.refresh_from_db()
    assert (entry.security_score, entry.security_change, entry.seo_score, entry.seo_change) == (80, -10, 80, 10)
    assert (entry.failing, entry.outcomes, entry.history) == ([], [], [80, 80])
    assert entry.result == ListResult.objects.latest("id")


def test_failed_result_keeps_the_scores(owner: Member) -> None:
    towns = make_numbered_list(owner, 1)
    FakeWorker(usual_result).run(towns)
    run = FakeWorker(lambda _: UNREACHABLE).run(towns)
    entry = get_entry(towns, 0)
    assert (run.status, entry.state, entry.error_code) == ("failed", "failed", "URL_NOT_REACHABLE")
    assert (entry.security_score, entry.failing, entry.history) == (80, ["hsts"], [80])


def test_failed_type_keeps_its_old_score(owner: Member) -> None:
    towns = make_numbered_list(owner, 1, types=["security", "seo"])
    FakeWorker(usual_result).run(towns)
    run = FakeWorker(lambda scan: (90, []) if scan.type == "security" else ScanError("TIMEOUT", "Too slow.")).run(towns)
    entry = get_entry(towns, 0)
    assert (run.status, run.done, entry.state, entry.error_code) == ("completed", 1, "partial", "TIMEOUT")
    assert (entry.security_score, entry.security_change, entry.seo_score, entry.seo_change) == (90, 10, 80, None)


def test_score_is_removed_with_its_scan_type(owner: Member) -> None:
    towns = make_numbered_list(owner, 1, types=["security", "seo"])
    FakeWorker(usual_result).run(towns)
    towns.types = ["security"]
    towns.save()
    FakeWorker(usual_result).run(towns)
    entry = get_entry(towns, 0)
    assert (entry.security_score, entry.seo_score, entry.seo_grade) == (80, None, "")


def test_entry_history_is_limited(owner: Member) -> None:
    towns = make_numbered_list(owner, 1)
    for score in range(50, 65):
        FakeWorker(result_with_score(score)).run(towns)
    assert get_entry(towns, 0).history == list(range(53, 65))


def test_older_result_does_not_replace_a_newer_one(owner: Member) -> None:
    towns = make_numbered_list(owner, 1)
    FakeWorker(usual_result).run(towns)
    entry = get_entry(towns, 0)
    assert entry.judged_at
    old = ListResult.objects.create(
        site_list=towns, entry=entry, starts_at=timezone.now(), url=entry.url, status="ended",
        ended_at=entry.judged_at - timedelta(seconds=1), security_score=10, security_grade="F",
    )  # fmt: skip
    assert counting.count_single_results(towns.id) == 1
    entry.refresh_from_db()
    old.refresh_from_db()
    assert (old.status, entry.security_score) == ("done", 80)


def ended_run(owner: Member, number: int) -> ListRun:
    """Create a run whose results have all ended but are not counted yet."""
    towns = make_numbered_list(owner, number, tags=["all"])
    run = runs.begin_run(list_id=towns.id)
    ListResult.objects.update(
        status="ended", ended_at=timezone.now(), security_score=80, security_grade="B", seen={"hsts": "fail"}
    )
    return run


def is_counted_once(run: ListRun, number: int) -> bool:
    run.refresh_from_db()
    counts = {count.tag: (count.data["sites"], count.data["checks"]["hsts"]) for count in run.counts.all()}
    histories = set(ListEntry.objects.values_list("history__len", flat=True))
    expected = (number, [number, 0, 0])
    return (run.status, run.done, counts, histories) == ("completed", number, {"": expected, "all": expected}, {1})


def test_many_results_are_counted_in_batches(owner: Member) -> None:
    run = ended_run(owner, 2 * counting.AT_ONCE + 7)
    assert counting.count_results(run.id) == 2 * counting.AT_ONCE + 7
    assert is_counted_once(run, 2 * counting.AT_ONCE + 7)
    assert counting.count_results(run.id) == 0
    assert is_counted_once(run, 2 * counting.AT_ONCE + 7)


@pytest.mark.parametrize("victim", ["_update_entries", "fetch", "end_if_done", "_Counts.save"])
def test_killed_counting_is_repeated(owner: Member, victim: str) -> None:
    run = ended_run(owner, 5)
    with (
        mock.patch(f"sites.lists.counting.{victim}", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
        transaction.atomic(),
    ):
        counting.count_results(run.id)
    run.refresh_from_db()
    assert (run.status, run.done, ListCount.objects.count()) == ("running", 0, 0)
    assert set(ListResult.objects.values_list("status", flat=True)) == {"ended"}
    counting.count_missed_results(timezone.now(), lambda: True)
    assert is_counted_once(run, 5)


def test_large_run_without_message_gets_a_task(owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a large run takes longer than the periodic task may."""
    run = ended_run(owner, 3)
    monkeypatch.setattr(counting, "MAX_ENTRIES_WITHOUT_TASK", 2)
    with mock.patch.object(counting, "enqueue_count") as enqueue_count:
        for _ in range(2):
            assert counting.count_missed_results(timezone.now(), lambda: True) == 0
    enqueue_count.assert_called_once_with(run.site_list_id, run.id)
    run.refresh_from_db()
    assert run.status == "running"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_run_that_another_process_counts_is_not_waited_for() -> None:
    run = ended_run(member_of("Owner", "business"), 3)

    def count_missed() -> int:
        try:
            return counting.count_missed_results(timezone.now(), lambda: True)
        finally:
            close_connections()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            counting.lock_run(run.id)
            assert threads.submit(count_missed).result(timeout=60) == 0
        assert threads.submit(count_missed).result(timeout=60) == 3


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_processes_count_a_result_once() -> None:
    owner = member_of("Owner", "business")
    number = 3 * counting.AT_ONCE
    run = ended_run(owner, number)

    def count_in_thread(_: int) -> int:
        try:
            return counting.count_results(run.id)
        finally:
            close_connections()

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(count_in_thread, range(8))) == number
    assert is_counted_once(run, number)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_count_does_not_wait_for_a_locked_entry() -> None:
    owner = member_of("Owner", "business")
    run = ended_run(owner, 5)

    def count_in_thread() -> int:
        try:
            return counting.count_results(run.id)
        finally:
            close_connections()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            list(ListEntry.objects.select_for_update().filter(host="site-2.example.com"))
            assert threads.submit(count_in_thread).result(timeout=30) == 4
        run.refresh_from_db()
        assert run.status == "running"
        assert threads.submit(count_in_thread).result(timeout=30) == 1
    assert is_counted_once(run, 5)


def test_counting_needs_few_queries(owner: Member, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    run = ended_run(owner, counting.AT_ONCE - 1)
    with django_assert_max_num_queries(40):
        counting.count_results(run.id)


def test_results_of_several_pages_are_one_site(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 1, pages_per_entry=3), FakeWorker(usual_result)
    run = runs.begin_run(list_id=towns.id)
    script.start_entries(towns)
    audit = Audit.objects.get()
    url = "https://site-0.example.com"
    add_pages(audit, [(f"{url}{path}", url) for path in ("/", "/a", "/b")])
    audit.save()
    dispatch_pages(owner.organization.id)

    def result_for(scan: Scan) -> ScriptedResult:
        status = {"/": "warn", "/a": "fail", "/b": "pass"}[scan.url.removeprefix(url)]
        return 80, [make_check("hsts", status, LOW if status == "warn" else "high")]  # type: ignore[arg-type]

    pages = FakeWorker(result_for, script.names)
    while pages.visit(owner.organization.id):
        pass
    counting.count_results(run.id)
    result = run.results.get()
    assert (result.status, result.pages, result.statuses, result.severities) == ("done", 3, "f", {"high": 1})
    assert [(finding["status"], finding["check"]) for finding in result.findings] == [("fail", "hsts")]
    assert Counter(ListCount.objects.get(run=run, tag="").data["checks"]) == {"hsts": [1, 0, 0]}
