"""Scans and the blocklist in the admin."""

from __future__ import annotations

import re

from django import forms
from django.contrib import admin

from config.admin import ReadOnlyAdmin
from scans.models import BlockedDomain, Scan


class BlockedDomainForm(forms.ModelForm):
    """A domain in the one form in which it is kept."""

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
    """Every scan, newest first."""

    list_display = (
        "id",
        "status",
        "type",
        "url",
        "organization",
        "score",
        "grade",
        "created_at",
        "completed_at",
    )
    list_filter = ("status", "type")
    list_select_related = ("organization",)
    search_fields = ("id__exact", "organization__slug__exact", "url__contains")
    search_help_text = "A scan's ID, an organization's slug, or a part of a URL."
    fields = (
        *("id", "organization", "api_key", "created_by", "type", "url", "status", "score", "grade"),
        *("created_at", "started_at", "completed_at", "period"),
        *("percent", "phase", "checks_done", "checks_total", "skipped_checks", "error_code", "error_message"),
        *("enqueued_at", "attempts", "lease_expires_at"),
    )
