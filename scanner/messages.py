"""Turns of phrase and evidence items that the findings share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from scanner.findings import EvidenceItem

KB = 1000
KIB = 1024
SHOWN = 5  # named in a message; the evidence holds more


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: "1 form", "3 forms"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def some(values: Sequence[str]) -> str:
    """The first few of many, and how many more there are."""
    more = len(values) - SHOWN
    return ", ".join(values[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def by_steps(good: object, poor: object) -> str:
    """From where on a check warns and fails that is judged `by_limits`."""
    return f"Passes up to {good}, warns up to {poor}, fails above that."


def by_curve(good: str, poor: str) -> str:
    """From where on a check warns and fails that earns a part of its weight on a curve."""
    return f"{by_steps(good, poor)} It loses a part of its weight, by how far the value is from good."


def size(count_bytes: float) -> str:
    """Bytes as people read them: "850 B", "12 kB", "1.3 MB" (1 kB is 1,000 bytes), never more than three digits."""
    if round(count_bytes) < KB:
        return f"{count_bytes:.0f} B"
    value, unit = (count_bytes / KB, "kB") if round(count_bytes / KB) < 1000 else (count_bytes / KB**2, "MB")
    return f"{value:.1f} {unit}" if round(value, 1) < 10 else f"{value:,.0f} {unit}"


def duration(time: timedelta) -> str:
    """Whole days, or hours where it is less than two days."""
    if time < timedelta(days=2):
        return counted(int(time.total_seconds() // 3600), "hour")
    return f"{time.days} days"


MASK = "•••"
MAX_LENGTH = 160
MAX_READ = 4000

# The value after a name that speaks of a secret: in a query, a form-like list, JSON or a header's parameter. The
# accesskey of HTML is one character, and none.
NAMED = re.compile(
    r"""((?:\b|_)(?:token|secret|passw(?:or)?d|pwd|api[_-]?key|apikey|access[_-]?key(?!=["']?[^"'][\s"'>])|private[_-]?key|auth"""
    r"""|session(?:_?id)?|(?:php|j)?sess(?:ion)?id|aspsessionid[a-z]{0,20}|oscsid|xtcsid|zenid|cftoken|sid"""
    r"""|sig|signature|credentials?|jwt)["']?\s*[=:]\s*["']?)"""
    r"""([^&\s;,"'<>]+)""",
    re.IGNORECASE,
)
# What is a secret by its own form.
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
# Characters that turn the direction of text around (UAX #9, section 2): what is read would not be what is there.
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# What scripts can put into a page, and neither UTF-8 nor PostgreSQL takes.
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def masked(text: str) -> str:
    """`text` with whatever looks like a secret replaced by dots; the names stay."""
    text = NAMED.sub(rf"\g<1>{MASK}", text)
    text = SHAPED.sub(MASK, text)
    return USERINFO.sub(rf"\g<1>{MASK}@", text)


def excerpt(text: str, limit: int = MAX_LENGTH) -> str:
    """A masked, printable beginning of what a site sent, at most `limit` characters long."""
    text = CONTROL.sub(" ", masked(text[:MAX_READ])).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def plain(text: str) -> str:
    """`text` as it can be written, with characters that turn its direction named instead: `[U+202E]`."""
    return DIRECTIONS.sub(lambda found: f"[U+{ord(found[0]):04X}]", UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def plain_item(item: EvidenceItem) -> EvidenceItem:
    """The same for all texts of an item of evidence."""
    return {plain(name): plain(value) if isinstance(value, str) else value for name, value in item.items()}
