"""Select a scan type's checks, and run the probes that they need."""

from __future__ import annotations

import graphlib
import time
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.journey.judged import JourneyState
from website_scan.browser.visit import Browser
from website_scan.catalogue import CatalogueError, Check, Need, Probe, States, checks, probes
from website_scan.errors import Refusal
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.policy import RouteValidator
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, Document, Page, ScanTypes, ServedContent
from website_scan.security_categories import Categories
from website_scan.time_limit import OutOfTime, limited
from website_scan.viewing import Viewing

# Evidence classes that are available before any probe runs.
INITIAL: frozenset[type] = frozenset({Target, Network, Clock, ScanTypes, Viewing})
# Evidence classes that the browser of a journey provides for each state.
OF_STATE: frozenset[type] = INITIAL - {Network} | {Page, BrowserLoad, JourneyState}


class Missing(Struct, frozen=True):
    """Placeholder for evidence that could not be gathered.

    `reason` is a sentence for the report; `code` is the stable name of the reason.
    """

    reason: str
    code: str

    @classmethod
    def refused(cls, refusal: Refusal) -> Missing:
        """Return a placeholder for evidence whose probe raised a Refusal."""
        return cls(str(refusal), refusal.code.lower().replace("_", "-"))


# Ordinary pages need hundredths of a second of processor time, but hostile pages may need any amount.
MAX_COMPUTING_CPU_S = 2.0
# A probe may need seconds of processor time to send hundreds of requests.
MAX_NETWORK_CPU_S = 6.0

OUT_OF_TIME = Missing("The scan's time was used up before this could be checked.", "out-of-time")
INTERNAL = Missing("This part of the scanner failed; the fault is ours, not the site's.", "internal-error")
TOO_SLOW = Missing("The page is so large or complex that this took too long to check.", "too-slow")

# Placeholder for evidence that only a browser provides, if no browser is available.
NO_BROWSER = Missing("There is no browser.", "no-browser")


class Plan(Struct, frozen=True):
    """Checks of a scan type and all probes that they need.

    A check may need a probe indirectly. `omitted` are the checks that need a browser, if none is available.
    `extension` has those of the checks that the catalogue does not have. `categories` are the chosen categories of
    security checks, or None for all.
    """

    checks: tuple[Check, ...]
    probes: Mapping[type, Probe]
    omitted: tuple[Check, ...] = ()
    extension: Extension = NO_EXTENSION
    categories: Categories | None = None


def evidence_order(probes: Mapping[type, Probe]) -> graphlib.TopologicalSorter[type]:
    """Return a prepared topological sorter of evidence classes.

    It allows probes to run concurrently.

    Probes that send requests to the site wait until the measuring probes have finished.
    """
    graph = {
        provides: {need.evidence for need in probe.needs if need.evidence in probes}
        for provides, probe in probes.items()
    }
    measuring = {provides for provides, probe in probes.items() if probe.needs_idle_network}
    needed_before_measuring = set(measuring)
    while added := {need for evidence in needed_before_measuring for need in graph[evidence]} - needed_before_measuring:
        needed_before_measuring |= added
    for provides, probe in probes.items():
        if provides not in needed_before_measuring and _uses_network(probe):
            graph[provides] |= measuring
    order = graphlib.TopologicalSorter(graph)
    order.prepare()
    return order


def _uses_network(probe: Probe) -> bool:
    """Return True if the probe sends requests to the site."""
    return any(need.evidence in (Network, Browser) for need in probe.needs)


def needs_browser(check: Check, extension: Extension = NO_EXTENSION) -> bool:
    """Return True if the check requires a browser's evidence."""
    return any(_needs_browser(need, extension) for need in check.needs)


def _needs_browser(need: Need, extension: Extension) -> bool:
    return not need.optional and _is_browser_evidence(need.evidence, extension)


def _is_browser_evidence(evidence: type, extension: Extension) -> bool:
    """Return True if only a browser can provide evidence of this class.

    This includes evidence from probes that need the browser.
    """
    return _depends_on(evidence, Browser, extension)


def _depends_on(evidence: type, source: type, extension: Extension) -> bool:
    """Return True if evidence of this class is the source, or its probe needs the source, directly or not."""
    if evidence in INITIAL:
        return False
    if evidence is source:
        return True
    probe = _probe(evidence, extension)
    return probe is not None and any(
        not need.optional and _depends_on(need.evidence, source, extension) for need in probe.needs
    )


def _needs_validator(check: Check) -> bool:
    """Return True if the check requires the operator's validator of routes."""
    return any(not need.optional and _depends_on(need.evidence, RouteValidator, NO_EXTENSION) for need in check.needs)


def _probe(evidence: type, extension: Extension) -> Probe | None:
    """Return the probe that provides the evidence, or None."""
    return extension.probes.get(evidence) or probes().get(evidence)


def judges_journeys_only(check: Check) -> bool:
    """Return True if the check judges what happens between the states of a journey."""
    return any(_is_journey_evidence(need.evidence) for need in check.needs if not need.optional)


def _is_journey_evidence(evidence: type) -> bool:
    probe = None if evidence in INITIAL else probes().get(evidence)
    return evidence is JourneyState or (
        probe is not None and any(_is_journey_evidence(need.evidence) for need in probe.needs if not need.optional)
    )


def applies_to_whole_origin(check: Check) -> bool:
    """Return True if the check judges the origin only.

    Then all pages of the origin have the same verdict.
    """
    needed = [probes().get(need.evidence) for need in check.needs if need.evidence not in INITIAL]
    return bool(needed) and all(probe is not None and probe.applies_to_whole_origin for probe in needed)


