"""Judge the states of a journey by the checks that can judge them.

The journey has gathered all evidence, so no request is sent to the site.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.evidence import BrowserLoad, MixedRequests
from website_scan.browser.journey.judged import JourneyState, journey_states
from website_scan.browser.journey.result import State, Walk
from website_scan.catalogue import Probe, catalogue_version
from website_scan.errors import Refusal
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.journeys.journey import Journey
from website_scan.judging import Judgement
from website_scan.net.http.response import Headers, Response
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target
from website_scan.page.evidence import Clock, Page, ScanTypes
from website_scan.page.registrable_domain import is_same_site
from website_scan.plan import INTERNAL, MAX_COMPUTING_CPU_S, Missing, arguments, evidence_order, run_probe, state_plan
from website_scan.result import ScanError, ScanResult, StateOfJourney
from website_scan.security.cookies import Cookie, Cookies
from website_scan.viewing import Viewing

logger = logging.getLogger(__name__)

JUDGING_LIMIT_S = 30.0
# The browser decodes the page, so its markup is exchanged in UTF-8, which a byte order mark declares.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The DOM as HTML has no document type. Browsers would parse it differently without one.
DOCTYPE = "<!doctype html>"
# The cookies of a state are those of the browser. A header names only those of one response.
LEFT_OUT_HEADERS = frozenset({"set-cookie"})


class JudgedState(Struct, frozen=True):
    """State of a journey with one result for each scan type that can judge it.

    `step` is the position of the step after which it was reached, from 0.
    """

    name: str
    step: int
    url: str
    is_navigation: bool
    results: tuple[ScanResult, ...]


def judge_states(
    journey: Journey,
    walk: Walk,
    types: Sequence[ScanType],
    policy: Policy,
    viewing: Viewing | None = None,
    *,
    extension: Extension = NO_EXTENSION,
    time_limit_s: float = math.inf,
) -> tuple[JudgedState, ...]:
    """Return the results of all states of a walk.

    SEO judges only states that search engines can reach: pages with an address of their own that was opened by a
    navigation. Checks that cannot start within `time_limit_s` are skipped. Never raises for anything that the site
    does.
    """
    ends = time.monotonic() + time_limit_s
    judged = []
    addresses: set[str] = set()
    for state in journey_states(journey, walk):
        address = state.state.url.partition("#")[0]
        has_own_address = state.state.is_navigation and not state.is_after_log_in and address not in addresses
        addresses.add(address)
        state_types = [type for type in types if type is not ScanType.SEO or has_own_address]
        place = StateOfJourney(journey.title, state.state.name, state.state.step + 1)
        target = _target(state, policy)
        plain_results = [_judge(state, type, target, extension, ends) for type in state_types]
        results = tuple(replace(result, viewing=viewing, state=place) for result in plain_results)
        judged.append(
            JudgedState(state.state.name, state.state.step, state.state.url, state.state.is_navigation, results)
        )
    return tuple(judged)


def _target(state: JourneyState, policy: Policy) -> Target | Refusal:
    """Return the address of a state, or why it is refused."""
    try:
        return parse_target(state.state.url.partition("#")[0], policy)
    except Refusal as refusal:
        return refusal


def _judge(
    state: JourneyState, scan_type: ScanType, target: Target | Refusal, extension: Extension, ends: float
) -> ScanResult:
    started_at = datetime.now(UTC)
    ends = min(ends, time.monotonic() + JUDGING_LIMIT_S)
    if isinstance(target, Refusal):
        return _failed(state, scan_type, started_at, ScanError(target.code, str(target)))
    plan = state_plan(scan_type, is_navigation=state.state.is_navigation, extension=extension)
    evidence = _evidence(state, target, scan_type, started_at)
    order = evidence_order(plan.probes)
    while order.is_active():
        for provides in order.get_ready():
            if provides not in evidence:
                evidence[provides] = _gather(plan.probes[provides], evidence)
            order.done(provides)
    if not scan_type.uses_browser:
        evidence = {kind: value for kind, value in evidence.items() if kind is not BrowserLoad}
    judgement = Judgement(target, scan_type, plan, evidence, lambda: ends - time.monotonic())
    error = judgement.judge(lambda _: None)
    return judgement.build_result(error)


def _evidence(state: JourneyState, target: Target, scan_type: ScanType, now: datetime) -> dict[type, object]:
    """Return the evidence that the browser has gathered, by its class."""
    load = state.state.evidence
    headers = state.state.security.document_headers
    response = Response(
        url=target.url,
        status=state.state.status or 200,
        headers=Headers(tuple(header for header in headers.items() if header[0].lower() not in LEFT_OUT_HEADERS)),
        body=BYTE_ORDER_MARK + f"{DOCTYPE}{state.state.document or ''}".encode("utf-8", "replace"),
    )
    return {
        Target: target,
        Clock: Clock(now),
        ScanTypes: ScanTypes((scan_type,)),
        Viewing: Viewing(),
        Page: Page(target, target, (response,), has_credentials=state.is_after_log_in),
        BrowserLoad: load,
        Cookies: _cookies(state.state, target, now),
        MixedRequests: MixedRequests(load.mixed_requests),
        JourneyState: state,
    }


def _cookies(state: State, target: Target, now: datetime) -> Cookies:
    """Return the site's cookies in the browser, as if the page had set all of them."""
    return Cookies(
        tuple(
            Cookie(
                name=cookie.name,
                host=cookie.domain,
                is_sent_over_https=target.is_https,
                value_length=cookie.value_length,
                domain=None if cookie.is_host_only else cookie.domain,
                path=cookie.path,
                secure=cookie.is_secure,
                http_only=cookie.is_http_only,
                same_site=cookie.same_site.lower() or None,
                expires=None if cookie.expires_in_s is None else now + timedelta(seconds=cookie.expires_in_s),
            )
            for cookie in state.security.cookies
            if is_same_site(cookie.domain, target.host)
        )
    )


def _gather(probe: Probe, evidence: Mapping[type, object]) -> object:
    """Return the evidence of a probe, or `Missing` if it failed or lacks other evidence."""
    values = arguments(probe.needs, evidence)
    if isinstance(values, Missing):
        return values
    try:
        return run_probe(probe, values, MAX_COMPUTING_CPU_S)
    except Refusal as refusal:
        return Missing.refused(refusal)
    except Exception:
        logger.exception("probe %s failed in a state of a journey", probe.name)
        return INTERNAL


def _failed(state: JourneyState, scan_type: ScanType, started_at: datetime, error: ScanError) -> ScanResult:
    return ScanResult(
        type=scan_type,
        url=state.state.url,
        status="failed",
        started_at=started_at,
        completed_at=datetime.now(UTC),
        catalogue_version=catalogue_version(scan_type),
        score=None,
        grade=None,
        categories=(),
        error=error,
    )
