"""Runs of lists: begin those that are due, start their entries as audits, look at single entries again, cancel.

Rows come first: a run and all its results are inserted in one transaction, each result with the time at which it
starts. Messages only wake. Lock order: the organization, the list, the run, scans, audits, results, entries.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F, Sum
from django.utils import timezone

from accounts import access, activity, usage
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure import queue
from infrastructure.api.errors import InvalidParams
from scanner.errors import Refusal
from scanner.findings import ScanType
from scanner.ids import is_id
from scanner.net.policy import Policy
from scanner.net.resolver import Resolver
from scanner.net.targets import parse_target
from scanner.result import ScanError
from scans import addresses
from scans.models import Scan
from scans.policy import scan_policy
from scans.visits.claims import end_queued, tell_ended
from scans.visits.overload import SHARE_OF_AUDITS, overload_s
from sites.audits.release import release_pages
from sites.audits.requests import parse_audit
from sites.audits.services import cancel, insert_audit, sites_left
from sites.lists import counting
from sites.lists.collecting import count_soon
from sites.lists.schedule import next_run
from sites.lists.services import EntryNotFound, ListLimit, ListNotFound, ListRunning, RunNotFound, find_run
from sites.models import UNFINISHED, Audit, ListResult, ListRun, SiteList

# Runs begun by one call of `create_due`, and entries started in one transaction.
CREATED_AT_ONCE = 50
STARTED_AT_ONCE = 20
# Entries whose addresses are looked up before their turn, in one batch.
LOOKED_UP_AT_ONCE = 64
# Maximum number of an organization's unfinished audits of lists for each of its slots: the others keep waiting.
UNFINISHED_PER_PLACE = 2
# Share of the hourly number of audits of sites that lists may use; the rest is for audits that somebody waits for.
SHARE_OF_SITES = 0.5
# First key of the advisory lock under which addresses are looked up; the second one is the organization.
LOOK_UP_LOCK = 0x6C697374

__all__ = [
    "RunNotFound", "begin_run", "cancel_run", "create_due", "find_run", "scan_entries", "scan_entry", "start_due",
    "start_entries", "stop_lists", "stop_run",
]  # fmt: skip

CANCELLED = ScanError(
    counting.CANCELLED, "The run was cancelled before the scan had started. It does not count against your quota."
)

# The order is different in each run, and the starts are spread evenly over its window. The entries are locked, so that
# none is deleted before its result refers to it.
INSERT = """
    INSERT INTO sites_listresult (
        site_list_id, run_id, entry_id, position, starts_at, status, url, tags, error_code, error_message, moved_to,
        is_partial, pages, severities, seen, statuses, findings, facts,
        security_grade, performance_grade, accessibility_grade, seo_grade
    )
    SELECT %(list)s, %(run)s, id, nth, %(begin)s + nth * %(window)s::interval / number, 'waiting', url, tags, '', '',
        '', false, 0, '{}', '{}', '', '[]', '{}', '', '', '', ''
    FROM (
        SELECT id, url, tags, row_number() OVER (ORDER BY md5(%(run)s::text || id), id) - 1 AS nth,
            count(*) OVER () AS number
        FROM (
            SELECT id, url, tags FROM sites_listentry AS entry WHERE site_list_id = %(list)s AND {condition}
            FOR KEY SHARE
        ) AS entry
    ) AS ordered