@cache
def origin_checks(scan_type: ScanType) -> frozenset[str]:
    """Return the IDs of checks that judge only the origin.

    Their verdict is the same on all its pages.
    """
    return frozenset(check.id for check in checks(scan_type) if applies_to_whole_origin(check))


@lru_cache(maxsize=64)
def unchosen_checks(categories: Categories, plug_ins: Extension = NO_EXTENSION) -> frozenset[str]:
    """Return the IDs of the security checks in all other categories, including those of plug-ins."""
    every = (*checks(ScanType.SECURITY), *plug_ins.checks_of(ScanType.SECURITY))
    return frozenset(check.id for check in every if check.category_id not in categories)


def plan(
    scan_type: ScanType,
    *,
    has_browser: bool = False,
    has_validator: bool = False,
    extension: Extension = NO_EXTENSION,
    categories: Categories | None = None,
) -> Plan:
    """Return the checks and probes for a scan type.

    Omits checks that need a browser if none is available, and leaves out those that need the operator's validator of
    routes if there is none: the report does not mention them. The checks of the extension are the last.

    With `categories`, security has only the checks of these categories and own requirements, but none of plug-ins.

    Raises `CatalogueError` if a parameter needs evidence that no probe provides.
    """
    if scan_type is not ScanType.SECURITY:
        categories = None
    has_browser = has_browser and scan_type.uses_browser
    initial = INITIAL | {Browser} if has_browser else INITIAL
    initial |= {RouteValidator} if has_validator else frozenset()
    known = tuple(
        check
        for check in checks(scan_type)
        if not judges_journeys_only(check)
        and (has_validator or not _needs_validator(check))
        and (categories is None or check.category_id in categories)
    )
    known += tuple(
        check
        for check in extension.checks_of(scan_type)
        if categories is None or check.category_id not in extension.plug_ins
    )
    planned = tuple(check for check in known if has_browser or not needs_browser(check, extension))
    if not scan_type.uses_browser and len(planned) < len(known):
        raise CatalogueError(f"{scan_type} scans use no browser, but one of their checks needs it")
    omitted = tuple(check for check in known if check not in planned)
    # The document shows whether the page asks for a log-in, which a scan of any category reports.
    noticed = [] if categories is None else [Need("", Document, optional=True)]
    needed = _needed_probes(planned, initial, extension, has_browser=has_browser, noticed=noticed)
    return Plan(planned, needed, omitted, extension, categories)


@lru_cache(maxsize=64)
def state_plan(scan_type: ScanType, *, is_navigation: bool, extension: Extension = NO_EXTENSION) -> Plan:
    """Return the checks that can judge a state of a journey, and their probes.

    These are the checks whose evidence the browser provides, unless they declare that they judge something else than
    the page as it stands.
    """
    states = {States.ALL, States.NAVIGATIONS} if is_navigation else {States.ALL}
    planned = tuple(
        check
        for check in (*checks(scan_type), *extension.checks_of(scan_type))
        if check.states in states
        and all(need.optional or _is_in_state(need.evidence, extension) for need in check.needs)
    )
    return Plan(planned, _needed_probes(planned, OF_STATE, extension, has_browser=True), extension=extension)


def _is_in_state(evidence: type, extension: Extension) -> bool:
    """Return True if the evidence of this class can be gathered from a state, without requests to the site."""
    if evidence in OF_STATE:
        return True
    probe = _probe(evidence, extension)
    return probe is not None and all(need.optional or _is_in_state(need.evidence, extension) for need in probe.needs)


def _needed_probes(
    planned: Sequence[Check],
    initial: frozenset[type],
    extension: Extension,
    *,
    has_browser: bool,
    noticed: Sequence[Need] = (),
) -> Mapping[type, Probe]:
    """Return the probes of the evidence that the checks need, directly or not, and of what is `noticed` of a page.

    Raises `CatalogueError` if a parameter needs evidence that no probe provides.
    """
    is_of_state = JourneyState in initial
    needed: dict[type, Probe] = {}
    pending: list[Need] = [need for check in planned for need in check.needs]
    pending += [need for check in planned[:1] if check.override is not None for need in check.override.needs]
    pending += [Need("", ServedContent, optional=True) for check in planned if check.content][:1]
    while pending:
        need = pending.pop()
        if need.evidence in initial or need.evidence in needed:
            continue
        if not has_browser and _is_browser_evidence(need.evidence, extension):
            # This evidence is optional, because checks that require a browser are not planned.
            continue
        if is_of_state and not _is_in_state(need.evidence, extension):
            # This evidence is optional, because checks that require requests to the site are not planned.
            continue
        probe = _probe(need.evidence, extension)
        if probe is None:
            raise CatalogueError(f"no probe provides {need.evidence.__name__}")
        needed[need.evidence] = probe
        pending.extend(probe.needs)
        if need.evidence is Page:
            pending.extend(noticed)
    return needed


def arguments(needs: Sequence[Need], evidence: Mapping[type, object]) -> dict[str, object] | Missing:
    """Return the keyword arguments for a check or probe.

    The result is `Missing` if required evidence is missing.
    """
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
    """Run a probe.

    Return its evidence, or `Missing` if it takes more than `seconds`.

    Exceptions of the probe are passed on. The time limit also ends a probe that still computes after the visit has
    stopped waiting for it. A probe that waits for the network is woken when the network is closed, and is ended at its
    next step.
    """
    cpu_s = MAX_NETWORK_CPU_S if _uses_network(probe) else MAX_COMPUTING_CPU_S
    cpu_start_s = time.thread_time()
    try:
        return limited(lambda: probe.function(**values), seconds, cpu_s)
    except OutOfTime:
        return TOO_SLOW if time.thread_time() - cpu_start_s >= cpu_s else OUT_OF_TIME
