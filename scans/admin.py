"""Admin pages for scans, the blocklist and organizations."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from msgspec import Struct

from accounts.admin import OrganizationAdmin
from accounts.models import Organization, User
from accounts.tenant_admin import ReadOnlyAdmin, link, page_of
from scans.models import BlockedDomain, Scan
from scans.services import NotRequeued, requeue_scan
from scans.visits.queue import MAX_ATTEMPTS

MAX_DISPLAYED_URL_LENGTH = 80
MAX_DELIVERIES = 100


class BlockedDomainForm(forms.ModelForm):
    class Meta:
        model = BlockedDomain
        fields = ("domain", "reason")

    def clean_domain(self) -> str:
        """Return the domain in lower case, without a leading `*.` or outer dots.

        Raises ValidationError if the result is neither a host name nor an IP address.
        """
        domain: str = self.cleaned_data["domain"].strip().lower().removeprefix("*.").strip(".")
        is_address = re.fullmatch(r"[0-9a-f:.]+", domain)
        if not domain or (re.search(r"[\s/:@?#*]", domain) and not is_address):
            raise forms.ValidationError("Enter a domain such as example.com, without scheme, port or path.")
        return domain


@admin.register(BlockedDomain)
class BlockedDomainAdmin(admin.ModelAdmin):
    """Admin page for the blocklist.

    It lists domains that may not be scanned, including their subdomains.
    """

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
        """Return the scan's URL, shortened for the list of scans."""
        return truncatechars(scan.url, MAX_DISPLAYED_URL_LENGTH)

    @admin.display(description="report page")
    def report_page(self, scan: Scan) -> str:
        return link(reverse("report-page", args=[scan.id]), "Open (members only, unless the report is shared)")

    @admin.display(description="audit")
    def audit(self, scan: Scan) -> str:
        return link(page_of(scan.audit_page.audit), scan.audit_page.audit_id) if scan.audit_page else "-"

    @admin.display(description="timeline")
    def timeline(self, scan: Scan) -> str:
        """Render a chronological list of the scan's events, from its creation to the last webhook delivery."""
        moments = sorted(_timeline_moments(scan), key=lambda moment: moment.at)
        return render_to_string("admin/scans/timeline.html", {"moments": moments})

    @admin.action(description="Put back into the queue", permissions=["requeue"])
    def requeue(self, request: HttpRequest, queryset: QuerySet[Scan]) -> None:
        """Requeue the selected scans one by one.

        `requeue_scan` decides for each scan under its lock.
        """
        assert isinstance(request.user, User)
        for scan in queryset[: self.list_per_page]:
            try:
                queued_scan = requeue_scan(actor=request.user, scan_id=scan.id)
            except NotRequeued as reason:
                messages.error(request, f"{scan.id}: {reason}")
                continue
            is_replacement = queued_scan.id != scan.id
            self.log_change(
                request, scan, "Put back into the queue." if not is_replacement else f"Done again by {queued_scan.id}."
            )
            text = (
                f"{scan.id} is replaced by a new scan, {queued_scan.id}."
                if is_replacement
                else f"{scan.id} is queued again."
            )
            messages.success(request, text)

    def has_requeue_permission(self, request: HttpRequest) -> bool:
        """Return True if the user has the permission to change scans.

        Apart from requeueing, this admin is read-only.
        """
        return request.user.has_perm("scans.change_scan")


class Moment(Struct, frozen=True):
    """Entry of a scan's timeline."""

    at: datetime
    what: str
    detail: str = ""
    url: str = ""


def _timeline_moments(scan: Scan) -> Iterator[Moment]:
    yield Moment(scan.created_at, "created", f"by {scan.api_key or scan.created_by or 'nobody known'}")
    if scan.enqueued_at - scan.created_at > timedelta(seconds=1):
        yield Moment(scan.enqueued_at, "put into the queue again")
    if scan.started_at:
        yield Moment(scan.started_at, "started", f"attempt {scan.attempts} of {MAX_ATTEMPTS}")
    if scan.lease_expires_at:
        has_expired = scan.lease_expires_at < timezone.now()
        yield Moment(scan.lease_expires_at, "lease ran out" if has_expired else "lease runs out")
    if scan.completed_at:
        yield Moment(scan.completed_at, f"ended: {scan.status}", scan.error_code or f"{scan.score} ({scan.grade})")
    for event in scan.events.defer("body"):
        yield Moment(event.created_at, "event", event.kind, page_of(event))
        for delivery in event.deliveries.select_related("webhook").defer("webhook__encrypted_secret")[:MAX_DELIVERIES]:
            attempts = f"to {delivery.webhook.receiver}, attempts: {delivery.attempts_made}"
            at = delivery.finished_at or delivery.next_attempt_at
            state = f"delivery {delivery.status}" if delivery.finished_at else "delivery due"
            yield Moment(at, state, attempts, page_of(delivery))


# This class replaces the admin class of accounts.admin, which must not import scans.
admin.site.unregister(Organization)


@admin.register(Organization)
class TenantAdmin(OrganizationAdmin):
    list_display = (*OrganizationAdmin.list_display[:-1], "running", "created_at")
    fields = (*OrganizationAdmin.fields[:-1], "running", "scans", "created_at")
    readonly_fields = (*OrganizationAdmin.readonly_fields, "running", "scans")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        unfinished = Scan.objects.unfinished().filter(organization_id=OuterRef("pk")).order_by()
        counts = unfinished.values("organization_id").annotate(number=Count("*")).values("number")
        return super().get_queryset(request).annotate(running_count=Coalesce(Subquery(counts), 0))

    @admin.display(description="running scans")
    def running(self, organization: Organization) -> str:
        running = getattr(organization, "running_count", 0)
        return f"{running} of {organization.tier.concurrent_scans}" if organization.pk else ""

    @admin.display(description="scans")
    def scans(self, organization: Organization) -> str:
        query = urlencode({"q": organization.slug})
        return link(f"{reverse('admin:scans_scan_changelist')}?{query}", "Show them") if organization.pk else ""
