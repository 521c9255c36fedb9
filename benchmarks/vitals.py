"""Accuracy of the simulated vitals, compared with really throttled loads, on ten pages with different bottlenecks."""

from __future__ import annotations

from multiprocessing.connection import Connection

from benchmarks.table import Table
from benchmarks.usage import elsewhere
from scanner.browser.visit import Visit
from scanner.browser.warm import WarmBrowser
from scanner.net.browser import find_browser
from scanner.net.client import Network
from scanner.net.policy import Policy
from scanner.net.proxy import BrowserProxy
from scanner.performance.vitals import Markup, Vitals, vitals
from tests.scanner.net.loopback import NETWORKS
from tests.targets.load_pages import FONT, NAMES, SHELLS, load_pages
from tests.targets.server import Site
from tests.targets.slow_link import SlowLink
from tests.targets.throttled_load import throttled_loads

TIMES = 3
TIME_LIMIT_S = 60.0
POLICY = Policy(allowed_networks=NETWORKS)
# Permitted error of a paint and of the blocking time, as a share of the throttled load's; of the latter at least 50 ms.
PAINT_SHARE, TBT_SHARE, TBT_S = 0.2, 0.3, 0.05


def measure(table: Table, share: float) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    names = NAMES[: max(1, round(len(NAMES) * share))]
    table.head("seconds, simulated and throttled", "FCP", "", "LCP", "", "TBT", "", "wrong")
    with elsewhere(_serve) as link, WarmBrowser(program) as browser:
        url = link.recv()
        for name in names:
            # Both use the same URL; the relay between browser and site is slow for the throttled loads only.
            link.send("fast")
            link.recv()
            markup = Markup(is_shell=name in SHELLS, holding_fonts=frozenset({f"{url}{FONT}"}))
            found = _simulated(browser, f"{url}/{name}", markup)
            link.send("slow")
            link.recv()
            real = throttled_loads(program, f"{url}/{name}", TIMES)
            pairs = []
            for simulated, real_s in ((found.fcp, real.fcp_s), (found.lcp, real.lcp_s), (found.tbt, real.tbt_s)):
                pairs += [simulated.value if simulated else float("nan"), real_s]
            room_s = (PAINT_SHARE * real.fcp_s, PAINT_SHARE * real.lcp_s, max(TBT_SHARE * real.tbt_s, TBT_S))
            wrong = sum(not abs(pairs[2 * at] - pairs[2 * at + 1]) <= room_s[at] for at in range(3))
            table.missed |= wrong > 0
            table.row(name, *pairs, wrong)


def _simulated(browser: WarmBrowser, url: str, markup: Markup) -> Vitals:
    with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network, BrowserProxy(network) as proxy:
        loads = browser.load(Visit(url, proxy, POLICY.user_agent, TIME_LIMIT_S, again=TIMES - 1)).loads
    return vitals(loads, markup)


def _serve(pipe: Connection) -> None:
    with Site() as here, Site() as elsewhere, SlowLink([here.port, elsewhere.port]) as link:
        routes = load_pages(f"http://127.0.0.1:{link.ports[1]}")
        here.routes.update(routes)
        elsewhere.routes.update(routes)
        pipe.send(f"http://127.0.0.1:{link.ports[0]}")
        while True:
            link.slow_down() if pipe.recv() == "slow" else link.speed_up()
            pipe.send("done")
