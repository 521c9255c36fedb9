"""Phrases that findings share, and masking of secrets in text that sites sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

KB = 1000
KIB = 1024
SHOWN = 5  # number of names in a message; the evidence has more


def counted(number: float, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun and any words after it: "1 form", "1,200 forms", "3 entries", "2 pages were"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def part(number: int, total: int, noun: str, plural: str | None = None) -> str:
    """Return a number out of a total: "1 of 3 forms"; without the total if they are equal: "1 form", "3 forms"."""
    of = f"{number:,} of " if number != total else ""
    return f"{of}{counted(total, noun, plural)}"


def agreeing(number: float, one: str, many: str) -> str:
    """Return the form of a word that agrees with a number: "has" for 1, "have" for 3."""
    return one if number == 1 else many


def clause(sentence: str) -> str:
    """Return a sentence as a part of another sentence: "The site did not answer." as "the site did not answer"."""
    text = excerpt(sentence).rstrip(".")
    return text[:1].lower() + text[1:] if re.match(r"[A-Z][a-z ]", text) else text


def some(values: Sequence[str], separator: str = ", ") -> str:
    """Return the first few values and the number of the others. Values that contain commas need another separator."""
    more = len(values) - SHOWN
    return separator.join(values[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def by_steps(good: object, poor: object) -> str:
    """Return the sentence on the thresholds of a check that uses `by_limits`."""
    return f"Passes up to {good}, warns up to {poor}, fails above that."


def by_curve(good: str, poor: str) -> str:
    """Return the sentences on the thresholds of a check that earns a part of its weight on a curve."""
    return f"{by_steps(good, poor)} It loses a part of its weight, by how far the value is from good."


def size(count_bytes: float) -> str:
    """Format bytes for people: "850 B", "12 kB", "1.3 MB" (1 kB is 1,000 bytes), never more than three digits."""
    if round(count_bytes) < KB:
        return f"{count_bytes:.0f} B"
    value, unit = (count_bytes / KB, "kB") if round(count_bytes / KB) < 1000 else (count_bytes / KB**2, "MB")
    return f"{value:.1f} {unit}" if round(value, 1) < 10 else f"{value:,.0f} {unit}"


def duration(time: timedelta) -> str:
    """Format a duration as whole days, or as hours below two days."""
    if time < timedelta(hours=1):
        return "less than an hour"
    if time < timedelta(days=2):
        return counted(int(time.total_seconds() // 3600), "hour")
    return f"{time.days} days"


MASK = "•••"
MAX_LENGTH = 160
MAX_READ = 4000

# Value after a name that suggests a secret: in a query, a form-like list, JSON or a header's parameter. The accesskey
# attribute of HTML is a single character, and not a secret.
NAMED = re.compile(
    r"""((?:\b|_)(?:token|secret|passw(?:or)?d|pwd|api[_-]?key|apikey|access[_-]?key(?!=["']?[^"'][\s"'>])|private[_-]?key|auth"""
    r"""|session(?:_?id)?|(?:php|j)?sess(?:ion)?id|aspsessionid[a-z]{0,20}|oscsid|xtcsid|zenid|cftoken|sid"""
    r"""|sig|signature|credentials?|jwt)["']?\s*[=:]\s*["']?)"""
    r"""([^&\s;,"'<>]+)""",
    re.IGNORECASE,
)
# Values whose form shows that they are secrets.
SHAPED = re.compile(
    r"\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*"  # JSON Web Token
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # AWS access key
    r"|\bgh[pousr]_[0-9A-Za-z]{20,}"  # GitHub token
    r"|\b[sr]k_(?:live|test)_[0-9A-Za-z]{10,}"  # Stripe key
    r"|\bxox[abprs]-[0-9A-Za-z-]{10,}"  # Slack token
    r"|\bAIza[\w-]{30,}"  # Google key
    r"|\b[0-9a-f]{32,}\b"  # a long hexadecimal value
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*"
)
USERINFO = re.compile(r"(//)[^/@\s:]+:[^/@\s]+@")
# Characters that change the direction of text (UAX #9, section 2), so that readers would see another text.
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Characters that scripts can put into a page, but that UTF-8 or PostgreSQL rejects.
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def masked(text: str) -> str:
    """Return `text` with dots in place of values that look like secrets. Their names remain."""
    if "=" in text or ":" in text:
        text = NAMED.sub(rf"\g<1>{MASK}", text)
    text = SHAPED.sub(MASK, text)
    return USERINFO.sub(rf"\g<1>{MASK}@", text) if "@" in text else text


def cut(text: str, limit: int) -> str:
    """Return the text, with an ellipsis as its last character if it is longer than `limit`."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def excerpt(text: str, limit: int = MAX_LENGTH) -> str:
    """Return the masked, printable beginning of a text that a site sent, at most `limit` characters."""
    part = masked(text[:MAX_READ])
    return cut((part if _is_printable_ascii(part) else plain(CONTROL.sub(" ", part))).strip(), limit)


def single_line(text: str) -> str:
    """Return `text` like `plain`, with spaces in place of control characters: no line breaks, no terminal commands."""
    return text if _is_printable_ascii(text) else CONTROL.sub(" ", plain(text))


def plain(text: str) -> str:
    """Return `text` with visible names such as `[U+202E]` for direction changes, and without unencodable characters."""
    if _is_printable_ascii(text):
        return text
    return DIRECTIONS.sub(lambda match: f"[U+{ord(match[0]):04X}]", UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def _is_printable_ascii(text: str) -> bool:
    """Return True if the text needs no replacements. This test takes a tenth of their time, and most texts pass it."""
    return text.isascii() and text.isprintable()
