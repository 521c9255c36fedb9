"""Jinja2 templates of the pages of a report, and filters for what is hard to read: long addresses, large numbers."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")  # style sheets
# The slashes after the scheme stay together.
MARKS = re.compile(r"[./:]+")
SCHEME = re.compile(r"https?://")
# Characters of an address that its end keeps, and of a tip that still shows whole.
END = 12
MAX_TITLE = 500


def environment(**options: Any) -> Environment:
    """Jinja2 with these options, such as the loader, for templates that escape what they write."""
    rules = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    made = Environment(**options | rules)  # noqa: S701  # `rules` ask for escaping
    made.filters |= {"breakable": breakable, "grouped": grouped, "one_line": one_line}
    made.globals |= {"zip": zip}
    return made


def breakable(address: object) -> Markup:
    """The address as HTML that breaks after "/", "." and ":" where a line is too short for it, not within a word."""
    return Markup(MARKS.sub(r"\g<0><wbr>", escape(str(address))))  # noqa: S704  # escaped


def one_line(address: object) -> Markup:
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
    return Markup(f'<span class="url" title="{escape(text[:MAX_TITLE])}">{shown}</span>')  # noqa: S704  # escaped


def grouped(number: int) -> str:
    """The number with a comma between its thousands."""
    return f"{number:,}"
