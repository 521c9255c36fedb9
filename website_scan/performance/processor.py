"""Main-thread work of a load, so that the simulation can run it on a slower processor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from website_scan.browser.evidence import Evaluation, MainThread

SLOWDOWN = 4  # of a mid-range phone compared with the scanner's processor: Lighthouse's factor


class Processor:
    """Main-thread work of one load. Times are as observed; work is this machine's processor time in seconds."""

    def __init__(self, seen: MainThread) -> None:
        self._tasks = seen.tasks
        self._starts = [each.time_s for each in seen.tasks]
        self._work_before = _sums(each.processor_s for each in seen.tasks)
        self._clock_before = _sums(each.duration_s for each in seen.tasks)
        self._frames_s = seen.frames_s
        self._rendering = seen.rendering
        self._parses_s = seen.parses_s
        self.evaluations: Sequence[Evaluation] = seen.evaluations

    def worked_s(self, since_s: float, until_s: float, without: Collection[Evaluation] = ()) -> float:
        """Return the work between two times, without that of some scripts."""
        if until_s <= since_s:
            return 0.0
        spared_s = sum(each.processor_s * _share(each.time_s, each.duration_s, since_s, until_s) for each in without)
        return max(0.0, self._worked_until(until_s) - self._worked_until(since_s) - spared_s)

    def rendered_s(self, since_s: float, until_s: float) -> float:
        """Return the part of the work between two times that grows with the document."""
        return sum(
            each.processor_s * _share(each.time_s, each.duration_s, since_s, until_s) for each in self._rendering
        )

    def parsed_s(self, response_s: float) -> float:
        """Return when the parsing of the document began: behind the work for giving up the page before it."""
        return next((each for each in self._parses_s if each >= response_s), response_s)

    def idle_s(self, since_s: float, until_s: float) -> float:
        """Return the idle time by the clock, without tasks: a task that another program interrupts is not idle."""
        if until_s <= since_s:
            return 0.0
        return max(0.0, until_s - since_s - (self._busy_until(until_s) - self._busy_until(since_s)))

    def evaluated(self, url: str, by_s: float) -> Evaluation | None:
        """Return the first evaluation of a script, if it began by then."""
        return next((each for each in self.evaluations if each.url == url and each.time_s <= by_s), None)

    def running(self, at_s: float) -> Evaluation | None:
        """Return the script that ran at that time."""
        return next((each for each in self.evaluations if each.time_s <= at_s < each.time_s + each.duration_s), None)

    def handed_over_s(self, painted_s: float) -> float:
        """Return when the main thread finished the frame painted at that time; other threads draw it."""
        count = bisect_right(self._frames_s, painted_s)
        return self._frames_s[count - 1] if count else painted_s

    def _worked_until(self, at_s: float) -> float:
        count = bisect_right(self._starts, at_s)
        if not count:
            return 0.0
        last = self._tasks[count - 1]
        share = _share(last.time_s, last.duration_s, last.time_s, at_s)
        return self._work_before[count - 1] + last.processor_s * share

    def _busy_until(self, at_s: float) -> float:
        count = bisect_right(self._starts, at_s)
        if not count:
            return 0.0
        last = self._tasks[count - 1]
        return self._clock_before[count - 1] + min(last.duration_s, at_s - last.time_s)


def _sums(values: Iterable[float]) -> list[float]:
    """Return the running totals: before each value, and of all."""
    return list(accumulate(values, initial=0.0))


def _share(began_s: float, took_s: float, since_s: float, until_s: float) -> float:
    """Return the share of an interval that lies between two times."""
    if took_s <= 0:
        return float(since_s <= began_s < until_s)
    return max(0.0, min(began_s + took_s, until_s) - max(began_s, since_s)) / took_s
