"""Detection of private IP addresses in text.

RFC 1918, RFC 3927, RFC 4193 and RFC 4291. Version numbers are no addresses.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from itertools import islice

NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)
# Default addresses of routers, virtual machines and clouds disclose nothing about a network.
DEFAULT_PRIVATE_ADDRESSES = frozenset(
    {"192.168.0.1", "192.168.1.1", "192.168.1.254", "192.168.0.254", "192.168.2.1", "192.168.100.1", "192.168.178.1"}
    | {"192.168.8.1", "192.168.10.1", "192.168.50.1", "10.0.0.1", "10.0.0.138", "10.1.1.1", "169.254.169.254"}
    | {"192.168.3.1", "192.168.4.1", "192.168.11.1", "192.168.31.1", "192.168.43.1", "192.168.68.1", "192.168.86.1"}
    | {"192.168.88.1", "192.168.56.1", "192.168.99.100", "192.168.122.1", "172.17.0.1", "10.0.1.1", "10.0.2.2"}
)
OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
# Patterns begin with a literal character and do without IGNORECASE, which makes them five times as fast.
V4 = rf"1(?<![\w.-]1)(?:0|72|92|69)(?:\.{OCTET}){{3}}(?![\w-]|\.\d|/\d{{1,2}}(?!\w))"
V6 = r"[fF](?<![\w:.][fF])(?:[cCdD][0-9a-fA-F]{2}|[eE][89abAB][0-9a-fA-F]):[0-9a-fA-F:]{2,40}(?![\w:]|/\d)"
ADDRESS = re.compile(rf"{V4}|{V6}")
ADDRESS_IN_URL = re.compile(rf"//(?:[^/@\s\"'<>]{{1,100}}@)?\[?(?P<address>{V4}|{V6})")
QUOTED_ADDRESS = re.compile(rf"[\"'](?P<address>{V4}|{V6})[\"':/]")
MAX_CONTEXT_CHARACTERS = 40
MAX_MATCHES = 10_000
VERSION_PREFIX = re.compile(
    r"(?:\b(?:v|ver|versions?|release[sd]?|build|rev(?:ision)?|firmware|update|upgrade[ds]?(?: to)?|fileversion)"
    r"|[\w)]/)[\s\"':=#.,(]{0,6}$",
    re.IGNORECASE,
)
# Words in prose before four numbers which show that the numbers are an IP address.
ADDRESS_PREFIX = re.compile(
    r"\b(?:ips?|addr(?:ess(?:es)?)?|host(?:name)?|server|node|gateway|proxy|backend|upstream|dns|ping|ssh|client|peer"
    r"|subnet|network|via|from|at|on|by)\b[^\w\n]{0,10}$",
    re.IGNORECASE,
)


def addresses_in_source(text: str) -> Iterator[str]:
    """Yield private IP addresses in markup and scripts.

    An address is the host of a URL, or a string literal that is not a version number. Default addresses of routers and
    the like are left out, because manuals link to them.
    """
    for match in islice(ADDRESS_IN_URL.finditer(text), MAX_MATCHES):
        if _is_internal_address(match["address"]):
            yield match["address"]
    for match in islice(QUOTED_ADDRESS.finditer(text), MAX_MATCHES):
        if _is_internal_address(match["address"]) and not VERSION_PREFIX.search(
            text, max(0, match.start() - MAX_CONTEXT_CHARACTERS), match.start()
        ):
            yield match["address"]


def addresses_in_fields(text: str) -> Iterator[str]:
    """Yield private IP addresses in machine-written text such as headers.

    Version numbers are left out.
    """
    for match in islice(ADDRESS.finditer(text), MAX_MATCHES):
        if is_private_address(match[0]) and not VERSION_PREFIX.search(
            text, max(0, match.start() - MAX_CONTEXT_CHARACTERS), match.start()
        ):
            yield match[0]


def addresses_in_prose(text: str) -> Iterator[str]:
    """Yield private IP addresses in text for people.

    Version numbers and default addresses are left out.
    """
    for match in islice(ADDRESS.finditer(text), MAX_MATCHES):
        before = max(0, match.start() - MAX_CONTEXT_CHARACTERS)
        if not _is_internal_address(match[0]) or VERSION_PREFIX.search(text, before, match.start()):
            continue
        # Only addresses in 10.0.0.0/8 look like version numbers, such as 10.1.2.3.
        has_port = re.match(r":\d{2,5}\b", text[match.end() : match.end() + 6])
        if not match[0].startswith("10.") or has_port or ADDRESS_PREFIX.search(text, before, match.start()):
            yield match[0]


def _is_internal_address(address: str) -> bool:
    return address not in DEFAULT_PRIVATE_ADDRESSES and is_private_address(address)


def is_private_address(address: str) -> bool:
    """Return True for a private or link-local IP address.

    IPv4 addresses that end in .0 or .255 do not count.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if parsed.version == 4 and parsed.packed[3] in (0, 255):
        return False
    return any(parsed in network for network in NETWORKS if network.version == parsed.version)
