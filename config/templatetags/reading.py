"""How templates write what is hard to read as it is: long addresses, and large numbers."""

from __future__ import annotations

import re
from html import escape

from django import template
from django.utils.safestring import SafeString

register = template.Library()

# The slashes after the scheme stay together.
MARKS = re.compile(r"[./:]+")


@register.filter
def breakable(address: object) -> SafeString:
    """The address as HTML that breaks after "/", "." and ":" where a line is too short for it, not within a word."""
    return SafeString(MARKS.sub(r"\g<0><wbr>", escape(str(address))))


@register.filter
def grouped(number: int) -> str:
    """The number with a comma between its thousands."""
    return f"{number:,}"
