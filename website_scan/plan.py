"""Plan of a scan type: its checks, the probes that they need in dependency order, and the arguments for both."""

from __future__ import annotations

import graphlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from website_scan.browser.visit import Browser
from website_scan.catalogue import CatalogueError, Check, Need, Probe, checks, probes
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, ScanTypes, ServedContent
from website_scan.time_limit import OutOfTime, limited

# Evidence that exists before any probe runs.
INITIAL: frozenset[type] = frozenset({Target, Network, Clock, ScanTypes})


@dataclass(frozen=True, slots=True)
class Missing:
    """Placeholder for evidence that could not be obtained.

    `reason` is a sentence for the report; `code` is the stable name of the reason.
    """

    reason: str
    code: str

    @classmethod
    def refused(cls, refusal: Refusal) -> Missing:
        """Return the placeholder for evidence that a refusal prevented."""
        return cls(str(refusal), refusal.code.lower().replace("_", "-"))


# Limit of processor time for one check, or for one probe that does not use the network, in seconds. A hostile page can
# need any amount; ordinary pages need hundredths of a second.
COMPUTING_S = 2.0
# Limit of processor time for a probe that uses the network, in seconds: sending hundreds of requests takes seconds.
NETWORK_CPU_S = 6.0

OUT_OF_TIME = Missing("The scan's time was used up before this could be looked at.", "out-of-time")
INTERNAL = Missing("This part of the scanner failed; the fault is ours, not the site's.", "internal-error")
TOO_SLOW = Missing("The page is so large or intricate that this took too long to look at.", "too-slow")

# Placeholder for evidence that was not planned, because only a browser provides it.
NO_BROWSER = Missing("There is no browser.", "no-browser")


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks of a scan type and the probes that they need, directly or through other probes."""

    checks: tuple[Check, ...]
    probes: Mapping[type, Probe]


def evidence_order(probes: Mapping[type, Probe]) -> graphlib.TopologicalSorter[type]:
    """Return a prepared topological sorter of the probes' evidence, for running the probes concurrently.

    Probes that send requests to the site wait until the measuring probes have finished.
    """
    graph = {
        provides: {need.evidence for need in probe.needs if need.evidence in probes}
        for provides, probe in probes.items()
    }
    measuring = {provides for provides, probe in probes.items() if probe.is_measuring}
    before_measuring = set(measuring)
    while added := {need for evidence in before_measuring for need in graph[evidence]} - before_measuring:
        before_measuring |= added
    for provides, probe in probes.items():
        if provides not in before_measuring and _uses_network(probe):
            graph[provides] |= measuring
    order = graphlib.TopologicalSorter(graph)
    order.prepare()
    return order


def _uses_network(probe: Probe) -> bool:
    """Return True if the probe sends requests to the site."""
    return any(need.evidence in (Network, Browser) for need in probe.needs)


def needs_browser(check: Check) -> bool:
    """Return True if a check judges evidence that only a browser can provide."""
    return any(_needs_browser(need) for need in check.needs)


def _needs_browser(need: Need) -> bool:
    return not need.optional and _is_of_browser(need.evidence)


def _is_of_browser(evidence: type) -> bool:
    """Return True if only a browser can provide the evidence, directly or through a probe."""
    if evidence in INITIAL:
        return False
    if evidence is Browser:
        return True
    probe = probes().get(evidence)
    return probe is not None and any(map(_needs_browser, probe.needs))


def is_of_origin(check: Check) -> bool:
    """Return True if a check judges evidence of the origin only, so that its verdict is the same on all its pages."""
    needed = [probes().get(need.evidence) for need in check.needs if need.evidence not in INITIAL]
    return bool(needed) and all(probe is not None and probe.is_of_origin for probe in needed)


@cache
def origin_checks(scan_type: ScanType) -> frozenset[str]:
    """Return the IDs of the checks whose verdict is the same on all pages of an origin."""
    return frozenset(check.id for check in checks(scan_type) if is_of_origin(check))


def plan(scan_type: ScanType, *, has_browser: bool = False) -> Plan:
    """Return the plan of a scan type. Leaves out checks that need a browser if none is available.

    Raises `CatalogueError` if a parameter needs evidence that no probe provides.
    """
    has_browser = has_browser and scan_type.uses_browser
    available = probes()
    initial = INITIAL | {Browser} if has_browser else INITIAL
    planned = tuple(check for check in checks(scan_type) if has_browser or not needs_browser(check))
    if not scan_type.uses_browser and len(planned) < len(checks(scan_type)):
        raise CatalogueError(f"{scan_type} scans use no browser, but one of their checks needs it")
    needed: dict[type, Probe] = {}
    pending: list[Need] = [need for check in planned for need in check.needs]
    pending += [need for check in planned[:1] if check.override is not None for need in check.override.needs]
    pending += [Need("", ServedContent, optional=True) for check in planned if check.content][:1]
    while pending:
        need = pending.pop()
        if need.evidence in initial or need.evidence in needed:
            continue
        if not has_browser and _is_of_browser(need.evidence):
            continue  # optional; a check or probe that required it would have been left out
        if need.evidence not in available:
            raise CatalogueError(f"no probe provides {need.evidence.__name__}")
        needed[need.evidence] = available[need.evidence]
        pending.extend(available[need.evidence].needs)
    return Plan(planned, needed)


def arguments(needs: Sequence[Need], evidence: Mapping[type, object]) -> dict[str, object] | Missing:
    """Return the keyword arguments for a function with these needs, or the first `Missing` that a need requires."""
    values: dict[str, object] = {}
    for need in needs:
        value = evidence.get(need.evidence, NO_BROWSER)
        if isinstance(value, Missing):
            if not need.optional:
                return value
            value = None
        values[need.parameter] = value
    return values


def run_probe(probe: Probe, values: Mapping[str, object], seconds: float) -> object:
    """Return the probe's evidence, or `Missing` if the probe took longer than `seconds`; passes on exceptions.

    The time limit also ends a probe that still computes after the visit has stopped waiting for it. A probe that waits
    for the network is woken when the network is closed, and is ended at its next step.
    """
    cpu_s = NETWORK_CPU_S if _uses_network(probe) else COMPUTING_S
    began_s = time.thread_time()
    try:
        return limited(lambda: probe.function(**values), seconds, cpu_s)
    except OutOfTime:
        return TOO_SLOW if time.thread_time() - began_s >= cpu_s else OUT_OF_TIME
