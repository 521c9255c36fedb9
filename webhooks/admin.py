"""Receivers, events and deliveries in the admin, without the receivers' secrets."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join

from config.admin import ReadOnlyAdmin
from webhooks.models import Delivery, Event, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Who is told."""

    list_display = ("id", "organization", "url", "events", "enabled", "failing_since", "created_at")
    list_filter = ("enabled",)
    list_select_related = ("organization",)
    search_fields = ("id__exact", "organization__slug__exact", "url__contains")
    fields = (
        *("id", "organization", "url", "receiver", "events", "created_at"),
        *("enabled", "disabled_at", "disabled_reason", "failing_since", "failures", "notice_due_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).defer("encrypted_secret")


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """What happened."""

    list_display = ("id", "kind", "scan_id", "organization", "created_at")
    list_filter = ("kind",)
    list_select_related = ("organization",)
    search_fields = ("id__exact", "scan__id__exact", "organization__slug__exact")
    fields = ("id", "kind", "scan", "organization", "created_at", "payload")

    @admin.display(description="payload")
    def payload(self, event: Event) -> str:
        """What every receiver gets, byte for byte."""
        return bytes(event.body).decode()


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Which receiver has been told what, and what it answered."""

    list_display = (
        *("id", "status", "attempts_made", "webhook_id", "event_id"),
        *("created_at", "next_attempt_at", "finished_at"),
    )
    list_filter = ("status",)
    search_fields = ("id__exact", "webhook__id__exact", "event__id__exact")
    fields = (
        *("id", "webhook", "event", "status", "attempts_made", "next_attempt_at", "lease_expires_at"),
        *("created_at", "finished_at", "log"),
    )

    @admin.display(description="attempts")
    def log(self, delivery: Delivery) -> str:
        """Every attempt, oldest first."""
        return format_html_join(
            "",
            "<p>{} UTC, {} ms: {} {}</p>",
            (
                (f"{each.at:%Y-%m-%d %H:%M:%S}", each.latency_ms, each.response_status or "", each.error_message)
                for each in delivery.attempts.all()
            ),
        )
