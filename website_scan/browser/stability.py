"""Compare page loads by how long they blocked the main thread.

Task lengths are processor time, but other programs of a busy machine still make a load slower: they empty the caches
and share the cores. They never make it faster, so that the lowest figures count.
"""

from __future__ import annotations

from collections.abc import Sequence

from website_scan.browser.evidence import Load
from website_scan.browser.processes import Usage

# A phone's processor is four times slower, so 12.5 ms here are 50 ms there.
PHONE_SLOWDOWN = 4
LONG_TASK_S = 0.05
# Two loads agree if they differ by no more than this share or time.
AGREEMENT = 0.15
MIN_DIFFERENCE_S = 0.05
# A starved load may take several times the processor time of another one.
MAX_STARVATION = 0.25


def blocking_time_s(load: Load) -> float:
    """Return the total blocking time on a phone.

    It is the time beyond 50 ms of all tasks after the first paint.
    """
    began_s = load.fcp_s or 0.0
    lengths = (PHONE_SLOWDOWN * task.processor_s for task in load.main_thread.tasks if task.ends_s > began_s)
    return sum(max(0.0, length - LONG_TASK_S) for length in lengths)


def lowest_agree(figures: Sequence[float], agreement: float = AGREEMENT, least: float = MIN_DIFFERENCE_S) -> bool:
    """Return True if the two lowest figures are close together.

    A single figure is enough, too.
    """
    first, *others = sorted(figures)
    return not others or others[0] - first <= max(agreement * first, least)


def starvation_between(before: Usage, after: Usage) -> float:
    """Return how long a browser waited for a processor.

    As a multiple of the processor time that it got.
    """
    return max(0.0, after.waited_s - before.waited_s) / max(after.cpu_s - before.cpu_s, 0.1)


def was_starved(loads: Sequence[Load]) -> bool:
    """Return True if a load had too little processor time.

    Other programs used the processors.
    """
    return max(load.starvation for load in loads) > MAX_STARVATION


def are_loads_stable(loads: Sequence[Load]) -> bool:
    """Return True if another load would change little.

    The figure is the blocking time.
    """
    return lowest_agree([blocking_time_s(load) for load in loads])
