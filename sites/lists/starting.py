"""Start of lists' entries: due results become audits, a few at once for each organization.

IP addresses of hosts are resolved first, outside of a transaction. Audits are then inserted in a transaction that holds
the organization's lock.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from accounts import access, usage
from accounts.models import Organization
from infrastructure import queue
from infrastructure.api.inputs import parse_address
from scans import addresses
from scans.policy import scan_policy
from scans.visits.overload import SHARE_OF_AUDITS, overload_s
from sites.audits.dispatch import dispatch_pages
from sites.audits.requests import AuditRequest
from sites.audits.services import insert_audit, sites_left
from sites.lists import counting
from sites.lists.collecting import count_soon
from sites.models import UNFINISHED, Audit, ListResult, ListRun, SiteList
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver
from website_scan.net.targets import parse_target

STARTED_AT_ONCE = 20  # maximum number of results that one transaction starts
# Maximum number of due entries whose host names are resolved in one batch.
LOOKED_UP_AT_ONCE = 64
# Maximum number of unfinished audits of lists for each slot of an organization; further results wait.
UNFINISHED_PER_SLOT = 2
# Share of the hourly limit of whole-site audits that lists may use; the rest is for audits that people wait for.
SHARE_OF_SITES = 0.5
# First key of the advisory lock for resolving host names; the second key is the organization.
LOOK_UP_LOCK = 0x6C697374
# Selects the next results to start. Results outside of a run are first, because somebody waits for them. A result is
# skipped while another audit of a list scans the same IP address, so that one server with many names gets one audit at
# a time. The order is that of the index of waiting results, so PostgreSQL reads only the first results of each list.
NEXT = """
    WITH reached AS (
        SELECT coalesce(array_agg(address), '{}') AS addresses FROM sites_audit, unnest(addresses) AS address
        WHERE organization_id = %(organization)s AND status IN ('queued', 'discovering', 'running') AND run_of = 'list'
    ), due AS (
        SELECT result.*, list.types, list.pages_per_entry
        FROM sites_sitelist AS list CROSS JOIN LATERAL (
            SELECT id, run_id, entry_id IS NULL AS is_gone, addresses, url, starts_at, position FROM sites_listresult
            WHERE site_list_id = list.id AND run_id IS NULL AND {is_due}
        ) AS result
        WHERE list.organization_id = %(organization)s AND (%(sites)s OR list.pages_per_entry = 1)
        UNION ALL
        SELECT result.*, run.types, run.pages_per_entry
        FROM sites_sitelist AS list
        JOIN sites_listrun AS run ON run.site_list_id = list.id AND run.status = 'running'
        CROSS JOIN LATERAL (
            SELECT id, run_id, entry_id IS NULL AS is_gone, addresses, url, starts_at, position FROM sites_listresult
            WHERE site_list_id = list.id AND run_id = run.id AND {is_due}
            ORDER BY starts_at, position LIMIT %(limit)s
        ) AS result
        WHERE list.organization_id = %(organization)s AND (%(sites)s OR run.pages_per_entry = 1)
    )
    SELECT id, run_id, is_gone, addresses, url, types, pages_per_entry FROM due
    ORDER BY run_id IS NOT NULL, starts_at, position, id LIMIT %(limit)s
""".replace(
    "{is_due}",
    "status = 'waiting' AND starts_at <= %(now)s AND NOT coalesce(addresses && (SELECT addresses FROM reached), FALSE)",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Result that may start. `addresses` is None until the host is resolved; `is_gone` if the entry was deleted."""

    result_id: int
    run_id: str | None
    is_gone: bool
    addresses: list[str] | None
    url: str
    types: tuple[str, ...]
    pages: int


def start_due(now: datetime, has_time: Callable[[], bool]) -> int:
    """Start the due entries of all organizations; return their number."""
    waiting = ListResult.objects.filter(status=ListResult.Status.WAITING, starts_at__lte=now)
    lists = SiteList.objects.filter(id__in=waiting.values("site_list"))
    organizations = list(lists.order_by().values_list("organization_id", flat=True).distinct())
    return sum(
        start_entries(organization_id, timezone.now(), has_time) for organization_id in organizations if has_time()
    )


