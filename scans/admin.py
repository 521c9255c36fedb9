"""Scans and the blocklist in the admin, and organizations with their scans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounts.admin import OrganizationAdmin
from accounts.models import Organization, User
from accounts.tenant_admin import ReadOnlyAdmin, link, page_of
from scans.models import Audit, Badge, BlockedDomain, Monitor, MonitorRun, Scan
from scans.services import NotRequeued, requeue_scan
from scans.visits.queue import MAX_ATTEMPTS
from webhooks.models import Delivery

SHOWN_URL = 80
SHOWN_DELIVERIES = 100
SHOWN_RUNS = 50


class BlockedDomainForm(forms.ModelForm):
    class Meta:
        model = BlockedDomain
        fields = ("domain", "reason")

    def clean_domain(self) -> str:
        """Lower case, without a leading `*.` or outer dots. Refuses what can't be a host name or address."""
        domain: str = self.cleaned_data["domain"].strip().lower().removeprefix("*.").strip(".")
        is_address = re.fullmatch(r"[0-9a-f:.]+", domain)
        if not domain or (re.search(r"[\s/:@?#*]", domain) and not is_address):
            raise forms.ValidationError("Enter a domain such as example.com, without scheme, port or path.")
        return domain


@admin.register(BlockedDomain)
class BlockedDomainAdmin(admin.ModelAdmin):
    """What an operator does not want scanned, subdomains included."""

    form = BlockedDomainForm
    list_display = ("domain", "reason", "created_at")
    search_fields = ("domain", "reason")


@admin.register(Scan)
class ScanAdmin(ReadOnlyAdmin):
    list_display = (*("id", "status", "type", "created_at", "organization", "score", "error_code", "address"),)
    list_filter = ("status", "type", "created_at")
    list_select_related = ("organization",)
    ids = {
        "scan": "id__startswith",
        "rpt": "report__id__startswith",
        "evt": "events__id__startswith",
        "aud": "audit_page__audit__id__startswith",
    }
    search_help_text = (
        "The beginning of the ID of a scan, its report, its audit or an event, or an organization's slug or name."
    )
    actions = ("requeue",)
    fields = (
        *("id", "organization", "api_key", "created_by", "type", "url", "status", "score", "grade", "report_page"),
        *("audit", "error_code", "error_message", "skipped_checks", "timeline"),
        *("percent", "phase", "checks_done", "checks_total", "attempts", "enqueued_at", "lease_expires_at", "period"),
    )

    @admin.display(description="url")
    def address(self, scan: Scan) -> str:
        """Not all of an address that is long."""
        return truncatechars(scan.url, SHOWN_URL)

    @admin.display(description="report page")
    def report_page(self, scan: Scan) -> str:
        return link(reverse("report-page", args=[scan.id]), "Open (members only, unless the report is shared)")

    @admin.display(description="audit")
    def audit(self, scan: Scan) -> str:
        return link(page_of(scan.audit_page.audit), scan.audit_page.audit_id) if scan.audit_page else "-"

    @admin.display(description="timeline")
    def timeline(self, scan: Scan) -> str:
        """What has happened to it, in order, to the last delivery."""
        moments = sorted(_moments(scan), key=lambda each: each.at)
        return render_to_string("admin/scans/timeline.html", {"moments": moments})

    @admin.action(description="Put back into the queue", permissions=["requeue"])
    def requeue(self, request: HttpRequest, queryset: QuerySet[Scan]) -> None:
        """One by one: each is judged under its own lock."""
        assert isinstance(request.user, User)
        for scan in queryset[: self.list_per_page]:
            try:
                waiting = requeue_scan(actor=request.user, scan_id=scan.id)
            except NotRequeued as reason:
                messages.error(request, f"{scan.id}: {reason}")
                continue
            is_new = waiting.id != scan.id
            self.log_change(request, scan, "Put back into the queue." if not is_new else f"Done again by {waiting.id}.")
            text = f"{scan.id}: a new scan takes its place, {waiting.id}." if is_new else f"{scan.id} is queued again."
            messages.success(request, text)

    def has_requeue_permission(self, request: HttpRequest) -> bool:
        """Whoever may change scans, if scans could be changed."""
        return request.user.has_perm("scans.change_scan")


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
    }
    search_help_text = (
        "The beginning of the ID of an audit, one of its scans, an event or a monitor, or an organization's slug."
    )
    fields = (
        *("id", "organization", "api_key", "created_by", "kind", "url", "types", "status", "error_code"),
        *("error_message", "pages", "results", "findings_count", "scans", "deliveries", "notes"),
        *("discover", "include", "exclude", "max_pages", "created_at", "started_at", "released_at", "completed_at"),
        *("shared_at", "attempts", "worker", "enqueued_at", "lease_expires_at"),
    )

    @admin.display(description="url")
    def address(self, audit: Audit) -> str:
        """Not all of an address that is long."""
        return truncatechars(audit.url, SHOWN_URL)

    @admin.display(description="pages")
    def pages(self, audit: Audit) -> str:
        """As they are counted on the audit's own row."""
        ended = f"{audit.pages_done} done, {audit.pages_failed} failed"
        return f"{ended}, of {audit.pages_planned} planned and {audit.pages_found} found"

    @admin.display(description="results")
    def results(self, audit: Audit) -> str:
        return ", ".join(f"{each} {score['score']} ({score['grade']})" for each, score in audit.scores.items())

    @admin.display(description="scans")
    def scans(self, audit: Audit) -> str:
        query = urlencode({"q": audit.id})
        return link(f"{reverse('admin:scans_scan_changelist')}?{query}", f"Show them ({audit.scans_done} have ended)")

    @admin.display(description="deliveries")
    def deliveries(self, audit: Audit) -> str:
        return link(f"{reverse('admin:webhooks_delivery_changelist')}?{urlencode({'q': audit.id})}", "Show them")


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
        *("last_runs", "audits", "alert", "recipients", "tells_webhooks", "certificate_expires_at", "certificate_host"),
        *("discover", "include", "exclude", "max_pages", "credential_names"),
    )

    @admin.display(description="url")
    def address(self, monitor: Monitor) -> str:
        """Not all of an address that is long."""
        return truncatechars(monitor.url, SHOWN_URL)

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
        return ", ".join(f"{each} {score['score']} ({score['grade']})" for each, score in monitor.scores.items())

    @admin.display(description="last runs")
    def last_runs(self, monitor: Monitor) -> str:
        """Newest first, with what became of them."""
        runs = monitor.runs.select_related("audit").order_by("-due_at")[:SHOWN_RUNS]
        return render_to_string("admin/scans/timeline.html", {"moments": [_moment_of(each) for each in runs]})

    @admin.display(description="audits")
    def audits(self, monitor: Monitor) -> str:
        return link(f"{reverse('admin:scans_audit_changelist')}?{urlencode({'q': monitor.id})}", "Show them")


