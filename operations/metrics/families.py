"""Build `prometheus_client` metric families from definitions and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from infrastructure.telemetry.counters import Counter, Histogram, Series


class Gauge(Struct, frozen=True):
    """A gauge with its name, help text and labels."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


def gauge(definition: Gauge, values: Mapping[Any, float]) -> Metric:
    """Return a gauge's metric family. `values` maps label values to numbers."""
    family = GaugeMetricFamily(definition.name, definition.help, labels=definition.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def counter(definition: Counter, values: Mapping[Series, float]) -> Metric:
    """Return a counter's metric family. `values` maps label values to numbers."""
    family = CounterMetricFamily(definition.name, definition.help, labels=definition.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def histogram(
    definition: Histogram, buckets: Mapping[Series, Mapping[str, int]], sums: Mapping[Series, float]
) -> Metric:
    """Return a histogram's metric family from the counts per bucket.

    Leaves out buckets from older versions.
    """
    family = HistogramMetricFamily(definition.name, definition.help, labels=definition.labels)
    for labels, counts in buckets.items():
        total = 0
        cumulated = [(name, total := total + counts.get(name, 0)) for name in definition.names]
        family.add_metric(labels, cumulated, sums.get(labels, 0.0))
    return family
