"""What the members of organizations have to do now, what got better, and what is coming.

Each function executes one statement for any number of organizations. All lists have a limit, and a total.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct

from accounts import access
from scans.check_catalogue import check_name
from sites.journeys.codes import JOURNEY_FAILED
from sites.models import Monitor
from sites.monitors.outcome import NOT_CAUSED_BY_SITE
from sites.recipients import event_kinds_of, recipients_of
from sites.site_states import IS_OPEN
from website_scan.ids import is_id
from website_scan.messages import counted

MAX_PROBLEMS = 8
MAX_FIXED = 5
MAX_LISTED = 5
MAX_HOSTS = 3
MAX_SILENT = 20
RECENTLY = timedelta(days=7)
CERTIFICATES_WITHIN = timedelta(days=30)
MUTES_WITHIN = timedelta(days=14)

# Open and recently fixed findings by check, each with the number of its sites and the first of them.
PROBLEMS = f"""
    WITH open AS (
        SELECT finding.organization_id, finding.host, finding.severity, finding.type, finding.check_id, finding.title,
            finding.scan_id, finding.is_new AND finding.since > %(since)s AS is_new, FALSE AS is_fixed
        FROM sites_sitefinding AS finding WHERE finding.organization_id = ANY(%(organizations)s) AND {IS_OPEN}
    ), fixed AS (
        SELECT finding.organization_id, finding.host, finding.severity, finding.type, finding.check_id, finding.title,
            finding.scan_id, FALSE, TRUE
        FROM sites_sitefinding AS finding
        WHERE finding.organization_id = ANY(%(organizations)s) AND finding.fixed_at > %(since)s
            AND NOT EXISTS (
                SELECT FROM sites_sitefinding AS other
                WHERE other.organization_id = finding.organization_id AND other.host = finding.host
                    AND other.type = finding.type AND other.check_id = finding.check_id AND other.fixed_at IS NULL
            )
    ), groups AS (
        SELECT is_fixed, severity = 'critical' AS is_critical, type, check_id,
            CASE WHEN min(title) = max(title) THEN min(title) ELSE '' END AS title,
            count(DISTINCT (organization_id, host)) AS sites,
            count(DISTINCT (organization_id, host)) FILTER (WHERE is_new) AS new_sites,
            (array_agg(DISTINCT host))[1:%(hosts)s] AS hosts, min(scan_id) AS scan_id
        FROM (SELECT * FROM open UNION ALL SELECT * FROM fixed) AS finding
        GROUP BY is_fixed, severity = 'critical', type, check_id
    ), ranked AS (
        SELECT *, row_number() OVER (
            PARTITION BY is_fixed ORDER BY is_critical DESC, new_sites > 0 DESC, sites DESC, check_id
        ) AS rank, count(*) OVER (PARTITION BY is_fixed) AS total
        FROM groups
    )
    SELECT is_fixed, total, is_critical, type, check_id, title, sites, new_sites, hosts, scan_id FROM ranked
    WHERE rank <= CASE WHEN is_fixed THEN %(fixed)s ELSE %(problems)s END ORDER BY is_fixed, rank
