"""Jinja2 environment of report pages.

It has filters for long URLs and large numbers.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from website_scan.messages import agreeing, counted

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")
# A URL may break after ".", "/" and ":", but not before another of these characters.
BREAKS = re.compile(r"(?<=[./:])(?![./:])")
SCHEME = re.compile(r"https?://")
# Number of characters at the end of a long URL that remain visible when CSS hides its middle.
END = 12
# Maximum number of characters of a URL in its tooltip.
MAX_TOOLTIP_CHARACTERS = 500


def environment(**options: Any) -> Environment:
    """Create a Jinja2 environment with autoescape.

    Further options are passed on, such as a loader.
    """
    rules = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    jinja = Environment(**options | rules)  # noqa: S701  # `rules` switch autoescape on
    jinja.filters |= {"breakable": breakable, "grouped": grouped, "one_line": one_line}
    jinja.filters |= {"counted": counted, "agreeing": agreeing}
    jinja.globals |= {"zip": zip}
    return jinja


def breakable(address: object) -> Markup:
    """Return a URL as HTML with optional line breaks.

    They follow "/", "." and ":". This is a filter for templates.
    """
    return Markup(BREAKS.sub("<wbr>", escape(str(address))))  # noqa: S704  # escaped


def one_line(address: object) -> Markup:
    """Filter that shows a URL as HTML on one line.

    CSS hides the middle of the URL if the line is too short. The text is complete, so that copying, searching and
    screen readers use the whole address.
    """
    text = str(address)
    match = SCHEME.match(text)
    scheme = match[0] if match else ""
    rest = text[len(scheme) :]
    at = 0
    if len(rest) > 2 * END:
        # Screen readers pause at the split, so a slash is a good place for it.
        slash = rest.rfind("/", len(rest) - 2 * END, -1)
        at = slash if slash > 0 else len(rest) - END
    html = f'<span class="scheme">{scheme}</span>' if scheme else ""
    if at:
        html += f'<span class="start">{escape(rest[:at])}</span>'
    html += escape(rest[at:])
    return Markup(f'<span class="url" title="{escape(text[:MAX_TOOLTIP_CHARACTERS])}">{html}</span>')  # noqa: S704  # escaped


def grouped(number: int) -> str:
    """Filter that writes a number with commas between thousands."""
    return f"{number:,}"
