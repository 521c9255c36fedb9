"""Test own requirements in the states of journeys."""

from __future__ import annotations

from msgspec.structs import replace

from tests.website_scan.cast import POLICY
from tests.website_scan.journey_cast import DONE, URL, journey_state
from website_scan.browser.evidence import Layout, Viewport
from website_scan.browser.journey.result import Walk
from website_scan.findings import ScanType
from website_scan.journeys.journey import Journey, Navigate
from website_scan.requirements.building import extension_of
from website_scan.requirements.reading import read_requirements
from website_scan.states import judge_states

RULES = [
    {"name": "Greeting", "text": "Welcome back"},
    {"name": "Log-out", "link": "/logout"},
    {"name": "Button", "element": "button.save"},
    {"name": "Other page", "text": "nowhere", "pages": ["/shop/*"]},
    {"name": "Policy", "header": "Content-Security-Policy"},
    {"name": "File", "file": "/robots.txt"},
    {"name": "Few requests", "requests": "total", "at_most": 0},
    {"name": "Fast", "metric": "speed-index", "at_most": 0},
    {"name": "Small", "metric": "dom-elements", "at_most": 1},
]
DOCUMENT = "<html><body><p>Welcome back</p><a href='/logout'>Log out</a></body></html>"


def test_rules_judge_the_states_of_a_journey() -> None:
    state = journey_state(
        DONE, document=DOCUMENT, is_navigation=True, security={"document_headers": {"content-type": "text/html"}}
    ).state
    load = replace(state.evidence, layout=Layout(DOCUMENT, {}, (), (), Viewport(412, 823, 2.0)))
    walk = Walk((DONE, DONE), (replace(state, evidence=load),), "Chromium")
    journey = Journey("Account", (Navigate(url=URL), Navigate(url=URL)))
    extension = extension_of(read_requirements({"rules": RULES}))
    (judged,) = judge_states(journey, walk, list(ScanType), POLICY, extension=extension)
    own = {
        check.name: check.status
        for result in judged.results
        for category in result.categories
        if category.id == "own"
        for check in category.checks
    }
    assert own == {"Greeting": "pass", "Log-out": "pass", "Button": "fail", "Policy": "fail", "Small": "fail"}
