"""What a response lets a browser keep, and for how long (RFC 9111, RFC 8246), and what that will cost.

What a visit some time later costs is Lighthouse's model (uses-long-cache-ttl): of the times at which browsers look
for a file in their cache, every tenth falls between two of AGE_DECILES_H after the file was stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from scanner.net.http.response import Headers

DAY_S = 86_400
YEAR_S = 365 * DAY_S
LONG_S = 30 * DAY_S
AGE_DECILES_H = (0, 0.2, 1, 3, 8, 12, 24, 48, 72, 168, 8760)
# RFC 9111, section 1.2.2: what is too large to say counts as this.
MAX_DELTA_S = 1 << 31
MAX_DIRECTIVES = 50

DIRECTIVE = re.compile(r"""[\s,]*+([^\s,="]++)(?:\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"?|([^\s,"]*+)))?[^,]*+""")
SECONDS = re.compile(r"[0-9]{1,30}")

# File names that carry a digest of the content: a hexadecimal part of both letters and digits, or the eight
# characters of base64 that Vite and Rollup append. Numbers alone are dates and versions.
HEX_PART = re.compile(r"(?<=[._-])(?=[0-9a-f]{0,19}[a-f])(?=[0-9a-f]{0,19}[0-9])[0-9a-f]{8,64}(?=[._-]|\Z)")
WHOLE_HEX = re.compile(r"(?=[0-9a-f]*+[a-z.])(?=[a-f]{0,19}[0-9])[0-9a-f]{16,64}(?=\.)")
BASE64_PART = re.compile(
    r"(?<=[.-])(?=[\w-]{0,7}[A-Z])(?=[\w-]{0,7}[a-z])(?=[\w-]{0,7}[0-9])[A-Za-z0-9_-]{8}(?=\.[a-z0-9]{2,5}\Z)"
)
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """What a browser's own cache may do. `lifetime_s` is None where nothing says how long it stays fresh.

    `deliberate`: directives by which a site keeps the decision to itself (no-store, no-cache, must-revalidate,
    private, stale-while-revalidate).
    """

    lifetime_s: int | None = None
    deliberate: frozenset[str] = frozenset()
    is_immutable: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether browsers are left to guess: no lifetime, and no word that the file may not be reused unasked."""
        return self.lifetime_s is None and not self.deliberate & {"no-store", "no-cache"}


DELIBERATE = frozenset({"no-store", "no-cache", "must-revalidate", "private", "stale-while-revalidate"})


def cache_policy(headers: Headers, now: datetime) -> CachePolicy:
    """Read Cache-Control, Expires, Date and Pragma; `now` stands in for a missing Date.

    A lifetime that can't be read counts as none left (RFC 9111, sections 4.2.1 and 5.3).
    """
    directives = _directives(headers.get("Cache-Control") or "")
    deliberate = frozenset(directives) & DELIBERATE
    if not directives and "no-cache" in (headers.get("Pragma") or "").lower():
        deliberate = frozenset({"no-cache"})  # RFC 9111, section 5.4
    # With an argument these two are only about the header fields it names.
    deliberate -= {name for name in ("private", "no-cache") if directives.get(name)}
    lifetime_s: int | None = None
    if "max-age" in directives:
        seconds = directives["max-age"].strip()
        lifetime_s = min(int(seconds), MAX_DELTA_S) if SECONDS.fullmatch(seconds) else 0
    elif (expires := headers.get("Expires")) is not None:
        lifetime_s = _until(expires, headers.get("Date"), now)
    return CachePolicy(lifetime_s, deliberate, "immutable" in directives)


def _directives(value: str) -> dict[str, str]:
    """Directives in lower case with their arguments, the first of each name; "" for those without one."""
    found: dict[str, str] = {}
    position = 0
    while len(found) < MAX_DIRECTIVES and (match := DIRECTIVE.match(value, position)) is not None:
        found.setdefault(match[1].lower(), match[2] or match[3] or "")
        position = match.end()
    return found


def _until(expires: str, date: str | None, now: datetime) -> int:
    end = _http_date(expires)
    if end is None:
        return 0
    begin = (_http_date(date) if date else None) or now
    return max(0, min(int((end - begin).total_seconds()), MAX_DELTA_S))


def _http_date(text: str) -> datetime | None:
    """RFC 9110, section 5.6.7: any of the three formats; always UTC."""
    try:
        found = parsedate_to_datetime(text[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def hit_probability(lifetime_s: int) -> float:
    """How likely a file is still fresh when a browser looks for it again, 0 to 1."""
    hours = lifetime_s / 3600
    upper = next((index for index, decile in enumerate(AGE_DECILES_H) if decile >= hours), None)
    if upper is None:
        return 1.0
    if upper == 0:
        return 0.0
    low, high = AGE_DECILES_H[upper - 1], AGE_DECILES_H[upper]
    return (upper - 1 + (hours - low) / (high - low)) / 10


def is_hashed_name(path: str) -> bool:
    """Whether a path's file name carries a digest, so that the content under it never changes.

    A UUID names a thing, whose content may change.
    """
    name = path.rpartition("/")[2][:300]
    if UUID.search(name):
        return False
    return any(pattern.search(name) for pattern in (HEX_PART, BASE64_PART)) or WHOLE_HEX.match(name) is not None
