"""Format numbers and lists, and mask secrets.

Findings use the numbers, and texts from scanned sites may contain secrets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

KB = 1000
KIB = 1024
# The tables of the report contain more names.
SHOWN = 5


def counted(number: float, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples are "1 form", "1,200 forms", "3 entries" and "2 pages were".
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def part(number: int, total: int, noun: str, plural: str | None = None) -> str:
    """Return a part of a total, such as "1 of 3 forms".

    Only "3 forms" if it is the whole.
    """
    of = f"{number:,} of " if number != total else ""
    return f"{of}{counted(total, noun, plural)}"


def agreeing(number: float, one: str, many: str) -> str:
    """Return the singular or plural form of a word.

    "has" for 1, "have" for 3.
    """
    return one if number == 1 else many


def clause(sentence: str) -> str:
    """Convert a sentence into a clause.

    "The site did not answer." becomes "the site did not answer".
    """
    text = excerpt(sentence).rstrip(".")
    return text[:1].lower() + text[1:] if re.match(r"[A-Z][a-z ]", text) else text


def some(values: Sequence[str], separator: str = ", ", total: int | None = None) -> str:
    """Join the first values, and append the number of the others.

    As in "a, b, c, d, e and 3 more". Values that contain commas need another separator. `total` is the number of all
    values, if the caller has only the first ones.
    """
    more = (len(values) if total is None else total) - SHOWN
    return separator.join(values[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def document_thresholds(good: object, poor: object) -> str:
    """Return the documented thresholds of a check.

    The check uses `judge_by_limits`.
    """
    return f"Passes up to {good}, warns up to {poor}, fails above that."


def document_curve_thresholds(good: str, poor: str) -> str:
    """Return the documented thresholds of a check with a curve.

    The check earns part of its weight on the curve.
    """
    return f"{document_thresholds(good, poor)} It loses a part of its weight, by how far the value is from good."


def size(count_bytes: float) -> str:
    """Format a size for users.

    "850 B", "12 kB", "1.3 MB" (1 kB is 1,000 bytes), with at most three digits.
    """
    if round(count_bytes) < KB:
        return f"{count_bytes:.0f} B"
    value, unit = (count_bytes / KB, "kB") if round(count_bytes / KB) < 1000 else (count_bytes / KB**2, "MB")
    return f"{value:.1f} {unit}" if round(value, 1) < 10 else f"{value:,.0f} {unit}"


def duration(time: timedelta) -> str:
    """Format a duration in whole days or hours.

    Durations below two days are in hours.
    """
    if time < timedelta(hours=1):
        return "less than an hour"
    if time < timedelta(days=2):
        return counted(int(time.total_seconds() // 3600), "hour")
    return f"{time.days} days"


MASK = "•••"
MAX_LENGTH = 160
MAX_EXCERPT_INPUT = 4000

# Secrets follow a name such as `token`, but the HTML attribute `accesskey` has only one character.
NAMED = re.compile(
    r"""((?:\b|_)(?:token|secret|passw(?:or)?d|pwd|api[_-]?key|apikey|access[_-]?key(?!=["']?[^"'][\s"'>])|private[_-]?key|auth"""
    r"""|session(?:_?id)?|(?:php|j)?sess(?:ion)?id|aspsessionid[a-z]{0,20}|oscsid|xtcsid|zenid|cftoken|sid"""
    r"""|sig|signature|credentials?|jwt)["']?\s*[=:]\s*["']?)"""
    r"""([^&\s;,"'<>]+)""",
    re.IGNORECASE,
)
# Pattern for values that are secrets because of their format.
SHAPED = re.compile(
    # The lookahead of this JSON Web Token pattern keeps the time linear.
    r"(?<![\w-])(?=[\w-]++\.[\w-]{4,}\.)(?:[\w-]*-)?eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # AWS access keys.
    r"|\bgh[pousr]_[0-9A-Za-z]{20,}"  # GitHub tokens.
    r"|\b[sr]k_(?:live|test)_[0-9A-Za-z]{10,}"  # Stripe keys.
    r"|\bxox[abprs]-[0-9A-Za-z-]{10,}"  # Slack tokens.
    r"|\bAIza[\w-]{30,}"  # Google API keys.
    r"|\b[0-9a-f]{32,}\b"  # Long hexadecimal values.
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*"
)
USERINFO = re.compile(r"(//)[^/@\s:]+:[^/@\s]+@")
# Sites could disguise text with these direction characters (UAX #9, section 2).
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# UTF-8 or PostgreSQL rejects these characters, which scripts can insert.
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def masked(text: str) -> str:
    """Return the text with dots instead of secrets.

    Values look like secrets if they may be tokens or passwords.
    """
    if "=" in text or ":" in text:
        text = NAMED.sub(rf"\g<1>{MASK}", text)
    text = SHAPED.sub(MASK, text)
    return USERINFO.sub(rf"\g<1>{MASK}@", text) if "@" in text else text


def cut(text: str, limit: int) -> str:
    """Truncate the text to `limit` characters.

    The last character is then an ellipsis.
    """
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def excerpt(text: str, limit: int = MAX_LENGTH) -> str:
    """Return the beginning of a text from a site for users.

    It is printable, has no secrets, and is at most `limit` characters long.
    """
    part = masked(text[:MAX_EXCERPT_INPUT])
    return cut((part if _is_printable_ascii(part) else plain(CONTROL.sub(" ", part))).strip(), limit)


def single_line(text: str) -> str:
    """Return the text with spaces instead of line breaks.

    Like `plain`, and with spaces instead of other control characters, too.
    """
    return text if _is_printable_ascii(text) else CONTROL.sub(" ", plain(text))


def plain(text: str) -> str:
    """Return the text without characters that cannot be encoded.

    Direction changes become `[U+202E]`.
    """
    if _is_printable_ascii(text):
        return text
    return DIRECTIONS.sub(lambda match: f"[U+{ord(match[0]):04X}]", UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def _is_printable_ascii(text: str) -> bool:
    """Return True if the text needs no replacements.

    Replacing takes ten times as long, and most texts do not need it.
    """
    return text.isascii() and text.isprintable()
