"""Escaping for Markdown (GitHub's dialect), for texts that may contain what a site sent."""

from __future__ import annotations

import re
from urllib.parse import quote

from website_scan.report.references import safe_link

# Characters with a meaning within a line (CommonMark 0.31, section 6), in table cells, in bare addresses, which become
# links, or in mentions of people and issues; and those that begin a list, a heading or a rule at the start of a line.
SPECIAL = re.compile(r"([\\`*_\[\]#|~<>&@]|:(?=//)|(?<=[wW]{3})\.|^\s*(?:[-+=]|\d+(?=[.)])))")
# Characters that may stand in an address between angle brackets, and in a table.
ADDRESS = "!$&'()*+,;=:@~%/?#[]"
# Code in our own sentences stands between backticks.
CODE = re.compile(r"`([^`\n]+)`")


def escaped(text: str) -> str:
    """Escape the text, so that it makes no link, no image and no heading."""
    return SPECIAL.sub(_escape, text)


def link(url: str) -> str:
    """Return a link to a page; its address as text if it is not safe to open."""
    address = safe_link(url)
    return f"<{quote(address, safe=ADDRESS)}>" if address else escaped(url)


def prose(text: str) -> str:
    """Escape the text, except that text between backticks becomes code."""
    parts = CODE.split(text)
    return "".join(code(each) if number % 2 else escaped(each) for number, each in enumerate(parts))


def code(text: str) -> str:
    """Return the text as a code span, with more backticks than any run in it (CommonMark 0.31, section 6.1)."""
    fence = "`" * (1 + max((len(each) for each in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _escape(found: re.Match[str]) -> str:
    """Escape a match. For a number that would begin a list, escape the dot or bracket after it."""
    return f"{found[0]}\\" if found[0][-1].isdecimal() else f"\\{found[0].lstrip()}"
