"""Celery tasks of scans."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from celery import current_app, shared_task
from celery.exceptions import SoftTimeLimitExceeded
from celery.signals import celeryd_after_setup, worker_process_shutdown, worker_shutdown
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from accounts.usage import responsible_account
from infrastructure.leases import Renewal, written
from infrastructure.logging import job_log_context
from infrastructure.periodic import PeriodicTask, beat
from infrastructure.postgresql.hang_detection import log_failure
from infrastructure.task_limits import task_limits
from infrastructure.telemetry import tracing
from infrastructure.telemetry.counters import count, counters
from infrastructure.telemetry.process_metrics import EGRESS_REFUSED
from scans import credentials
from scans.addresses import known_addresses
from scans.browser import CpuMeter, browser, close_browser, warm_browser
from scans.models import SCAN_LEASE, EndedScan, Scan
from scans.policy import scan_policy
from scans.signals import page_loaded, slot_freed
from scans.visits import claims, journeys, serving, tallies
from scans.visits.origin_evidence import OriginEvidence
from scans.visits.other_sites import OtherSites
from scans.visits.own_checks import extension_of_visit
from scans.visits.queue import QUEUES, Worker
from scans.visits.shared_addresses import enter_addresses
from scans.visits.shared_responses import answers_of
from scans.visits.sweeping import sweep_scans
from website_scan.errors import Refusal
from website_scan.late_modules import import_late_modules
from website_scan.memory import release_memory, use_one_heap
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target
from website_scan.page.evidence import Page
from website_scan.redaction import redacted
from website_scan.result import Budget, Progress, ScanError, ScanResult
from website_scan.run import failed_result, scan

logger = logging.getLogger(__name__)

# These calls run in the main process of the worker, before it forks the processes of its pool.
use_one_heap()
import_late_modules()

PROGRESS_INTERVAL_S = 1.0
# A visit ends at its own time limit. After this additional time, it is interrupted, and then its process is ended.
SOFT_GRACE_S, HARD_GRACE_S = 15, 30
LONGEST_VISIT_S = round(max(settings.SCAN_TIME_LIMIT_S, journeys.TIME_LIMIT_S))


@worker_process_shutdown.connect
def close_process_resources(**_: object) -> None:
    """Close the browser, and flush the counters and traces.

    Pool processes end without atexit handlers.
    """
    close_browser()
    counters.flush()
    tracing.stop()


@celeryd_after_setup.connect
def record_worker(sender: str, instance: Any, **_: object) -> None:
    """Store the worker's name and concurrency in the main process, before it forks its pool."""
    global _this_worker
    _this_worker = Worker(sender, instance.max_concurrency or instance.concurrency)
    serving.register(sender, _served_queues(instance))


@worker_shutdown.connect
def unregister_worker(**_: object) -> None:
    """Remove the worker from the registry when it stops."""
    serving.unregister(_this_worker.name, QUEUES)


def _served_queues(instance: Any) -> list[str]:
    return [queue for queue in QUEUES if queue in instance.app.amqp.queues.consume_from]


_this_worker = Worker()


def this_worker() -> Worker:
    """Return the Celery worker that this process belongs to."""
    return _this_worker


# `task_limits` sets the limits of each visit, because only its claim shows whether it is a run of a journey.
@shared_task(soft_time_limit=LONGEST_VISIT_S + SOFT_GRACE_S, time_limit=LONGEST_VISIT_S + HARD_GRACE_S)
def run_scan(scan_id: str) -> None:
    """Run one attempt of the next visit in the scan's queue.

    Duplicate messages are harmless because of the claim and its token. If the database is down at the start or the end
    of a visit, the sweeper requeues the visit.
    """
    try:
        claim = claims.claim_next(scan_id, _this_worker)
        if claim is None:
            return
        limit_s = time_limit_s(claim)
        try:
            with task_limits(limit_s + SOFT_GRACE_S, limit_s + HARD_GRACE_S):
                _run_attempt(claim)
        finally:
            release_memory()
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()


def time_limit_s(claim: claims.ScanClaim) -> float:
    """Return the time limit of a visit in seconds."""
    return journeys.TIME_LIMIT_S if claim.journey_run_id else settings.SCAN_TIME_LIMIT_S


def _run_attempt(claim: claims.ScanClaim) -> None:
    types = " ".join(claim.types)
    with (
        job_log_context(claim.scan_id, claim.request_id),
        tracing.job_span("scan", claim.request_id, scan=claim.scan_id, types=types, attempt=claim.attempt),
    ):
        # A claimed page of an audit no longer occupies a slot of the queue.
        if claim.is_background:
            _announce_free_slot(claim)
        cpu_meter = CpuMeter()
        try:
            finish = _visit(claim, scan_policy())
        except _AddressVisited:
            # The end of the other visit sends a message for this visit.
            return
        cpu_s = cpu_meter.cpu_s()
        if not written(lambda: finish(cpu_s)):
            logger.warning("scan %s was ended by another attempt", claim.scan_id)
        _announce_free_slot(claim)
        claims.wake_waiting_scans(claim, _this_worker)


