"""Random identifiers with a prefix, such as `scan_…` (base62)."""

from __future__ import annotations

import re
import secrets
import string

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
# 22 base62 digits encode 130.9 bits.
RANDOM_DIGITS = 22


def random_base62(digits: int = RANDOM_DIGITS) -> str:
    """Return `digits` cryptographically random base62 characters."""
    return "".join(secrets.choice(BASE62) for _ in range(digits))


def new_id(prefix: str) -> str:
    """Return a new identifier such as `scan_6Yk…`.

    It has at least 128 random bits.
    """
    return f"{prefix}_{random_base62()}"


def new_scan_id() -> str:
    return new_id("scan")


def new_report_id() -> str:
    """Return a new ID for a report."""
    return new_id("rpt")


def is_id(prefix: str, value: str) -> bool:
    """Return True if `value` has the format of an ID with this prefix.

    It may then be looked up in the database.
    """
    return re.fullmatch(rf"{prefix}_[0-9A-Za-z]{{{RANDOM_DIGITS}}}", value) is not None
