"""Escaping for Markdown (GitHub's dialect), for texts that may contain text from a scanned site."""

from __future__ import annotations

import re
from urllib.parse import quote

from website_scan.report.references import safe_link

# Characters with a meaning within a line (CommonMark 0.31, section 6), in table cells, in bare addresses, which become
# links, or in mentions of people and issues; and characters at the start of a line that begin a list, heading or rule.
SPECIAL = re.compile(r"([\\`*_\[\]#|~<>&@]|:(?=//)|(?<=[wW]{3})\.|^\s*(?:[-+=]|\d+(?=[.)])))")
# Characters that may be unescaped in an address between angle brackets, also in a table.
ADDRESS = "!$&'()*+,;=:@~%/?#[]"
# Code between backticks, in sentences of the catalogue.
CODE = re.compile(r"`([^`\n]+)`")


def escaped(text: str) -> str:
    """Escape the text, so that Markdown makes no link, image or heading from it."""
    return SPECIAL.sub(_escape, text)


def link(url: str) -> str:
    """Return a link to a page; the address as text if it is not safe to open."""
    address = safe_link(url)
    return f"<{quote(address, safe=ADDRESS)}>" if address else escaped(url)


def prose(text: str) -> str:
    """Escape the text, except that text between backticks becomes code."""
    parts = CODE.split(text)
    return "".join(code(part) if number % 2 else escaped(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return the text as a code span, with more backticks than any run in it (CommonMark 0.31, section 6.1)."""
    fence = "`" * (1 + max((len(backticks) for backticks in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _escape(match: re.Match[str]) -> str:
    """Escape a match. Of a number that would begin a list, escape the dot or bracket after the number."""
    return f"{match[0]}\\" if match[0][-1].isdecimal() else f"\\{match[0].lstrip()}"
