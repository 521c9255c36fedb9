"""Addresses of an organization's pages in templates."""

from __future__ import annotations

from django import template
from django.template import Context

from accounts.roles import page_of

register = template.Library()


@register.simple_tag(takes_context=True)
def page(context: Context, name: str, *args: object) -> str:
    """The address of a page of the organization that the page around is about."""
    return page_of(context["membership"], name, *args)
