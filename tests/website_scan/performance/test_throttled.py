"""Test that simulated vitals are close to those of throttled loads.

The bounds are wide, because a busy machine slows down the throttled load, but not the simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from tests.targets.load_pages import load_pages
from tests.targets.server import Site
from tests.targets.slow_link import SlowLink
from tests.targets.throttled_load import throttled_loads
from tests.website_scan.net.loopback import loopback_network
from website_scan.browser.visit import Visit
from website_scan.browser.warm import WarmBrowser
from website_scan.net.browser import find_browser
from website_scan.net.proxy import BrowserProxy
from website_scan.performance.vitals import MarkupFacts, vitals

TIME_LIMIT_S = 60.0
MAX_THROTTLED_LOADS = 6  # Other programs may slow down a throttled load, so it is repeated.


@pytest.fixture(scope="module")
def link() -> Iterator[SlowLink]:
    with Site() as here, Site() as elsewhere, SlowLink([here.port, elsewhere.port]) as link:
        routes = load_pages(f"http://127.0.0.1:{link.ports[1]}")
        here.routes.update(routes)
        elsewhere.routes.update(routes)
        yield link


@pytest.mark.parametrize("name", ["long-tasks", "late-image"])
def test_simulated_vitals_match_a_throttled_load(link: SlowLink, name: str) -> None:
    """Regression test: script-bound pages were painted in half the time.

    They also had no blocking time.
    """
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    url = f"http://127.0.0.1:{link.ports[0]}/{name}"
    link.speed_up()
    with loopback_network() as network, BrowserProxy(network) as proxy, WarmBrowser(program) as browser:
        loads = browser.load(Visit(url, proxy, network.policy.user_agent, TIME_LIMIT_S, again=1)).loads
    simulated = vitals(loads, MarkupFacts())
    assert simulated.fcp
    assert simulated.lcp
    assert simulated.tbt
    throttled = dict.fromkeys(("fcp", "lcp", "tbt"), math.inf)
    for _ in range(MAX_THROTTLED_LOADS):
        load = throttled_loads(program, url, 1, link.slow_down)
        # Other programs can only slow down a load, so the fastest load is used.
        throttled = {name: min(quickest, load[name].value) for name, quickest in throttled.items()}
        if 0.5 * throttled["fcp"] <= simulated.fcp.value and 0.5 * throttled["lcp"] <= simulated.lcp.value:
            break
    assert 0.5 * throttled["fcp"] <= simulated.fcp.value <= 1.4 * throttled["fcp"]
    assert 0.5 * throttled["lcp"] <= simulated.lcp.value <= 1.4 * throttled["lcp"]
    assert simulated.tbt.value <= 1.6 * throttled["tbt"] + 0.1
    # Interruptions lengthen throttled tasks, so the simulated blocking time may be lower.
    assert simulated.tbt.value > 0 or throttled["tbt"] < 0.3