"""  # noqa: S608  # of constants
# Outages of sites and monitors, failed runs, and pauses that nobody asked for. A monitor of a site that is itself
# unreachable is left out.
FAILURES = """
    WITH failures AS (
        SELECT 'down' AS kind, organization_id, host AS name, '' AS id, failing_since AS at,
            error_message AS reason
        FROM sites_sitestate WHERE organization_id = ANY(%(organizations)s) AND failing_since IS NOT NULL
        UNION ALL
        SELECT 'down', monitor.organization_id, monitor.name, monitor.id, monitor.failing_since, ''
        FROM sites_monitor AS monitor
        WHERE monitor.organization_id = ANY(%(organizations)s) AND monitor.failing_since IS NOT NULL
            AND monitor.paused_at IS NULL AND monitor.memory -> 'is_step_failure' IS DISTINCT FROM 'true'
            AND NOT EXISTS (
                SELECT FROM sites_sitestate AS state
                WHERE state.organization_id = monitor.organization_id AND state.failing_since IS NOT NULL
                    AND state.host = substring(monitor.pages[1] FROM '^https?://([^/?#]+)')
            )
        UNION ALL
        SELECT 'paused', organization_id, name, id, paused_at, pause_reason FROM sites_monitor
        WHERE organization_id = ANY(%(organizations)s) AND pause_reason = ANY(%(pauses)s)
        UNION ALL
        SELECT 'failed', monitor.organization_id, monitor.name, monitor.id, run.due_at, run.error_message
        FROM sites_monitor AS monitor
        CROSS JOIN LATERAL (
            SELECT due_at, status, error_code, error_message FROM sites_monitorrun
            WHERE monitor_id = monitor.id AND status IN ('done', 'failed') ORDER BY due_at DESC LIMIT 1
        ) AS run
        WHERE monitor.organization_id = ANY(%(organizations)s) AND monitor.paused_at IS NULL
            AND run.status = 'failed' AND run.error_code = ANY(%(codes)s)
        UNION ALL
        SELECT 'failed', list.organization_id, list.name, list.id, run.started_at, run.error_message
        FROM sites_sitelist AS list
        CROSS JOIN LATERAL (
            SELECT started_at, status, error_message FROM sites_listrun
            WHERE site_list_id = list.id ORDER BY started_at DESC, id DESC LIMIT 1
        ) AS run
        WHERE list.organization_id = ANY(%(organizations)s) AND list.deleted_at IS NULL AND run.status = 'failed'
    )
    SELECT kind, total, organization_id, name, id, at, reason FROM (
        SELECT *, count(*) OVER (PARTITION BY kind) AS total,
            row_number() OVER (PARTITION BY kind ORDER BY at DESC, name) AS rank
        FROM failures
    ) AS ranked WHERE rank <= %(most)s ORDER BY kind, rank
"""
# Certificates that expire soon by host, and the numbers and first ends of mutes that end soon.
ENDS = """
    SELECT 'certificate', organization_id, certificate_host, min(certificate_expires_at), 1 FROM sites_monitor
    WHERE organization_id = ANY(%(organizations)s) AND certificate_expires_at <= %(certificates_until)s
        AND paused_at IS NULL
    GROUP BY organization_id, certificate_host
    UNION ALL
    SELECT 'mute', organization_id, min(host), min(expires_at), count(*) FROM reports_mute
    WHERE organization_id = ANY(%(organizations)s) AND ended_at IS NULL AND expires_at > %(now)s
        AND expires_at <= %(mutes_until)s
    GROUP BY organization_id
    UNION ALL
    SELECT 'monitors', organization_id, '', NULL, count(*) FROM sites_monitor
    WHERE organization_id = ANY(%(organizations)s) GROUP BY organization_id
    UNION ALL
    SELECT 'lists', organization_id, '', NULL, count(*) FROM sites_sitelist
    WHERE organization_id = ANY(%(organizations)s) AND deleted_at IS NULL GROUP BY organization_id
    ORDER BY 4 NULLS LAST, 3
