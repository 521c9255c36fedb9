"""Read-only Django admin of audits, journeys, monitors, lists and badges."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.template.defaultfilters import truncatechars
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html_join

from accounts.tenant_admin import ReadOnlyAdmin, link, page_of
from scans.admin import MAX_DISPLAYED_URL_LENGTH, Moment
from sites.models import Audit, Badge, Journey, ListRun, Monitor, MonitorRun, SiteList

MAX_DISPLAYED_RUNS = 50


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "kind", "created_at", "organization", "pages", "error_code", "address")
    list_filter = ("status", "kind", "created_at")
    list_select_related = ("organization",)
    ids = {
        "aud": "id__startswith",
        "scan": "pages__scans__id__startswith",
        "evt": "events__id__startswith",
        "mon": "run__monitor__id__startswith",
        "jny": "journey__id__startswith",
    }
    search_help_text = (
        "The beginning of the ID of an audit, one of its scans, an event, a monitor or a journey, or an organization's "
        "slug."
    )
    fields = (
        *("id", "organization", "api_key", "created_by", "kind", "journey", "url", "types", "status", "error_code"),
        *("error_message", "pages", "results", "findings", "scans", "deliveries", "notes"),
        *("discover", "include", "exclude", "max_pages", "created_at", "started_at", "released_at", "completed_at"),
        *("shared_at", "attempts", "worker", "enqueued_at", "lease_expires_at"),
    )

    @admin.display(description="url")
    def address(self, audit: Audit) -> str:
        """Return the truncated URL of the audit."""
        return truncatechars(audit.url, MAX_DISPLAYED_URL_LENGTH)

    @admin.display(description="pages")
    def pages(self, audit: Audit) -> str:
        """Return the page counts as text, without a query for the pages."""
        ended = f"{audit.pages_done} done, {audit.pages_failed} failed"
        return f"{ended}, of {audit.pages_planned} planned and {audit.pages_found} found"

    @admin.display(description="results")
    def results(self, audit: Audit) -> str:
        return ", ".join(f"{type} {score['score']} ({score['grade']})" for type, score in audit.scores.items())

    @admin.display(description="findings")
    def findings(self, audit: Audit) -> int:
        """Return the number of failed or warned checks of the audit."""
        return audit.findings.count()

    @admin.display(description="scans")
    def scans(self, audit: Audit) -> str:
        query = urlencode({"q": audit.id})
        return link(f"{reverse('admin:scans_scan_changelist')}?{query}", f"Show them ({audit.scans_done} have ended)")

    @admin.display(description="deliveries")
    def deliveries(self, audit: Audit) -> str:
        return link(f"{reverse('admin:webhooks_delivery_changelist')}?{urlencode({'q': audit.id})}", "Show them")


@admin.register(Journey)
class JourneyAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "created_at", "organization", "site", "proof_method", "proven_at")
    list_filter = ("proof_method", "created_at")
    list_select_related = ("organization",)
    ids = {"jny": "id__startswith", "aud": "runs__id__startswith"}
    search_help_text = "The beginning of the ID of a journey or one of its runs, or an organization's slug."
    fields = (
        *("id", "organization", "api_key", "created_by", "created_at", "name", "start_url", "site", "types"),
        *("viewing", "requirements"),
        *("identity_providers", "secret_names", "proof_method", "proven_scope", "proven_at", "runs", "recording"),
    )

    @admin.display(description="runs")
    def runs(self, journey: Journey) -> str:
        return link(f"{reverse('admin:sites_audit_changelist')}?{urlencode({'q': journey.id})}", "Show them")


@admin.register(Monitor)
class MonitorAdmin(ReadOnlyAdmin):
    list_display = (*("id", "name", "state", "every", "next_run_at", "organization", "address"),)
    list_filter = ("every", "pause_reason", "kind", "created_at")
    list_select_related = ("organization",)
    ids = {"mon": "id__startswith", "aud": "runs__audit__id__startswith", "bdg": "badge__id__startswith"}
    search_help_text = (
        "The beginning of the ID of a monitor, one of its audits or its badge, or an organization's slug."
    )
    fields = (
        *("id", "organization", "api_key", "created_by", "created_at", "name", "page", "kind", "url", "types", "state"),
        *("every", "at", "day", "timezone", "next_run_at", "paused_at", "pause_reason", "failing_since", "results"),
        *("last_runs", "audits", "alert", "recipients", "webhook_ids", "certificate_expires_at", "certificate_host"),
        *("journey", "discover", "include", "exclude", "max_pages", "viewing", "requirements", "credential_names"),
    )

    @admin.display(description="url")
    def address(self, monitor: Monitor) -> str:
        """Return the truncated URL of the monitor."""
        return truncatechars(monitor.url, MAX_DISPLAYED_URL_LENGTH)

    @admin.display(description="state")
    def state(self, monitor: Monitor) -> str:
        if monitor.is_paused:
            return f"paused: {monitor.get_pause_reason_display() or 'no reason noted'}"
        return "failing" if monitor.failing_since else "ok"

    @admin.display(description="page")
    def page(self, monitor: Monitor) -> str:
        return link(monitor.monitor_url, "Open (members only)")

    @admin.display(description="results")
    def results(self, monitor: Monitor) -> str:
        return ", ".join(f"{type} {score['score']} ({score['grade']})" for type, score in monitor.scores.items())

    @admin.display(description="last runs")
    def last_runs(self, monitor: Monitor) -> str:
        """Render the last runs of a monitor with their results, newest first."""
        runs = monitor.runs.select_related("audit").order_by("-due_at")[:MAX_DISPLAYED_RUNS]
        return render_to_string("admin/scans/timeline.html", {"moments": [_moment_of(run) for run in runs]})

    @admin.display(description="audits")
    def audits(self, monitor: Monitor) -> str:
        return link(f"{reverse('admin:sites_audit_changelist')}?{urlencode({'q': monitor.id})}", "Show them")


@admin.register(SiteList)
class SiteListAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "entries_count", "every", "next_run_at", "created_at", "organization")
    list_filter = ("every", "created_at")
    list_select_related = ("organization",)
    ids = {
        "lst": "id__startswith",
        "ent": "entries__id__startswith",
        "run": "runs__id__startswith",
        "shr": "shares__id__startswith",
    }
    search_help_text = (
        "The beginning of the ID of a list, one of its entries, runs or shares, or an organization's slug or name."
    )
    fields = (
        *("id", "organization", "api_key", "created_by", "created_at", "name", "page", "entries_count", "types"),
        *("pages_per_entry", "every", "window_hours", "timezone", "next_run_at", "last_runs", "shares", "recipients"),
        *("webhook_ids", "viewing", "requirements", "categories", "credential_names"),
    )

    @admin.display(description="page")
    def page(self, site_list: SiteList) -> str:
        return link(site_list.list_url, "Open (members only)")

    @admin.display(description="last runs")
    def last_runs(self, site_list: SiteList) -> str:
        """Render the list's latest runs with their site counts, newest first."""
        runs = site_list.runs.order_by("-started_at", "-id")[:MAX_DISPLAYED_RUNS]
        moments = [Moment(run.started_at, run.status, _site_counts_text(run), page_of(run)) for run in runs]
        return render_to_string("admin/scans/timeline.html", {"moments": moments})

    @admin.display(description="shares")
    def shares(self, site_list: SiteList) -> str:
        shares = site_list.shares.order_by("-created_at")
        return format_html_join(", ", "{}", ((link(share.share_url, share.id),) for share in shares)) or "none"


