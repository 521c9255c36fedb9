"""Markdown (GitHub's dialect) of texts that a site may have had a hand in: they stay text."""

from __future__ import annotations

import re

# What begins something within a line (CommonMark 0.31, section 6), a table's cell, or a mention of people and issues;
# and at its start a list, a heading or a rule.
SPECIAL = re.compile(r"([\\`*_\[\]#|~<>&@]|^\s*(?:[-+=]|\d+(?=[.)])))")
# As our own sentences mark it.
CODE = re.compile(r"`([^`\n]+)`")


def escaped(text: str) -> str:
    """The text as itself: what a site says makes no link, no picture and no heading."""
    return SPECIAL.sub(_escape, text)


def prose(text: str) -> str:
    """As `escaped`, but what stands between backticks is code."""
    parts = CODE.split(text)
    return "".join(code(each) if number % 2 else escaped(each) for number, each in enumerate(parts))


def code(text: str) -> str:
    """The text as code, in a fence that is longer than any within (CommonMark 0.31, section 6.1)."""
    fence = "`" * (1 + max((len(each) for each in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _escape(found: re.Match[str]) -> str:
    """Of a number that would begin a list it is the dot that is escaped."""
    return f"{found[0]}\\" if found[0][-1].isdecimal() else f"\\{found[0].lstrip()}"
