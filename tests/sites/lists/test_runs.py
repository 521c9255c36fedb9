"""Runs of lists: each entry is scanned once, at its start time, even after crashes, cancellations and deletions."""

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
from sites.lists.schedule import next_run
from sites.lists.services import ListLimit, ListRunning
from sites.models import Audit, ListEntry, ListResult, ListRun, SiteList
from tests.factories import Member, key_caller, make_result, member_of
from tests.sites.audits.cast import request_for
from tests.sites.lists.running import HOUR, UNREACHABLE, Names, Script, entry_of, listed, statuses, usual
from tests.threads import close_connections

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(db: None) -> Member:
    return member_of("Owner", "business")


def begin(site_list: SiteList) -> ListRun:
    return runs.begin_run(caller=key_caller(site_list.organization_id), list_id=site_list.id)


def test_run_scans_each_entry_once(owner: Member) -> None:
    towns, script = listed(owner, 30), Script(usual)
    run = script.run(towns)
    assert (run.status, run.entries, run.done, run.failed, run.left_out) == ("completed", 30, 30, 0, 0)
    assert Counter(script.visited) == Counter(each.url for each in towns.entries.all())
    assert Audit.objects.filter(run_of="list").count() == 30
    assert MonthlyUsage.objects.get().used == 30
    assert run.ended_at is not None


def test_starts_are_spread_evenly_in_a_different_order_for_each_run(owner: Member) -> None:
    towns = listed(owner, 48, window_hours=24)
    first = begin(towns)
    starts = list(first.results.order_by("position").values_list("starts_at", "entry"))
    assert [at for at, _ in starts] == [first.started_at + number * HOUR / 2 for number in range(48)]
    runs.cancel_run(caller=key_caller(owner.organization.id), list_id=towns.id, run_id=first.id)
    second = begin(towns)
    order = list(second.results.order_by("position").values_list("entry", flat=True))
    assert sorted(order) == sorted(entry for _, entry in starts)
    assert order != [entry for _, entry in starts]


def test_entries_start_at_their_start_time(owner: Member) -> None:
    towns, script = listed(owner, 12, window_hours=24), Script(usual)
    run = begin(towns)
    assert script.start(towns, run.started_at) == 1
    assert script.start(towns, run.started_at + 1.9 * HOUR) == 0
    assert script.start(towns, run.started_at + 2 * HOUR) == 1
    assert script.start(towns, run.started_at + 23 * HOUR) == 10


def test_due_list_begins_one_run(owner: Member) -> None:
    now = timezone.now()
    towns = listed(owner, every="week", next_run_at=now - timedelta(minutes=1))
    listed(owner, name="Not due", every="week", next_run_at=now + timedelta(minutes=1))
    assert runs.create_due(now) == 1
    assert runs.create_due(now) == 0
    run = ListRun.objects.get()
    assert (run.site_list, run.is_requested, run.entries, run.kept_days) == (towns, False, 3, 1_100)
    towns.refresh_from_db()
    assert towns.next_run_at == next_run(towns, now)


def test_due_list_with_unfinished_run_begins_no_second_run(owner: Member) -> None:
    now = timezone.now()
    towns = listed(owner, every="week", next_run_at=now)
    begin(towns)
    assert runs.create_due(now) == 1
    assert ListRun.objects.count() == 1
    towns.refresh_from_db()
    assert towns.next_run_at is not None
    assert towns.next_run_at > now
    with pytest.raises(ListRunning):
        begin(towns)


def test_list_without_sites_begins_no_run(owner: Member) -> None:
    now = timezone.now()
    empty = listed(owner, 0, every="month", next_run_at=now)
    with pytest.raises(InvalidParams):
        begin(empty)
    assert runs.create_due(now) == 1
    assert not ListRun.objects.exists()