@admin.register(Badge)
class BadgeAdmin(ReadOnlyAdmin):
    list_display = ("id", "organization", "created_at", "monitor", "address")
    list_select_related = ("organization", "monitor")
    ids = {"bdg": "id__startswith", "mon": "monitor__id__startswith"}
    search_help_text = "The beginning of the ID of a badge or its monitor, or an organization's slug or name."
    fields = ("id", "organization", "created_by", "created_at", "monitor", "page", "picture")

    @admin.display(description="page")
    def address(self, badge: Badge) -> str:
        """Not all of an address that is long."""
        return truncatechars(badge.page, SHOWN_URL)

    @admin.display(description="picture")
    def picture(self, badge: Badge) -> str:
        return link(badge.badge_url, "Open")


@dataclass(frozen=True, slots=True)
class Moment:
    at: datetime
    what: str
    detail: str = ""
    url: str = ""


def _moment_of(run: MonitorRun) -> Moment:
    scores = ", ".join(
        f"{each} {found['score']}" for each, found in run.scores.items() if found.get("score") is not None
    )
    told = "; told" if run.is_told else ""
    audit = page_of(run.audit) if run.audit is not None else ""
    return Moment(run.due_at, run.status, (run.error_message or scores) + told, audit)


def _moments(scan: Scan) -> Iterator[Moment]:
    yield Moment(scan.created_at, "created", f"by {scan.api_key or scan.created_by or 'nobody known'}")
    if scan.enqueued_at - scan.created_at > timedelta(seconds=1):
        yield Moment(scan.enqueued_at, "put into the queue again")
    if scan.started_at:
        yield Moment(scan.started_at, "started", f"attempt {scan.attempts} of {MAX_ATTEMPTS}")
    if scan.lease_expires_at:
        ran_out = scan.lease_expires_at < timezone.now()
        yield Moment(scan.lease_expires_at, "lease ran out" if ran_out else "lease runs out")
    if scan.completed_at:
        yield Moment(scan.completed_at, f"ended: {scan.status}", scan.error_code or f"{scan.score} ({scan.grade})")
    for event in scan.events.defer("body"):
        yield Moment(event.created_at, "event", event.kind, page_of(event))
    deliveries = Delivery.objects.filter(event__scan=scan).select_related("webhook").defer("webhook__encrypted_secret")
    for delivery in deliveries[:SHOWN_DELIVERIES]:
        detail = f"to {delivery.webhook.receiver}, attempts: {delivery.attempts_made}"
        moment = delivery.finished_at or delivery.next_attempt_at
        yield Moment(
            moment, f"delivery {delivery.status}" if delivery.finished_at else "delivery due", detail, page_of(delivery)
        )


# In place of the one in accounts.admin, which knows nothing of scans.
admin.site.unregister(Organization)


@admin.register(Organization)
class TenantAdmin(OrganizationAdmin):
    list_display = (*OrganizationAdmin.list_display[:-1], "running", "created_at")
    fields = (*OrganizationAdmin.fields[:-1], "running", "scans", "created_at")
    readonly_fields = (*OrganizationAdmin.readonly_fields, "running", "scans")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        running = Scan.objects.unfinished().filter(organization_id=OuterRef("pk")).order_by()
        counted = running.values("organization_id").annotate(number=Count("*")).values("number")
        return super().get_queryset(request).annotate(running_count=Coalesce(Subquery(counted), 0))

    @admin.display(description="running scans")
    def running(self, organization: Organization) -> str:
        running = getattr(organization, "running_count", 0)
        return f"{running} of {organization.tier.concurrent_scans}" if organization.pk else ""

    @admin.display(description="scans")
    def scans(self, organization: Organization) -> str:
        query = urlencode({"q": organization.slug})
        return link(f"{reverse('admin:scans_scan_changelist')}?{query}", "Show them") if organization.pk else ""
