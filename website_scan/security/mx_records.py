"""Parser of MX records (RFC 5321, section 5.1; RFC 7505)."""

from __future__ import annotations

from collections.abc import Sequence


def read_mx(records: Sequence[str]) -> list[tuple[str, int]]:
    """Return names and preferences of mail servers, preferred ones first.

    The null MX record ".", repeated names and records that cannot be read are left out.
    """
    servers: dict[str, int] = {}
    for record in records:
        preference, _, name = record.partition(" ")
        server = name.strip().rstrip(".").lower()
        if server and preference.isascii() and preference.isdecimal():
            servers[server] = min(int(preference), servers.get(server, int(preference)))
    return sorted(servers.items(), key=lambda item: (item[1], item[0]))