def test_list_of_another_organization_is_not_found(owner: Member, stranger: Member) -> None:
    towns = listed(owner)
    run = begin(towns)
    caller = key_caller(stranger.organization.id)
    entry_id = entry_of(towns, 0).id
    for refused in (
        lambda: runs.begin_run(caller=caller, list_id=towns.id),
        lambda: runs.cancel_run(caller=caller, list_id=towns.id, run_id=run.id),
        lambda: runs.scan_entry(caller=caller, list_id=towns.id, entry_id=entry_id),
        lambda: runs.scan_entries(caller=caller, list_id=towns.id, entry_ids=[entry_id]),
    ):
        with pytest.raises(NotFound, match="no list"):
            refused()


def test_unfinished_audits_are_limited_and_ended_audits_start_the_next(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=3)
    towns, script = listed(owner, 20), Script(usual)
    begin(towns)
    assert script.start(towns) == 3 * starting.UNFINISHED_PER_SLOT
    assert script.start(towns) == 0
    script.visit(owner.organization.id)
    assert script.start(towns) == 1


def test_ended_audit_enqueues_next_start_and_count(
    owner: Member, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    Tier.objects.update(concurrent_scans=1)
    towns, script = listed(owner, 3), Script(usual)
    run = begin(towns)
    script.start(towns)
    sent: list[tuple[str, str]] = []
    with (
        mock.patch("infrastructure.queue.enqueue", lambda task, row_id, queue=None: sent.append((task, row_id))),
        django_capture_on_commit_callbacks(execute=True),
    ):
        script.visit(owner.organization.id)
    assert ("sites.tasks.start_entries", str(owner.organization.id)) in sent
    assert ("sites.tasks.count_results", run.id) in sent


def test_lists_and_a_requested_audit_share_visits_fairly(owner: Member) -> None:
    """Otherwise each new entry of a list would be scanned before the next page of a requested audit."""
    Tier.objects.update(concurrent_scans=3)  # of which one is for interactive scans
    towns, script = listed(owner, 40), Script(usual)
    begin(towns)
    pages = [f"https://shop.example.org/{number}" for number in range(30)]
    request = request_for(pages, types=["security"])
    with transaction.atomic():
        insert_audit(owner.organization, request)
    for _ in range(24):
        script.start(towns)
        dispatch_pages(owner.organization.id)
        script.visit(owner.organization.id)
    asked_for = [each for each in script.visited if each in pages]
    assert 9 <= len(asked_for) <= 15


def test_hosts_with_the_same_ip_address_are_audited_one_at_a_time(owner: Member) -> None:
    shared = Names({f"site-{number}.example.com": ["93.184.216.34"] for number in range(10)})
    towns, script = listed(owner, 15), Script(usual, shared)
    run = begin(towns)
    assert script.start(towns) == 6
    visits = 0
    while script.visit(owner.organization.id):
        visits += 1
        script.start(towns)
        under_way = Audit.objects.filter(status="running", addresses__contains=["93.184.216.34"])
        assert under_way.count() <= 1
    assert visits == 15
    counting.count_results(run.id)
    run.refresh_from_db()
    assert (run.status, run.done) == ("completed", 15)
    assert sorted(shared.asked) == sorted(f"site-{number}.example.com" for number in range(15)), "each is asked once"


def test_scans_of_a_list_store_ip_addresses(owner: Member) -> None:
    names = Names({"site-0.example.com": ["93.184.216.34", "2606:2800:220:1::1"]})
    towns, script = listed(owner, 1, types=["security", "seo"]), Script(usual, names)
    begin(towns)
    script.start(towns)
    lead, other = Scan.objects.order_by("lead")[:2][::-1]
    assert {lead.is_of_list, other.is_of_list, lead.is_background} == {True}
    assert Scan.objects.visits().get().addresses == ["2606:2800:220:1::1", "93.184.216.34"]


def test_hosts_without_ip_addresses_are_scanned(owner: Member) -> None:
    towns = listed(owner, 3)
    script = Script(lambda scan: UNREACHABLE, Names({f"site-{number}.example.com": [] for number in range(3)}))
    run = script.run(towns)
    assert (run.status, run.done, run.failed, run.error_code) == ("failed", 0, 3, "URL_NOT_REACHABLE")
    assert run.error_message == "No site could be judged. No page could be judged. The site did not answer."


def test_url_blocked_by_policy_fails_with_its_error_code(owner: Member) -> None:
    towns, script = listed(owner, 3), Script(usual)
    ListEntry.objects.filter(id=entry_of(towns, 1).id).update(url="https://blocked.org/", host="blocked.org")
    BlockedDomain.objects.create(domain="blocked.org")
    run = script.run(towns)
    assert (run.status, run.done, run.failed) == ("completed", 2, 1)
    entry = ListEntry.objects.get(host="blocked.org")
    assert (entry.state, entry.error_code) == ("failed", "DOMAIN_BLOCKED")


def test_run_out_of_quota_ends_partial_with_number_of_sites_left_out(owner: Member) -> None:
    Tier.objects.update(scans_per_month=7, concurrent_scans=1)
    towns, script = listed(owner, 5, types=["security", "seo"]), Script(usual)
    run = script.run(towns)
    assert (run.status, run.done, run.failed, run.left_out) == ("partial", 3, 0, 2)
    assert run.error_code == "QUOTA_EXCEEDED"
    assert run.error_message.startswith("2 sites were not judged. ")
    assert Counter(statuses(run)) == {"done": 3, "left_out": 2}
    assert ListEntry.objects.filter(state="new").count() == 2


def test_audit_without_remaining_quota_leaves_its_site_out(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=5)
    towns, script = listed(owner, 4), Script(usual)
    run = begin(towns)
    with mock.patch("sites.lists.starting.dispatch_pages"):
        assert script.start(towns) == 4
    Tier.objects.update(scans_per_month=1)
    dispatch_pages(owner.organization.id)
    script.work_off(towns)
    run.refresh_from_db()
    assert (run.status, run.done, run.left_out, run.error_code) == ("partial", 1, 3, "QUOTA_EXCEEDED")


def test_exhausted_quota_refuses_requested_run_and_fails_due_run(owner: Member) -> None:
    Tier.objects.update(scans_per_month=0)
    towns, script = listed(owner, every="week", next_run_at=timezone.now()), Script(usual)
    with pytest.raises(QuotaExceeded):
        begin(towns)
    runs.create_due(timezone.now())
    script.work_off(towns)
    run = ListRun.objects.get()
    assert (run.status, run.left_out, run.error_code) == ("failed", 3, "QUOTA_EXCEEDED")


def test_list_beyond_the_plan_does_not_run(owner: Member) -> None:
    first, second = listed(owner, 3), listed(owner, 3, every="week", next_run_at=timezone.now())
    Tier.objects.update(list_entries=5)
    with pytest.raises(ListLimit):
        begin(second)
    assert begin(first).entries == 3
    runs.create_due(timezone.now())
    script = Script(usual)
    script.work_off(second)
    run = second.runs.get()
    assert (run.status, run.error_code, run.left_out) == ("failed", "LIST_LIMIT", 3)


def test_entries_do_not_start_during_overload(owner: Member) -> None:
    towns, script = listed(owner), Script(usual)
    begin(towns)
    with mock.patch("sites.lists.starting.overload_s", return_value=100.0):
        assert script.start(towns) == 0
    assert script.start(towns) == 3


def test_lists_use_at_most_half_of_hourly_site_audits(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=2)
    towns, script = listed(owner, 15, pages_per_entry=5), Script(usual)
    single = listed(owner, 1, name="One page each")
    begin(towns)
    assert script.start(towns) == 4
    audit = Audit.objects.latest("created_at")
    assert (audit.kind, audit.max_pages) == ("site", 5)
    Audit.objects.update(status="failed")
    while script.start(towns):
        Audit.objects.update(status="failed")
    assert Audit.objects.filter(kind="site").count() == 10
    begin(single)
    assert script.start(single) == 1, "lists of single pages do not wait for those"


def test_entry_deleted_before_its_start_is_removed_from_the_run(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=1)
    towns, script = listed(owner, 5), Script(usual)
    run = begin(towns)
    script.start(towns)
    waiting = ListResult.objects.filter(status="waiting").first()
    started = ListResult.objects.filter(status="started").first()
    assert waiting
    assert started
    ListEntry.objects.filter(id__in=[waiting.entry_id, started.entry_id]).delete()
    script.work_off(towns)
    run.refresh_from_db()
    assert (run.status, run.entries, run.done, run.left_out) == ("completed", 4, 4, 0)


def test_run_ends_when_all_its_entries_are_deleted(owner: Member) -> None:
    towns, script = listed(owner, 2), Script(usual)
    run = begin(towns)
    ListEntry.objects.all().delete()
    script.work_off(towns)
    run.refresh_from_db()
    assert (run.status, run.entries) == ("failed", 0)


def test_running_list_can_be_deleted(owner: Member) -> None:
    towns, script = listed(owner, 8), Script(usual)
    run = begin(towns)
    script.start(towns)
    SiteList.objects.filter(id=towns.id).delete()
    while script.visit(owner.organization.id):
        pass
    assert counting.count_results(run.id) == 0
    assert script.start(towns) == 0
    assert not ListResult.objects.exists()


def test_cancelled_run_ends_waiting_results_and_queued_scans(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=3)
    towns, script = listed(owner, 10), Script(usual)
    run = begin(towns)
    script.start(towns)
    script.visit(owner.organization.id)
    counting.count_results(run.id)
    caller = key_caller(owner.organization.id)
    cancelled = runs.cancel_run(caller=caller, list_id=towns.id, run_id=run.id)
    assert (cancelled.status, cancelled.done, cancelled.left_out) == ("cancelled", 1, 9)
    assert Counter(statuses(run)) == {"done": 1, "left_out": 9}
    assert not Scan.objects.filter(status="queued").exists()
    assert not Audit.objects.filter(status="running").exists()
    assert MonthlyUsage.objects.get().used == 1
    assert script.start(towns) == 0
    again = runs.cancel_run(caller=caller, list_id=towns.id, run_id=run.id)
    assert again.ended_at == cancelled.ended_at
    assert ActivityEvent.objects.filter(action="list.run_cancelled").count() == 1
    with pytest.raises(NotFound, match="no run"):
        runs.cancel_run(caller=caller, list_id=towns.id, run_id="run_1111111111111111111111")


def test_late_visits_do_not_change_a_cancelled_run(owner: Member) -> None:
    towns, script = listed(owner, 2), Script(usual)
    run = begin(towns)
    script.start(towns)
    claim = claim_scan(Scan.objects.visits()[0].id)
    assert claim
    cancelled = runs.cancel_run(caller=key_caller(owner.organization.id), list_id=towns.id, run_id=run.id)
    assert (cancelled.status, cancelled.left_out) == ("cancelled", 2)
    assert finish_scan(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    assert Counter(statuses(run)) == {"left_out": 2}
    assert not ListResult.objects.exclude(findings=[]).exists()


def test_closed_organization_begins_no_runs(owner: Member) -> None:
    towns, script = listed(owner, 5, every="week", next_run_at=timezone.now() + HOUR), Script(usual)
    run = begin(towns)
    runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id=entry_of(towns, 0).id)
    script.start(towns)
    organization = owner.organization
    organization_closed.send(Organization, organization=organization)
    Organization.objects.update(closed_at=timezone.now())
    run.refresh_from_db()
    towns.refresh_from_db()
    assert (run.status, towns.next_run_at) == ("cancelled", None)
    assert script.start(towns) == 0
    counting.count_missed(timezone.now(), lambda: True)
    assert not ListResult.objects.filter(status__in=ListResult.UNFINISHED).exists()


def test_single_scan_updates_only_its_entry(owner: Member) -> None:
    towns, script = listed(owner, 2), Script(usual)
    run = script.run(towns)
    entry = entry_of(towns, 1)
    better = Script(lambda scan: (90, []), script.names)
    look = runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id=entry.id)
    assert (look.run, look.entry, look.status) == (None, entry, "waiting")
    with pytest.raises(ListRunning):
        runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id=entry.id)
    better.work_off(towns)
    entry.refresh_from_db()
    assert (entry.security_score, entry.security_change, entry.failing, entry.history) == (90, 10, [], [80, 90])
    assert entry.result_id == look.id
    before = run.ended_at
    run.refresh_from_db()
    assert (run.ended_at, run.done) == (before, 2)
    assert run.counts.get(tag="").data["scores"] == {"security": {"80": 2}}
    with pytest.raises(NotFound, match="no entry"):
        runs.scan_entry(caller=key_caller(owner.organization.id), list_id=towns.id, entry_id="ent_x")


