"""Worker task that discovers the pages of a site for an audit."""

from __future__ import annotations

import logging

from celery.exceptions import SoftTimeLimitExceeded

from accounts.usage import responsible_account
from infrastructure.leases import Renewal, written
from scans.credentials import credentials_for_target
from scans.policy import scan_policy
from scans.visits.other_sites import OtherSites
from scans.visits.queue import Worker
from scans.visits.shared_responses import answers_of
from sites.audits import services
from sites.models import Audit
from website_scan.crawl.discovery.discover import Discovery, Wish, discover, discovery_limits
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.targets import parse_target
from website_scan.result import ScanError

logger = logging.getLogger(__name__)

TIME_LIMIT_S = 300
# Discovery collects spare URLs, which replace URLs that turn out not to be pages: 5, and one more for every 10 pages.
MIN_SPARE_PAGES, PAGES_PER_SPARE_PAGE = 5, 10
# The network's time limit is longer than that of discovery, whose error message is clearer.
NETWORK_LIMIT_S = TIME_LIMIT_S + 5


def discover_pages(worker: Worker) -> None:
    """Claim the next audit that needs discovery and find its pages, which then wait for dispatch."""
    claim = services.claim_discovery(worker)
    if claim is None:
        return
    audit = Audit.objects.get(id=claim.audit_id)
    discovery = _discover(audit, claim)
    if not written(lambda: _save_discovery(claim, discovery)):
        logger.warning("another attempt discovered the pages of %s, or the audit was cancelled", audit.id)
    services.wake_next_discovery()


def _save_discovery(claim: services.DiscoveryClaim, discovery: Discovery) -> bool:
    """Store the discovered pages.

    Stores a refusal instead if the scan policy has changed. Returns False if the claim was lost.
    """
    try:
        policy = scan_policy()
        pages = [(url, parse_target(url, policy).origin) for url in discovery.pages]
    except Refusal as refusal:  # The policy has changed since discovery began.
        discovery, pages = _failed_discovery(ScanError(refusal.code, str(refusal))), []
    return services.finish_discovery(
        claim,
        pages,
        found=discovery.found,
        notes=discovery.notes,
        error=discovery.error,
        spare_pages=discovery.spare,
        follows_links=discovery.has_unread_links,
    )


def _failed_discovery(error: ScanError) -> Discovery:
    return Discovery(pages=(), notes=(), is_complete=False, found=0, error=error)


def _discover(audit: Audit, claim: services.DiscoveryClaim) -> Discovery:
    try:
        wish = Wish(
            start=parse_target(audit.url, scan_policy()),
            discover=frozenset(audit.discover),
            max_pages=audit.max_pages,
            include=tuple(audit.include),
            exclude=tuple(audit.exclude),
            spare=MIN_SPARE_PAGES + audit.max_pages // PAGES_PER_SPARE_PAGE,
        )
        limits = discovery_limits(audit.max_pages)
        count = 0

        def report_count(found_count: int) -> None:
            nonlocal count
            count = found_count

        with (
            OtherSites(wish.start, responsible_account(audit.organization_id)) as others,
            Network(
                wish.start.policy,
                limits=limits,
                time_limit_s=NETWORK_LIMIT_S,
                credentials=credentials_for_target(audit, wish.start),
                answers=answers_of(audit.id),
                shared=others,
            ) as network,
            Renewal(services.DISCOVERY_LEASE, lambda: services.renew_discovery(claim, count), network.close),
        ):
            return discover(wish, network, report_count, TIME_LIMIT_S)
    except Refusal as refusal:  # The policy has changed since the audit was accepted.
        error = ScanError(refusal.code, str(refusal))
    except SoftTimeLimitExceeded:
        error = ScanError("TIMEOUT", f"The pages were not found within {TIME_LIMIT_S} seconds.")
    except Exception:
        logger.exception("the pages of %s could not be discovered", audit.id)
        error = ScanError("INTERNAL_ERROR", "The search for pages failed on our side.")
    return _failed_discovery(error)
