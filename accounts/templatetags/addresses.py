"""For templates: addresses of an organization's pages, what holds for the installation, and data for scripts."""

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
    """The address of a page of the organization that the page around is about."""
    return page_of(context["membership"], name, *args)


@register.simple_tag
def mail_goes_to_log() -> bool:
    return mail.goes_to_log()


@register.simple_tag
def sign_up_is_open() -> bool:
    return settings.SIGN_UP_OPEN


@register.simple_tag
def source_url() -> str:
    """Where the code is that this installation runs; empty where the operator has not said it."""
    return settings.SOURCE_URL


@register.filter
def as_json(data: object) -> str:
    """Data for the `data-…` of an element, as no page of ours has scripts of its own."""
    return json.dumps(data)
