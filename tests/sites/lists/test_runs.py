"""Tests that a list run scans an entry exactly once.

This also holds after crashes, cancellations and deletions.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from unittest import mock

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.closing.services import organization_closed
from accounts.models import ActivityEvent, MonthlyUsage, Organization, Tier
from accounts.usage import QuotaExceeded
from infrastructure.api.errors import InvalidParams, NotFound
from scans import addresses
from scans.models import BlockedDomain, Scan
from scans.visits.claims import claim_scan, finish_scan
from sites import tasks
from sites.audits.dispatch import dispatch_pages
from sites.audits.services import insert_audit
from sites.lists import counting, runs, starting
from sites.lists.room import MAX_UNFINISHED_AUDITS_PER_SLOT
from sites.lists.schedule import next_run
from sites.lists.services import ListLimit, ListRunning
from sites.models import Audit, ListEntry, ListResult, ListRun, SiteList
from tests.factories import Member, key_caller, make_result, member_of
from tests.sites.audits.cast import pages_audit_request
from tests.sites.lists.running import (
    HOUR,
    UNREACHABLE,
    FakeWorker,
    Names,
    get_entry,
    make_numbered_list,
    result_statuses,
    usual_result,
)
from tests.threads import close_connections

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(db: None) -> Member:
    return member_of("Owner", "business")


def begin_run(site_list: SiteList) -> ListRun:
    return runs.begin_run(caller=key_caller(site_list.organization_id), list_id=site_list.id)


def test_run_scans_an_entry_once(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 30), FakeWorker(usual_result)
    run = script.run(towns)
    assert (run.status, run.entries, run.done, run.failed, run.left_out) == ("completed", 30, 30, 0, 0)
    assert Counter(script.visited) == Counter(entry.url for entry in towns.entries.all())
    assert Audit.objects.filter(run_of="list").count() == 30
    assert MonthlyUsage.objects.get().used == 30
    assert run.ended_at is not None


def test_starts_are_spread_evenly(owner: Member) -> None:
    towns = make_numbered_list(owner, 48, window_hours=24)
    first = begin_run(towns)
    starts = list(first.results.order_by("position").values_list("starts_at", "entry"))
    assert [at for at, _ in starts] == [first.started_at + number * HOUR / 2 for number in range(48)]
    runs.cancel_run(caller=key_caller(owner.organization.id), list_id=towns.id, run_id=first.id)
    second = begin_run(towns)
    order = list(second.results.order_by("position").values_list("entry", flat=True))
    assert sorted(order) == sorted(entry for _, entry in starts)
    assert order != [entry for _, entry in starts]


@pytest.mark.parametrize(("every", "hours"), [("week", 160), ("month", 168), ("", 168)])
def test_weekly_run_ends_before_the_next_one_is_due(owner: Member, every: str, hours: int) -> None:
    towns = make_numbered_list(owner, 10, window_hours=168, every=every)
    assert begin_run(towns).window_hours == hours


def test_entries_start_at_their_start_time(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 12, window_hours=24), FakeWorker(usual_result)
    run = begin_run(towns)
    assert script.start_entries(towns, run.started_at) == 1
    assert script.start_entries(towns, run.started_at + 1.9 * HOUR) == 0
    assert script.start_entries(towns, run.started_at + 2 * HOUR) == 1
    assert script.start_entries(towns, run.started_at + 23 * HOUR) == 10


def test_due_list_begins_one_run(owner: Member) -> None:
    now = timezone.now()
    towns = make_numbered_list(owner, every="week", next_run_at=now - timedelta(minutes=1))
    make_numbered_list(owner, name="Not due", every="week", next_run_at=now + timedelta(minutes=1))
    assert runs.create_due_runs(now) == 1
    assert runs.create_due_runs(now) == 0
    run = ListRun.objects.get()
    assert (run.site_list, run.is_requested, run.entries, run.kept_days) == (towns, False, 3, 1_100)
    towns.refresh_from_db()
    assert towns.next_run_at == next_run(towns, now)


def test_unfinished_run_prevents_a_second_one(owner: Member) -> None:
    now = timezone.now()
    towns = make_numbered_list(owner, every="week", next_run_at=now)
    begin_run(towns)
    assert runs.create_due_runs(now) == 1
    assert ListRun.objects.count() == 1
    towns.refresh_from_db()
    assert towns.next_run_at is not None
    assert towns.next_run_at > now
    with pytest.raises(ListRunning):
        begin_run(towns)


def test_empty_list_does_not_start_a_run(owner: Member) -> None:
    now = timezone.now()
    empty = make_numbered_list(owner, 0, every="month", next_run_at=now)
    with pytest.raises(InvalidParams):
        begin_run(empty)
    assert runs.create_due_runs(now) == 1
    assert not ListRun.objects.exists()


def test_foreign_list_is_not_found(owner: Member, stranger: Member) -> None:
    towns = make_numbered_list(owner)
    run = begin_run(towns)
    caller = key_caller(stranger.organization.id)
    entry_id = get_entry(towns, 0).id
    for refused in (
        lambda: runs.begin_run(caller=caller, list_id=towns.id),
        lambda: runs.cancel_run(caller=caller, list_id=towns.id, run_id=run.id),
        lambda: runs.scan_entry(caller=caller, list_id=towns.id, entry_id=entry_id),
        lambda: runs.scan_entries(caller=caller, list_id=towns.id, entry_ids=[entry_id]),
    ):
        with pytest.raises(NotFound, match="no list"):
            refused()


def test_unfinished_audits_are_limited(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=3)
    towns, script = make_numbered_list(owner, 20), FakeWorker(usual_result)
    begin_run(towns)
    assert script.start_entries(towns) == 3 * MAX_UNFINISHED_AUDITS_PER_SLOT
    assert script.start_entries(towns) == 0
    script.visit(owner.organization.id)
    assert script.start_entries(towns) == 1


def test_end_of_an_audit_enqueues_both_tasks(
    owner: Member, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    Tier.objects.update(concurrent_scans=1)
    towns, script = make_numbered_list(owner, 3), FakeWorker(usual_result)
    run = begin_run(towns)
    script.start_entries(towns)
    sent: list[tuple[str, str]] = []
    with (
        mock.patch("infrastructure.queue.enqueue", lambda task, row_id, queue=None: sent.append((task, row_id))),
        django_capture_on_commit_callbacks(execute=True),
    ):
        script.visit(owner.organization.id)
    assert ("sites.tasks.start_entries", str(owner.organization.id)) in sent
    assert ("sites.tasks.count_results", run.id) in sent


def test_ends_of_audits_start_further_ones_in_batches(
    owner: Member, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    slots = 6
    Tier.objects.update(concurrent_scans=slots)
    towns, script = make_numbered_list(owner, 40), FakeWorker(usual_result)
    begin_run(towns)
    assert script.start_entries(towns) == MAX_UNFINISHED_AUDITS_PER_SLOT * slots
    sent: list[str] = []
    with mock.patch("infrastructure.queue.enqueue", lambda task, row_id, queue=None: sent.append(task)):
        for ended in range(1, slots // 2 + 1):
            with django_capture_on_commit_callbacks(execute=True):
                script.visit(owner.organization.id)
            assert ("sites.tasks.start_entries" in sent) == (ended == slots // 2)


def test_visit_of_a_single_page_shares_no_responses(owner: Member) -> None:
    towns, script = make_numbered_list(owner), FakeWorker(usual_result)
    begin_run(towns)
    script.start_entries(towns)
    scan = Scan.objects.visits().filter(status="queued").earliest("created_at")
    claim = claim_scan(scan.id)
    assert claim is not None
    assert (claim.is_background, claim.audit_id) == (True, "")


def test_lists_share_visits_with_audits(owner: Member) -> None:
    """A list must not delay the pages of a requested audit.

    The two take turns.
    """
    Tier.objects.update(concurrent_scans=3)  # One of the three slots is reserved for interactive scans.
    towns, script = make_numbered_list(owner, 40), FakeWorker(usual_result)
    begin_run(towns)
    pages = [f"https://shop.example.org/{number}" for number in range(30)]
    request = pages_audit_request(pages, types=["security"])
    with transaction.atomic():
        insert_audit(owner.organization, request)
    for _ in range(24):
        script.start_entries(towns)
        dispatch_pages(owner.organization.id)
        script.visit(owner.organization.id)
    visited_pages = [url for url in script.visited if url in pages]
    assert 9 <= len(visited_pages) <= 15


def test_hosts_with_one_address_take_turns(owner: Member) -> None:
    resolver = Names({f"site-{number}.example.com": ["93.184.216.34"] for number in range(10)})
    towns, script = make_numbered_list(owner, 15), FakeWorker(usual_result, resolver)
    run = begin_run(towns)
    assert script.start_entries(towns) == 6
    visits = 0
    while script.visit(owner.organization.id):
        visits += 1
        script.start_entries(towns)
        running_audits = Audit.objects.filter(status="running", addresses__contains=["93.184.216.34"])
        assert running_audits.count() <= 1
    assert visits == 15
    counting.count_results(run.id)
    run.refresh_from_db()
    assert (run.status, run.done) == ("completed", 15)
    assert sorted(resolver.resolved_hosts) == sorted(f"site-{number}.example.com" for number in range(15)), (
        "each is asked once"
    )


def test_scans_of_a_list_store_ip_addresses(owner: Member) -> None:
    names = Names({"site-0.example.com": ["93.184.216.34", "2606:2800:220:1::1"]})
    towns, script = make_numbered_list(owner, 1, types=["security", "seo"]), FakeWorker(usual_result, names)
    begin_run(towns)
    script.start_entries(towns)
    lead, other = Scan.objects.order_by("lead")[:2][::-1]
    assert {lead.is_of_list, other.is_of_list, lead.is_background} == {True}
    assert Scan.objects.visits().get().addresses == ["2606:2800:220:1::1", "93.184.216.34"]


def test_hosts_without_ip_addresses_are_scanned(owner: Member) -> None:
    towns = make_numbered_list(owner, 3)
    script = FakeWorker(lambda scan: UNREACHABLE, Names({f"site-{number}.example.com": [] for number in range(3)}))
    run = script.run(towns)
    assert (run.status, run.done, run.failed, run.error_code) == ("failed", 0, 3, "URL_NOT_REACHABLE")
    assert run.error_message == "No site could be judged. No page could be judged. The site did not answer."


def test_blocked_url_fails_with_its_error_code(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 3), FakeWorker(usual_result)
    ListEntry.objects.filter(id=get_entry(towns, 1).id).update(url="https://blocked.org/", host="blocked.org")
    BlockedDomain.objects.create(domain="blocked.org")
    run = script.run(towns)
    assert (run.status, run.done, run.failed) == ("completed", 2, 1)
    entry = ListEntry.objects.get(host="blocked.org")
    assert (entry.state, entry.error_code) == ("failed", "DOMAIN_BLOCKED")


def test_run_beyond_the_quota_is_partial(owner: Member) -> None:
    Tier.objects.update(scans_per_month=7, concurrent_scans=1)
    towns, script = make_numbered_list(owner, 5, types=["security", "seo"]), FakeWorker(usual_result)
    run = script.run(towns)
    assert (run.status, run.done, run.failed, run.left_out) == ("partial", 3, 0, 2)
    assert run.error_code == "QUOTA_EXCEEDED"
    assert run.error_message.startswith("2 sites were not judged. ")
    assert Counter(result_statuses(run)) == {"done": 3, "left_out": 2}
    assert ListEntry.objects.filter(state="new").count() == 2


def test_sites_beyond_the_quota_are_omitted(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=5)
    towns, script = make_numbered_list(owner, 4), FakeWorker(usual_result)
    run = begin_run(towns)
    with mock.patch("sites.lists.starting.dispatch_pages"):
        assert script.start_entries(towns) == 4
    Tier.objects.update(scans_per_month=1)
    dispatch_pages(owner.organization.id)
    script.run_all_work(towns)
    run.refresh_from_db()
    assert (run.status, run.done, run.left_out, run.error_code) == ("partial", 1, 3, "QUOTA_EXCEEDED")


def test_run_without_quota_is_refused(owner: Member) -> None:
    Tier.objects.update(scans_per_month=0)
    towns, script = make_numbered_list(owner, every="week", next_run_at=timezone.now()), FakeWorker(usual_result)
    with pytest.raises(QuotaExceeded):
        begin_run(towns)
    runs.create_due_runs(timezone.now())
    script.run_all_work(towns)
    run = ListRun.objects.get()
    assert (run.status, run.left_out, run.error_code) == ("failed", 3, "QUOTA_EXCEEDED")


def test_list_beyond_the_plan_does_not_run(owner: Member) -> None:
    first, second = make_numbered_list(owner, 3), make_numbered_list(owner, 3, every="week", next_run_at=timezone.now())
    Tier.objects.update(list_entries=5)
    with pytest.raises(ListLimit):
        begin_run(second)
    assert begin_run(first).entries == 3
    runs.create_due_runs(timezone.now())
    script = FakeWorker(usual_result)
    script.run_all_work(second)
    run = second.runs.get()
    assert (run.status, run.error_code, run.left_out) == ("failed", "LIST_LIMIT", 3)


def test_entries_do_not_start_during_overload(owner: Member) -> None:
    towns, script = make_numbered_list(owner), FakeWorker(usual_result)
    begin_run(towns)
    with mock.patch("sites.lists.starting.overload_s", return_value=100.0):
        assert script.start_entries(towns) == 0
    assert script.start_entries(towns) == 3


def test_lists_use_half_of_hourly_site_audits(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=2)
    towns, script = make_numbered_list(owner, 15, pages_per_entry=5), FakeWorker(usual_result)
    single = make_numbered_list(owner, 1, name="One page each")
    begin_run(towns)
    assert script.start_entries(towns) == 4
    audit = Audit.objects.latest("created_at")
    assert (audit.kind, audit.max_pages) == ("site", 5)
    Audit.objects.update(status="failed")
    while script.start_entries(towns):
        Audit.objects.update(status="failed")
    assert Audit.objects.filter(kind="site").count() == 10
    begin_run(single)
    assert script.start_entries(single) == 1, "lists of single pages do not wait for those"


def test_deleted_entry_is_removed_from_the_run(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=1)
    towns, script = make_numbered_list(owner, 5), FakeWorker(usual_result)
    run = begin_run(towns)
    script.start_entries(towns)
    waiting = ListResult.objects.filter(status="waiting").first()
    started = ListResult.objects.filter(status="started").first()
    assert waiting
    assert started
    ListEntry.objects.filter(id__in=[waiting.entry_id, started.entry_id]).delete()
    script.run_all_work(towns)
    run.refresh_from_db()
    assert (run.status, run.entries, run.done, run.left_out) == ("completed", 4, 4, 0)


def test_run_ends_without_entries(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 2), FakeWorker(usual_result)
    run = begin_run(towns)
    ListEntry.objects.all().delete()
    script.run_all_work(towns)
    run.refresh_from_db()
    assert (run.status, run.entries) == ("failed", 0)


def test_running_list_can_be_deleted(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 8), FakeWorker(usual_result)
    run = begin_run(towns)
    script.start_entries(towns)
    SiteList.objects.filter(id=towns.id).delete()
    while script.visit(owner.organization.id):
        pass
    assert counting.count_results(run.id) == 0
    assert script.start_entries(towns) == 0
    assert not ListResult.objects.exists()


def test_cancelled_run_ends_queued_scans(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=3)
    towns, script = make_numbered_list(owner, 10), FakeWorker(usual_result)
    run = begin_run(towns)
    script.start_entries(towns)
    script.visit(owner.organization.id)
    counting.count_results(run.id)
    caller = key_caller(owner.organization.id)
    cancelled = runs.cancel_run(caller=caller, list_id=towns.id, run_id=run.id)
    assert (cancelled.status, cancelled.done, cancelled.left_out) == ("cancelled", 1, 9)
    assert Counter(result_statuses(run)) == {"done": 1, "left_out": 9}
    assert not Scan.objects.filter(status="queued").exists()
    assert not Audit.objects.filter(status="running").exists()
    assert MonthlyUsage.objects.get().used == 1
    assert script.start_entries(towns) == 0
    again = runs.cancel_run(caller=caller, list_id=towns.id, run_id=run.id)
    assert again.ended_at == cancelled.ended_at
    assert ActivityEvent.objects.filter(action="list.run_cancelled").count() == 1
    with pytest.raises(NotFound, match="no run"):
        runs.cancel_run(caller=caller, list_id=towns.id, run_id="run_1111111111111111111111")


def test_late_visit_does_not_change_the_run(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 2), FakeWorker(usual_result)
    run = begin_run(towns)
    script.start_entries(towns)
    claim = claim_scan(Scan.objects.visits()[0].id)
    assert claim
    cancelled = runs.cancel_run(caller=key_caller(owner.organization.id), list_id=towns.id, run_id=run.id)
    assert (cancelled.status, cancelled.left_out) == ("cancelled", 2)
    assert finish_scan(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    assert Counter(result_statuses(run)) == {"left_out": 2}
    assert not ListResult.objects.exclude(findings=[]).exists()


def test_closed_organization_starts_no_runs(owner: Member) -> None:
    towns, script = (
        make_numbered_list(owner, 5, every="week", next_run_at=timezone.now() + HOUR),
        FakeWorker(usual_result),
    )
    run = begin_run(towns)
    runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id=get_entry(towns, 0).id)
    script.start_entries(towns)
    organization = owner.organization
    organization_closed.send(Organization, organization=organization)
    Organization.objects.update(closed_at=timezone.now())
    run.refresh_from_db()
    towns.refresh_from_db()
    assert (run.status, towns.next_run_at) == ("cancelled", None)
    assert script.start_entries(towns) == 0
    counting.count_missed_results(timezone.now(), lambda: True)
    assert not ListResult.objects.filter(status__in=ListResult.UNFINISHED).exists()


def test_single_scan_updates_only_its_entry(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 2), FakeWorker(usual_result)
    run = script.run(towns)
    entry = get_entry(towns, 1)
    better = FakeWorker(lambda scan: (90, []), script.names)
    result = runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id=entry.id)
    assert (result.run, result.entry, result.status) == (None, entry, "waiting")
    with pytest.raises(ListRunning):
        runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id=entry.id)
    better.run_all_work(towns)
    entry.refresh_from_db()
    assert (entry.security_score, entry.security_change, entry.failing, entry.history) == (90, 10, [], [80, 90])
    assert entry.result_id == result.id
    before = run.ended_at
    run.refresh_from_db()
    assert (run.ended_at, run.done) == (before, 2)
    assert run.counts.get(tag="").data["scores"] == {"security": {"80": 2}}
    with pytest.raises(NotFound, match="no entry"):
        runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id="ent_x")


def test_single_scans_precede_a_run(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=1)
    towns, script = make_numbered_list(owner, 10), FakeWorker(usual_result)
    begin_run(towns)
    script.start_entries(towns)
    caller = key_caller(owner.organization.id)
    chosen = [get_entry(towns, number).id for number in (3, 7)]
    assert runs.scan_entries(caller=caller, list_id=towns.id, entry_ids=[*chosen, "ent_unknown", chosen[0]]) == 2
    assert runs.scan_entries(caller=caller, list_id=towns.id, entry_ids=chosen) == 0
    script.visit(owner.organization.id)
    script.start_entries(towns)
    started = ListResult.objects.filter(run=None, status="started")
    assert started.count() == 1


def test_scans_beyond_the_quota_are_refused(owner: Member) -> None:
    Tier.objects.update(scans_per_month=2)
    towns = make_numbered_list(owner, 3)
    ids = list(towns.entries.values_list("id", flat=True))
    with pytest.raises(QuotaExceeded):
        runs.scan_entries(caller=key_caller(owner.organization.id), list_id=towns.id, entry_ids=ids)
    assert not ListResult.objects.exists()


def test_periodic_tasks_alone_complete_a_run(owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Periodic tasks must complete a run without messages.

    Every queue message may be lost.
    """
    Tier.objects.update(concurrent_scans=2)
    towns, script = make_numbered_list(owner, 9, every="week", next_run_at=timezone.now()), FakeWorker(usual_result)
    original_look_up = addresses.resolve_targets
    monkeypatch.setattr(
        "scans.addresses.resolve_targets", lambda targets, policy, _: original_look_up(targets, policy, script.names)
    )
    ticks = 0
    while not ListRun.objects.filter(status="completed").exists():
        assert tasks.run_lists.has_work()
        tasks.run_lists()
        script.visit(owner.organization.id)
        ticks += 1
        assert ticks < 30
    assert not tasks.run_lists.has_work()
    assert Counter(script.visited) == Counter(entry.url for entry in towns.entries.all())


