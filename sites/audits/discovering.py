"""Discovery of a site's pages by a worker."""

from __future__ import annotations

import logging

from celery.exceptions import SoftTimeLimitExceeded

from accounts.usage import account_of
from infrastructure.leases import Renewal, written
from scans.credentials import shown_by
from scans.policy import scan_policy
from scans.visits.other_sites import OtherSites
from scans.visits.queue import Worker
from sites.audits import services
from sites.models import Audit
from website_scan.crawl.discovery.discover import Discovery, Wish, discover, discovery_limits
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.targets import parse_target
from website_scan.result import ScanError

logger = logging.getLogger(__name__)

TIME_LIMIT_S = 300
# Pages found beyond the list, which replace those that turn out to be none when they are visited.
SPARE, PAGES_FOR_ANOTHER = 5, 10
# Longer, so that the search ends by its own time limit, whose message is clearer.
NETWORK_LIMIT_S = TIME_LIMIT_S + 5


def discover_pages(worker: Worker) -> None:
    """Run one attempt at discovery for the audit whose turn it is; the pages found then wait for slots."""
    claim = services.claim_discovery(worker)
    if claim is None:
        return
    audit = Audit.objects.get(id=claim.audit_id)
    found = _discover(audit, claim)
    if not written(lambda: _finish(claim, found)):
        logger.warning("the pages of %s were looked for by another attempt, or it was cancelled", audit.id)
    services.wake_next_discovery()


def _finish(claim: services.DiscoveryClaim, found: Discovery) -> bool:
    """Write the found pages through `finish_discovery` if the policy still allows them, else the refusal."""
    try:
        policy = scan_policy()
        pages = [(url, parse_target(url, policy).origin) for url in found.pages]
    except Refusal as refusal:  # the policy has changed since the search began
        found, pages = _failed(ScanError(refusal.code, str(refusal))), []
    return services.finish_discovery(
        claim,
        pages,
        found=found.found,
        notes=found.notes,
        error=found.error,
        spare_pages=found.spare,
        follows_links=found.has_unread_links,
    )


def _failed(error: ScanError) -> Discovery:
    return Discovery(pages=(), notes=(), is_complete=False, found=0, error=error)


def _discover(audit: Audit, claim: services.DiscoveryClaim) -> Discovery:
    try:
        wish = Wish(
            start=parse_target(audit.url, scan_policy()),
            discover=frozenset(audit.discover),
            max_pages=audit.max_pages,
            include=tuple(audit.include),
            exclude=tuple(audit.exclude),
            spare=SPARE + audit.max_pages // PAGES_FOR_ANOTHER,
        )
        limits = discovery_limits(audit.max_pages)
        count = 0

        def tell(found: int) -> None:
            nonlocal count
            count = found

        with (
            OtherSites(wish.start, account_of(audit.organization_id)) as others,
            Network(
                wish.start.policy,
                limits=limits,
                time_limit_s=NETWORK_LIMIT_S,
                credentials=shown_by(audit, wish.start),
                shared=others,
            ) as network,
            Renewal(services.DISCOVERY_LEASE, lambda: services.renew_discovery(claim, count), network.close),
        ):
            return discover(wish, network, tell, TIME_LIMIT_S)
    except Refusal as refusal:  # the policy has changed since the audit was accepted
        error = ScanError(refusal.code, str(refusal))
    except SoftTimeLimitExceeded:
        error = ScanError("TIMEOUT", f"The pages were not found within {TIME_LIMIT_S} seconds.")
    except Exception:
        logger.exception("the pages of %s could not be looked for", audit.id)
        error = ScanError("INTERNAL_ERROR", "The search for pages failed on our side.")
    return _failed(error)
