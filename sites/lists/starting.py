"""Start of due list results, each with an audit.

Only a few audits per organization run at the same time. Host names are resolved first, outside a transaction. Audits
are then inserted in a transaction that has locked the organization.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from msgspec import Struct

from accounts import access, usage
from accounts.models import Organization
from infrastructure import queue
from infrastructure.api.inputs import parse_address
from scans import addresses
from scans.policy import scan_policy
from scans.visits.overload import AUDIT_SHARE_OF_WAIT_LIMIT, overload_s
from sites.audits.dispatch import dispatch_pages
from sites.audits.requests import AuditRequest
from sites.audits.services import insert_audit, remaining_site_audits
from sites.lists import counting, leaving_out
from sites.lists.collecting import enqueue_count
from sites.lists.room import room
from sites.models import Audit, ListResult, ListRun, SiteList
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver
from website_scan.net.targets import parse_target
from website_scan.viewing import Viewing

# A transaction starts at most this number of results.
MAX_STARTED_RESULTS = 20
# A batch resolves the host names of at most this number of results.
MAX_RESOLVED_RESULTS = 64
# Lists may use this share of the hourly limit of site audits. The rest is for audits that people wait for.
SHARE_OF_SITES = 0.5
# First key of the PostgreSQL advisory lock for resolving host names. The second key is the organization.
RESOLUTION_LOCK = 0x6C697374
# Selects the next results to start. Results outside a run are first, because a user waits for them. A result is skipped
# while another list audit scans the same IP address, so that a server with many host names gets one audit at a time.
# The sort order is that of the index of waiting results, so PostgreSQL reads only the first results of each list.
NEXT = """
    WITH reached AS (
        SELECT coalesce(array_agg(address), '{}') AS addresses FROM sites_audit, unnest(addresses) AS address
        WHERE organization_id = %(organization)s AND status IN ('queued', 'discovering', 'running') AND run_of = 'list'
    ), due AS (
        SELECT result.*, list.types, list.pages_per_entry, list.categories
        FROM sites_sitelist AS list CROSS JOIN LATERAL (
            SELECT id, run_id, entry_id IS NULL AS is_gone, addresses, url, starts_at, position FROM sites_listresult
            WHERE site_list_id = list.id AND run_id IS NULL AND {is_due}
        ) AS result
        WHERE list.organization_id = %(organization)s AND list.deleted_at IS NULL
            AND (%(sites)s OR list.pages_per_entry = 1)
        UNION ALL
        SELECT result.*, run.types, run.pages_per_entry, run.categories
        FROM sites_sitelist AS list
        JOIN sites_listrun AS run ON run.site_list_id = list.id AND run.status = 'running' AND run.error_code = ''
        CROSS JOIN LATERAL (
            SELECT id, run_id, entry_id IS NULL AS is_gone, addresses, url, starts_at, position FROM sites_listresult
            WHERE site_list_id = list.id AND run_id = run.id AND {is_due}
            ORDER BY starts_at, position LIMIT %(limit)s
        ) AS result
        WHERE list.organization_id = %(organization)s AND list.deleted_at IS NULL
            AND (%(sites)s OR run.pages_per_entry = 1)
    )
    SELECT id, run_id, is_gone, addresses, url, types, pages_per_entry, categories FROM due
    ORDER BY run_id IS NOT NULL, starts_at, position, id LIMIT %(limit)s
