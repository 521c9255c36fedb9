"""Test that the example journeys show each planted fault in its state, and none on the healthy twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from tests.project import ROOT
from tests.targets.journeys.account import PASSWORD, USER, account_site
from tests.targets.journeys.app import app_site
from tests.targets.journeys.shop import CARD, shop_site
from tests.targets.server import Route, Site
from tests.website_scan.cast import POLICY
from website_scan.browser.journey.request import WalkRequest, site_addresses
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.journeys.short_form import read_short_form
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy
from website_scan.states import JudgedState, judge_states

# The sites are small and served over plain HTTP, which these checks report on both twins.
COMMON = frozenset(
    {"insecure-form", "clickjacking", "x-content-type-options", "permissions-policy", "csp-present"}
    | {"meta-description", "thin-content", "og-title"}
)


class Example(NamedTuple):
    """Example journey, its site, and the faults by state."""

    make: Callable[..., dict[str, Route]]
    secrets: Mapping[str, str]
    faults: Mapping[str, set[str]]


EXAMPLES = {
    "account": Example(
        account_site,
        {"user": USER, "password": PASSWORD},
        {
            "Account": {"session-fixation.same", "secret-in-address.sent", "private-cache.shared"},
            "Loans": {"session-fixation.same", "keyboard-reach.unreachable"},
            "Signed out": {"password-paste.blocked", "log-out.valid"},
        },
    ),
    "checkout": Example(
        shop_site,
        {"card": CARD},
        {
            "Filtered": {"next-paint.slow", "interaction-shift.shifted", "cls.high"},
            "In the cart": {"color-contrast.low", "status-message.silent"},
            "Payment": {"label.missing"},
            "Paid": {"label.missing", "token-in-storage.secret"},
        },
    ),
    "booking": Example(
        app_site,
        {},
        {
            "Removed": {"focus-lost.lost"},
            "Dialog": {"dialog-focus.outside", "image-alt.missing"},
            "Refused": {"image-alt.missing", "error-message.missing"},
        },
    ),
}


def judge(browser: WarmBrowser, name: str, *, is_faulty: bool) -> tuple[JudgedState, ...]:
    """Execute an example journey on one of its sites, and judge its states."""
    example = EXAMPLES[name]
    text = (ROOT / "examples/journeys" / f"{name}.txt").read_text("utf-8")
    with Site(example.make(is_faulty=is_faulty)) as site:
        journey = read_short_form(text, title=name, base_url=site.url).journey
        with Network(POLICY, time_limit_s=120) as network, BrowserProxy(network) as proxy:
            request = WalkRequest(
                journey=journey,
                proxy=proxy,
                user_agent=POLICY.user_agent,
                allowed=site_addresses(journey),
                secrets=example.secrets,
                tests_log_out=True,
            )
            walk = browser.walk(request)
    assert walk.problem == ""
    return judge_states(journey, walk, list(ScanType), POLICY)


def faults_of(states: tuple[JudgedState, ...], *, with_notes: bool) -> dict[str, set[str]]:
    """Return the outcomes of failed checks and warnings by state.

    Notes cost no points. On a busy machine, slow responses are only noted, whether or not the site is healthy.
    """
    return {
        state.name: {
            f"{check.id}.{check.outcome}"
            for result in state.results
            for category in result.categories
            for check in category.checks
            if check.status != "pass" and check.id not in COMMON and (check.weighs or with_notes)
        }
        for state in states
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_planted_fault_is_found_in_its_state(browser: WarmBrowser, name: str) -> None:
    states = judge(browser, name, is_faulty=True)
    planted, found = EXAMPLES[name].faults, faults_of(states, with_notes=True)
    assert {state: found[state] & faults for state, faults in planted.items()} == planted
    certain = faults_of(states, with_notes=False)
    assert {state: certain[state] - faults for state, faults in planted.items()} == {state: set() for state in planted}
    assert {result.status for state in states for result in state.results} == {"completed"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_fault_is_found_on_the_healthy_twin(browser: WarmBrowser, name: str) -> None:
    states = judge(browser, name, is_faulty=False)
    assert faults_of(states, with_notes=False) == {state: set() for state in EXAMPLES[name].faults}
