"""Jinja2 within Django's templates, for what a page has hundreds of: Django's own need half a millisecond for each."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from jinja2 import Environment

from infrastructure.web.templatetags.reading import relative
from scanner.report import templating

register = template.Library()


@register.simple_tag
def jinja(name: str, **context: object) -> SafeString:
    """A template of templates/jinja2 or of the scanner, which escapes by itself, with these values."""
    return SafeString(render_to_string(name, context, using="jinja2"))


def environment(**options: Any) -> Environment:
    """Jinja2 environment of the service: the scanner's, with the filter `relative` and `address` for URLs by name."""
    made = templating.environment(**options)
    made.filters["relative"] = relative
    made.globals["address"] = reverse
    return made