"""

# Monitors without a member who sees all sites and gets their e-mails. They may still notify members who are limited to
# some sites, and webhooks, so those without webhooks come first.
# Only Python knows which sites a limited member sees: `has_limited` marks the monitors that it has to decide.
WITHOUT_READERS = """
    SELECT monitor.id, monitor.organization_id, monitor.name, EXISTS (
        SELECT FROM accounts_membership AS membership JOIN accounts_user AS person ON person.id = membership.user_id
        WHERE membership.organization_id = monitor.organization_id AND person.is_active
            AND membership.limited_to <> '{}' AND membership.user_id = ANY(monitor.recipients)
    ) AS has_limited
    FROM sites_monitor AS monitor
    WHERE monitor.organization_id = ANY(%(organizations)s) AND monitor.paused_at IS NULL AND NOT EXISTS (
        SELECT FROM accounts_membership AS membership JOIN accounts_user AS person ON person.id = membership.user_id
        WHERE membership.organization_id = monitor.organization_id AND person.is_active AND membership.limited_to = '{}'
            AND membership.user_id = ANY(monitor.recipients) AND NOT EXISTS (
                SELECT FROM accounts_unsubscription AS unsubscription
                WHERE unsubscription.user_id = person.id
                    AND unsubscription.topic IN ('monitor:' || monitor.id, 'alerts:' || monitor.organization_id)
            )
    ) AND NOT EXISTS (
        SELECT FROM webhooks_webhook AS webhook
        WHERE webhook.organization_id = monitor.organization_id AND webhook.enabled
            AND webhook.events && %(events)s::varchar[]
            AND (monitor.webhook_ids IS NULL OR webhook.id = ANY(monitor.webhook_ids))
    )
    ORDER BY monitor.name, monitor.id LIMIT %(most)s
