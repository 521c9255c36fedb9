"""Time limits for axe-core.

They are extended while this machine is busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from website_scan.browser.axe import AXE_FAILED, MAX_RULES_S, run_axe
from website_scan.browser.devtools import Target
from website_scan.browser.evidence import AxeReport
from website_scan.browser.processes import Usage
from website_scan.browser.visit import BrowserFailed, Visit

# The rest of the time is reserved for merging the results.
RULES_TIME_SHARE = 0.6
POLL_INTERVAL_S = 0.25


async def run_axe_in_time(
    cdp: Target, visit: Visit, usage: Callable[[], Usage], remaining_s: float, max_cpu_s: float
) -> AxeReport:
    """Run axe-core on each screen of the visit for at most `remaining_s` seconds in all.

    Raises `BrowserFailed` if it uses too much processor time. `usage` returns the resources that the browser's
    processes have used so far.
    """
    before = usage()
    slowdown = 1 + before.waited_s / max(before.cpu_s, 0.1)
    max_rules_s = min(MAX_RULES_S * slowdown, remaining_s * RULES_TIME_SHARE)
    # A new layout for the first screen again would take time, and only pictures follow.
    running = asyncio.ensure_future(
        run_axe(cdp, visit.axe_devices, max_rules_s, visit.device, restores_screen=visit.has_pictures)
    )
    try:
        while not (await asyncio.wait((running,), timeout=POLL_INTERVAL_S))[0]:
            if usage().cpu_s > before.cpu_s + max_cpu_s:
                raise BrowserFailed(f"{AXE_FAILED} within {max_cpu_s:g} seconds of processor time.")
        return running.result()
    finally:
        running.cancel()
