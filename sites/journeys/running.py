"""Execution of journeys in a worker: the steps in its browser, then the checks of the states."""

from __future__ import annotations

import logging
from functools import partial

from cryptography.fernet import InvalidToken

from scans.visits.journeys import MAX_JUDGING_S, Finish, JourneyVisit
from scans.visits.own_checks import extension_of_visit
from sites.journeys.codes import JOURNEY_FAILED, JOURNEY_NOT_PROVEN, URL_NOT_REACHABLE
from sites.journeys.dry_runs import finish_dry_run
from sites.journeys.proof import allowed_addresses, check_control, proof_network
from sites.journeys.run_results import RunOutcome, finish_run
from sites.models import Audit, Journey
from website_scan.browser.devices import device_of_width
from website_scan.browser.journey.request import WalkRequest
from website_scan.browser.journey.result import Walk
from website_scan.browser.visit import BrowserFailed, Part, parts_for_scan_types
from website_scan.findings import ScanType
from website_scan.journeys.journey import MAX_DURATION_S, JourneyRefused
from website_scan.journeys.journey import Journey as Steps
from website_scan.net.budget import MIB, Limits
from website_scan.result import Progress, ScanError
from website_scan.states import judge_states

logger = logging.getLogger(__name__)

# A journey loads several pages through one proxy.
PROXY_LIMITS = Limits(requests=3_000, requests_per_host=2_000, total_bytes=300 * MIB)
MIN_JUDGING_S = 10.0
# Percentages of the progress at which the steps begin, and at which they are done.
STEPS_BEGIN, STEPS_DONE = 5, 85
DELETED = "The journey was deleted before its run began."
NO_BROWSER = "The run was not executed, because the worker has no browser. It does not count against your quota."
NO_KEY = (
    "The run was not executed, because the worker cannot decrypt the secrets. It does not count against your quota."
)


class _NotExecuted(Exception):
    """Raised for a journey none of whose steps was executed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def execute_journey(visit: JourneyVisit) -> Finish:
    """Execute the journey of a claimed visit, and judge its states. Returns the function that stores the results."""
    audit = Audit.objects.select_related("journey").get(id=visit.claim.journey_run_id)
    try:
        outcome = _run(visit, audit)
    except _NotExecuted as error:
        outcome = RunOutcome(error=ScanError(error.code, error.message))
    return partial(finish_dry_run if audit.is_dry_run else finish_run, visit.claim, outcome)


def _run(visit: JourneyVisit, audit: Audit) -> RunOutcome:
    journey = audit.journey
    if journey is None:
        raise _NotExecuted(JOURNEY_FAILED, DELETED)
    _require_control(visit, journey)
    steps = journey.steps
    walk = _walk(visit, journey, steps, audit.states_planned)
    visit.report_progress(Progress(STEPS_DONE, "checking", {}))
    policy, types = visit.network.policy, visit.claim.types
    # The walk has left at least this time, unless the browser has hung.
    limit_s = max(MIN_JUDGING_S, visit.network.remaining_s)
    # The walk of a dry run has no states.
    extension = extension_of_visit(visit.claim)
    states = judge_states(steps, walk, types, policy, visit.claim.viewing, extension=extension, time_limit_s=limit_s)
    return RunOutcome(
        states=states,
        steps=tuple(zip(steps.steps, walk.steps, strict=True)),
        error=_error_of(walk),
        notes=walk.notes,
    )


def _error_of(walk: Walk) -> ScanError | None:
    """Return why the journey ended early, or None if all of its steps are done."""
    if not walk.problem:
        return None
    return ScanError(URL_NOT_REACHABLE if walk.is_unreachable else JOURNEY_FAILED, walk.problem)


def _require_control(visit: JourneyVisit, journey: Journey) -> None:
    """Raise `_NotExecuted` unless the organization controls the site now."""
    with proof_network(visit.network.policy) as network:
        check = check_control(journey, network)
    if check.proof is None:
        reasons = " ".join(check.problems)
        raise _NotExecuted(
            JOURNEY_NOT_PROVEN, f"No step was executed, because control of the site is not proven. {reasons}".strip()
        )


def _walk(visit: JourneyVisit, journey: Journey, steps: Steps, max_states: int) -> Walk:
    # The module opens sockets, which the other visits of this process may not need.
    from website_scan.net.proxy import BrowserProxy

    if visit.browser is None:
        raise _NotExecuted("INTERNAL_ERROR", NO_BROWSER)
    try:
        secrets = journey.secrets
    except InvalidToken:
        logger.error("the secrets of journey %s cannot be decrypted", journey.id)
        raise _NotExecuted("INTERNAL_ERROR", NO_KEY) from None
    viewing = visit.claim.viewing
    total = len(steps.steps)

    def report_step(done: int) -> None:
        percent = STEPS_BEGIN + (STEPS_DONE - STEPS_BEGIN) * done // total
        visit.report_progress(Progress(percent, "collecting", {}))

    report_step(0)
    with BrowserProxy(visit.network, limits=PROXY_LIMITS) as proxy:
        try:
            request = WalkRequest(
                journey=steps,
                proxy=proxy,
                user_agent=visit.network.policy.user_agent,
                allowed=allowed_addresses(journey),
                secrets=secrets,
                time_limit_s=min(MAX_DURATION_S, visit.network.remaining_s - MAX_JUDGING_S),
                max_states=max_states,
                parts=_parts(visit.claim.types) if max_states else frozenset(),
                axe_devices=tuple(map(device_of_width, viewing.widths)) if viewing else (),
                color_scheme=viewing.color_scheme if viewing else "light",
                tests_log_out=ScanType.SECURITY in visit.claim.types and max_states > 0,
                report_progress=report_step,
            )
            return visit.browser.walk(request)
        except JourneyRefused as refusal:
            raise _NotExecuted(JOURNEY_FAILED, str(refusal)) from None
        except BrowserFailed as error:
            raise _NotExecuted("INTERNAL_ERROR", f"The browser executed no step. {error}") from None


def _parts(types: tuple[ScanType, ...]) -> frozenset[Part]:
    """Return the evidence that checks of these types need. The layout contains the document of a state."""
    return parts_for_scan_types(types) | {Part.LAYOUT}
