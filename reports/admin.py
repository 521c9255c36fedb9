"""Reports in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from config.admin import ReadOnlyAdmin
from reports.models import Report


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
    """Every retained report, newest first."""

    list_display = ("id", "scan_id", "organization", "created_at", "expires_at")
    list_select_related = ("organization",)
    # By the indexed time, which comes in the same order as that of creation.
    ordering = ("-expires_at",)
    search_fields = ("id__exact", "scan__id__exact", "organization__slug__exact")
    search_help_text = "A report's or a scan's ID, or an organization's slug."
    fields = ("id", "scan", "organization", "created_at", "expires_at", "facts", "export")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        """Without the long columns, which only the page of one report fetches."""
        return super().get_queryset(request).defer("body", "export", "facts", "waterfall", "screenshot")
