"""Plan of a scan type: its checks and the probes they need, in dependency order, and the arguments for each."""

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
GIVEN: frozenset[type] = frozenset({Target, Network, Clock, ScanTypes})


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for evidence that could not be obtained.

    `reason` says why, in words for the report; `code` is the stable name of the reason.
    """

    reason: str
    code: str

    @classmethod
    def refused(cls, refusal: Refusal) -> Missing:
        """Return what stands for evidence that a refusal prevented."""
        return cls(str(refusal), refusal.code.lower().replace("_", "-"))


# Seconds of processor time for one check, or for one probe that does not use the network. A page can be built to need
# any number of them; ordinary pages need hundredths.
COMPUTING_S = 2.0
# Seconds of processor time for a probe that uses the network: sending hundreds of requests takes seconds.
ASKING_S = 6.0

OUT_OF_TIME = Missing("The scan's time was used up before this could be looked at.", "out-of-time")
INTERNAL = Missing("This part of the scanner failed; the fault is ours, not the site's.", "internal-error")
TOO_SLOW = Missing("The page is so large or intricate that this took too long to look at.", "too-slow")

# For evidence that was not planned: only a browser could have provided it.
NOTHING = Missing("There is no browser.", "no-browser")


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks of a scan type and the probes that they need, directly or through other probes."""

    checks: tuple[Check, ...]
    probes: Mapping[type, Probe]


def sorter(probes: Mapping[type, Probe]) -> graphlib.TopologicalSorter[type]:
    """Return the probes' evidence as a prepared topological sorter, for running the probes concurrently.

    Measuring probes run while no other probe sends requests to the site: the others wait.
    """
    graph = {
        provides: {need.evidence for need in probe.needs if need.evidence in probes}
        for provides, probe in probes.items()
    }
    measuring = {provides for provides, probe in probes.items() if probe.is_measuring}
    before = set(measuring)
    while more := {need for each in before for need in graph[each]} - before:
        before |= more
    for provides, probe in probes.items():
        if provides not in before and _asks(probe):
            graph[provides] |= measuring
    order = graphlib.TopologicalSorter(graph)
    order.prepare()
    return order


def _asks(probe: Probe) -> bool:
    """Return True if the probe sends requests to the site."""
    return any(need.evidence in (Network, Browser) for need in probe.needs)


def needs_browser(check: Check) -> bool:
    """Return True if a check judges evidence that only a browser can provide."""
    return any(_needs_browser(need) for need in check.needs)


def _needs_browser(need: Need) -> bool:
    return not need.optional and _is_of_browser(need.evidence)


def _is_of_browser(evidence: type) -> bool:
    """Return True if evidence needs a browser, directly or through its probe."""
    if evidence in GIVEN:
        return False
    if evidence is Browser:
        return True
    found = probes().get(evidence)
    return found is not None and any(map(_needs_browser, found.needs))


def is_of_origin(check: Check) -> bool:
    """Return True if a check judges evidence of the origin only: its finding is the same on all pages of the origin."""
    found = [probes().get(need.evidence) for need in check.needs if need.evidence not in GIVEN]
    return bool(found) and all(each is not None and each.is_of_origin for each in found)


@cache
def origin_checks(scan_type: ScanType) -> frozenset[str]:
    """Return the IDs of the checks whose findings are the same on all pages of an origin."""
    return frozenset(each.id for each in checks(scan_type) if is_of_origin(each))


def plan(scan_type: ScanType, *, has_browser: bool = False) -> Plan:
    """Collect the checks of a type and the probes they need. Leaves out checks that need a browser if there is none.

    Raises `CatalogueError` if a parameter asks for evidence that no probe provides.
    """
    has_browser = has_browser and scan_type.uses_browser
    available = probes()
    given = GIVEN | {Browser} if has_browser else GIVEN
    wanted = tuple(each for each in checks(scan_type) if has_browser or not needs_browser(each))
    if not scan_type.uses_browser and len(wanted) < len(checks(scan_type)):
        raise CatalogueError(f"{scan_type} scans use no browser, but one of their checks needs it")
    needed: dict[type, Probe] = {}
    pending: list[Need] = [need for each in wanted for need in each.needs]
    pending += [need for each in wanted[:1] if each.override is not None for need in each.override.needs]
    pending += [Need("", ServedContent, optional=True) for each in wanted if each.content][:1]
    while pending:
        need = pending.pop()
        if need.evidence in given or need.evidence in needed:
            continue
        if not has_browser and _is_of_browser(need.evidence):
            continue  # optional; a check or probe that required it would have been left out
        if need.evidence not in available:
            raise CatalogueError(f"no probe provides {need.evidence.__name__}")
        needed[need.evidence] = available[need.evidence]
        pending.extend(available[need.evidence].needs)
    return Plan(wanted, needed)


def arguments(needs: Sequence[Need], evidence: Mapping[type, object]) -> dict[str, object] | Missing:
    """Return the keyword arguments for a function with these needs, or the first `Missing` among the required ones."""
    values: dict[str, object] = {}
    for need in needs:
        value = evidence.get(need.evidence, NOTHING)
        if isinstance(value, Missing):
            if not need.optional:
                return value
            value = None
        values[need.parameter] = value
    return values


def bring(probe: Probe, values: Mapping[str, object], seconds: float) -> object:
    """Run the probe within these seconds. Returns its evidence, or `Missing` if it took too long; passes on exceptions.

    The time limit also ends a probe that still computes after the visit has stopped waiting for it. A probe that waits
    for the network is woken when the network is closed, and is ended at its next step.
    """
    cpu_s = ASKING_S if _asks(probe) else COMPUTING_S
    began_s = time.thread_time()
    try:
        return limited(lambda: probe.function(**values), seconds, cpu_s)
    except OutOfTime:
        return TOO_SLOW if time.thread_time() - began_s >= cpu_s else OUT_OF_TIME
