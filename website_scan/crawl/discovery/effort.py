"""Limit the time, processor time, URLs and request rate of a discovery."""

from __future__ import annotations

import os
import threading
import time

from website_scan.net.deadline import Deadline

MAX_URLS = 200_000  # Maximum number of different URLs, listed or not.
BASE_CPU_LIMIT_S = 20.0
CPU_LIMIT_PER_PAGE_S = 0.1
MAX_CRAWL_DELAY_S = 5.0
STEPS_PER_CHECK = 64  # Number of steps after which the clocks are checked.


class EffortExhausted(Exception):
    """Raised when a discovery exceeds a limit.

    The message is a sentence that names the limit.
    """


class Effort:
    """Counter for the time, processor time and URLs of a discovery.

    Processor time is that of the thread that created the counter and of the child processes that it waited for.
    """

    def __init__(self, time_limit_s: float, max_pages: int) -> None:
        self._deadline = Deadline(time_limit_s)
        self._time_limit_s = time_limit_s
        self._cpu_limit_s = BASE_CPU_LIMIT_S + CPU_LIMIT_PER_PAGE_S * max_pages
        self._cpu_began_s = _measure_cpu_s()
        self._steps = 0
        self._urls = 0

    @property
    def remaining_s(self) -> float:
        """Return the remaining seconds of the time limit, never negative."""
        return self._deadline.remaining_s()

    def check(self) -> None:
        """Raise `EffortExhausted` if the time or processor time is used up."""
        if self.remaining_s <= 0:
            raise EffortExhausted(f"Looking for pages ended after {self._time_limit_s:g} seconds.")
        if _measure_cpu_s() - self._cpu_began_s > self._cpu_limit_s:
            raise EffortExhausted("The site is so large or complex that page discovery took too long.")

    def count_step(self) -> None:
        """Count a step, and check the clocks every `STEPS_PER_CHECK` steps.

        Raises `EffortExhausted`.
        """
        self._steps += 1
        if self._steps % STEPS_PER_CHECK == 0:
            self.check()

    def count_url(self) -> None:
        """Count a new URL.

        Raises `EffortExhausted` beyond the limit.
        """
        self._urls += 1
        if self._urls > MAX_URLS:
            raise EffortExhausted(f"The site names more than {MAX_URLS:,} addresses; those beyond were not read.")


class Pace:
    """Rate limiter for the requests of all threads.

    They start at least `delay_s` seconds apart.
    """

    def __init__(self, delay_s: float) -> None:
        self.delay_s = min(delay_s, MAX_CRAWL_DELAY_S)
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self, max_wait_s: float) -> None:
        """Wait until the next request may be sent.

        The wait is at most `max_wait_s` seconds.
        """
        if not self.delay_s:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self.delay_s
        time.sleep(min(at - now, max_wait_s))


def _measure_cpu_s() -> float:
    times = os.times()
    return time.thread_time() + times.children_user + times.children_system
