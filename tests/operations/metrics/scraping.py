"""Helpers that scrape /metrics as Prometheus does."""

from __future__ import annotations

from collections.abc import Mapping

from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from operations.metrics import endpoint as views

TOKEN = "a-token-for-metrics-of-32-characters"

Samples = Mapping[str, float]


def scrape(client: Client | None = None) -> Samples:
    """Collect the metrics again and return all samples.

    METRICS_TOKEN must be set to TOKEN.
    """
    views._latest.forget()
    response = (client or Client()).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200, response.content
    return samples(response.content.decode())


def samples(text: str) -> Samples:
    """Return the values of all samples by name and labels.

    A key is `name{label="value",…}`, with labels sorted by name.
    """
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            key = (
                f"{sample.name.removeprefix('website_scan_')}{{{labels}}}"
                if labels
                else sample.name.removeprefix("website_scan_")
            )
            assert key not in values, key
            values[key] = sample.value
    return values
