"""Translate patterns for the pages of Lighthouse's files to patterns with `*` for path and query."""

from __future__ import annotations

import re

from website_scan.crawl.discovery.patterns import pattern_fault
from website_scan.requirements.reading import MAX_PATTERN_CHARACTERS

MAX_CHARACTERS = 500
ANY = re.compile(r"\.[*+]\??|\(\.\*\??\)")
# Characters up to the next slash.
SEGMENT = re.compile(r"\[\^/[?#]*\][*+]\??")
ANY_SEGMENT = "\0"
REPEATED_END = re.compile(r"(?<![\\.\])])[A-Za-z0-9/_-]\*\Z")
ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
LITERAL = re.compile(r"[^\\^$.|?*+()\[\]{}]")
ORIGIN = re.compile(r"https?://[^/*]*(?=[/*]|\Z)", re.IGNORECASE)


def pattern_of_budget(path: str) -> str | None:
    """Translate the path of a budget, as in robots.txt. None if it means all pages.

    Raises ValueError, whose message is a clause.
    """
    if not path.startswith("/"):
        raise ValueError("its path does not start with /")
    if path == "/":
        return None
    pattern = path.removesuffix("$") if path.endswith("$") else path if path.endswith("*") else f"{path}*"
    if pattern == "/*":
        return None
    return _checked(pattern)


def pattern_of_expression(expression: str) -> str | None:
    """Translate a regular expression that Lighthouse CI searches for in the whole address of a page.

    None if it means all pages. Raises ValueError, whose message is a clause, if `*` cannot express it.
    """
    if len(expression) > MAX_CHARACTERS:
        raise ValueError("its pattern is too long")
    is_start = expression.startswith("^")
    is_end = expression.endswith("$") and not expression.endswith(r"\$")
    rest = expression[is_start : len(expression) - is_end].replace("https?:", "https:")
    if not is_end:
        # Nothing has to follow a repeated character at the end, as in `/blog/*`.
        rest = REPEATED_END.sub("", rest)
    pieces = []
    position = 0
    while position < len(rest):
        if match := ANY.match(rest, position):
            pieces.append("*")
        elif match := SEGMENT.match(rest, position):
            pieces.append(ANY_SEGMENT)
        elif match := ESCAPED.match(rest, position):
            pieces.append(match[1])
        elif match := LITERAL.match(rest, position):
            pieces.append(match[0])
        elif rest.startswith(".", position):
            # A dot that is not escaped is nearly always one of a file's name.
            pieces.append(".")
            position += 1
            continue
        else:
            raise ValueError("its regular expression can't be said with *")
        position = match.end()
    pattern = "".join(pieces)
    if origin := ORIGIN.match(pattern):
        # The host is that of the scanned page.
        pattern = pattern[origin.end() :] or "*"
    elif not is_start:
        pattern = f"*{pattern}"
    pattern = pattern.replace(ANY_SEGMENT, "*")
    pattern = re.sub(r"\*+", "*", pattern if is_end else f"{pattern}*")
    return None if pattern in ("*", "/*") else _checked(pattern)


def _checked(pattern: str) -> str:
    if pattern_fault(pattern) or len(pattern) > MAX_PATTERN_CHARACTERS:
        raise ValueError("its pattern is no pattern of paths")
    return pattern
