"""Escaping of text for GitHub's Markdown.

The text may come from a scanned site.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from website_scan.report.references import safe_link

# Characters with a meaning in Markdown: in a line (CommonMark 0.31, section 6), in table cells, in bare URLs, in
# mentions of people and issues, and at the start of a line, where they begin a list, heading or rule.
SPECIAL = re.compile(r"([\\`*_\[\]#|~<>&@]|:(?=//)|(?<=[wW]{3})\.|^\s*(?:[-+=]|\d+(?=[.)](?:\s|$))))")
# Characters that need no escaping in a URL between angle brackets, also in a table.
ADDRESS = "!$&'()*+,;=:@~%/?#[]"
# Inline code between backticks, in texts of the catalogue.
CODE = re.compile(r"`([^`\n]+)`")


def escaped(text: str) -> str:
    """Escape all Markdown syntax in a text, such as links, images and headings."""
    return SPECIAL.sub(_escape, text)


def link(url: str) -> str:
    """Return a Markdown link to a page.

    If opening the URL is not safe, the result is the escaped URL.
    """
    address = safe_link(url)
    return f"<{quote(address, safe=ADDRESS)}>" if address else escaped(url)


def prose(text: str) -> str:
    """Escape a text, but convert text between backticks to inline code."""
    parts = CODE.split(text)
    return "".join(code(part) if number % 2 else escaped(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return the text as inline code.

    It has enough backticks around it (CommonMark 0.31, section 6.1).
    """
    fence = "`" * (1 + max((len(backticks) for backticks in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _escape(match: re.Match[str]) -> str:
    """Escape a special character.

    If it is a number at the start of a list, escape the following dot or bracket instead.
    """
    return f"{match[0]}\\" if match[0][-1].isdecimal() else f"\\{match[0].lstrip()}"