"""
ALL = "true"
# Entries that are not being looked at by themselves already.
IDLE = """id = ANY(%(entries)s) AND NOT EXISTS (
    SELECT FROM sites_listresult AS result
    WHERE result.entry_id = entry.id AND result.run_id IS NULL AND result.status IN ('waiting', 'started', 'ended')
)"""
# Results whose turn it is: single looks first, because somebody waits for them. Of the results with an address at which
# an audit of a list is under way none comes, so that one host with many names takes one place only.
NEXT = """
    WITH reached AS (
        SELECT coalesce(array_agg(address), '{}') AS addresses FROM sites_audit, unnest(addresses) AS address
        WHERE organization_id = %(organization)s AND status IN ('queued', 'discovering', 'running') AND run_of = 'list'
    )
    SELECT result.id, result.run_id, result.entry_id IS NULL AS is_gone, result.addresses, result.url,
        coalesce(run.types, list.types), coalesce(run.pages_per_entry, list.pages_per_entry)
    FROM sites_sitelist AS list
    JOIN sites_listresult AS result ON result.site_list_id = list.id
    LEFT JOIN sites_listrun AS run ON run.id = result.run_id
    WHERE list.organization_id = %(organization)s AND result.status = 'waiting' AND result.starts_at <= %(now)s
        AND NOT coalesce(result.addresses && (SELECT addresses FROM reached), FALSE)
        AND (%(sites)s OR coalesce(run.pages_per_entry, list.pages_per_entry) = 1)
    ORDER BY result.run_id IS NOT NULL, result.starts_at, result.position, result.id
    LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """Result that may start. `addresses` are None until they have been looked up; a result `is_gone` with its entry."""

    result_id: int
    run_id: str | None
    is_gone: bool
    addresses: list[str] | None
    url: str
    types: tuple[str, ...]
    pages: int


def create_due(now: datetime) -> int:
    """Begin a run of each due list, at most `CREATED_AT_ONCE`; return the number of due lists.

    A list whose run has not ended, or that has no entries, waits for its next time. Call it until it returns less.
    """
    due = SiteList.objects.filter(next_run_at__lte=now, organization__closed_at=None).order_by("next_run_at", "id")
    ids = list(due.values_list("id", "organization_id")[:CREATED_AT_ONCE])
    for list_id, organization_id in ids:
        with contextlib.suppress(usage.OrganizationClosed), transaction.atomic():
            organization = usage.lock(organization_id)
            # By its time again: another scheduler may have begun it.
            site_list = due.select_for_update(no_key=True, of=("self",)).filter(id=list_id).first()
            if site_list is None:
                continue
            site_list.organization = organization
            site_list.next_run_at = next_run(site_list, now)
            site_list.save(update_fields=["next_run_at"])
            if not _is_running(site_list) and site_list.entries.exists():
                _begin(site_list, now, refusal=_over_plan(site_list))
    return len(ids)


def begin_run(*, caller: Caller | None = None, list_id: str) -> ListRun:
    """Begin a run of a list now; its entries start over its window. Without a caller, the service itself begins it.

    Raises ListNotFound, ListRunning, InvalidParams for a list without entries, ListLimit if the plan has become too
    small for the list, or QuotaExceeded if not even one entry could be looked at.
    """
    now = timezone.now()
    with transaction.atomic():
        site_list = _locked_list(caller, list_id)
        if _is_running(site_list):
            raise ListRunning("A run of this list is in progress. Wait until it has ended, or cancel it.")
        if not site_list.entries.exists():
            raise InvalidParams("The list has no sites yet.")
        if (refusal := _over_plan(site_list)) is not None:
            raise refusal
        _refuse_without_quota(site_list, 1, now)
        run = _begin(site_list, now, is_requested=caller is not None)
        if caller is not None:
            activity.record_call(caller, "list.run", site_list.name, list=site_list.id, entries=run.entries)
    return run


def _locked_list(caller: Caller | None, list_id: str) -> SiteList:
    """Lock the organization and then the list until the transaction ends. Raises ListNotFound."""
    lists = SiteList.objects.all() if caller is None else access.rows(SiteList, caller.organization_id)
    named = lists.filter(id=list_id) if is_id("lst", list_id) else lists.none()
    owner = named.values_list("organization_id", flat=True).first()
    organization = usage.lock(owner) if owner is not None else None
    site_list = named.select_for_update(no_key=True, of=("self",)).first()
    if site_list is None or organization is None:
        raise ListNotFound("There is no list with this ID.")
    site_list.organization = organization
    return site_list


