"""Main-thread work of a page load.

The simulation scales it to a slower processor.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from website_scan.browser.evidence import Evaluation, MainThread

SLOWDOWN = 4  # Lighthouse's factor between the processor speeds of the scanner and of a mid-range phone.


class Processor:
    """Main-thread work of one page load.

    It is measured in seconds of processor time of the scanning machine.
    """

    def __init__(self, main_thread: MainThread) -> None:
        self._tasks = main_thread.tasks
        self._starts = [task.time_s for task in main_thread.tasks]
        self._work_before = _running_totals(task.processor_s for task in main_thread.tasks)
        self._clock_before = _running_totals(task.duration_s for task in main_thread.tasks)
        self._frames_s = main_thread.frame_commits_s
        self._rendering = main_thread.rendering
        self._parsing_starts_s = main_thread.parse_starts_s
        self.evaluations: Sequence[Evaluation] = main_thread.evaluations

    def work_s(self, since_s: float, until_s: float, without: Collection[Evaluation] = ()) -> float:
        """Return the processor time from `since_s` to `until_s`.

        The script evaluations in `without` do not count.
        """
        if until_s <= since_s:
            return 0.0
        excluded_s = sum(
            evaluation.processor_s * _overlap_share(evaluation.time_s, evaluation.duration_s, since_s, until_s)
            for evaluation in without
        )
        return max(0.0, self._work_time_until(until_s) - self._work_time_until(since_s) - excluded_s)

    def rendering_work_s(self, since_s: float, until_s: float) -> float:
        """Return the processor time of rendering between two moments."""
        return sum(
            task.processor_s * _overlap_share(task.time_s, task.duration_s, since_s, until_s)
            for task in self._rendering
        )

    def parsing_start_s(self, response_s: float) -> float:
        """Return when parsing of the document began.

        By then, the browser had unloaded the previous page.
        """
        return next((start_s for start_s in self._parsing_starts_s if start_s >= response_s), response_s)

    def idle_time_s(self, since_s: float, until_s: float) -> float:
        """Return the idle seconds of the main thread between two moments."""
        if until_s <= since_s:
            return 0.0
        return max(0.0, until_s - since_s - (self._busy_time_until(until_s) - self._busy_time_until(since_s)))

    def find_evaluation(self, url: str, by_s: float) -> Evaluation | None:
        """Return the first evaluation of the script at `url`.

        It began no later than `by_s`.
        """
        return next(
            (evaluation for evaluation in self.evaluations if evaluation.url == url and evaluation.time_s <= by_s), None
        )

    def find_running_script(self, at_s: float) -> Evaluation | None:
        """Return the evaluation of the script that was running at a moment.

        None if no script was running.
        """
        return next(
            (
                evaluation
                for evaluation in self.evaluations
                if evaluation.time_s <= at_s < evaluation.time_s + evaluation.duration_s
            ),
            None,
        )

    def frame_end_s(self, painted_s: float) -> float:
        """Return when the main thread finished a frame.

        The frame was painted at `painted_s`.

        Other threads paint frames later.
        """
        count = bisect_right(self._frames_s, painted_s)
        return self._frames_s[count - 1] if count else painted_s

    def _work_time_until(self, at_s: float) -> float:
        count = bisect_right(self._starts, at_s)
        if not count:
            return 0.0
        last = self._tasks[count - 1]
        share = _overlap_share(last.time_s, last.duration_s, last.time_s, at_s)
        return self._work_before[count - 1] + last.processor_s * share

    def _busy_time_until(self, at_s: float) -> float:
        count = bisect_right(self._starts, at_s)
        if not count:
            return 0.0
        last = self._tasks[count - 1]
        return self._clock_before[count - 1] + min(last.duration_s, at_s - last.time_s)


def _running_totals(values: Iterable[float]) -> list[float]:
    """Return the prefix sums of the values, from 0 to the sum of all values."""
    return list(accumulate(values, initial=0.0))


def _overlap_share(began_s: float, took_s: float, since_s: float, until_s: float) -> float:
    """Return the share of a task, 0 to 1, that lies between two moments."""
    if took_s <= 0:
        return float(since_s <= began_s < until_s)
    return max(0.0, min(began_s + took_s, until_s) - max(began_s, since_s)) / took_s
