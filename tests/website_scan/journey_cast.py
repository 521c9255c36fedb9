"""Build states of journeys for tests of checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from website_scan.browser.evidence import BrowserLoad, Load
from website_scan.browser.journey.judged import ExecutedStep, JourneyState
from website_scan.browser.journey.result import State
from website_scan.journeys.journey import Click, ElementTarget, Selector, SelectorKind, SelectorPart, Step
from website_scan.journeys.walk import Cookie, Interaction, StateSecurity, StepResult, StepStatus

URL = "https://site.example.com/account"
CLICK = Click(target=ElementTarget((Selector((SelectorPart(SelectorKind.ARIA, "Menu", "button"),)),)))
QUIET = Interaction(next_paint_ms=24.0, shift=0.0, long_tasks_ms=(), transferred_bytes=0, requests=0)
DONE = StepResult(StepStatus.DONE, url=URL)


def cookie(name: str, value: str = "v1", **fields: Any) -> Cookie:
    """Return a cookie whose digest is its value."""
    usual = Cookie(
        name=name,
        domain="site.example.com",
        path="/",
        value_digest=value,
        value_length=32,
        is_secure=True,
        is_http_only=True,
        same_site="Lax",
        expires_in_s=None,
        is_host_only=True,
    )
    return replace(usual, **fields)


def journey_state(
    *steps: StepResult,
    step: Step = CLICK,
    document: str = "<html><body><p>Tea</p></body></html>",
    cookies: Sequence[Cookie] = (),
    before: Sequence[Cookie] | None = None,
    is_navigation: bool = False,
    security: Any = None,
    starvation: float = 0.0,
    **fields: Any,
) -> JourneyState:
    """Return a state after clicks with these results. `before` are the cookies before the log-in, if there was one.

    `starvation` is how long the browser waited for a processor, as a multiple of its processor time.
    """
    executed = tuple(ExecutedStep(number, step, result) for number, result in enumerate(steps, 2))
    state = State(
        name="Account",
        step=len(steps),
        url=URL,
        title="Account",
        is_navigation=is_navigation,
        status=200,
        evidence=BrowserLoad("Chromium", Load(None, None, (), None, 0.0, 0.0, (), starvation=starvation)),
        document=document,
        security=StateSecurity(
            tuple(cookies), **{"storage": (), "document_headers": {}, "secrets_in_addresses": ()} | (security or {})
        ),
        **fields,
    )
    return JourneyState(state, None, executed, None if before is None else tuple(before))


def clicked(**fields: Any) -> StepResult:
    """Return the result of a click on the page."""
    return replace(DONE, **{"interaction": QUIET} | fields)
