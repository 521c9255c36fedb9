"""Parser of MX records (RFC 5321, section 5.1; RFC 7505)."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Some mail servers have an underscore in their name, although host names have none (RFC 1123, section 2.1).
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
NULL_MX = "."


def read_mx(records: Sequence[str]) -> list[tuple[str, int]]:
    """Return names and preferences of mail servers, preferred ones first.

    The null MX record, repeated names and names that are no host names are left out.
    """
    servers: dict[str, int] = {}
    for record in records:
        preference, _, name = record.partition(" ")
        server = name.strip().rstrip(".").lower()
        if _HOST_NAME.fullmatch(server) and preference.isascii() and preference.isdecimal():
            servers[server] = min(int(preference), servers.get(server, int(preference)))
    return sorted(servers.items(), key=lambda item: (item[1], item[0]))


def has_null_mx(records: Sequence[str]) -> bool:
    """Return True if the domain says that it receives no mail (RFC 7505)."""
    return any(record.partition(" ")[2].strip() == NULL_MX for record in records)
