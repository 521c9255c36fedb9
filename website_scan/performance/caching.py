"""Cache policies of responses (RFC 9111, RFC 8246).

The module also estimates the probability that a cached file is still fresh.

The cost of a later visit follows Lighthouse's model (uses-long-cache-ttl): AGE_DECILES_H are the deciles of a cached
file's age, in hours, when a browser needs the file again.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

from website_scan.net.http.response import Headers

DAY_S = 86_400
YEAR_S = 365 * DAY_S
LONG_LIFETIME_S = 30 * DAY_S
REUSE_AGE_DECILES_H = (0, 0.2, 1, 3, 8, 12, 24, 48, 72, 168, 8760)
# Value that replaces a larger lifetime (RFC 9111, section 1.2.2).
MAX_LIFETIME_S = 1 << 31
MAX_DIRECTIVES = 50

DIRECTIVE = re.compile(r"""[\s,]*+([^\s,="]++)(?:\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"?|([^\s,"]*+)))?[^,]*+""")
SECONDS = re.compile(r"[0-9]{1,30}")

# Patterns of file names with a digest of the content: a hexadecimal part of both letters and digits, or the eight
# characters of base64 that Vite and Rollup append. Numbers alone are dates and versions.
HEX_DIGEST_IN_NAME = re.compile(r"(?<=[._-])(?=[0-9a-f]{0,19}[a-f])(?=[0-9a-f]{0,19}[0-9])[0-9a-f]{8,64}(?=[._-]|\Z)")
HEX_DIGEST_AT_START = re.compile(r"(?=[0-9a-f]*+[a-z.])(?=[a-f]{0,19}[0-9])[0-9a-f]{16,64}(?=\.)")
BASE64_DIGEST_IN_NAME = re.compile(
    r"(?<=[.-])(?=[\w-]{0,7}[A-Z])(?=[\w-]{0,7}[a-z])(?=[\w-]{0,7}[0-9])[A-Za-z0-9_-]{8}(?=\.[a-z0-9]{2,5}\Z)"
)
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class CachePolicy(Struct, frozen=True):
    """Browser cache policy of a response.

    `lifetime_s` is None if no header sets a lifetime.

    `deliberate` are the directives of the response that show a decision of the site (see DELIBERATE).
    """

    lifetime_s: int | None = None
    deliberate: frozenset[str] = frozenset()
    is_immutable: bool = False

    @property
    def is_missing(self) -> bool:
        """Return True if browsers must guess the lifetime.

        No header sets it or requires validation.
        """
        return self.lifetime_s is None and not self.deliberate & {"no-store", "no-cache"}


# Directives of Cache-Control that a site sends only on purpose.
DELIBERATE = frozenset({"no-store", "no-cache", "must-revalidate", "private", "stale-while-revalidate"})


def cache_policy(headers: Headers, now: datetime) -> CachePolicy:
    """Parse the Cache-Control, Expires, Date and Pragma headers.

    `now` replaces a missing Date.

    An invalid lifetime counts as expired (RFC 9111, sections 4.2.1 and 5.3).
    """
    directives = _parse_directives(headers.get("Cache-Control") or "")
    deliberate = frozenset(directives) & DELIBERATE
    if not directives and "no-cache" in (headers.get("Pragma") or "").lower():
        deliberate = frozenset({"no-cache"})  # Pragma is equivalent to Cache-Control here (RFC 9111, section 5.4).
    # `private` and `no-cache` with an argument apply only to the header fields in the argument.
    deliberate -= {name for name in ("private", "no-cache") if directives.get(name)}
    lifetime_s: int | None = None
    if "max-age" in directives:
        seconds = directives["max-age"].strip()
        lifetime_s = min(int(seconds), MAX_LIFETIME_S) if SECONDS.fullmatch(seconds) else 0
    elif (expires := headers.get("Expires")) is not None:
        lifetime_s = _lifetime_from_expires(expires, headers.get("Date"), now)
    return CachePolicy(lifetime_s, deliberate, "immutable" in directives)


def _parse_directives(value: str) -> dict[str, str]:
    """Parse a Cache-Control header into arguments by lower-case directive.

    The argument is empty if missing; the first of duplicates counts.
    """
    directives: dict[str, str] = {}
    position = 0
    while len(directives) < MAX_DIRECTIVES and (match := DIRECTIVE.match(value, position)) is not None:
        directives.setdefault(match[1].lower(), match[2] or match[3] or "")
        position = match.end()
    return directives


def _lifetime_from_expires(expires: str, date: str | None, now: datetime) -> int:
    """Return the seconds from the Date header to the Expires header.

    `now` replaces a missing Date. 0 for an invalid Expires.
    """
    end = _parse_http_date(expires)
    if end is None:
        return 0
    begin = (_parse_http_date(date) if date else None) or now
    return max(0, min(int((end - begin).total_seconds()), MAX_LIFETIME_S))


def _parse_http_date(text: str) -> datetime | None:
    """Parse an HTTP date.

    It may have any of the three formats of RFC 9110, section 5.6.7. None if invalid.
    """
    try:
        date = parsedate_to_datetime(text[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def cache_hit_probability(lifetime_s: int) -> float:
    """Return the probability, 0 to 1, that a cached file is still fresh.

    The time is when a browser needs the file again.
    """
    hours = lifetime_s / 3600
    upper = next((index for index, decile in enumerate(REUSE_AGE_DECILES_H) if decile >= hours), None)
    if upper is None:
        return 1.0
    if upper == 0:
        return 0.0
    low, high = REUSE_AGE_DECILES_H[upper - 1], REUSE_AGE_DECILES_H[upper]
    return (upper - 1 + (hours - low) / (high - low)) / 10


def has_hashed_name(path: str) -> bool:
    """Return True if a URL's file name contains a digest.

    The content of such a file never changes.

    A UUID is no digest: it identifies an object whose content may change.
    """
    name = path.rpartition("/")[2][:300]
    if UUID.search(name):
        return False
    return (
        any(pattern.search(name) for pattern in (HEX_DIGEST_IN_NAME, BASE64_DIGEST_IN_NAME))
        or HEX_DIGEST_AT_START.match(name) is not None
    )
