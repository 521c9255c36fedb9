"""A site's pages are looked for, by a worker."""

from __future__ import annotations

import logging
import threading
import time

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, connection

from infrastructure.postgresql.silence import log_failure
from scanner.crawl.discovery.discover import Discovery, Wish, discover, discovery_limits
from scanner.errors import Refusal
from scanner.net.client import Network
from scanner.net.targets import parse_target
from scanner.result import ScanError
from scans.credentials import shown_by
from scans.policy import scan_policy
from scans.visits.queue import Worker
from sites.audits import services
from sites.models import Audit

logger = logging.getLogger(__name__)

TIME_LIMIT_S = 300
# So that the search ends by its own time, which has the better words.
NETWORK_LIMIT_S = TIME_LIMIT_S + 5
FINISH_PAUSE_S = 1.0
# Well within the lease, so that one late write does not lose it.
RENEW_EVERY_S = services.DISCOVERY_LEASE_S / 4


def discover_pages(worker: Worker) -> None:
    """One attempt at the audit whose turn it is: what is found waits for places."""
    claim = services.claim_discovery(worker)
    if claim is None:
        return
    audit = Audit.objects.get(id=claim.audit_id)
    if not _finish(claim, _discover(audit, claim)):
        logger.warning("the pages of %s were looked for by another attempt, or it was cancelled", audit.id)
    services.wake_next_discovery()


def _finish(claim: services.DiscoveryClaim, found: Discovery) -> bool:
    """As `finish_discovery`, which waits until the database takes it: the site has been asked, the claim is still ours.

    Ends with SoftTimeLimitExceeded when the task's time is over before; the sweeper then has it searched again.
    """
    while True:
        try:
            policy = scan_policy()
            pages = [(url, parse_target(url, policy).origin) for url in found.pages]
            return services.finish_discovery(claim, pages, found=found.found, notes=found.notes, error=found.error)
        except Refusal as refusal:  # the policy has changed since the search began
            found = _failed(ScanError(refusal.code, str(refusal)))
        except (OperationalError, InterfaceError) as error:
            log_failure(error)
            connection.close()
            time.sleep(FINISH_PAUSE_S)


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
        )
        limits = discovery_limits(audit.max_pages)
        with (
            Network(
                wish.start.policy,
                limits=limits,
                time_limit_s=NETWORK_LIMIT_S,
                credentials=shown_by(audit, wish.start),
            ) as network,
            _Keeper(claim, network) as keeper,
        ):
            return discover(wish, network, keeper.tell, TIME_LIMIT_S)
    except Refusal as refusal:  # the policy has changed since the audit was accepted
        error = ScanError(refusal.code, str(refusal))
    except SoftTimeLimitExceeded:
        error = ScanError("TIMEOUT", f"The pages were not found within {TIME_LIMIT_S} seconds.")
    except Exception:
        logger.exception("the pages of %s could not be looked for", audit.id)
        error = ScanError("INTERNAL_ERROR", "The search for pages failed on our side.")
    return _failed(error)


class _Keeper:
    """Renews the lease, and writes how many pages were found, from a thread of its own.

    When the claim is lost, the network is closed: the search then ends by itself, soon.
    """

    def __init__(self, claim: services.DiscoveryClaim, network: Network) -> None:
        self._claim = claim
        self._network = network
        self._found = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def tell(self, found: int) -> None:
        self._found = found

    def __enter__(self) -> _Keeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.wait(RENEW_EVERY_S):
                if not self._renew():
                    self._network.close()
                    return
        finally:
            connection.close()

    def _renew(self) -> bool:
        try:
            return services.renew_discovery(self._claim, self._found)
        except (OperationalError, InterfaceError) as error:
            log_failure(error)
            connection.close()
            return True
