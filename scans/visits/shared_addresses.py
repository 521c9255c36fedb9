"""Prevent concurrent visits of different domains with the same IP address."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from infrastructure.postgresql.statements import execute, fetch
from scans.visits.claims import ScanClaim
from scans.visits.fairness import RUNNING
from scans.visits.queue import acquire_turn_lock

STORE_ADDRESSES = """
    UPDATE scans_scan SET addresses = %(addresses)s::varchar[]
    WHERE id = %(scan)s AND claim_token = %(token)s AND status = 'scanning'
"""
FIND_VISIT_AT_ADDRESSES = f"""
    WITH visits AS (SELECT id, domain, addresses FROM scans_scan WHERE {RUNNING})
    SELECT FROM visits JOIN scans_scan AS own ON own.id = %(scan)s AND own.claim_token = %(token)s
    WHERE visits.id <> own.id AND visits.addresses && own.addresses
        AND (own.is_of_list OR visits.domain <> own.domain)
    LIMIT 1
"""  # noqa: S608  # of constants
QUEUE_AGAIN = """
    WITH held AS (
        SELECT id FROM scans_scan WHERE (id = %(scan)s OR lead_id = %(scan)s) AND claim_token = %(token)s
        ORDER BY lead_id NULLS FIRST, id FOR NO KEY UPDATE
    )
    UPDATE scans_scan AS scan SET status = 'queued', claim_token = NULL, lease_expires_at = NULL, started_at = NULL,
        attempts = attempts - 1, worker = ''
    FROM held WHERE scan.id = held.id
"""


def enter_addresses(claim: ScanClaim, addresses: Sequence[str]) -> bool:
    """Store the addresses that the visit will connect to.

    Returns False if the visit must wait for an address.

    The addresses may be new: they are unknown before visits of monitors, and DNS may have changed since the scan was
    created. If a visit of another domain is at one of them, the visit is queued again, and the attempt does not count.
    """
    if tuple(addresses) == claim.addresses:
        return True
    parameters = {"scan": claim.scan_id, "token": claim.token, "addresses": list(addresses)}
    with transaction.atomic():
        acquire_turn_lock()
        execute(STORE_ADDRESSES, parameters)
        if not fetch(FIND_VISIT_AT_ADDRESSES, parameters):
            return True
        execute(QUEUE_AGAIN, parameters)
    return False
