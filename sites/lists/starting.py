"""Start of lists' entries: results whose time has come become audits, few at once for each organization.

Addresses of hosts are looked up before, without a transaction. The start itself is one, under the organization's lock.
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

STARTED_AT_ONCE = 20  # in one transaction
# Entries whose addresses are looked up before their turn, in one batch.
LOOKED_UP_AT_ONCE = 64
# Maximum number of an organization's unfinished audits of lists for each of its slots: the others keep waiting.
UNFINISHED_PER_SLOT = 2
# Share of the hourly number of audits of sites that lists may use; the rest is for audits that somebody waits for.
SHARE_OF_SITES = 0.5
# First key of the advisory lock under which addresses are looked up; the second one is the organization.
LOOK_UP_LOCK = 0x6C697374
# Results whose turn it is: single looks first, because somebody waits for them. Of the results with an address at which
# an audit of a list is under way none comes, so that one host with many names takes one place only. The index of a
# list's waiting results has their order, so only the first ones of each list are read.
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
    """Result that may start. `addresses` are None until they have been looked up; a result `is_gone` with its entry."""

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
        dispatch_pages(organization_id)
    return total


def _room(organization: Organization) -> int:
    """Return how many more audits of lists the organization may have under way."""
    audits = Audit.objects.filter(organization=organization, run_of=Audit.RunOf.LIST, status__in=UNFINISHED)
    return UNFINISHED_PER_SLOT * organization.tier.concurrent_scans - audits.count()


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
            request = _request(turn, policy, pages_per_audit)
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


def _request(turn: Turn, policy: Policy, pages_per_audit: int) -> AuditRequest:
    """Return the request for an entry's audit: of its page, or of its site up to the list's number of pages.

    Raises InvalidUrl or Blocked.
    """
    pages = min(turn.pages, pages_per_audit)
    kind = Audit.Kind.PAGE if pages == 1 else Audit.Kind.SITE
    target = parse_address(turn.url, policy, kind)
    return AuditRequest.of(kind, [target], pages_per_audit, types=turn.types, max_pages=pages)


def _leave_out(organization_id: int, turn: Turn, limits: usage.TierLimits, now: datetime) -> None:
    """Leave out what waits of a run, or a single look, because the month's quota is used up."""
    try:
        usage.refuse_beyond_quota(organization_id, limits, len(turn.types), now)
    except usage.QuotaExceeded as refusal:
        with transaction.atomic():
            run = counting.locked_run(turn.run_id) if turn.run_id is not None else None
            if run is not None:
                counting.leave_waiting(run, refusal, now)
            else:
                looks = ListResult.objects.filter(id=turn.result_id, status=ListResult.Status.WAITING)
                counting.end_waiting(looks, refusal, now)
