"""Effort and pace of a discovery: limits for time, processor time and URLs, and the delay between requests."""

from __future__ import annotations

import os
import threading
import time

from website_scan.net.deadline import Deadline

MAX_ADDRESSES = 200_000  # different ones, listed or not
CPU_S = 20.0
CPU_S_PER_PAGE = 0.1
MAX_CRAWL_DELAY_S = 5.0
STEPS = 64  # between two checks of the clocks


class Exhausted(Exception):
    """A limit of the effort is used up; the message is a sentence that names it."""


class Effort:
    """Effort of one discovery, in the thread that created this. Includes child processes that it waited for."""

    def __init__(self, time_limit_s: float, max_pages: int) -> None:
        self._deadline = Deadline(time_limit_s)
        self._time_limit_s = time_limit_s
        self._cpu_s = CPU_S + CPU_S_PER_PAGE * max_pages
        self._cpu_began_s = _cpu_s()
        self._steps = 0
        self._addresses = 0

    @property
    def remaining_s(self) -> float:
        """Return the seconds left, never negative."""
        return self._deadline.remaining_s()

    def check(self) -> None:
        """Raise `Exhausted` if no time is left."""
        if self.remaining_s <= 0:
            raise Exhausted(f"Looking for pages ended after {self._time_limit_s:g} seconds.")
        if _cpu_s() - self._cpu_began_s > self._cpu_s:
            raise Exhausted("The site is so large or intricate that looking for pages took too long.")

    def step(self) -> None:
        """Check the clocks every `STEPS` calls. Raises `Exhausted`."""
        self._steps += 1
        if self._steps % STEPS == 0:
            self.check()

    def address(self) -> None:
        """Count a new URL. Raises `Exhausted`."""
        self._addresses += 1
        if self._addresses > MAX_ADDRESSES:
            raise Exhausted(f"The site names more than {MAX_ADDRESSES:,} addresses; those beyond were not read.")


class Pace:
    """Minimum delay of `delay_s` seconds between the starts of two requests, in all threads together."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = min(delay_s, MAX_CRAWL_DELAY_S)
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self, at_most_s: float) -> None:
        """Wait until the next request may be sent, but at most `at_most_s`."""
        if not self.delay_s:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self.delay_s
        time.sleep(min(at - now, at_most_s))


def _cpu_s() -> float:
    times = os.times()
    return time.thread_time() + times.children_user + times.children_system
