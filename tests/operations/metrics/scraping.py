"""Scraper that reads /metrics like Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from operations.metrics import endpoint as views

TOKEN = "a-token-for-metrics-of-32-characters"

Samples = Mapping[str, float]


def scrape(client: Client | None = None) -> Samples:
    """Collect the metrics anew in this process and return all samples; the settings must have the token."""
    views._metrics_cache.clear()
    response = (client or Client()).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200, response.content
    return samples(response.content.decode())


def samples(text: str) -> Samples:
    """Parse samples by `name{label="value",…}`, with labels sorted by name."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            key = (
                f"{sample.name.removeprefix('website_scan_')}{{{labels}}}"
                if labels
                else sample.name.removeprefix("website_scan_")
            )
            assert key not in found, key
            found[key] = sample.value
    return found
