"""What workers do with scans."""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime
from typing import Any

from celery import current_app, shared_task
from celery.exceptions import SoftTimeLimitExceeded
from celery.signals import celeryd_after_setup, worker_process_shutdown
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from infrastructure.heartbeat import beat
from infrastructure.logging import working_on
from infrastructure.postgresql.silence import log_failure
from infrastructure.telemetry import tracing
from infrastructure.telemetry.counters import count, counters
from infrastructure.telemetry.definitions import EGRESS_REFUSED
from scanner.errors import Refusal
from scanner.memory import give_back, use_one_heap
from scanner.net.client import Network
from scanner.net.policy import Policy
from scanner.net.targets import parse_target
from scanner.redaction import redacted
from scanner.result import Budget, Progress, ScanError, ScanResult
from scanner.run import failed_result, scan
from scans import credentials
from scans.browser import Spent, browser, close_browser
from scans.models import Scan
from scans.policy import scan_policy
from scans.signals import place_freed, swept
from scans.visits import claims, tallies
from scans.visits.kept_answers import answers_of
from scans.visits.origin_evidence import OriginEvidence
from scans.visits.queue import QUEUES, Worker
from scans.visits.sweeping import sweep_scans

logger = logging.getLogger(__name__)

use_one_heap()  # in the worker, before it forks its pool

PROGRESS_STEP_S = 0.5
FINISH_PAUSE_S = 1.0
# Well within the lease, so that one late write does not lose it.
RENEW_EVERY_S = settings.SCAN_LEASE_S / 4


@worker_process_shutdown.connect
def end_browser(**_: object) -> None:
    """Processes of the pool end without the usual farewell."""
    close_browser()
    counters.hand_over()
    tracing.stop()


@celeryd_after_setup.connect
def know_worker(sender: str, instance: Any, **_: object) -> None:
    """Before it forks its pool: whose processes they are, and how many."""
    global _this_worker
    _this_worker = Worker(sender, instance.concurrency)


_this_worker = Worker()


def this_worker() -> Worker:
    """Whose process this is."""
    return _this_worker


@shared_task
def run_scan(scan_id: str) -> None:
    """Run one attempt of the visit whose turn it is in the queue where this scan waits.

    Being told twice is harmless: the claim and its token see to that. What a database that does not answer keeps
    from beginning or from ending is taken up again by the sweeper.
    """
    try:
        claim = claims.claim_next(scan_id, _this_worker)
        if claim is None:
            return
        types = " ".join(claim.types)
        with (
            working_on(claim.scan_id, claim.request_id),
            tracing.job_span("scan", claim.request_id, scan=claim.scan_id, types=types, attempt=claim.attempt),
        ):
            spent = Spent()
            results = _visit(claim, scan_policy())
            if not _finish(claim, results, spent.cpu_s()):
                logger.warning("scan %s was ended by another attempt", claim.scan_id)
            place_freed.send(Scan, organization_id=claim.organization_id)
            claims.wake_next(claim)
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()
    finally:
        give_back()


def _finish(claim: claims.ScanClaim, results: tuple[ScanResult, ...], cpu_s: float) -> bool:
    """As `finish_scan`, which waits until the database takes it: the site has been asked, the claim is still ours.

    Raises OperationalError or InterfaceError when the task's time is over before.
    """
    failure: Exception | None = None
    try:
        while True:
            try:
                return claims.finish_scan(claim, *results, cpu_s=cpu_s)
            except (OperationalError, InterfaceError) as error:
                failure = error
                log_failure(error)
                connection.close()
                time.sleep(FINISH_PAUSE_S)
    except SoftTimeLimitExceeded:
        if failure is None:
            raise
        raise failure from None


def _visit(claim: claims.ScanClaim, policy: Policy) -> tuple[ScanResult, ...]:
    started_at = datetime.now(UTC)
    limit_s = settings.SCAN_TIME_LIMIT_S
    shared = OriginEvidence(claim.audit_id) if claim.audit_id else None
    answers = answers_of(claim.audit_id) if claim.audit_id else None
    try:
        target = parse_target(claim.url, policy)
        given = credentials.credentials_of(claim.scan_id, target)
        network = Network(policy, time_limit_s=limit_s, credentials=given, answers=answers)
        with network, _Reporter(claim, network) as reporter:
            budget = Budget(time_limit_s=limit_s)
            results = scan(target, claim.types, network, budget, reporter.tell, browser(), shared)
        if network.refused:
            count(EGRESS_REFUSED, "scan", by=network.refused)
        return tuple(redacted(each, given) for each in results)
    except Refusal as refusal:  # the policy has changed since the scan was accepted
        error = ScanError(refusal.code, str(refusal))
    except SoftTimeLimitExceeded:
        error = ScanError("TIMEOUT", f"The scan did not end within {limit_s} seconds.")
    except (OperationalError, InterfaceError):
        raise  # nothing was asked of the site yet
    except Exception:
        logger.exception("scan %s failed", claim.scan_id)
        error = ScanError("INTERNAL_ERROR", "The scanner failed. It does not count against your quota.")
    return tuple(failed_result(each, claim.url, started_at, error) for each in claim.types)


class _Reporter:
    """Writes progress and renews the lease from a thread of its own, so that the engine knows no database.

    When the claim is lost, the network is closed: the scan then ends by itself, soon.
    """

    def __init__(self, claim: claims.ScanClaim, network: Network) -> None:
        self._claim = claim
        self._network = network
        self._latest = Progress(0, "connecting", {})
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def tell(self, progress: Progress) -> None:
        """The engine's callback: remember, write later."""
        self._latest = progress
        self._changed.set()

    def __enter__(self) -> _Reporter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._changed.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                self._changed.wait(RENEW_EVERY_S)
                self._changed.clear()
                if self._stopped.is_set():
                    return
                if not self._write():
                    self._network.close()
                    return
                self._stopped.wait(PROGRESS_STEP_S)
        finally:
            connection.close()

    def _write(self) -> bool:
        try:
            return claims.renew_claim(self._claim, self._latest)
        except (OperationalError, InterfaceError) as error:
            # The lease may run out meanwhile; then the claim is lost, and the next write says so.
            log_failure(error)
            connection.close()
            return True


@shared_task
def sweep() -> None:
    """Every 15 seconds: nothing that was accepted stays behind. Also tells operators that the scheduler lives."""
    beat()
    tallies.add_up()
    if put_back := sweep_scans(_queue_depth):
        logger.warning("%d scans were put back into the queue", put_back)
    swept.send(Scan)


def _queue_depth() -> int:
    with current_app.connection_for_write() as broker:
        channel: Any = broker.default_channel  # Redis's channels have a client, others have none
        return sum(int(channel.client.llen(queue)) for queue in QUEUES)