class _AddressVisited(Exception):
    """Raised if the visit was queued again because one of its IP addresses is being visited."""


def _enter_addresses(claim: claims.ScanClaim, target: Target, network: Network) -> None:
    """Raise _AddressVisited if the visit must wait for one of the current IP addresses of its host."""
    try:
        host_addresses = known_addresses(network, target)
    except Refusal:
        # The scan will raise this error again, and store it in its result.
        return
    if not enter_addresses(claim, host_addresses):
        raise _AddressVisited


def _announce_free_slot(claim: claims.ScanClaim) -> None:
    """Send the signal `slot_freed`.

    A database failure does not stop the visit, because the sweeper fills the slot later.
    """
    try:
        slot_freed.send(Scan, organization_id=claim.organization_id)
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()


def _visit(claim: claims.ScanClaim, policy: Policy) -> journeys.Finish:
    """Execute a visit, and return the function that stores its results."""
    started_at = datetime.now(UTC)
    limit_s = time_limit_s(claim)
    origin_evidence = OriginEvidence(claim.audit_id) if claim.audit_id else None
    response_cache = answers_of(claim.audit_id) if claim.audit_id else None
    try:
        target = parse_target(claim.url, policy)
        site_credentials = credentials.credentials_of_scan(claim.scan_id, target) if claim.has_credentials else None
        other_sites = OtherSites(target, responsible_account(claim.organization_id))
        network = Network(
            policy, time_limit_s=limit_s, credentials=site_credentials, answers=response_cache, shared=other_sites
        )
        latest_progress = Progress(0, "connecting", {})

        def report_progress(progress: Progress) -> None:
            nonlocal latest_progress
            latest_progress = progress
            renewal.hasten()

        def publish_page(page: Page) -> None:
            if claim.audit_id:
                page_loaded.send(Scan, scan_id=claim.scan_id, page=page, network=network)

        # A separate thread renews the lease, so that the scan engine needs no database. The network is closed if the
        # claim is lost.
        renewal = Renewal(
            SCAN_LEASE, lambda: claims.renew_claim(claim, latest_progress), network.close, PROGRESS_INTERVAL_S
        )
        with other_sites, network, renewal:
            _enter_addresses(claim, target, network)
            if claim.journey_run_id:
                return journeys.execute_journey(journeys.JourneyVisit(claim, network, warm_browser(), report_progress))
            budget = Budget(time_limit_s=limit_s)
            results = scan(
                target,
                claim.types,
                network,
                budget,
                report_progress,
                browser(),
                origin_evidence,
                publish_page,
                claim.viewing,
                extension_of_visit(claim),
                claim.categories,
            )
        if network.refused:
            count(EGRESS_REFUSED, "scan", by=len(network.refused))
        return _finish_with(claim, *(redacted(result, site_credentials) for result in results))
    except Refusal as refusal:
        # The network policy has changed since the scan was accepted, so the scan fails.
        error = ScanError(refusal.code, str(refusal))
    except SoftTimeLimitExceeded:
        error = ScanError("TIMEOUT", f"The scan did not end within {limit_s:.0f} seconds.")
    except _AddressVisited:
        raise
    except (OperationalError, InterfaceError):
        # The exception is raised again, and the sweeper requeues the visit.
        raise
    except Exception:
        logger.exception("scan %s failed", claim.scan_id)
        error = ScanError("INTERNAL_ERROR", "The scanner failed. It does not count against your quota.")
    return _finish_with(claim, *(failed_result(scan_type, claim.url, started_at, error) for scan_type in claim.types))


def _finish_with(claim: claims.ScanClaim, *results: ScanResult) -> journeys.Finish:
    return lambda cpu_s: claims.finish_scan(claim, *results, cpu_s=cpu_s)


def _has_scans() -> bool:
    """Return True if the sweeper has unfinished or ended scans to process.

    Otherwise, records the scheduler's heartbeat.
    """
    if Scan.objects.unfinished().exists() or EndedScan.objects.exists():
        return True
    beat()
    return False


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_scans))
def sweep() -> None:
    """Requeue or end lost scans (every 15 seconds).

    Also records the scheduler's heartbeat for operators.
    """
    beat()
    tallies.tally_ended_scans()
    if requeued := sweep_scans(_queue_depth):
        logger.warning("%d scans were put back into the queue", requeued)


def _queue_depth() -> int:
    with current_app.connection_for_write() as broker:
        channel: Any = broker.default_channel  # The type is Any, because only Redis channels have a client.
        return sum(int(channel.client.llen(queue)) for queue in QUEUES)
