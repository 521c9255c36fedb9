"""Gather the evidence of a visit.

Each probe runs once for all scan types, after the probes that it needs.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from website_scan.browser.evidence import BrowserLoad, MixedRequests
from website_scan.browser.visit import Browser, LeadsElsewhere
from website_scan.catalogue import Probe
from website_scan.errors import Refusal
from website_scan.evidence_cache import EvidenceCache
from website_scan.extension import Extension
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.policy import RouteValidator
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, Page, ScanTypes
from website_scan.page.fetch import refusal_of
from website_scan.page.meta import instant_refresh
from website_scan.plan import (
    INTERNAL,
    MAX_COMPUTING_CPU_S,
    OUT_OF_TIME,
    Missing,
    Plan,
    arguments,
    evidence_order,
    plan,
    run_probe,
)
from website_scan.result import Budget, ScanError
from website_scan.security_categories import Categories
from website_scan.time_limit import OutOfTime, limited
from website_scan.tracing import span
from website_scan.viewing import Viewing

logger = logging.getLogger(__name__)

# A slow probe must not prevent the checks.
PROBES_TIME_SHARE = 0.85
EVIDENCE_NOT_NEEDED = Missing("Nothing of what was to be judged needs it.", "not-needed")

_Running = dict[concurrent.futures.Future[object], type]


class Gathering:
    """Evidence of one page for one or more scan types.

    `errors` has the scan types that failed. `leads_to` is the address of another page to which a refresh or script of
    the page leads at once, by scan type: only types that use the browser know where scripts lead. Without
    `follows_scripts`, the browser fails for such a page.
    """

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
        viewing: Viewing,
        extension: Extension,
        categories: Categories | None,
        *,
        follows_scripts: bool = True,
    ) -> None:
        self.target = target
        self.network = network
        self.budget = budget
        validator = network.policy.route_validator
        self.plans: Mapping[ScanType, Plan] = {
            scan_type: plan(
                scan_type,
                has_browser=browser is not None,
                has_validator=validator is not None,
                extension=extension,
                categories=categories,
            )
            for scan_type in types
        }
        self.errors: dict[ScanType, ScanError] = {}
        self.leads_to: dict[ScanType, str] = {}
        self.evidence: dict[type, object] = {
            Target: target,
            Network: network,
            Clock: Clock(now),
            ScanTypes: ScanTypes(types),
            Viewing: viewing,
        }
        if browser is not None:
            self.evidence[Browser] = browser
        if validator is not None:
            self.evidence[RouteValidator] = validator
        self._shared = shared
        self._accept_page = accept_page
        self._follows_scripts = follows_scripts
        self._shared_at: dict[type, datetime] = {}
        self._probes = {provides: probe for plan in self.plans.values() for provides, probe in plan.probes.items()}
        self._began = time.monotonic()

    def collect(self, report_progress: Callable[[float], None]) -> None:
        """Run the probes concurrently.

        Calls `report_progress(share)` with the share of finished probes, 0 to 1.
        """
        order = evidence_order(self._probes)
        running: _Running = {}
        pool = concurrent.futures.ThreadPoolExecutor(self.budget.workers, "probe")
        try:
            while order.is_active():
                for provides in order.get_ready():
                    self._start_probe(pool, running, provides)
                if not running:
                    continue
                done, _ = concurrent.futures.wait(
                    running,
                    timeout=max(0.0, self.remaining_s(PROBES_TIME_SHARE)),
                    return_when=concurrent.futures.FIRST_COMPLETED,
                )
                if not done:
                    self._abandon_probes(running)
                    return
                for future in done:
                    provides = running.pop(future)
                    self._record_lead(future)
                    self._store_evidence(provides, _probe_evidence(self._probes[provides], future))
                    if len(self.errors.keys() | self.leads_to.keys()) == len(self.plans):
                        return
                    order.done(provides)
                report_progress(sum(1 for provides in self._probes if provides in self.evidence) / len(self._probes))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def evidence_for(self, scan_type: ScanType) -> Mapping[type, object]:
        """Return the gathered evidence for this scan type's checks.

        The keys are evidence classes.
        """
        planned = self.plans[scan_type].probes
        others = self._probes.keys() - planned.keys()
        if not scan_type.uses_browser:
            others |= {Browser}
        evidence = {kind: value for kind, value in self.evidence.items() if kind not in others}
        load = self.evidence.get(BrowserLoad)
        if isinstance(load, BrowserLoad):
            # Security scans report the faults that the browser of the visit has detected.
            evidence[MixedRequests] = MixedRequests(load.mixed_requests)
        return evidence

    def oldest_reused_at(self, scan_type: ScanType) -> datetime | None:
        """Return the time of the oldest evidence reused from an earlier visit.

        None if no evidence was reused.
        """
        return min((at for kind, at in self._shared_at.items() if kind in self.plans[scan_type].probes), default=None)

    def remaining_s(self, share: float = 1.0) -> float:
        """Return the remaining seconds of the visit, or of a share of it.

        The share is one of its time limit.
        """
        return self.budget.time_limit_s * share - (time.monotonic() - self._began)

    def _start_probe(self, pool: concurrent.futures.Executor, running: _Running, provides: type) -> None:
        probe = self._probes[provides]
        values = EVIDENCE_NOT_NEEDED if self._is_unneeded(provides) else arguments(probe.needs, self.evidence)
        future: concurrent.futures.Future[object]
        if isinstance(values, Missing):
            future = concurrent.futures.Future()
            future.set_result(values)
        else:
            # The visit stops waiting a second earlier, because its message is clearer.
            seconds = max(0.0, self.remaining_s(PROBES_TIME_SHARE)) + 1
            # Copy the context variables, so that log lines contain the scan's ID.
            future = pool.submit(contextvars.copy_context().run, self._reuse_or_gather, probe, values, seconds)
        running[future] = provides

    def _is_unneeded(self, provides: type) -> bool:
        """Return True if all scans that need the evidence have ended."""
        ended = self.errors.keys() | self.leads_to.keys()
        return bool(ended) and not any(
            provides in plan.probes for scan_type, plan in self.plans.items() if scan_type not in ended
        )

    def _reuse_or_gather(self, probe: Probe, values: Mapping[str, object], seconds: float) -> object:
        """Return cached evidence, or run the probe and cache its evidence.

        An earlier visit to the origin may have cached it.
        """
        if self._shared is None or not probe.applies_to_whole_origin:
            return _run_traced(probe, values, seconds)
        origin = self._probe_target(probe).origin
        cached = self._shared.find(origin, probe)
        if cached is not None:
            self._shared_at[probe.provides] = cached.gathered_at
            return cached.evidence
        value = _run_traced(probe, values, seconds)
        if not isinstance(value, Missing):
            self._shared.keep(origin, probe, value)
        return value

    def _probe_target(self, probe: Probe) -> Target:
        """Return the URL that the probe examines.

        The URL of the scan, or the target of its redirects.
        """
        page = self.evidence.get(Page)
        examines_scan_target = any(need.evidence is Target for need in probe.needs)
        return self.target if examines_scan_target or not isinstance(page, Page) else page.target

    def _record_lead(self, future: concurrent.futures.Future[object]) -> None:
        """Record the address of another page that the browser shows.

        A script or refresh led there.
        """
        if self._follows_scripts and isinstance(error := future.exception(), LeadsElsewhere):
            self.leads_to |= {scan_type: error.url for scan_type in self.plans if scan_type.uses_browser}

    def _store_evidence(self, provides: type, evidence: object) -> None:
        self.evidence[provides] = evidence
        if isinstance(evidence, ScanError):
            self.errors = dict.fromkeys(self.plans, evidence)
        elif isinstance(evidence, Page):
            for scan_type in self.plans:
                if refusal := refusal_of(evidence.response, scan_type):
                    self.errors[scan_type] = ScanError(refusal.code, str(refusal))
            if address := self._refresh_address(evidence):
                self.leads_to = dict.fromkeys(self.plans, address)
            try:
                self._accept_page(evidence)
            except Refusal as refusal:
                self.errors = dict.fromkeys(self.plans, ScanError(refusal.code, str(refusal)))
            self.evidence[ScanTypes] = ScanTypes(other for other in self.plans if other not in self.errors)

    def _refresh_address(self, page: Page) -> str | None:
        """Return the URL of an immediate refresh.

        None if there is none, or if the page is too complex.
        """
        try:
            return limited(
                lambda: instant_refresh(page), max(0.0, self.remaining_s(PROBES_TIME_SHARE)), MAX_COMPUTING_CPU_S
            )
        except OutOfTime:
            return None

    def _abandon_probes(self, running: _Running) -> None:
        self.network.close()
        for provides in self._probes:
            self.evidence.setdefault(provides, OUT_OF_TIME)
        if any(self._probes[provides].essential for provides in running.values()):
            limit = f"{self.budget.time_limit_s * PROBES_TIME_SHARE:.3g}"
            error = ScanError("TIMEOUT", f"The page was not loaded within {limit} seconds.")
            self.errors = dict.fromkeys(self.plans, error)


def _run_traced(probe: Probe, values: Mapping[str, object], seconds: float) -> object:
    with span(f"probe {probe.name}"):
        return run_probe(probe, values, seconds)


def _probe_evidence(probe: Probe, future: concurrent.futures.Future[object]) -> object:
    """Return the evidence of a finished probe.

    `Missing` if it failed, `ScanError` if it failed and is essential.
    """
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