"""

OrganizationIds: TypeAlias = Sequence[int]


class SilentMonitor(Struct, frozen=True):
    """A monitor that notifies nobody."""

    id: str
    name: str


class Problem(Struct, frozen=True):
    """Urgent findings of one check on all sites that have it.

    `hosts` are the first of them. `new_sites` have it since an otherwise good scan of the last days. `scan_id` is a
    scan with the finding.
    """

    is_critical: bool
    type: str
    check_id: str
    title: str
    sites: int
    new_sites: int
    hosts: tuple[str, ...]
    scan_id: str

    @property
    def more_sites(self) -> int:
        return self.sites - len(self.hosts)


class Problems(Struct, frozen=True):
    """Open problems, worst first, and those that were fixed recently, each with the number of all."""

    open: tuple[Problem, ...]
    open_total: int
    fixed: tuple[Problem, ...]
    fixed_total: int


class Failure(Struct, frozen=True):
    """Site, monitor or list that does not work.

    `name` is a host if `id` is empty, otherwise the name of the monitor or list.
    """

    organization_id: int
    name: str
    id: str
    at: datetime
    reason: str

    @property
    def page_name(self) -> str:
        """Return the name of the dashboard page about it."""
        return "site" if not self.id else "list" if is_id("lst", self.id) else "monitor"


class Failures(Struct, frozen=True):
    """Failures of one kind, latest first, with the number of all."""

    rows: tuple[Failure, ...] = ()
    total: int = 0

    @property
    def more(self) -> int:
        return self.total - len(self.rows)


class End(Struct, frozen=True):
    """Certificate of a host, or mutes, that end at a time."""

    organization_id: int
    host: str
    at: datetime
    number: int


class Coming(Struct, frozen=True):
    """What ends soon, and the numbers of monitors and lists by organization."""

    certificates: tuple[End, ...]
    more_certificates: int
    mutes: tuple[End, ...]
    monitors: dict[int, int]
    lists: dict[int, int]


def problems(organization_ids: OrganizationIds, now: datetime) -> Problems:
    """Return the urgent findings that are open, and those that were fixed within a week, grouped by check."""
    rows = access.fetch_rows_of_several(
        PROBLEMS,
        organization_ids,
        now=now,
        since=now - RECENTLY,
        problems=MAX_PROBLEMS,
        fixed=MAX_FIXED,
        hosts=MAX_HOSTS,
    )
    groups: dict[bool, list[Problem]] = {True: [], False: []}
    totals = {True: 0, False: 0}
    for is_fixed, total, is_critical, type, check_id, title, sites, new_sites, hosts, scan_id in rows:
        name = title or check_name(check_id)
        groups[is_fixed].append(Problem(is_critical, type, check_id, name, sites, new_sites, tuple(hosts), scan_id))
        totals[is_fixed] = total
    return Problems(tuple(groups[False]), totals[False], tuple(groups[True]), totals[True])


def failures(organization_ids: OrganizationIds) -> dict[str, Failures]:
    """Return outages (`down`), failed runs (`failed`) and forced pauses (`paused`) of sites and monitors."""
    codes = sorted(NOT_CAUSED_BY_SITE - {"SCAN_CANCELLED"} | {JOURNEY_FAILED})
    pauses = list(Monitor.FORCED_PAUSES)
    rows = access.fetch_rows_of_several(FAILURES, organization_ids, most=MAX_LISTED, codes=codes, pauses=pauses)
    by_kind: dict[str, list[Failure]] = {"down": [], "failed": [], "paused": []}
    totals: dict[str, int] = {}
    for kind, total, *columns in rows:
        by_kind[kind].append(Failure(*columns))
        totals[kind] = total
    return {kind: Failures(tuple(found), totals.get(kind, 0)) for kind, found in by_kind.items()}


def silent_monitors(organization_ids: OrganizationIds) -> list[SilentMonitor]:
    """Return the first monitors that notify nobody.

    Further statements are necessary only if recipients are limited to some sites.
    """
    events = event_kinds_of(Monitor)
    rows = access.fetch_rows_of_several(WITHOUT_READERS, organization_ids, events=events, most=MAX_SILENT)
    undecided: dict[int, list[str]] = {}
    for id, organization_id, _, has_limited in rows:
        if has_limited:
            undecided.setdefault(organization_id, []).append(id)
    notifying: set[str] = set()
    for organization_id, ids in undecided.items():
        monitors = list(access.rows(Monitor, organization_id).filter(id__in=ids))
        notifying.update(id for id, recipients in recipients_of(monitors).items() if not recipients.warning)
    return [SilentMonitor(id, name) for id, _, name, _ in rows if id not in notifying]


def coming(organization_ids: OrganizationIds, now: datetime) -> Coming:
    """Return certificates and mutes that end soon, and how many monitors and lists there are."""
    rows = access.fetch_rows_of_several(
        ENDS,
        organization_ids,
        now=now,
        certificates_until=now + CERTIFICATES_WITHIN,
        mutes_until=now + MUTES_WITHIN,
    )
    ends: dict[str, list[End]] = {"certificate": [], "mute": []}
    numbers: dict[str, dict[int, int]] = {"monitors": {}, "lists": {}}
    for kind, organization_id, host, at, number in rows:
        if kind in ends:
            ends[kind].append(End(organization_id, host, at, number))
        else:
            numbers[kind][organization_id] = number
    certificates = ends["certificate"]
    return Coming(
        certificates=tuple(certificates[:MAX_LISTED]),
        more_certificates=max(0, len(certificates) - MAX_LISTED),
        mutes=tuple(ends["mute"]),
        **numbers,
    )


def limit_sentences(used: dict[str, tuple[int, int]]) -> list[str]:
    """Return a sentence for each limit of the plan that is nearly reached, such as "9 of 10 monitors are used.".

    `used` has the number in use and the maximum by the noun in the singular.
    """
    return [
        f"{number:,} of {counted(most, noun)} in your plan {'is' if number == 1 else 'are'} used."
        for noun, (number, most) in used.items()
        if most and number * 10 >= most * 9
    ]


def quota_end(used: int, limit: int, start: datetime, end: datetime, now: datetime) -> datetime | None:
    """Return when the month's scans will be used up at the present rate, or None if they last until its end.

    In the first days of a month the rate says nothing, unless little is left.
    """
    if not limit or used >= limit or not used:
        return None
    elapsed = now - start
    if elapsed < timedelta(days=3) and used * 10 < limit * 8:
        return None
    # The end is compared before it is calculated, because a date in thousands of years would raise OverflowError.
    if elapsed / (end - start) * limit >= used:
        return None
    return start + elapsed * (limit / used)
