"""How templates write of checks: by their names, with their pages."""

from __future__ import annotations

from django import template
from django.urls import reverse

from documentation.checks import check_name as name_of
from scanner.report.references import page_url

register = template.Library()


@register.filter
def check_name(check_id: str) -> str:
    """The name of a check; the ID itself of one that is no more."""
    return name_of(check_id)


@register.filter
def check_page(check_id: str) -> str:
    """The path of a check's page, empty for one that is no more."""
    return page_url(reverse("docs-checks"), check_id)
