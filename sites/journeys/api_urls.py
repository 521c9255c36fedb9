"""URLs of the API of journeys, below `v1/journeys`."""

from __future__ import annotations

from django.urls import URLPattern, path

import infrastructure.api.paths  # noqa: F401  # registers the converter `any`
from sites.journeys.api import JourneyCollection, JourneyDryRun, JourneyItem, JourneyProofView, JourneyRuns

journey_api_urls: list[URLPattern] = [
    path("", JourneyCollection.as_view(), name="journey-collection"),
    path("/<any:journey_id>/proof", JourneyProofView.as_view(), name="journey-proof"),
    path("/<any:journey_id>/dry-run", JourneyDryRun.as_view(), name="journey-dry-run-api"),
    path("/<any:journey_id>/runs", JourneyRuns.as_view(), name="journey-runs"),
    path("/<any:journey_id>", JourneyItem.as_view(), name="journey-item"),
]