def test_single_scans_start_before_results_of_a_run(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=1)
    towns, script = listed(owner, 10), Script(usual)
    begin(towns)
    script.start(towns)
    caller = key_caller(owner.organization.id)
    chosen = [entry_of(towns, number).id for number in (3, 7)]
    assert runs.scan_entries(caller=caller, list_id=towns.id, entry_ids=[*chosen, "ent_unknown", chosen[0]]) == 2
    assert runs.scan_entries(caller=caller, list_id=towns.id, entry_ids=chosen) == 0
    script.visit(owner.organization.id)
    script.start(towns)
    started = ListResult.objects.filter(run=None, status="started")
    assert started.count() == 1


def test_single_scans_beyond_the_quota_are_all_refused(owner: Member) -> None:
    Tier.objects.update(scans_per_month=2)
    towns = listed(owner, 3)
    ids = list(towns.entries.values_list("id", flat=True))
    with pytest.raises(QuotaExceeded):
        runs.scan_entries(caller=key_caller(owner.organization.id), list_id=towns.id, entry_ids=ids)
    assert not ListResult.objects.exists()


def test_periodic_tasks_alone_complete_a_run(owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Periodic tasks complete the run even if every message of the queue is lost."""
    Tier.objects.update(concurrent_scans=2)
    towns, script = listed(owner, 9, every="week", next_run_at=timezone.now()), Script(usual)
    look_up = addresses.look_up
    monkeypatch.setattr("scans.addresses.look_up", lambda targets, policy, _: look_up(targets, policy, script.names))
    ticks = 0
    while not ListRun.objects.filter(status="completed").exists():
        assert tasks.run_lists.has_work()
        tasks.run_lists()
        script.visit(owner.organization.id)
        ticks += 1
        assert ticks < 30
    assert not tasks.run_lists.has_work()
    assert Counter(script.visited) == Counter(each.url for each in towns.entries.all())


def test_result_with_deleted_audit_does_not_block_its_run(owner: Member) -> None:
    towns, script = listed(owner, 2), Script(usual)
    run = begin(towns)
    script.start(towns)
    Audit.objects.filter(list_result__entry=entry_of(towns, 0)).delete()
    script.work_off(towns)
    run.refresh_from_db()
    assert (run.status, run.done, run.left_out, run.error_code) == ("partial", 1, 1, "AUDIT_GONE")


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_schedulers_and_starters_start_each_entry_once() -> None:
    owner = member_of("Owner", "business")
    towns = [listed(owner, 20, every="week", next_run_at=timezone.now()) for _ in range(3)]
    names = Names()

    def work(_: int) -> None:
        try:
            runs.create_due(timezone.now())
            starting.start_entries(owner.organization.id, timezone.now(), resolver=names)
        finally:
            close_connections()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(12)))
    work(0)
    assert ListRun.objects.count() == len(towns)
    started = ListResult.objects.filter(status="started")
    # Of the hosts that are in all three lists, one name is under way at a time.
    assert started.count() == Audit.objects.count() == 20
    assert Counter(started.values_list("url", flat=True)).most_common(1)[0][1] == 1


def test_killed_start_is_rolled_back(owner: Member) -> None:
    towns, script = listed(owner), Script(usual)
    begin(towns)
    killed = mock.patch("sites.lists.starting.insert_audit", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt), transaction.atomic():
        script.start(towns)
    assert set(ListResult.objects.values_list("status", flat=True)) == {"waiting"}
    assert not Audit.objects.exists()
    assert script.start(towns) == 3
