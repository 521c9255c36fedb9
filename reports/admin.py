"""Admin pages for reports and mutes. Lists omit the reports' content."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import F, Func, IntegerField, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.tenant_admin import ReadOnlyAdmin, link
from reports.models import Mute, Report
from reports.visibility import LARGE
from website_scan import messages


@admin.register(Mute)
class MuteAdmin(ReadOnlyAdmin):
    list_display = ("id", "organization", "check_id", "host", "path_prefix", "created_by", "expires_at", "ended_at")
    list_select_related = ("organization", "created_by")
    ordering = ("-expires_at",)
    ids = {"mute": "id__startswith"}
    search_help_text = "The beginning of a mute's ID, or an organization's slug or name."
    fields = (
        *("id", "organization", "check_id", "host", "path_prefix", "outcome", "fingerprint", "place", "reason"),
        *("created_by", "api_key", "created_at", "expires_at", "ended_at", "notice_at"),
    )


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
    list_display = ("id", "scan_id", "organization", "created_at", "expires_at", "shared_at")
    list_select_related = ("organization",)
    # Sorting by `expires_at` uses its index and yields the same order as `created_at`.
    ordering = ("-expires_at",)
    ids = {"rpt": "id__startswith", "scan": "scan__id__startswith"}
    search_help_text = "The beginning of a report's or a scan's ID, or an organization's slug or name."
    fields = ("id", "scan", "organization", "created_at", "expires_at", "shared_at", "size", "page")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer(*LARGE)

    @admin.display(description="size of the document")
    def size(self, report: Report) -> str:
        """Return the size of the report's export.

        The database computes it without loading the text.
        """
        octets = Func(F("export"), function="octet_length", output_field=IntegerField())
        return messages.size(Report.objects.filter(id=report.id).values_list(octets).get()[0])

    @admin.display(description="report page")
    def page(self, report: Report) -> SafeString:
        return link(reverse("report-page", args=[report.scan_id]), "Open (members only, unless it is shared)")
