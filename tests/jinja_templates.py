"""Helper that renders macros of the service's Jinja templates."""

from __future__ import annotations

from collections.abc import Callable

from django.template import engines
from django.template.backends.jinja2 import Jinja2
from jinja2 import Environment

_engine = engines["jinja2"]
assert isinstance(_engine, Jinja2)
TEMPLATES: Environment = _engine.env


def macro(template: str, name: str) -> Callable[..., str]:
    """Return a template's macro.

    Calling the macro renders it with the arguments.
    """
    template_macro: Callable[..., str] = getattr(TEMPLATES.get_template(template).module, name)
    return template_macro