def _is_running(site_list: SiteList) -> bool:
    return site_list.runs.filter(status=ListRun.Status.RUNNING).exists()


def _over_plan(site_list: SiteList) -> ListLimit | None:
    """Return a refusal if older lists, or their entries, already use up the plan, which may have changed."""
    tier = site_list.organization.tier
    sharing = SiteList.objects.filter(organization__in=usage.sharing_limits(site_list.organization))
    older = sharing.filter(created_at__lt=site_list.created_at)
    found = older.aggregate(lists=Count("*"), entries=Sum("entries_count"))
    if found["lists"] < tier.lists and (found["entries"] or 0) + site_list.entries_count <= tier.list_entries:
        return None
    return ListLimit("Your plan allows fewer lists or sites than you have. Delete some, or ask for a larger plan.")


def _refuse_without_quota(site_list: SiteList, entries: int, now: datetime) -> None:
    limits = usage.limits_of(site_list.organization.tier)
    usage.refuse_more_than_left(site_list.organization_id, limits, entries * len(site_list.types), now)


def _begin(
    site_list: SiteList, now: datetime, *, is_requested: bool = False, refusal: Refusal | None = None
) -> ListRun:
    """Insert a run with a result for each entry; with a refusal it ends at once. The caller holds the list's lock."""
    run = ListRun.objects.create(
        site_list=site_list,
        is_requested=is_requested,
        started_at=now,
        kept_days=site_list.organization.tier.snapshots_kept_days,
        types=site_list.types,
        pages_per_entry=site_list.pages_per_entry,
        window_hours=site_list.window_hours,
        entries=0,
    )
    run.entries = _insert_results(site_list, run, now, ALL)
    run.save(update_fields=["entries"])
    if refusal is not None:
        _leave_waiting(run, refusal, now)
    transaction.on_commit(functools.partial(_start_soon, site_list.organization_id))
    return run


def _insert_results(
    site_list: SiteList, run: ListRun | None, now: datetime, condition: str, entries: Sequence[str] = ()
) -> int:
    parameters: dict[str, Any] = {
        "list": site_list.id,
        "run": run.id if run else None,
        "begin": now,
        "window": timedelta(hours=run.window_hours if run else 0),
        "entries": list(entries),
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT.replace("{condition}", condition), parameters)
        return int(cursor.rowcount)


def _start_soon(organization_id: int) -> None:
    """Enqueue the start of an organization's due entries. If the message is lost, `run_lists` finds them."""
    queue.enqueue("sites.tasks.start_entries", str(organization_id))


def start_due(now: datetime, has_time: Callable[[], bool]) -> int:
    """Start the due entries of all organizations; return their number."""
    waiting = ListResult.objects.filter(status=ListResult.Status.WAITING, starts_at__lte=now)
    lists = SiteList.objects.filter(id__in=waiting.values("site_list"))
    organizations = list(lists.order_by().values_list("organization_id", flat=True).distinct())
    return sum(start_entries(each, timezone.now(), has_time) for each in organizations if has_time())


def start_entries(
    organization_id: int,
    now: datetime,
    has_time: Callable[[], bool] = lambda: True,
    resolver: Resolver | None = None,
) -> int:
    """Start an organization's due entries as audits while there is room for them; return their number.

    Safe at any time, in any number of processes: each entry starts under the organization's lock, once.
    """
    policy = scan_policy()
    total = 0
    while has_time():
        _look_up_addresses(organization_id, now, policy, resolver)
        number = _start_batch(organization_id, now, policy)
        if number is None:
            break
        total += number
    if total:
        release_pages(organization_id)
    return total


