"""Room for further audits of an organization's lists."""

from __future__ import annotations

from infrastructure.postgresql.statements import fetch

# Number of unfinished list audits that an organization may have for each of its slots. Further results wait.
MAX_UNFINISHED_AUDITS_PER_SLOT = 2
# Starting one audit costs nearly as much as starting many. So the end of an audit starts further ones only if there is
# room for half as many as the organization has slots. Until then, the queued audits keep the slots busy.
SLOTS_FOR_ONE_OF_BATCH = 2
SLOTS_AND_UNFINISHED = """
    SELECT tier.concurrent_scans, (
        SELECT count(*) FROM sites_audit WHERE organization_id = organization.id
            AND status IN ('queued', 'discovering', 'running') AND run_of = 'list'
    ) FROM accounts_organization AS organization JOIN accounts_tier AS tier ON tier.name = organization.tier_id
    WHERE organization.id = %(organization)s
"""


def room(organization_id: int) -> int:
    """Return how many more list audits the organization may have at the same time. Negative if over the limit."""
    slots, unfinished = _slots_and_unfinished(organization_id)
    return MAX_UNFINISHED_AUDITS_PER_SLOT * slots - unfinished


def has_room_for_batch(organization_id: int) -> bool:
    slots, unfinished = _slots_and_unfinished(organization_id)
    return MAX_UNFINISHED_AUDITS_PER_SLOT * slots - unfinished >= max(1, slots // SLOTS_FOR_ONE_OF_BATCH)


def _slots_and_unfinished(organization_id: int) -> tuple[int, int]:
    for slots, unfinished in fetch(SLOTS_AND_UNFINISHED, {"organization": organization_id}):
        return slots, unfinished
    return 0, 0  # The organization was deleted.
