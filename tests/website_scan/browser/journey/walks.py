"""Execute journeys on small sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from website_scan.browser.journey.request import LIMITS, WalkRequest, site_addresses
from website_scan.browser.journey.result import Walk
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    ElementTarget,
    Journey,
    Navigate,
    Selector,
    SelectorKind,
    SelectorPart,
    StateRule,
    Step,
)
from website_scan.journeys.walk import StepStatus
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

TIME_LIMIT_S = 60.0
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    '<meta name="viewport" content="width=device-width"></head><body><main><h1>{title}</h1>{body}</main></body></html>'
)
SHORT_S = 1.0


def page(body: str, title: str = "Tea shop", **headers: str) -> Answer:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(PAGE.replace("{title}", title).replace("{body}", body), headers=HTML | names)


def css(text: str, *frame: int) -> ElementTarget:
    return ElementTarget((Selector((SelectorPart(SelectorKind.CSS, text),)),), frame)


def named(text: str, role: str = "", *frame: int) -> ElementTarget:
    return ElementTarget((Selector((SelectorPart(SelectorKind.ARIA, text, role),)),), frame)


def by(kind: SelectorKind, *texts: str) -> ElementTarget:
    return ElementTarget((Selector(tuple(SelectorPart(kind, text) for text in texts)),))


def walk(
    browser: WarmBrowser,
    url: str,
    *steps: Step,
    rule: StateRule = StateRule.STEPS,
    secrets: Mapping[str, str] | None = None,
    identity_providers: tuple[str, ...] = (),
    change: Callable[[dict[str, Any]], None] = lambda _: None,
    opens: bool = True,
    network: Mapping[str, Any] | None = None,
    limits: Limits = LIMITS,
) -> Walk:
    """Open an address and execute steps.

    `network` are further options of the network, and `limits` those of the journey and its proxy.
    """
    all_steps = (Navigate(url=url), *steps) if opens else steps
    journey = Journey("Test", all_steps, rule, identity_providers)
    options_of_network: dict[str, Any] = {"policy": POLICY, "time_limit_s": TIME_LIMIT_S} | dict(network or {})
    with Network(**options_of_network) as opened, BrowserProxy(opened, limits=limits) as proxy:
        options: dict[str, Any] = {
            "journey": journey,
            "proxy": proxy,
            "user_agent": POLICY.user_agent,
            "allowed": site_addresses(journey),
            "secrets": secrets or {},
            "time_limit_s": TIME_LIMIT_S,
            "parts": frozenset(),
            "has_pictures": False,
            "limits": limits,
        }
        change(options)
        return browser.walk(WalkRequest(**options))


def walk_page(browser: WarmBrowser, body: str, *steps: Step, **options: Any) -> Walk:
    """Execute steps on a page with this content."""
    with Site({"/": page(body)}) as site:
        return walk(browser, f"{site.url}/", *steps, **options)


def require_done(result: Walk) -> Walk:
    """Return a result whose steps are all done."""
    assert [step.status for step in result.steps] == [StepStatus.DONE] * len(result.steps), result.problem
    return result