def _room(organization: Organization) -> int:
    """Return how many more audits of lists the organization may have under way."""
    audits = Audit.objects.filter(organization=organization, run_of=Audit.RunOf.LIST, status__in=UNFINISHED)
    return UNFINISHED_PER_PLACE * organization.tier.concurrent_scans - audits.count()


def _turns(organization: Organization, now: datetime, limit: int) -> list[Turn]:
    """Return the results whose turn it is, in this order; those with unknown addresses as well."""
    sites = sites_left(organization, SHARE_OF_SITES)
    rows = access.fetch_rows(NEXT, organization.id, now=now, limit=limit, sites=sites > 0)
    turns = []
    for result_id, run_id, is_gone, known, url, types, pages in rows:
        sites -= pages > 1
        if pages == 1 or sites >= 0:
            turns.append(Turn(result_id, run_id, is_gone, known, url, tuple(types), pages))
    return turns


def _look_up_addresses(organization_id: int, now: datetime, policy: Policy, resolver: Resolver | None) -> None:
    """Look up the addresses of the next results, outside of any transaction: name servers may take seconds.

    One process at a time does so for an organization; the others go on with the results that are known.
    """
    organization = Organization.objects.select_related("tier").filter(id=organization_id, closed_at=None).first()
    if organization is None or _room(organization) <= 0:
        return
    with _only_one(organization_id) as is_ours:
        if not is_ours:
            return
        unknown = [each for each in _turns(organization, now, LOOKED_UP_AT_ONCE) if each.addresses is None]
        targets, known = [], {}
        for turn in unknown:
            try:
                targets.append((turn.result_id, parse_target(turn.url, policy)))
            except Refusal:
                known[turn.result_id] = list[str]()  # its start says why it is refused
        found = addresses.look_up([target for _, target in targets], policy, resolver)
        known |= {result_id: each for (result_id, _), each in zip(targets, found, strict=True) if each is not None}
        for result_id, each in known.items():
            ListResult.objects.filter(id=result_id, addresses=None).update(addresses=each)


