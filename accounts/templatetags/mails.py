"""Template filters of e-mails: text from strangers, colours and dates."""

from __future__ import annotations

import re

from django import template
from django.template.defaultfilters import stringfilter

from infrastructure.web.colours import Colours, of_grade

register = template.Library()

# Characters by which mail programs recognize an address in plain text and turn it into a link: "evil.example",
# "http://evil", "a@evil".
ADDRESS_MARK = re.compile(r"(?<=\S)([.:@])(?=\S)")
SEVERITY_COLORS = {"critical": "#b91c34", "high": "#b04a06", "medium": "#8f5a00", "low": "#545d72"}
WORD_JOINER = "\N{WORD JOINER}"


@register.filter
@stringfilter
def unlinked(text: str) -> str:
    """Insert word joiners into addresses, so that no mail program turns them into links.

    Names and findings quote text from strangers, and our mails must not contain links of theirs.
    """
    return ADDRESS_MARK.sub(rf"\1{WORD_JOINER}", text)


@register.filter
def grade_colours(grade: str) -> Colours:
    """Return the colours `fill` and `text` of a grade, readable in both themes."""
    return of_grade(grade)


@register.filter
def severity_color(severity: str) -> str:
    """Return the colour of a severity. White text on it has a contrast of at least 4.5:1, in both themes."""
    return SEVERITY_COLORS.get(severity, SEVERITY_COLORS["low"])


@register.filter
def type_name(scan_type: str) -> str:
    return "SEO" if scan_type == "seo" else scan_type.capitalize()


@register.filter
def minute(timestamp: str) -> str:
    """Return a timestamp such as `2026-11-21T07:15:00Z` as `2026-11-21 07:15 UTC`."""
    return f"{timestamp[:16].replace('T', ' ')} UTC"


@register.filter
def day(timestamp: str) -> str:
    return timestamp[:10]
