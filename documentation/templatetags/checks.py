"""Template filters for the names and pages of checks."""

from __future__ import annotations

from django import template
from django.urls import reverse

from documentation.checks import check_name as name_of
from scanner.report.references import page_url

register = template.Library()


@register.filter
def check_name(check_id: str) -> str:
    """Return the name of a check, or the ID itself for a removed check."""
    return name_of(check_id)


@register.filter
def check_page(check_id: str) -> str:
    """Return the path of a check's page, empty for a removed check."""
    return page_url(reverse("docs-checks"), check_id)
