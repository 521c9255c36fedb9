"""Accuracy of the simulated vitals, compared with really throttled loads, on ten pages with different bottlenecks.

Both use the same URLs; the relay between browser and site is slow for the throttled loads and fast for the others.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection

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

PAINT_SHARE = 0.2
TBT_SHARE, TBT_S = 0.3, 0.05


def main() -> int:
    """Print the table; return 1 if a figure's error is larger than the goal."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    site = context.Process(target=_serve, args=(theirs,), daemon=True)
    site.start()
    url = ours.recv()
    missed = 0
    print(f"{'seconds: ours / throttled':16}{'FCP':>16}{'LCP':>16}{'TBT':>16}")
    with WarmBrowser(program) as browser:
        for name in NAMES:
            ours.send("fast")
            ours.recv()
            markup = Markup(is_shell=name in SHELLS, holding_fonts=frozenset({f"{url}{FONT}"}))
            found = _simulated(browser, f"{url}/{name}", markup)
            ours.send("slow")
            ours.recv()
            real = throttled_loads(program, f"{url}/{name}", TIMES)
            pairs = [(found.fcp, real.fcp_s), (found.lcp, real.lcp_s), (found.tbt, real.tbt_s)]
            cells = []
            for at, (measured, real_s) in enumerate(pairs):
                value = measured.value if measured else float("nan")
                room_s = PAINT_SHARE * real_s if at < 2 else max(TBT_SHARE * real_s, TBT_S)
                is_near = abs(value - real_s) <= room_s
                missed += not is_near
                cells.append(f"{value:6.2f} /{real_s:6.2f} {' ' if is_near else '!'}")
            print(f"{name:24}{''.join(cells)}", flush=True)
    ours.send("end")
    site.join()
    print(f"{missed} of {3 * len(NAMES)} figures are off by more than {PAINT_SHARE:.0%} (TBT: 30 % or 50 ms)")
    return int(missed > 0)


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
        while (order := pipe.recv()) != "end":
            link.slow_down() if order == "slow" else link.speed_up()
            pipe.send("done")
