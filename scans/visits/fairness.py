"""SQL rules of the queues.

They determine which visit is next, and whether a worker may claim it. Each rule is a constant. `next_turn_sql` joins
the rules into one statement, so that a claim needs one round trip while it holds the lock. Parameters: `queue` and the
`types` whose scans use it; `has_journeys`, whether runs of journeys use it; the `worker`'s name; `share`, the slots of
a worker that one organization may use; `common`, the slots that are not reserved; `background`, the slots for pages of
audits; `per_domain`, the concurrent visits of a domain; `max_attempts`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from scans.audit_sql import audit_sql
from scans.models import SCAN_LEASE

IS_LEASED = SCAN_LEASE.sql()
# Runs of journeys are in the queue of the browser, whatever their types.
IS_IN_QUEUE = "CASE WHEN is_of_journey THEN %(has_journeys)s ELSE type = ANY(%(types)s) END"
QUEUED = "status = 'queued' AND lead_id IS NULL"
RUNNING = f"status = 'scanning' AND lead_id IS NULL AND {IS_LEASED}"
INTERRUPTED = f"status = 'scanning' AND lead_id IS NULL AND NOT {IS_LEASED}"


def with_clause(queries: Mapping[str, str]) -> str:
    """Return a WITH RECURSIVE clause for the named queries."""
    return "WITH RECURSIVE " + ", ".join(f"{name} AS ({query})" for name, query in queries.items())


def waiting_organizations(condition: str = "TRUE") -> str:
    """Return the SQL query for organizations with a queued visit that meets the condition.

    The last row is NULL. The query is a loose index scan from organization to organization, so its cost does not depend
    on the number of scans.
    """
    return f"""
        (
            SELECT organization_id FROM scans_scan WHERE {QUEUED} AND {condition}
            ORDER BY organization_id LIMIT 1
        )
        UNION ALL
        SELECT (
            SELECT other.organization_id FROM scans_scan AS other
            WHERE {QUEUED} AND {condition} AND other.organization_id > waiting.organization_id
            ORDER BY other.organization_id LIMIT 1
        )
        FROM waiting WHERE waiting.organization_id IS NOT NULL
    """  # noqa: S608  # built from constants only


# These queries select domains that have reached their limit of visits or are in the pause between two visits. `busy`
# applies to all visits, `busy_for_pages` to pages of audits, because the last slot of a domain is reserved for
# interactive scans.
DOMAINS = {
    "visited": f"""
        SELECT domain, count(*) AS visits FROM scans_scan WHERE {RUNNING} AND domain <> ''
        GROUP BY domain HAVING count(*) >= greatest(1, %(per_domain)s - 1)
    """,  # noqa: S608  # of constants
    "resting": """
        SELECT domain FROM scans_domainturn
        WHERE free_at > statement_timestamp() AND taken_at <= statement_timestamp()
    """,
    "busy_for_pages": "SELECT domain FROM visited UNION ALL SELECT domain FROM resting",
    "busy": "SELECT domain FROM visited WHERE visits >= %(per_domain)s UNION ALL SELECT domain FROM resting",
}

# Limits within a worker only apply if there are several organizations, because they would only slow down a single
# organization.
SEVERAL = "SELECT count(*) > 1 AS is_true FROM (SELECT FROM accounts_organization LIMIT 2) AS organizations"
IS_SINGLE_ORGANIZATION = "NOT (SELECT is_true FROM several)"

# This query counts the running visits of the queue by organization: in all workers, and in the slots of this worker.
RUNNING_VISITS = f"""
    SELECT organization_id, count(*) AS visits, count(*) FILTER (WHERE NOT is_background) AS waited_for,
        count(*) FILTER (WHERE worker = %(worker)s AND NOT is_background) AS here,
        count(*) FILTER (WHERE worker = %(worker)s AND is_background) AS background_here
    FROM scans_scan WHERE {RUNNING} AND {IS_IN_QUEUE} GROUP BY organization_id
"""  # noqa: S608  # of constants

# This query counts the worker's slots that are used by visits of any queue and by the discovery of pages.
USED_SLOTS = f"""
    SELECT count(*) + (SELECT slots FROM discovering) AS slots FROM scans_scan
    WHERE {RUNNING} AND worker = %(worker)s
