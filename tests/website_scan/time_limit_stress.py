"""Stress test for time limits in short-lived threads.

Run it with `python -m tests.website_scan.time_limit_stress 300`.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import threading
import time
from collections import Counter

from website_scan.time_limit import OutOfTime, limited

RUNNERS = 6
# A thread that has not ended within these seconds after the stress test hangs.
MAX_WAIT_S = 60.0


def stress(seconds: float) -> Counter[str]:
    """Run the stress test and return counts by outcome.

    Outcomes: blocks that `ended` in time, blocks that OutOfTime interrupted (`interrupted`), threads without a limit
    that OutOfTime interrupted (`strays`), exceptions after a block (`behind`), and threads that never ended (`hangs`).

    Every thread is short, so that its ident is soon reused. Half of the threads have limits that end at about the same
    time as their block; the others have no limit and must not be interrupted.
    """
    counts: Counter[str] = Counter()
    until = time.monotonic() + seconds
    runners = [threading.Thread(target=_run, args=(counts, until, seed), daemon=True) for seed in range(RUNNERS)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join(seconds + MAX_WAIT_S)
    counts["hangs"] += sum(runner.is_alive() for runner in runners)
    return counts


def _run(counts: Counter[str], until: float, seed: int) -> None:
    dice = random.Random(seed)
    for number in itertools.count():
        if time.monotonic() > until:
            return
        work = _run_with_limits if number % 2 else _run_without_limits
        thread = threading.Thread(target=work, args=(counts, dice.uniform(0.0005, 0.0035)), daemon=True)
        thread.start()
        thread.join(MAX_WAIT_S)
        counts["hangs"] += thread.is_alive()


def _run_with_limits(counts: Counter[str], seconds: float) -> None:
    for share in (0.5, 0.9, 1.0, 1.1, 1.5):
        try:
            try:
                limited(lambda share=share: _use_cpu(seconds * share), seconds)  # type: ignore[misc]
                counts["ended"] += 1
            except OutOfTime:
                counts["interrupted"] += 1
            _use_cpu(0.0002)
        except OutOfTime:
            counts["behind"] += 1


def _run_without_limits(counts: Counter[str], seconds: float) -> None:
    try:
        with contextlib.suppress(ValueError):
            _use_cpu(seconds * 4)
    except OutOfTime:
        counts["strays"] += 1


def _use_cpu(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


if __name__ == "__main__":
    print(dict(stress(float(sys.argv[1]))))  # noqa: T201
