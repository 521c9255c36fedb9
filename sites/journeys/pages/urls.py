"""URLs of journeys' pages, below `journeys/` of an organization."""

from __future__ import annotations

from django.urls import URLPattern, path

from sites.journeys.pages import form_views, views

journey_urls: list[URLPattern] = [
    path("", views.journeys, name="journeys"),
    path("new", form_views.journey_new, name="journey-new"),
    path("<str:journey_id>", views.journey, name="journey"),
    path("<str:journey_id>/recording.json", views.journey_recording, name="journey-recording"),
    path("<str:journey_id>/steps", form_views.journey_steps, name="journey-steps"),
    path("<str:journey_id>/edit", form_views.journey_edit, name="journey-edit"),
    path("<str:journey_id>/check", views.journey_check, name="journey-check"),
    path("<str:journey_id>/run", views.journey_run, name="journey-run"),
    path("<str:journey_id>/dry-run", views.journey_dry_run, name="journey-dry-run"),
    path("<str:journey_id>/delete", views.journey_delete, name="journey-delete"),
]