"""  # noqa: S608  # of constants

# These queries select the IP addresses of running visits, and those for which visits wait. Any number of names can lead
# to one address, so visits of different domains to it run one after the other. Visits of one domain run at the same
# time there, within its limit, unless a visit of another domain waits for the address. Visits of lists always wait.
ADDRESSES = {
    "visited_addresses": f"""
        SELECT address, domain FROM scans_scan, unnest(addresses) AS address WHERE {RUNNING}
    """,  # noqa: S608  # of constants
    "awaited_addresses": f"""
        SELECT DISTINCT address, domain FROM scans_scan, unnest(addresses) AS address
        WHERE {QUEUED} AND addresses && (SELECT coalesce(array_agg(address), '{{}}') FROM visited_addresses)
    """,  # noqa: S608  # of constants
}
ADDRESS_IS_FREE = """NOT EXISTS (
    SELECT FROM visited_addresses AS visited
    WHERE visited.address = ANY(scans_scan.addresses) AND (
        scans_scan.is_of_list OR visited.domain <> scans_scan.domain OR EXISTS (
            SELECT FROM awaited_addresses AS awaited
            WHERE awaited.address = visited.address AND awaited.domain <> scans_scan.domain
        )
    )
)"""

# This condition selects visits of the queue with an attempt left and a free domain.
VISIT_MAY_BEGIN = f"""
    {IS_IN_QUEUE} AND attempts < %(max_attempts)s AND domain NOT IN (SELECT domain FROM busy)
"""  # noqa: S608  # of constants
DOMAIN_LIMIT_CONDITION = "(NOT is_background OR domain NOT IN (SELECT domain FROM busy_for_pages))"

# Interrupted visits come first, oldest first, because their organizations have already had their turn.
NEXT_INTERRUPTED_VISIT = f"""
    SELECT 1 AS rank, id, organization_id, TRUE AS is_here FROM scans_scan
    WHERE {INTERRUPTED} AND {VISIT_MAY_BEGIN} AND {ADDRESS_IS_FREE} ORDER BY created_at, id LIMIT 1
"""  # noqa: S608  # of constants

# This query selects the next visit of one organization: interactive scans before pages of audits, then the oldest
# visit.
NEXT_VISIT_OF_ORGANIZATION = f"""
    SELECT id, created_at, is_background FROM scans_scan
    WHERE organization_id = waiting.organization_id AND {QUEUED} AND {VISIT_MAY_BEGIN} AND {DOMAIN_LIMIT_CONDITION}
        AND {ADDRESS_IS_FREE}
    ORDER BY is_background, created_at, id LIMIT 1
"""  # noqa: S608  # of constants

# An organization may only use its share of a worker's slots, because browsers are few. Its pages of audits have a share
# of the same size.
IS_WITHIN_SHARE = f"""(
    coalesce(CASE WHEN scan.is_background THEN running.background_here ELSE running.here END, 0) < %(share)s
    OR {IS_SINGLE_ORGANIZATION}
)"""
# Pages of audits and discoveries leave one slot of the worker to interactive scans, unless the worker has only one.
LEAVES_INTERACTIVE_SLOT = """(
    NOT scan.is_background
    OR (SELECT coalesce(sum(background_here), 0) FROM running)
        < greatest(1, %(background)s - (SELECT slots FROM discovering))
)"""
# The last third of a worker's slots is reserved for interactive scans of organizations without a running interactive
# scan.
HAS_UNRESERVED_SLOT = f"""(
    NOT scan.is_background AND coalesce(running.waited_for, 0) = 0
    OR (SELECT slots FROM used) < %(common)s OR {IS_SINGLE_ORGANIZATION}
)"""  # noqa: S608  # of constants

# Organizations are ordered by these criteria: visits that this worker may claim, then interactive scans, then the
# fewest running visits, then the longest wait since the last turn in this queue.
ORDER_OF_ORGANIZATIONS = """
    place.is_here DESC, scan.is_background, coalesce(running.visits, 0), turn.taken_at NULLS FIRST,
    scan.created_at, scan.id
"""


@functools.cache
def next_turn_sql() -> str:
    """Return the SQL query that selects the next visit.

    Its columns are rank, ID, organization and `is_here`. `is_here` is True if the limits of this worker's slots
    allow the visit. If no visit is allowed in this worker, the first visit for another worker is returned.
    """
    queries = {
        "several": SEVERAL,
        "waiting (organization_id)": waiting_organizations(),
        "running": RUNNING_VISITS,
        "discovering (slots)": audit_sql().discovery_slots,
        "used": USED_SLOTS,
        **ADDRESSES,
        **DOMAINS,
    }
    return f"""
        {with_clause(queries)}
        ({NEXT_INTERRUPTED_VISIT}) UNION ALL (
            SELECT 2 AS rank, scan.id, waiting.organization_id, place.is_here FROM waiting
            LEFT JOIN running ON running.organization_id = waiting.organization_id
            LEFT JOIN scans_turn AS turn ON turn.organization_id = waiting.organization_id AND turn.queue = %(queue)s
            CROSS JOIN LATERAL ({NEXT_VISIT_OF_ORGANIZATION}) AS scan
            CROSS JOIN LATERAL (
                SELECT {IS_WITHIN_SHARE} AND {LEAVES_INTERACTIVE_SLOT} AND {HAS_UNRESERVED_SLOT} AS is_here
            ) AS place
            ORDER BY {ORDER_OF_ORGANIZATIONS} LIMIT 1
        )
        ORDER BY rank LIMIT 1
    """  # noqa: S608  # of constants
