"""Jinja2 environment for the pages of a report, with filters for long addresses and large numbers."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from website_scan.messages import agreeing, counted

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")  # style sheets
# Positions of optional line breaks in an address: after these characters, but not between the slashes of the scheme.
BREAKS = re.compile(r"(?<=[./:])(?![./:])")
SCHEME = re.compile(r"https?://")
END = 12  # characters at the end of an address that stay visible
MAX_TITLE = 500  # characters of an address in its tooltip


def environment(**options: Any) -> Environment:
    """Return a Jinja2 environment with autoescape and these options, such as the loader."""
    rules = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    jinja = Environment(**options | rules)  # noqa: S701  # `rules` switch autoescape on
    jinja.filters |= {"breakable": breakable, "grouped": grouped, "one_line": one_line}
    jinja.filters |= {"counted": counted, "agreeing": agreeing}
    jinja.globals |= {"zip": zip}
    return jinja


def breakable(address: object) -> Markup:
    """Return the address as HTML with optional line breaks after "/", "." and ":", so that no word is broken."""
    return Markup(BREAKS.sub("<wbr>", escape(str(address))))  # noqa: S704  # escaped


def one_line(address: object) -> Markup:
    """Return the address as HTML for one line. If the line is too short, CSS hides the middle of the address.

    The text is complete, so that copying, searching and screen readers use the whole address.
    """
    text = str(address)
    match = SCHEME.match(text)
    scheme = match[0] if match else ""
    rest = text[len(scheme) :]
    at = 0
    if len(rest) > 2 * END:
        # Split before a slash if there is one, because screen readers pause at the split.
        slash = rest.rfind("/", len(rest) - 2 * END, -1)
        at = slash if slash > 0 else len(rest) - END
    html = f'<span class="scheme">{scheme}</span>' if scheme else ""
    if at:
        html += f'<span class="start">{escape(rest[:at])}</span>'
    html += escape(rest[at:])
    return Markup(f'<span class="url" title="{escape(text[:MAX_TITLE])}">{html}</span>')  # noqa: S704  # escaped


def grouped(number: int) -> str:
    """Return the number with commas between thousands."""
    return f"{number:,}"
