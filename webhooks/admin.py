"""Admin pages of webhooks, events and deliveries.

They hide the webhooks' secrets.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.tenant_admin import ReadOnlyAdmin, link
from webhooks.models import Delivery, Event, Webhook

# The list is limited, because a replayed delivery has up to eight more attempts.
MAX_LISTED_ATTEMPTS = 50


def link_to_deliveries(id: str, text: str = "Show them") -> SafeString:
    """Return an HTML link to the admin's list of deliveries.

    The ID is that of a webhook, event, scan or audit.
    """
    return link(f"{reverse('admin:webhooks_delivery_changelist')}?{urlencode({'q': id})}", text)


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Admin page of webhooks.

    It displays hosts instead of URLs, because a Slack URL allows anybody to post to it.
    """

    list_display = (
        "id",
        "name",
        "organization",
        "receiver",
        "events",
        "enabled",
        "failures",
        "failing_since",
        "created_at",
    )
    list_filter = ("enabled", "disabled_reason")
    list_select_related = ("organization",)
    ids = {"wh": "id__startswith"}
    search_help_text = "The beginning of a webhook's ID, or an organization's slug or name."
    fields = (
        *("id", "name", "organization", "receiver", "events", "format", "created_at"),
        *("enabled", "disabled_at", "disabled_reason", "failing_since", "failures", "deliveries"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).defer("encrypted_secret")

    @admin.display(description="deliveries")
    def deliveries(self, webhook: Webhook) -> SafeString:
        return link_to_deliveries(webhook.id)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "scan_id", "audit_id", "organization", "created_at")
    list_select_related = ("organization",)
    ids = {"evt": "id__startswith", "scan": "scan__id__startswith", "aud": "audit__id__startswith"}
    search_help_text = "The beginning of the ID of an event, a scan or an audit, or an organization's slug or name."
    fields = ("id", "kind", "scan", "audit", "organization", "created_at", "deliveries", "payload")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        return super().get_queryset(request).defer("body")

    @admin.display(description="deliveries")
    def deliveries(self, event: Event) -> SafeString:
        return link_to_deliveries(event.id)

    @admin.display(description="payload")
    def payload(self, event: Event) -> str:
        """Return the event's stored body as text."""
        return bytes(event.body).decode()


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Admin page of deliveries with their attempts.

    The newest events come first.
    """

    list_display = (
        *("id", "status", "attempts_made", "organization", "receiver", "kind"),
        *("created_at", "next_attempt_at", "finished_at"),
    )
    list_filter = ("status",)
    list_select_related = ("webhook__organization", "event")
    # The event has the same time as its deliveries, and its `created_at` has an index.
    ordering = ("-event__created_at",)
    ids = {
        "dlv": "id__startswith",
        "evt": "event__id__startswith",
        "wh": "webhook__id__startswith",
        "scan": "event__scan__id__startswith",
        "aud": "event__audit__id__startswith",
    }
    search_help_text = (
        "The beginning of the ID of a delivery, webhook, event, scan or audit, or an organization's slug or name."
    )
    fields = (
        *("id", "webhook", "event", "status", "attempts_made", "next_attempt_at", "lease_expires_at"),
        *("created_at", "finished_at", "log"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).defer("webhook__encrypted_secret", "event__body")

    def filter_by_organizations(self, queryset: QuerySet[Any], organization_ids: list[int]) -> QuerySet[Any]:
        return queryset.filter(webhook__organization_id__in=organization_ids)

    @admin.display(description="organization")
    def organization(self, delivery: Delivery) -> str:
        return str(delivery.webhook.organization)

    @admin.display(description="receiver")
    def receiver(self, delivery: Delivery) -> str:
        return delivery.webhook.receiver

    @admin.display(description="event")
    def kind(self, delivery: Delivery) -> str:
        return delivery.event.kind

    @admin.display(description="attempts")
    def log(self, delivery: Delivery) -> SafeString:
        attempts = delivery.attempts.order_by("-at", "-id")[:MAX_LISTED_ATTEMPTS]
        return render_to_string("admin/webhooks/attempts.html", {"attempts": attempts})
