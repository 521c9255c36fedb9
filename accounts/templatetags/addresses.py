"""For templates: addresses of an organization's pages, and whether e-mail reaches anybody."""

from __future__ import annotations

from django import template
from django.template import Context

from accounts.roles import page_of
from config.web import mail

register = template.Library()


@register.simple_tag(takes_context=True)
def page(context: Context, name: str, *args: object) -> str:
    """The address of a page of the organization that the page around is about."""
    return page_of(context["membership"], name, *args)


@register.simple_tag
def mail_goes_to_log() -> bool:
    return mail.goes_to_log()