def start_entries(
    organization_id: int,
    now: datetime,
    has_time: Callable[[], bool] = lambda: True,
    resolver: Resolver | None = None,
) -> int:
    """Start audits of an organization's due entries, up to its limits; return their number.

    May be called at any time and by several processes: the organization's lock makes each entry start only once.
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
        dispatch_pages(organization_id)
    return total


def _capacity(organization: Organization) -> int:
    """Return how many more audits of lists the organization may run at once; negative if over the limit."""
    audits = Audit.objects.filter(organization=organization, run_of=Audit.RunOf.LIST, status__in=UNFINISHED)
    return UNFINISHED_PER_SLOT * organization.tier.concurrent_scans - audits.count()


def _turns(organization: Organization, now: datetime, limit: int) -> list[Turn]:
    """Return the results to start next, in order, including those whose host is not resolved yet."""
    sites = sites_left(organization, SHARE_OF_SITES)
    rows = access.fetch_rows(NEXT, organization.id, now=now, limit=limit, sites=sites > 0)
    turns = []
    for result_id, run_id, is_gone, host_addresses, url, types, pages in rows:
        sites -= pages > 1
        if pages == 1 or sites >= 0:
            turns.append(Turn(result_id, run_id, is_gone, host_addresses, url, tuple(types), pages))
    return turns


def _look_up_addresses(organization_id: int, now: datetime, policy: Policy, resolver: Resolver | None) -> None:
    """Resolve the hosts of the next results, outside of any transaction, because name servers may take seconds.

    Only one process at a time resolves hosts for an organization; others start the results that are resolved already.
    """
    organization = Organization.objects.select_related("tier").filter(id=organization_id, closed_at=None).first()
    if organization is None or _capacity(organization) <= 0:
        return
    with _only_one(organization_id) as is_ours:
        if not is_ours:
            return
        unresolved = [turn for turn in _turns(organization, now, LOOKED_UP_AT_ONCE) if turn.addresses is None]
        targets, resolved = [], {}
        for turn in unresolved:
            try:
                targets.append((turn.result_id, parse_target(turn.url, policy)))
            except Refusal:
                resolved[turn.result_id] = list[str]()  # _start() records the refusal
        lookups = addresses.look_up([target for _, target in targets], policy, resolver)
        resolved |= {result_id: ips for (result_id, _), ips in zip(targets, lookups, strict=True) if ips is not None}
        for result_id, ips in resolved.items():
            ListResult.objects.filter(id=result_id, addresses=None).update(addresses=ips)


@contextlib.contextmanager
def _only_one(organization_id: int) -> Iterator[bool]:
    """Hold an advisory lock of the organization, and yield True; yield False if another process holds the lock.

    PostgreSQL frees the lock if the process dies.
    """
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
        capacity = min(STARTED_AT_ONCE, _capacity(organization))
        turns = [turn for turn in _turns(organization, now, LOOKED_UP_AT_ONCE) if turn.addresses is not None]
        turns = list(_with_distinct_addresses(turns))[: max(0, capacity)]
        types = {ScanType(name) for turn in turns for name in turn.types}
        if not turns or overload_s(types, SHARE_OF_AUDITS):
            return None
        if removed := _remove_gone(turns):
            return removed
        remaining = usage.quota(organization_id, limits, now).remaining
        affordable = []
        for turn in turns:
            remaining -= len(turn.types)
            if remaining < 0:
                break
            affordable.append(turn)
        started = _start(organization, affordable, now, policy, limits.pages_per_audit)
    if affordable:
        return started or None
    _leave_out(organization_id, turns[0], limits, now)
    return 0


def _with_distinct_addresses(turns: Sequence[Turn]) -> Iterator[Turn]:
    """Yield the turns that share no IP address with an earlier turn."""
    reached: set[str] = set()
    for turn in turns:
        if reached.isdisjoint(turn.addresses or ()):
            reached.update(turn.addresses or ())
            yield turn


def _remove_gone(turns: Sequence[Turn]) -> int:
    """Delete results whose entries were deleted before the start; return the number of results."""
    gone = [turn for turn in turns if turn.is_gone]
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
    """Insert an audit for each result, or end the result if its URL is refused; return the number of results."""
    waiting = ListResult.objects.select_related("site_list").filter(status=ListResult.Status.WAITING)
    waiting = waiting.select_for_update(no_key=True, of=("self",), skip_locked=True)
    results = waiting.in_bulk([turn.result_id for turn in turns])
    for turn in turns:
        result = results.get(turn.result_id)
        if result is None:
            continue
        site_list = result.site_list
        try:
            request = _request(turn, policy, pages_per_audit)
        except Refusal as refusal:  # the network policy has changed since the entry was added
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
    return len(results)


def _request(turn: Turn, policy: Policy, pages_per_audit: int) -> AuditRequest:
    """Return the request for the audit of an entry: of one page, or of the site with up to `turn.pages` pages.

    Raises InvalidUrl or Blocked.
    """
    pages = min(turn.pages, pages_per_audit)
    kind = Audit.Kind.PAGE if pages == 1 else Audit.Kind.SITE
    target = parse_address(turn.url, policy, kind)
    return AuditRequest.of(kind, [target], pages_per_audit, types=turn.types, max_pages=pages)


def _leave_out(organization_id: int, turn: Turn, limits: usage.TierLimits, now: datetime) -> None:
    """Leave out the waiting results of a run, or a single result, because the month's quota is used up."""
    try:
        usage.refuse_beyond_quota(organization_id, limits, len(turn.types), now)
    except usage.QuotaExceeded as refusal:
        with transaction.atomic():
            run = counting.locked_run(turn.run_id) if turn.run_id is not None else None
            if run is not None:
                counting.leave_waiting(run, refusal, now)
            else:
                single_result = ListResult.objects.filter(id=turn.result_id, status=ListResult.Status.WAITING)
                counting.end_waiting(single_result, refusal, now)
