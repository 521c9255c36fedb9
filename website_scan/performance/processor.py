"""Main-thread work of a page load, from which the simulation computes the work of a slower processor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from website_scan.browser.evidence import Evaluation, MainThread

SLOWDOWN = 4  # Lighthouse's factor between the processors of the scanner and of a mid-range phone


class Processor:
    """Main-thread work of one page load. Times are as observed; work is this machine's processor time in seconds."""

    def __init__(self, main_thread: MainThread) -> None:
        self._tasks = main_thread.tasks
        self._starts = [task.time_s for task in main_thread.tasks]
        self._work_before = _sums(task.processor_s for task in main_thread.tasks)
        self._clock_before = _sums(task.duration_s for task in main_thread.tasks)
        self._frames_s = main_thread.frames_s
        self._rendering = main_thread.rendering
        self._parsing_starts_s = main_thread.parses_s
        self.evaluations: Sequence[Evaluation] = main_thread.evaluations

    def work_s(self, since_s: float, until_s: float, without: Collection[Evaluation] = ()) -> float:
        """Return the work between two times, except for the evaluations `without`."""
        if until_s <= since_s:
            return 0.0
        excluded_s = sum(
            evaluation.processor_s * _share(evaluation.time_s, evaluation.duration_s, since_s, until_s)
            for evaluation in without
        )
        return max(0.0, self._work_until(until_s) - self._work_until(since_s) - excluded_s)

    def rendering_work_s(self, since_s: float, until_s: float) -> float:
        """Return the rendering work between two times, which grows with the document."""
        return sum(
            task.processor_s * _share(task.time_s, task.duration_s, since_s, until_s) for task in self._rendering
        )

    def parsing_start_s(self, response_s: float) -> float:
        """Return when parsing of the document began, after the browser had unloaded the previous page."""
        return next((start_s for start_s in self._parsing_starts_s if start_s >= response_s), response_s)

    def idle_s(self, since_s: float, until_s: float) -> float:
        """Return the seconds without a task between two times. A task that another program interrupts is not idle."""
        if until_s <= since_s:
            return 0.0
        return max(0.0, until_s - since_s - (self._busy_until(until_s) - self._busy_until(since_s)))

    def evaluation_of(self, url: str, by_s: float) -> Evaluation | None:
        """Return the first evaluation of a script that began at `by_s` or earlier."""
        return next(
            (evaluation for evaluation in self.evaluations if evaluation.url == url and evaluation.time_s <= by_s), None
        )

    def script_running_at(self, at_s: float) -> Evaluation | None:
        """Return the evaluation of the script that ran at a time."""
        return next(
            (
                evaluation
                for evaluation in self.evaluations
                if evaluation.time_s <= at_s < evaluation.time_s + evaluation.duration_s
            ),
            None,
        )

    def frame_end_s(self, painted_s: float) -> float:
        """Return when the main thread finished the frame that was painted at a time; other threads draw frames."""
        count = bisect_right(self._frames_s, painted_s)
        return self._frames_s[count - 1] if count else painted_s

    def _work_until(self, at_s: float) -> float:
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
    """Return the running totals: the sum before each value, and the sum of all values."""
    return list(accumulate(values, initial=0.0))


def _share(began_s: float, took_s: float, since_s: float, until_s: float) -> float:
    """Return the share, 0 to 1, of an interval that lies between two times."""
    if took_s <= 0:
        return float(since_s <= began_s < until_s)
    return max(0.0, min(began_s + took_s, until_s) - max(began_s, since_s)) / took_s