@admin.register(ListRun)
class ListRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "started_at", "ended_at", "numbers", "site_list", "error_code")
    list_filter = ("status", "is_requested", "started_at")
    list_select_related = ("site_list",)
    ordering = ("-started_at",)
    ids = {"run": "id__startswith", "lst": "site_list__id__startswith", "aud": "results__audit__id__startswith"}
    search_help_text = (
        "The beginning of the ID of a run, its list or one of its audits, or an organization's slug or name."
    )
    fields = (
        *("id", "site_list", "status", "is_requested", "started_at", "ended_at", "numbers", "error_code"),
        *("error_message", "types", "categories", "pages_per_entry", "window_hours", "kept_days"),
    )

    def filter_by_organizations(self, queryset: QuerySet[Any], organization_ids: list[int]) -> QuerySet[Any]:
        return queryset.filter(site_list__organization_id__in=organization_ids)

    @admin.display(description="sites")
    def numbers(self, run: ListRun) -> str:
        """Return the site counts as text, without a query for the results."""
        return _site_counts_text(run)


@admin.register(Badge)
class BadgeAdmin(ReadOnlyAdmin):
    list_display = ("id", "organization", "created_at", "monitor", "address")
    list_select_related = ("organization", "monitor")
    ids = {"bdg": "id__startswith", "mon": "monitor__id__startswith"}
    search_help_text = "The beginning of the ID of a badge or its monitor, or an organization's slug or name."
    fields = ("id", "organization", "created_by", "created_at", "monitor", "page", "picture")

    @admin.display(description="page")
    def address(self, badge: Badge) -> str:
        """Return the truncated URL of the badge's page."""
        return truncatechars(badge.page, MAX_DISPLAYED_URL_LENGTH)

    @admin.display(description="picture")
    def picture(self, badge: Badge) -> str:
        return link(badge.badge_url, "Open")


def _site_counts_text(run: ListRun) -> str:
    return f"{run.done:,} done, {run.failed:,} failed and {run.left_out:,} left out, of {run.entries:,}"


def _moment_of(run: MonitorRun) -> Moment:
    scores = ", ".join(
        f"{type} {score['score']}" for type, score in run.scores.items() if score.get("score") is not None
    )
    notification_note = "; told" if run.is_told else ""
    audit = page_of(run.audit) if run.audit is not None else ""
    return Moment(run.due_at, run.status, (run.error_message or scores) + notification_note, audit)
