"""Gathering of a visit's evidence: run each probe of all its scan types once, in the order of their needs."""

from __future__ import annotations

import concurrent.futures
import contextvars
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from website_scan.browser.visit import Browser
from website_scan.catalogue import Probe
from website_scan.errors import Refusal
from website_scan.evidence_cache import EvidenceCache
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, Page, ScanTypes
from website_scan.page.fetch import refusal_of
from website_scan.plan import INTERNAL, OUT_OF_TIME, Missing, Plan, arguments, evidence_order, plan, run_probe
from website_scan.result import Budget, ScanError
from website_scan.tracing import span

logger = logging.getLogger(__name__)

# Share of the time limit for probes. The rest is for the checks, so that a slow probe does not prevent other checks.
COLLECTING_SHARE = 0.85
NOT_NEEDED = Missing("Nothing of what was to be judged needs it.", "not-needed")

_Running = dict[concurrent.futures.Future[object], type]


class Gathering:
    """Evidence of one page for one or more scan types. `errors` has the scan types that have nothing to judge."""

    def __init__(  # noqa: PLR0913 -- the arguments of `run.scan`
        self,
        target: Target,
        types: tuple[ScanType, ...],
        network: Network,
        budget: Budget,
        now: datetime,
        browser: Browser | None,
        shared: EvidenceCache | None,
        accept_page: Callable[[Page], None],
    ) -> None:
        self.target = target
        self.network = network
        self.budget = budget
        self.plans: Mapping[ScanType, Plan] = {
            scan_type: plan(scan_type, has_browser=browser is not None) for scan_type in types
        }
        self.errors: dict[ScanType, ScanError] = {}
        self.evidence: dict[type, object] = {
            Target: target,
            Network: network,
            Clock: Clock(now),
            ScanTypes: ScanTypes(types),
        }
        if browser is not None:
            self.evidence[Browser] = browser
        self._shared = shared
        self._accept_page = accept_page
        self._shared_at: dict[type, datetime] = {}
        self._probes = {provides: probe for plan in self.plans.values() for provides, probe in plan.probes.items()}
        self._began = time.monotonic()

    def collect(self, report_progress: Callable[[float], None]) -> None:
        """Run the probes concurrently. Calls `report_progress(share)` with the share of probes that have finished."""
        order = evidence_order(self._probes)
        running: _Running = {}
        pool = concurrent.futures.ThreadPoolExecutor(self.budget.workers, "probe")
        try:
            while order.is_active():
                for provides in order.get_ready():
                    self._start(pool, running, provides)
                if not running:
                    continue
                done, _ = concurrent.futures.wait(
                    running,
                    timeout=max(0.0, self.remaining_s(COLLECTING_SHARE)),
                    return_when=concurrent.futures.FIRST_COMPLETED,
                )
                if not done:
                    self._abandon(running)
                    return
                for future in done:
                    provides = running.pop(future)
                    self._store(provides, _outcome(self._probes[provides], future))
                    if len(self.errors) == len(self.plans):
                        return
                    order.done(provides)
                report_progress(sum(1 for provides in self._probes if provides in self.evidence) / len(self._probes))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def evidence_for(self, scan_type: ScanType) -> Mapping[type, object]:
        """Return the evidence in this type's plan, without evidence that only other types need."""
        planned = self.plans[scan_type].probes
        others = self._probes.keys() - planned.keys()
        if not scan_type.uses_browser:
            others |= {Browser}
        return {kind: value for kind, value in self.evidence.items() if kind not in others}

    def shared_since(self, scan_type: ScanType) -> datetime | None:
        """Return when the oldest evidence that this type reuses from an earlier visit was gathered, or None."""
        return min((at for kind, at in self._shared_at.items() if kind in self.plans[scan_type].probes), default=None)

    def remaining_s(self, share: float = 1.0) -> float:
        """Return the seconds that remain of this share of the visit's time limit."""
        return self.budget.time_limit_s * share - (time.monotonic() - self._began)

    def _start(self, pool: concurrent.futures.Executor, running: _Running, provides: type) -> None:
        probe = self._probes[provides]
        values = NOT_NEEDED if self._is_idle(provides) else arguments(probe.needs, self.evidence)
        future: concurrent.futures.Future[object]
        if isinstance(values, Missing):
            future = concurrent.futures.Future()
            future.set_result(values)
        else:
            # One second longer than the visit waits for the probe, because the visit's message is clearer.
            seconds = max(0.0, self.remaining_s(COLLECTING_SHARE)) + 1
            # Copy the context variables, so that log lines contain the scan's ID.
            future = pool.submit(contextvars.copy_context().run, self._gather, probe, values, seconds)
        running[future] = provides

    def _is_idle(self, provides: type) -> bool:
        """Return True if the evidence is needed only by types that have nothing to judge."""
        return bool(self.errors) and not any(
            provides in plan.probes for scan_type, plan in self.plans.items() if scan_type not in self.errors
        )

    def _gather(self, probe: Probe, values: Mapping[str, object], seconds: float) -> object:
        """Return the probe's evidence, reused from an earlier visit to the same origin where possible."""
        if self._shared is None or not probe.is_of_origin:
            return _traced(probe, values, seconds)
        origin = self._target_of(probe).origin
        cached = self._shared.find(origin, probe)
        if cached is not None:
            self._shared_at[probe.provides] = cached.gathered_at
            return cached.evidence
        value = _traced(probe, values, seconds)
        if not isinstance(value, Missing):
            self._shared.keep(origin, probe, value)
        return value

    def _target_of(self, probe: Probe) -> Target:
        """Return the target that the probe examines: the scan's target, or that of the page it redirected to."""
        page = self.evidence.get(Page)
        is_of_target = any(need.evidence is Target for need in probe.needs)
        return self.target if is_of_target or not isinstance(page, Page) else page.target

    def _store(self, provides: type, evidence: object) -> None:
        self.evidence[provides] = evidence
        if isinstance(evidence, ScanError):
            self.errors = dict.fromkeys(self.plans, evidence)
        elif isinstance(evidence, Page):
            for scan_type in self.plans:
                if refusal := refusal_of(evidence.response, scan_type):
                    self.errors[scan_type] = ScanError(refusal.code, str(refusal))
            try:
                self._accept_page(evidence)
            except Refusal as refusal:
                self.errors = dict.fromkeys(self.plans, ScanError(refusal.code, str(refusal)))
            self.evidence[ScanTypes] = ScanTypes(other for other in self.plans if other not in self.errors)

    def _abandon(self, running: _Running) -> None:
        self.network.close()
        for provides in self._probes:
            self.evidence.setdefault(provides, OUT_OF_TIME)
        if any(self._probes[provides].essential for provides in running.values()):
            limit = f"{self.budget.time_limit_s * COLLECTING_SHARE:.3g}"
            error = ScanError("TIMEOUT", f"The page was not loaded within {limit} seconds.")
            self.errors = dict.fromkeys(self.plans, error)


def _traced(probe: Probe, values: Mapping[str, object], seconds: float) -> object:
    with span(f"probe {probe.name}"):
        return run_probe(probe, values, seconds)


def _outcome(probe: Probe, future: concurrent.futures.Future[object]) -> object:
    """Return a finished probe's evidence; `Missing` if the probe failed, `ScanError` if the scan fails with it."""
    try:
        value = future.result()
    except Refusal as refusal:
        if probe.essential:
            return ScanError(refusal.code, str(refusal))
        return Missing.refused(refusal)
    except Exception:
        logger.exception("probe %s failed", probe.name)
        if probe.essential:
            return ScanError("INTERNAL_ERROR", INTERNAL.reason)
        return INTERNAL
    return ScanError("TIMEOUT", value.reason) if isinstance(value, Missing) and probe.essential else value