@contextlib.contextmanager
def _only_one(organization_id: int) -> Iterator[bool]:
    """Hold an advisory lock of the organization; yields False if another process has it. It ends with the process."""
    keys = [LOOK_UP_LOCK, organization_id % (2**31 - 1)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", keys)
        (is_ours,) = cursor.fetchone()
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", keys)


def _start_batch(organization_id: int, now: datetime, policy: Policy) -> int | None:
    """Start the next results in one transaction; return their number, or None if nothing more can start now."""
    with transaction.atomic():
        try:
            organization = usage.lock(organization_id)
        except usage.OrganizationClosed:
            return None
        limits = usage.limits_of(organization.tier)
        room = min(STARTED_AT_ONCE, _room(organization))
        turns = [each for each in _turns(organization, now, LOOKED_UP_AT_ONCE) if each.addresses is not None]
        turns = list(_apart(turns))[: max(0, room)]
        types = {ScanType(name) for each in turns for name in each.types}
        if not turns or overload_s(types, SHARE_OF_AUDITS):
            return None
        if removed := _remove_gone(turns):
            return removed
        left = usage.quota(organization_id, limits, now).remaining
        affordable = []
        for turn in turns:
            left -= len(turn.types)
            if left < 0:
                break
            affordable.append(turn)
        started = _start(organization, affordable, now, policy, limits.pages_per_audit)
    if affordable:
        return started or None
    _leave_out(organization_id, turns[0], limits, now)
    return 0


def _apart(turns: Sequence[Turn]) -> Iterator[Turn]:
    """Yield the turns that have no address in common with one before them."""
    reached: set[str] = set()
    for turn in turns:
        if reached.isdisjoint(turn.addresses or ()):
            reached.update(turn.addresses or ())
            yield turn


def _remove_gone(turns: Sequence[Turn]) -> int:
    """Remove results from their runs whose entries were deleted before they had started; return their number."""
    gone = [each for each in turns if each.is_gone]
    for turn in gone:
        waiting = ListResult.objects.filter(id=turn.result_id, status=ListResult.Status.WAITING)
        deleted, _ = waiting.delete()
        if deleted and turn.run_id is not None:
            ListRun.objects.filter(id=turn.run_id).update(entries=F("entries") - 1)
            transaction.on_commit(functools.partial(queue.enqueue, "sites.tasks.count_results", turn.run_id))
    return len(gone)


def _start(
    organization: Organization, turns: Sequence[Turn], now: datetime, policy: Policy, pages_per_audit: int
) -> int:
    """Insert an audit for each of these results, or end it with the refusal of its address; return their number."""
    waiting = ListResult.objects.select_related("site_list").filter(status=ListResult.Status.WAITING)
    waiting = waiting.select_for_update(no_key=True, of=("self",), skip_locked=True)
    found = waiting.in_bulk([each.result_id for each in turns])
    for turn in turns:
        result = found.get(turn.result_id)
        if result is None:
            continue
        site_list = result.site_list
        try:
            request = parse_audit(_body(turn, pages_per_audit), policy, pages_per_audit)
        except Refusal as refusal:  # the policy has changed since the entry was added
            result.status, result.ended_at = ListResult.Status.ENDED, now
            result.error_code, result.error_message = refusal.code, str(refusal)
            transaction.on_commit(functools.partial(count_soon, site_list.id, result.run_id))
        else:
            result.status = ListResult.Status.STARTED
            result.audit = insert_audit(
                organization,
                request,
                run_of=Audit.RunOf.LIST,
                addresses=turn.addresses,
                api_key_id=site_list.api_key_id,
                created_by_id=site_list.created_by_id,
                credential_names=site_list.credential_names,
                encrypted_credentials=site_list.encrypted_credentials,
            )
        result.save(update_fields=["status", "ended_at", "error_code", "error_message", "audit"])
    return len(found)


def _body(turn: Turn, pages_per_audit: int) -> dict[str, Any]:
    """Return the request body of an entry's audit: of its page, or of its site up to the list's number of pages."""
    pages = min(turn.pages, pages_per_audit)
    target: dict[str, Any] = {"page": turn.url} if pages == 1 else {"site": turn.url, "max_pages": pages}
    return {**target, "types": list(turn.types)}


def _leave_out(organization_id: int, turn: Turn, limits: usage.TierLimits, now: datetime) -> None:
    """Leave out what waits of a run, or a single look, because the month's quota is used up."""
    try:
        usage.refuse_more_than_left(organization_id, limits, len(turn.types), now)
    except usage.QuotaExceeded as refusal:
        with transaction.atomic():
            run = counting.locked_run(turn.run_id) if turn.run_id is not None else None
            if run is not None:
                _leave_waiting(run, refusal, now)
            else:
                looks = ListResult.objects.filter(id=turn.result_id, status=ListResult.Status.WAITING)
                _end_waiting(looks, refusal, now)


def _leave_waiting(run: ListRun, refusal: Refusal, now: datetime) -> None:
    """Leave out all that waits of a run, which the caller has locked; it ends when what has started has ended."""
    if run.has_ended:
        return
    run.error_code, run.error_message = refusal.code, str(refusal)
    run.save(update_fields=["error_code", "error_message"])
    _end_waiting(ListResult.objects.filter(run=run, status=ListResult.Status.WAITING), refusal, now)
    transaction.on_commit(functools.partial(queue.enqueue, "sites.tasks.count_results", run.id))


def _end_waiting(waiting: Any, refusal: Refusal | ScanError, now: datetime) -> int:
    message = refusal.message if isinstance(refusal, ScanError) else str(refusal)
    left_out = {"status": ListResult.Status.LEFT_OUT, "ended_at": now}
    return int(waiting.update(**left_out, error_code=refusal.code, error_message=message))


def scan_entry(*, caller: Caller, list_id: str, entry_id: str) -> ListResult:
    """Look at one entry again, now; return its result, which is part of no run.

    Raises ListNotFound, EntryNotFound, ListRunning if it is being looked at by itself already, or QuotaExceeded.
    """
    with transaction.atomic():
        site_list = _locked_list(caller, list_id)
        entry = site_list.entries.filter(id=entry_id).first() if is_id("ent", entry_id) else None
        if entry is None:
            raise EntryNotFound("There is no entry with this ID.")
        if not _scan(caller, site_list, [entry.id], entry.url):
            raise ListRunning("This site is being scanned. Wait until the scan has ended.")
        return ListResult.objects.filter(entry=entry, run=None).latest("id")


def scan_entries(*, caller: Caller, list_id: str, entry_ids: Sequence[str]) -> int:
    """Look at several entries again, now; return how many are, without those that are being looked at already.

    Unknown IDs are ignored. Raises ListNotFound or QuotaExceeded.
    """
    ids = [each for each in entry_ids if is_id("ent", each)]
    with transaction.atomic():
        site_list = _locked_list(caller, list_id)
        return _scan(caller, site_list, list(site_list.entries.filter(id__in=ids).values_list("id", flat=True)))


def _scan(caller: Caller, site_list: SiteList, ids: Sequence[str], url: str = "") -> int:
    now = timezone.now()
    _refuse_without_quota(site_list, len(ids), now)
    number = _insert_results(site_list, None, now, IDLE, ids)
    if number:
        activity.record_call(caller, "list.scanned", site_list.name, list=site_list.id, entries=url or number)
        transaction.on_commit(functools.partial(_start_soon, site_list.organization_id))
    return number


def cancel_run(*, caller: Caller, list_id: str, run_id: str) -> ListRun:
    """Cancel a run: running visits go on, what waits and what is queued does not start. An ended run does not change.

    Raises ListNotFound or RunNotFound.
    """
    with transaction.atomic():
        site_list = _locked_list(caller, list_id)
        run = find_run(caller.organization_id, list_id, run_id)
        if stop_run(run.id, CANCELLED, timezone.now()):
            activity.record_call(caller, "list.run_cancelled", site_list.name, list=site_list.id, run=run.id)
    run.refresh_from_db()
    return run


def stop_run(run_id: str, reason: ScanError, now: datetime) -> bool:
    """End a run as cancelled, with all that has not begun; return False if it had ended.

    The caller holds the organization's lock, so that no entry starts and no page is released meanwhile.
    """
    run = counting.locked_run(run_id)
    if run is None or run.has_ended:
        return False
    run.error_code, run.error_message = counting.CANCELLED, reason.message
    run.save(update_fields=["error_code", "error_message"])
    _end_waiting(ListResult.objects.filter(run=run, status=ListResult.Status.WAITING), reason, now)
    # Lock order: the scans and their counters before the audits, as at the end of a visit.
    of_run = Audit.objects.filter(list_result__run=run, status__in=UNFINISHED)
    ended = end_queued(Scan.objects.filter(audit_page__audit__in=of_run.values("id")), reason)
    for audit in counting.unfinished_audits(run):
        cancel(audit)
    tell_ended(ended)
    while counting.count_ended(run):
        pass
    counting.end_if_done(run)
    return True


def stop_lists(organization_id: int, reason: ScanError) -> None:
    """Stop all that goes on in the lists of an organization, and their schedules. The caller holds its lock."""
    now = timezone.now()
    lists = access.rows(SiteList, organization_id)
    lists.update(next_run_at=None)
    running = ListRun.objects.filter(site_list__in=lists, status=ListRun.Status.RUNNING)
    for run_id in running.order_by("id").values_list("id", flat=True):
        stop_run(run_id, reason, now)
    looks = ListResult.objects.filter(site_list__in=lists, run=None, status=ListResult.Status.WAITING)
    _end_waiting(looks, reason, now)
