"""Template tag that renders Jinja2 within Django templates, for parts that a page has hundreds of.

Django's own templates need half a millisecond for each.
"""

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
    """Render a Jinja2 template of templates/jinja2 or of the scanner with these values. It escapes by itself."""
    return SafeString(render_to_string(name, context, using="jinja2"))


def environment(**options: Any) -> Environment:
    """Return the service's Jinja2 environment: the scanner's, with the filter `relative` and Django's `reverse`.

    Templates call `reverse` as `address`.
    """
    made = templating.environment(**options)
    made.filters["relative"] = relative
    made.globals["address"] = reverse
    return made
