from __future__ import annotations

import itertools
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scans.engine.time_limit import OutOfTime, alarm


def test_what_takes_longer_is_ended() -> None:
    with pytest.raises(OutOfTime), alarm(0.05):
        for _ in itertools.count():
            pass


def test_what_takes_more_of_the_processor_is_ended_and_waiting_costs_nothing() -> None:
    with alarm(60, cpu_s=0.05):
        threading.Event().wait(0.2)
    with pytest.raises(OutOfTime), alarm(60, cpu_s=0.05):
        for _ in itertools.count():
            pass


def test_what_is_done_in_time_is_left_alone_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with alarm(60):
        done = sum(range(1000))
    for thread in threading.enumerate():
        if thread.name == "alarm":
            thread.join(5)
    assert done == 499_500
    assert threading.active_count() <= before


def test_what_the_block_raises_comes_through() -> None:
    with pytest.raises(ValueError, match="own"), alarm(60):
        raise ValueError("own")


def test_an_alarm_never_rings_behind_its_block() -> None:
    """Many blocks that end just when the alarm rings, in threads that each have their own."""

    def one(steps: int) -> bool:
        try:
            with alarm(0.001):
                for _ in range(steps):
                    pass
        except OutOfTime:
            return True
        return len([None for _ in range(1000)]) != 1000

    with ThreadPoolExecutor(4) as pool:
        rung = list(pool.map(one, itertools.islice(itertools.cycle(range(0, 60_000, 3_000)), 400)))
    assert {True, False} == set(rung)


def test_an_alarm_that_python_dropped_rings_again() -> None:
    """What is raised in a finalizer goes nowhere: hostile code must not run on because of it."""

    class Slow:
        def __del__(self) -> None:
            ends = time.monotonic() + 0.4
            while time.monotonic() < ends:
                pass

    began = time.monotonic()

    def run_on() -> None:
        with alarm(0.05):
            Slow()  # ends at once, and is being finalized when the alarm rings
            while time.monotonic() < began + 30:
                pass

    dropped: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda told: dropped.append(told.exc_type))
        with pytest.raises(OutOfTime):
            run_on()
    assert dropped == [OutOfTime]
    assert time.monotonic() < began + 20