def test_deleted_audit_does_not_block_its_run(owner: Member) -> None:
    towns, script = make_numbered_list(owner, 2), FakeWorker(usual_result)
    run = begin_run(towns)
    script.start_entries(towns)
    Audit.objects.filter(list_result__entry=get_entry(towns, 0)).delete()
    script.run_all_work(towns)
    run.refresh_from_db()
    assert (run.status, run.done, run.left_out, run.error_code) == ("partial", 1, 1, "AUDIT_GONE")


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_schedulers_start_an_entry_once() -> None:
    owner = member_of("Owner", "business")
    towns = [make_numbered_list(owner, 20, every="week", next_run_at=timezone.now()) for _ in range(3)]
    names = Names()

    def schedule_and_start(_: int) -> None:
        try:
            runs.create_due_runs(timezone.now())
            starting.start_entries(owner.organization.id, timezone.now(), resolver=names)
        finally:
            close_connections()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(schedule_and_start, range(12)))
    schedule_and_start(0)
    assert ListRun.objects.count() == len(towns)
    started = ListResult.objects.filter(status="started")
    # The lists share hosts, and only one audit at a time may scan a host.
    assert started.count() == Audit.objects.count() == 20
    assert Counter(started.values_list("url", flat=True)).most_common(1)[0][1] == 1


def test_killed_start_is_rolled_back(owner: Member) -> None:
    towns, script = make_numbered_list(owner), FakeWorker(usual_result)
    begin_run(towns)
    killed = mock.patch("sites.lists.starting.insert_audit", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt), transaction.atomic():
        script.start_entries(towns)
    assert set(ListResult.objects.values_list("status", flat=True)) == {"waiting"}
    assert not Audit.objects.exists()
    assert script.start_entries(towns) == 3
