"""Which hosts belong to one site, as far as names alone tell."""

from __future__ import annotations

import ipaddress

# Second labels under which countries register (co.uk, com.au); a full list is the Public Suffix List's.
GENERIC_SECOND_LABELS = frozenset(
    {"ac", "asn", "co", "com", "edu", "gob", "gouv", "gov", "govt", "gv", "id", "info", "mil", "ne", "net"}
    | {"nom", "or", "org", "sch", "web"}
)


def site_of(host: str) -> str:
    """The registrable part of a host name, by rule of thumb: two labels, three under co.uk and its like.

    Addresses and single labels are their own site.
    """
    host = host.strip("[].").lower()
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return host
    labels = host.split(".")
    is_country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in GENERIC_SECOND_LABELS
    return ".".join(labels[-3 if is_country else -2 :])


def is_same_site(host: str, other: str) -> bool:
    """Whether two hosts belong to one site, whatever their subdomains."""
    return site_of(host) == site_of(other)