""".replace(
    "{is_due}",
    "status = 'waiting' AND starts_at <= %(now)s AND NOT coalesce(addresses && (SELECT addresses FROM reached), FALSE)",
)


class DueResult(Struct, frozen=True):
    """List result that is due to start.

    `addresses` is None until the host is resolved. `is_deleted` is True if the entry was deleted.
    """

    result_id: int
    run_id: str | None
    is_deleted: bool
    addresses: list[str] | None
    url: str
    types: tuple[str, ...]
    pages: int
    categories: list[str] | None


def start_due(now: datetime, has_time: Callable[[], bool]) -> int:
    """Start the due results of all organizations and return their number."""
    # The waiting results of runs are not read here, because a run may have millions of them.
    running = ListRun.objects.filter(status=ListRun.Status.RUNNING)
    single = ListResult.objects.filter(run=None, status=ListResult.Status.WAITING, starts_at__lte=now)
    lists = SiteList.objects.filter(
        Q(id__in=running.values("site_list")) | Q(id__in=single.values("site_list")), organization__closed_at=None
    )
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
    """Start audits for an organization's due entries, up to its limits, and return their number.

    Concurrent calls are safe, because the organization's lock prevents that an entry is started twice.
    """
    policy = scan_policy()
    total = 0
    while has_time():
        _resolve_addresses(organization_id, now, policy, resolver)
        number = _start_batch(organization_id, now, policy)
        if number is None:
            break
        total += number
    if total:
        dispatch_pages(organization_id)
    return total


def _due_results(organization: Organization, now: datetime, limit: int) -> list[DueResult]:
    """Return the results to start next, in order, including results whose host is not resolved yet."""
    sites = remaining_site_audits(organization, SHARE_OF_SITES)
    rows = access.fetch_rows(NEXT, organization.id, now=now, limit=limit, sites=sites > 0)
    due_results = []
    for result_id, run_id, is_gone, host_addresses, url, types, pages, categories in rows:
        sites -= pages > 1
        if pages == 1 or sites >= 0:
            due_results.append(
                DueResult(result_id, run_id, is_gone, host_addresses, url, tuple(types), pages, categories)
            )
    return due_results


def _resolve_addresses(organization_id: int, now: datetime, policy: Policy, resolver: Resolver | None) -> None:
    """Resolve the hosts of the next results, outside a transaction, because DNS servers may take seconds.

    Only one process at a time resolves hosts for an organization. Other processes start the resolved results.
    """
    organization = Organization.objects.select_related("tier").filter(id=organization_id, closed_at=None).first()
    if organization is None or room(organization_id) <= 0:
        return
    with _resolution_lock(organization_id) as is_locked:
        if not is_locked:
            return
        unresolved = [
            due_result
            for due_result in _due_results(organization, now, MAX_RESOLVED_RESULTS)
            if due_result.addresses is None
        ]
        targets, resolved = [], {}
        for due_result in unresolved:
            try:
                targets.append((due_result.result_id, parse_target(due_result.url, policy)))
            except Refusal:
                # `_start` will record the refusal for this result.
                resolved[due_result.result_id] = list[str]()
        lookups = addresses.resolve_targets([target for _, target in targets], policy, resolver)
        resolved |= {result_id: ips for (result_id, _), ips in zip(targets, lookups, strict=True) if ips is not None}
        for result_id, ips in resolved.items():
            ListResult.objects.filter(id=result_id, addresses=None).update(addresses=ips)


@contextlib.contextmanager
def _resolution_lock(organization_id: int) -> Iterator[bool]:
    """Lock address resolution for the organization and yield True.

    Yields False if another process has the lock. PostgreSQL releases the lock if the process dies.
    """
    keys = [RESOLUTION_LOCK, organization_id % (2**31 - 1)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", keys)
        (is_locked,) = cursor.fetchone()
    try:
        yield is_locked
    finally:
        if is_locked:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", keys)


def _start_batch(organization_id: int, now: datetime, policy: Policy) -> int | None:
    """Start a batch of due results in one transaction and return their number.

    Returns None if no more results can start now.
    """
    with transaction.atomic():
        try:
            organization = usage.lock(organization_id)
        except usage.OrganizationClosed:
            return None
        limits = usage.tier_limits(organization.tier)
        capacity = min(MAX_STARTED_RESULTS, room(organization_id))
        due_results = [
            due_result
            for due_result in _due_results(organization, now, MAX_RESOLVED_RESULTS)
            if due_result.addresses is not None
        ]
        due_results = list(_with_distinct_addresses(due_results))[: max(0, capacity)]
        types = {ScanType(name) for due_result in due_results for name in due_result.types}
        if not due_results or overload_s(types, AUDIT_SHARE_OF_WAIT_LIMIT):
            return None
        if removed := _remove_deleted(due_results):
            return removed
        remaining = usage.quota(organization_id, limits, now).remaining
        results_within_quota = []
        for due_result in due_results:
            remaining -= len(due_result.types)
            if remaining < 0:
                break
            results_within_quota.append(due_result)
        started = _start_results(organization, results_within_quota, now, policy, limits.pages_per_audit)
    if results_within_quota:
        return started or None
    _leave_out_results(organization_id, due_results[0], limits, now)
    return 0


def _with_distinct_addresses(due_results: Sequence[DueResult]) -> Iterator[DueResult]:
    """Yield the results that have no IP address in common with an earlier result."""
    reached: set[str] = set()
    for due_result in due_results:
        if reached.isdisjoint(due_result.addresses or ()):
            reached.update(due_result.addresses or ())
            yield due_result


def _remove_deleted(due_results: Sequence[DueResult]) -> int:
    """Delete the waiting results of deleted entries and return their number."""
    deleted_results = [due_result for due_result in due_results if due_result.is_deleted]
    for due_result in deleted_results:
        waiting = ListResult.objects.filter(id=due_result.result_id, status=ListResult.Status.WAITING)
        deleted, _ = waiting.delete()
        if deleted and due_result.run_id is not None:
            ListRun.objects.filter(id=due_result.run_id).update(entries=F("entries") - 1)
            transaction.on_commit(functools.partial(queue.enqueue, "sites.tasks.count_results", due_result.run_id))
    return len(deleted_results)


def _start_results(
    organization: Organization, due_results: Sequence[DueResult], now: datetime, policy: Policy, pages_per_audit: int
) -> int:
    """Insert an audit for each result and return the number of results.

    A result ends if its URL is refused.
    """
    waiting = ListResult.objects.select_related("site_list").filter(status=ListResult.Status.WAITING)
    waiting = waiting.select_for_update(no_key=True, of=("self",), skip_locked=True)
    results = waiting.in_bulk([due_result.result_id for due_result in due_results])
    for due_result in due_results:
        result = results.get(due_result.result_id)
        if result is None:
            continue
        site_list = result.site_list
        try:
            request = _audit_request(due_result, policy, pages_per_audit, site_list.chosen_viewing)
        except Refusal as refusal:  # The scan policy has changed since the entry was added.
            result.status, result.ended_at = ListResult.Status.ENDED, now
            result.error_code, result.error_message = refusal.code, str(refusal)
            transaction.on_commit(functools.partial(enqueue_count, site_list.id, result.run_id))
        else:
            result.status = ListResult.Status.STARTED
            result.audit = insert_audit(
                organization,
                request,
                run_of=Audit.RunOf.LIST,
                addresses=due_result.addresses,
                api_key_id=site_list.api_key_id,
                created_by_id=site_list.created_by_id,
                credential_names=site_list.credential_names,
                encrypted_credentials=site_list.encrypted_credentials,
            )
        result.save(update_fields=["status", "ended_at", "error_code", "error_message", "audit"])
    return len(results)


def _audit_request(
    due_result: DueResult, policy: Policy, pages_per_audit: int, viewing: Viewing | None
) -> AuditRequest:
    """Return the audit request for a due result.

    It is for one page, or for the site with up to `due_result.pages` pages. Raises InvalidUrl or Blocked.
    """
    pages = min(due_result.pages, pages_per_audit)
    kind = Audit.Kind.PAGE if pages == 1 else Audit.Kind.SITE
    target = parse_address(due_result.url, policy, kind)
    return AuditRequest.of(
        kind,
        [target],
        pages_per_audit,
        types=due_result.types,
        max_pages=pages,
        viewing=viewing,
        categories=due_result.categories,
    )


def _leave_out_results(organization_id: int, due_result: DueResult, limits: usage.TierLimits, now: datetime) -> None:
    """Leave out the waiting results of a run, or a single result, because the quota is used up."""
    try:
        usage.refuse_beyond_quota(organization_id, limits, len(due_result.types), now)
    except usage.QuotaExceeded as refusal:
        with transaction.atomic():
            run = counting.lock_run(due_result.run_id) if due_result.run_id is not None else None
            if run is not None:
                leaving_out.leave_out_waiting(run, refusal, now)
            else:
                single_result = ListResult.objects.filter(id=due_result.result_id, status=ListResult.Status.WAITING)
                leaving_out.leave_out_results(single_result, refusal, now)
