"""Functions of checks for own requirements about metrics, bytes and requests."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Self

from msgspec import Struct

from website_scan.browser.evidence import BrowserLoad
from website_scan.catalogue import States
from website_scan.findings import NotApplicable
from website_scan.outcomes import Fail, Pass, Verdict, Warn, set_values
from website_scan.page.evidence import Page
from website_scan.page.markup import select
from website_scan.performance.evidence import Resources, Timing
from website_scan.performance.vitals import Measured, Vitals
from website_scan.requirements.loaded_files import CountedFile, CountedFiles, counted_files
from website_scan.requirements.model import BytesRule, FileKind, Metric, MetricRule, RequestsRule
from website_scan.requirements.seen_page import SeenPage
from website_scan.requirements.wording import FILE_NOUNS, METRICS
from website_scan.values import Bytes, Count, Milliseconds, Number, Value

MAX_LISTED_FILES = 20
SHIFT_DIGITS = 3
NOT_MEASURED = NotApplicable("The browser painted nothing on the page that could be measured.")


def metric_check(rule: MetricRule) -> Callable[..., Verdict]:
    if rule.metric is Metric.SERVER_RESPONSE_TIME:

        def judge_response_time(timing: Timing) -> Verdict:
            return _judge_metric(rule, 1000 * statistics.median(timing.ttfb_s))

        return judge_response_time
    if rule.metric is Metric.DOM_ELEMENTS:

        def judge_elements(seen: SeenPage) -> Verdict:
            return _judge_metric(rule, len(select(seen.document.tree, "body *")))

        return judge_elements

    def judge_vitals(vitals: Vitals) -> Verdict:
        scale = 1 if rule.metric is Metric.CUMULATIVE_LAYOUT_SHIFT else 1000
        if rule.metric is Metric.MAIN_THREAD_TIME:
            return _judge_metric(rule, 1000 * vitals.main_thread_s)
        if rule.metric is Metric.SCRIPT_TIME:
            return _judge_metric(rule, 1000 * vitals.script_s)
        measured = _of_vitals(vitals, rule.metric)
        if measured is None or vitals.observed_fcp is None:
            return NOT_MEASURED
        return _judge_metric(rule, scale * measured.value, may_pass=measured.may_be_within(rule.at_most / scale))

    return judge_vitals


def _of_vitals(vitals: Vitals, metric: Metric) -> Measured | None:
    return {
        Metric.FIRST_CONTENTFUL_PAINT: vitals.fcp,
        Metric.LARGEST_CONTENTFUL_PAINT: vitals.lcp,
        Metric.TOTAL_BLOCKING_TIME: vitals.tbt,
        Metric.CUMULATIVE_LAYOUT_SHIFT: vitals.cls,
        Metric.SPEED_INDEX: vitals.speed_index,
    }[metric]


def states_of(metric: Metric) -> States:
    """Return the states of a journey in which the metric can be judged."""
    if metric is Metric.DOM_ELEMENTS:
        return States.ALL
    return States.NAVIGATIONS if metric is Metric.CUMULATIVE_LAYOUT_SHIFT else States.NONE


def _judge_metric(rule: MetricRule, value: float, *, may_pass: bool = False) -> Verdict:
    words = METRICS[rule.metric]
    figure, limit = _metric_value(rule.metric, value), _metric_value(rule.metric, rule.at_most)
    if value <= rule.at_most:
        return Pass(f"{words.name} is {{figure}}; allowed are {{limit}}.", figure=figure, limit=limit)
    if may_pass:
        summary = f"{words.name} is {{figure}}, more than {{limit}}, but the loads of the page differ by as much."
        return Warn("above", summary, fix=words.fix, figure=figure, limit=limit)
    summary = f"{words.name} is {{figure}}; allowed are {{limit}}."
    return Fail("above", summary, fix=words.fix, figure=figure, limit=limit)


def _metric_value(metric: Metric, value: float) -> Value:
    if metric is Metric.CUMULATIVE_LAYOUT_SHIFT:
        return Number(value, SHIFT_DIGITS)
    return Count(round(value)) if metric is Metric.DOM_ELEMENTS else Milliseconds(value)


def bytes_check(rule: BytesRule) -> Callable[..., Verdict]:
    def judge(page: Page, resources: Resources, load: BrowserLoad | None) -> Verdict:
        files = _Files.of(rule.bytes, counted_files(page, resources, load))
        summary = "{files} {files:has|have} {weight}; allowed are {limit}."
        return files.judge(summary, files.wire_bytes, rule.at_most, Bytes(rule.at_most))

    return judge


def requests_check(rule: RequestsRule) -> Callable[..., Verdict]:
    def judge(page: Page, resources: Resources, load: BrowserLoad | None) -> Verdict:
        files = _Files.of(rule.requests, counted_files(page, resources, load))
        summary = "The page is loaded with {files} of {weight} in all; allowed are {limit}."
        return files.judge(summary, files.count, rule.at_most, Count(int(rule.at_most)))

    return judge


class _Files(Struct, frozen=True):
    """Files of one kind. Those that were not recorded, because there are too many, count as requests of the page."""

    kind: FileKind
    files: tuple[CountedFile, ...]
    left_out: int

    @classmethod
    def of(cls, kind: FileKind, counted: CountedFiles) -> Self:
        return cls(kind, tuple(file for file in counted.files if file.is_of(kind)), counted.left_out)

    @property
    def count(self) -> int:
        return len(self.files) + (self.left_out if self.kind is FileKind.TOTAL else 0)

    @property
    def wire_bytes(self) -> int:
        return sum(file.wire_bytes for file in self.files)

    def judge(self, summary: str, value: int, at_most: float, limit: Value) -> Verdict:
        one, many = FILE_NOUNS[self.kind]
        files = Count(self.count, one, many)
        if self.left_out:
            summary = summary.replace("{weight}", "at least {weight}")
        weight: Value = Bytes(self.wire_bytes)
        if value > at_most and weight.text == limit.text:
            # Rounding must not make a value above the limit look equal to it.
            weight, limit = Count(self.wire_bytes, "byte"), Count(int(at_most), "byte")
        values: dict[str, Value] = {"files": files, "weight": weight, "limit": limit}
        largest = [file.place for file in sorted(self.files, key=lambda file: -file.wire_bytes)[:MAX_LISTED_FILES]]
        if value <= at_most:
            return set_values(Pass(summary, details=largest), values)
        fix = "Remove files that the page can do without, and make the largest smaller."
        return set_values(Fail("above", summary, places=largest, total=len(self.files), fix=fix), values)
