"""Rules of the queues in SQL: which visit is next, and whether a worker may take it. One named text for each rule.

`next_turn_sql` joins the texts into one statement, so that a claim is one round trip under the lock. Its parameters:
`queue` and the `types` whose scans use it; the `worker`'s name; `share`, the slots of a worker that one organization
may use; `common`, the slots that are not reserved; `background`, the slots for pages of audits; `per_domain`, the
visits of a domain at the same time; `max_attempts`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from scans.audit_sql import audit_sql
from scans.models import SCAN_LEASE

HELD = SCAN_LEASE.sql()
QUEUED = "status = 'queued' AND lead_id IS NULL"
RUNNING = f"status = 'scanning' AND lead_id IS NULL AND {HELD}"
INTERRUPTED = f"status = 'scanning' AND lead_id IS NULL AND NOT {HELD}"


def with_queries(queries: Mapping[str, str]) -> str:
    """Return the WITH clause for queries by name."""
    return "WITH RECURSIVE " + ", ".join(f"{name} AS ({query})" for name, query in queries.items())


def waiting_organizations(condition: str = "TRUE") -> str:
    """Return the query of the organizations with a queued visit that meets the condition; the last row is NULL.

    It is a loose index scan from organization to organization, so its cost does not depend on the number of scans.
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
    """  # noqa: S608  # of constants


# Domains at their limit of visits, or in the pause between two: `busy` for all visits, `busy_for_pages` for pages of
# audits, because the last slot of a domain is reserved for interactive scans.
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

# Limits of a worker only matter between organizations: they would slow a single organization down.
SEVERAL = "SELECT count(*) > 1 AS is_true FROM (SELECT FROM accounts_organization LIMIT 2) AS organizations"
IS_ONLY_ORGANIZATION = "NOT (SELECT is_true FROM several)"

# Visits of this queue that run for each organization: everywhere, and in this worker's slots.
RUNNING_VISITS = f"""
    SELECT organization_id, count(*) AS visits, count(*) FILTER (WHERE NOT is_background) AS waited_for,
        count(*) FILTER (WHERE worker = %(worker)s AND NOT is_background) AS here,
        count(*) FILTER (WHERE worker = %(worker)s AND is_background) AS background_here
    FROM scans_scan WHERE {RUNNING} AND type = ANY(%(types)s) GROUP BY organization_id
"""  # noqa: S608  # of constants

# Slots of this worker that are in use, by visits of any queue and by discoveries of pages.
USED_SLOTS = f"""
    SELECT count(*) + (SELECT slots FROM discovering) AS slots FROM scans_scan
    WHERE {RUNNING} AND worker = %(worker)s
"""  # noqa: S608  # of constants

# Addresses that visits are at. A visit of a list waits for them, because a list may have thousands of names on a host.
VISITED_ADDRESSES = f"""
    SELECT coalesce(array_agg(address), '{{}}') AS addresses FROM scans_scan, unnest(addresses) AS address
    WHERE {RUNNING}
"""  # noqa: S608  # of constants
ADDRESS_IS_FREE = "NOT (is_of_list AND coalesce(addresses && (SELECT addresses FROM visited_addresses), FALSE))"

# A visit of this queue that has an attempt left and whose domain is free.
MAY_BEGIN = """
    type = ANY(%(types)s) AND attempts < %(max_attempts)s AND domain NOT IN (SELECT domain FROM busy)
"""
PAGE_MAY_BEGIN = "(NOT is_background OR domain NOT IN (SELECT domain FROM busy_for_pages))"

# Interrupted visits go first, the oldest before the others: their organization has had its turn.
FIRST_INTERRUPTED = f"""
    SELECT 1 AS rank, id, organization_id, type, TRUE AS is_here FROM scans_scan
    WHERE {INTERRUPTED} AND {MAY_BEGIN} AND {ADDRESS_IS_FREE} ORDER BY created_at, id LIMIT 1
"""  # noqa: S608  # of constants

# An organization's own order: interactive scans before pages of audits, then the oldest visit.
FIRST_OF_ORGANIZATION = f"""
    SELECT id, type, created_at, is_background FROM scans_scan
    WHERE organization_id = waiting.organization_id AND {QUEUED} AND {MAY_BEGIN} AND {PAGE_MAY_BEGIN}
        AND {ADDRESS_IS_FREE}
    ORDER BY is_background, created_at, id LIMIT 1
"""  # noqa: S608  # of constants

# An organization may use its share of a worker's slots, because browsers are few; its pages of audits have a share of
# their own.
WITHIN_SHARE = f"""(
    coalesce(CASE WHEN scan.is_background THEN running.background_here ELSE running.here END, 0) < %(share)s
    OR {IS_ONLY_ORGANIZATION}
)"""
# Pages of audits, discoveries included, leave a slot of the worker to interactive scans, unless it has only one slot.
LEAVES_A_SLOT = """(
    NOT scan.is_background
    OR (SELECT coalesce(sum(background_here), 0) FROM running)
        < greatest(1, %(background)s - (SELECT slots FROM discovering))
)"""
# The last third of a worker's slots is reserved for interactive scans of organizations without another one running.
IS_NOT_RESERVED = f"""(
    NOT scan.is_background AND coalesce(running.waited_for, 0) = 0
    OR (SELECT slots FROM used) < %(common)s OR {IS_ONLY_ORGANIZATION}
)"""  # noqa: S608  # of constants

# Order between organizations: what this worker may take, then interactive scans, then the organization with the fewest
# running visits, then the one with the longest wait since its last turn in this queue.
BETWEEN_ORGANIZATIONS = """
    place.is_here DESC, scan.is_background, coalesce(running.visits, 0), turn.taken_at NULLS FIRST,
    scan.created_at, scan.id
"""


@functools.cache
def next_turn_sql() -> str:
    """Return the query of the visit whose turn it is: rank, ID, organization, type, and `is_here`.

    Limits of the worker's slots only decide `is_here`: if no visit is for this worker, the first one for another is
    returned.
    """
    queries = {
        "several": SEVERAL,
        "waiting (organization_id)": waiting_organizations(),
        "running": RUNNING_VISITS,
        "discovering (slots)": audit_sql().discovery_slots,
        "used": USED_SLOTS,
        "visited_addresses": VISITED_ADDRESSES,
        **DOMAINS,
    }
    return f"""
        {with_queries(queries)}
        ({FIRST_INTERRUPTED}) UNION ALL (
            SELECT 2 AS rank, scan.id, waiting.organization_id, scan.type, place.is_here FROM waiting
            LEFT JOIN running ON running.organization_id = waiting.organization_id
            LEFT JOIN scans_turn AS turn ON turn.organization_id = waiting.organization_id AND turn.queue = %(queue)s
            CROSS JOIN LATERAL ({FIRST_OF_ORGANIZATION}) AS scan
            CROSS JOIN LATERAL (SELECT {WITHIN_SHARE} AND {LEAVES_A_SLOT} AND {IS_NOT_RESERVED} AS is_here) AS place
            ORDER BY {BETWEEN_ORGANIZATIONS} LIMIT 1
        )
        ORDER BY rank LIMIT 1
    """  # noqa: S608  # of constants
