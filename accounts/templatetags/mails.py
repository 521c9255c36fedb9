"""For the templates of e-mails: text that somebody else wrote, and colours."""

from __future__ import annotations

import re

from django import template
from django.template.defaultfilters import stringfilter

from infrastructure.web.colours import Colours, of_grade

register = template.Library()

# Where mail programs see an address in plain text, and make a link of it: "evil.example", "http://evil", "a@evil".
ADDRESS_MARK = re.compile(r"(?<=\S)([.:@])(?=\S)")
SEVERITY_COLORS = {"critical": "#b91c34", "high": "#b04a06", "medium": "#8f5a00", "low": "#545d72"}
WORD_JOINER = "\N{WORD JOINER}"


@register.filter
@stringfilter
def unlinked(text: str) -> str:
    """The text, in which no mail program finds an address to make a link of.

    Names and findings quote what strangers wrote; nothing of theirs is to be clicked on in a mail of ours.
    """
    return ADDRESS_MARK.sub(rf"\1{WORD_JOINER}", text)


@register.filter
def grade_colours(grade: str) -> Colours:
    """`fill` and `text`, readable in both themes."""
    return of_grade(grade)


@register.filter
def severity_color(severity: str) -> str:
    """White text on it has a contrast of at least 4.5:1, in both themes."""
    return SEVERITY_COLORS.get(severity, SEVERITY_COLORS["low"])


@register.filter
def type_name(scan_type: str) -> str:
    return "SEO" if scan_type == "seo" else scan_type.capitalize()


@register.filter
def minute(timestamp: str) -> str:
    """`2026-11-21T07:15:00Z` as people read it."""
    return f"{timestamp[:16].replace('T', ' ')} UTC"


@register.filter
def day(timestamp: str) -> str:
    return timestamp[:10]
