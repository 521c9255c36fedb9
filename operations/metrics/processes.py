"""Metrics that processes count in memory. Redis stores the totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.metrics_core import Metric

from infrastructure.telemetry.counters import MICRO, Series
from infrastructure.telemetry.process_metrics import COUNTERS, HISTOGRAMS
from operations.metrics.families import counter, histogram


def process_metrics(totals: Mapping[Series, int]) -> Iterator[Metric]:
    """Yield the metrics in PROCESS_METRICS from these totals.

    Metrics without labels start at 0.
    """
    by_metric: dict[str, dict[Series, int]] = {}
    for series, value in totals.items():
        by_metric.setdefault(series[0], {})[series[1:]] = value
    for definition in COUNTERS:
        values: dict[Series, float] = {} if definition.labels else {(): 0}
        for labels, value in by_metric.get(definition.name, {}).items():
            values[labels] = value / MICRO if definition.is_seconds else value
        yield counter(definition, values)
    for histogram_definition in HISTOGRAMS:
        buckets: dict[Series, dict[str, int]] = {}
        sums: dict[Series, float] = {}
        for series, value in by_metric.get(histogram_definition.name, {}).items():
            if series[-1] == "sum":
                sums[series[:-1]] = value / MICRO
            else:
                buckets.setdefault(series[:-1], {})[series[-1]] = value
        yield histogram(histogram_definition, buckets, sums)
