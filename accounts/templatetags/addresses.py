"""Template tags: URLs of an organization's pages, settings of the installation, and data for scripts."""

from __future__ import annotations

import json

from django import template
from django.conf import settings
from django.template import Context

from accounts.roles import page_of
from infrastructure.web import mail

register = template.Library()


@register.simple_tag(takes_context=True)
def page(context: Context, name: str, *args: object) -> str:
    """Return the URL of a page of the current page's organization."""
    return page_of(context["membership"], name, *args)


@register.simple_tag
def mail_goes_to_log() -> bool:
    return mail.goes_to_log()


@register.simple_tag
def sign_up_is_open() -> bool:
    return settings.SIGN_UP_OPEN


@register.simple_tag
def source_url() -> str:
    """Return the URL of the installation's source code; empty if the operator has not set it."""
    return settings.SOURCE_URL


@register.filter
def as_json(data: object) -> str:
    """Return data as JSON for a `data-…` attribute, because our pages have no inline scripts."""
    return json.dumps(data)
