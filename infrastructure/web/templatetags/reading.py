"""How templates write what is hard to read as it is: long addresses, large numbers, and moments."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import escape

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString

register = template.Library()

# The slashes after the scheme stay together.
MARKS = re.compile(r"[./:]+")
SCHEME = re.compile(r"https?://")
# Characters of an address that its end keeps, and of a tip that still shows whole.
END = 12
MAX_TITLE = 500
# "36 hours ago" says more than "2 days ago".
UNITS = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))
UNITS_FROM = 1.5


@register.filter
def breakable(address: object) -> SafeString:
    """The address as HTML that breaks after "/", "." and ":" where a line is too short for it, not within a word."""
    return SafeString(MARKS.sub(r"\g<0><wbr>", escape(str(address))))


@register.filter
def one_line(address: object) -> SafeString:
    """The address as HTML for one line: its middle gives way where there is no room, host and end stay.

    Nothing is left out of the text, so that copying, searching and reading it out give all of it.
    """
    text = str(address)
    found = SCHEME.match(text)
    scheme = found[0] if found else ""
    rest = text[len(scheme) :]
    at = 0
    if len(rest) > 2 * END:
        # Before a slash where there is one: who has the address read out hears a pause there.
        slash = rest.rfind("/", len(rest) - 2 * END, -1)
        at = slash if slash > 0 else len(rest) - END
    parts = (("scheme", scheme), ("start", rest[:at]), ("", rest[at:]))
    shown = "".join(
        f'<span class="{name}">{escape(part)}</span>' if name else escape(part) for name, part in parts if part
    )
    return SafeString(f'<span class="url" title="{escape(text[:MAX_TITLE])}">{shown}</span>')


@register.filter
def grouped(number: int) -> str:
    """The number with a comma between its thousands."""
    return f"{number:,}"


@register.filter
def relative(moment: datetime) -> str:
    """How long ago an aware moment was, or in how long it is, in the largest unit that says something."""
    away = moment - timezone.now()
    distance = abs(away)
    unit, length = next((each for each in UNITS if distance >= UNITS_FROM * each[1]), UNITS[-1])
    number = round(distance / length)
    if not number:
        return "now" if away > timedelta() else "just now"
    words = f"{number} {unit}{'' if number == 1 else 's'}"
    return f"in {words}" if away > timedelta() else f"{words} ago"
