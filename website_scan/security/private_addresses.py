"""Private IP addresses in text (RFC 1918, RFC 3927, RFC 4193, RFC 4291), as opposed to version numbers."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from itertools import islice

NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)
# Default addresses of routers, virtual machines, containers and clouds. They disclose nothing about this network.
DEFAULT_ADDRESSES = frozenset(
    {"192.168.0.1", "192.168.1.1", "192.168.1.254", "192.168.0.254", "192.168.2.1", "192.168.100.1", "192.168.178.1"}
    | {"192.168.8.1", "192.168.10.1", "192.168.50.1", "10.0.0.1", "10.0.0.138", "10.1.1.1", "169.254.169.254"}
    | {"192.168.3.1", "192.168.4.1", "192.168.11.1", "192.168.31.1", "192.168.43.1", "192.168.68.1", "192.168.86.1"}
    | {"192.168.88.1", "192.168.56.1", "192.168.99.100", "192.168.122.1", "172.17.0.1", "10.0.1.1", "10.0.2.2"}
)
OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
# An address must not be part of a longer number or name, nor a range (10.0.0.0/8). Each pattern begins with a literal
# character before its lookbehind, and without IGNORECASE, because that is five times as fast.
V4 = rf"1(?<![\w.-]1)(?:0|72|92|69)(?:\.{OCTET}){{3}}(?![\w-]|\.\d|/\d{{1,2}}(?!\w))"
V6 = r"[fF](?<![\w:.][fF])(?:[cCdD][0-9a-fA-F]{2}|[eE][89abAB][0-9a-fA-F]):[0-9a-fA-F:]{2,40}(?![\w:]|/\d)"
ADDRESS = re.compile(rf"{V4}|{V6}")
ADDRESS_IN_URL = re.compile(rf"//(?:[^/@\s\"'<>]{{1,100}}@)?\[?(?P<address>{V4}|{V6})")
QUOTED_ADDRESS = re.compile(rf"[\"'](?P<address>{V4}|{V6})[\"':/]")
MAX_CONTEXT = 40
MAX_MATCHES = 10_000  # per text
VERSION_BEFORE = re.compile(
    r"(?:\b(?:v|ver|versions?|release[sd]?|build|rev(?:ision)?|firmware|update|upgrade[ds]?(?: to)?|fileversion)"
    r"|[\w)]/)[\s\"':=#.,(]{0,6}$",
    re.IGNORECASE,
)
# Words before four numbers in prose that prove the numbers to be an IP address.
ADDRESS_BEFORE = re.compile(
    r"\b(?:ips?|addr(?:ess(?:es)?)?|host(?:name)?|server|node|gateway|proxy|backend|upstream|dns|ping|ssh|client|peer"
    r"|subnet|network|via|from|at|on|by)\b[^\w\n]{0,10}$",
    re.IGNORECASE,
)


def addresses_in_source(text: str) -> Iterator[str]:
    """Yield private addresses in markup and scripts: hosts of URLs, and string literals that are not versions.

    Default addresses of routers and the like are left out, because manuals link to them.
    """
    for match in islice(ADDRESS_IN_URL.finditer(text), MAX_MATCHES):
        if _is_internal(match["address"]):
            yield match["address"]
    for match in islice(QUOTED_ADDRESS.finditer(text), MAX_MATCHES):
        if _is_internal(match["address"]) and not VERSION_BEFORE.search(
            text, max(0, match.start() - MAX_CONTEXT), match.start()
        ):
            yield match["address"]


def addresses_in_fields(text: str) -> Iterator[str]:
    """Yield private addresses in text of software, such as header fields: all but version numbers."""
    for match in islice(ADDRESS.finditer(text), MAX_MATCHES):
        if is_private(match[0]) and not VERSION_BEFORE.search(text, max(0, match.start() - MAX_CONTEXT), match.start()):
            yield match[0]


def addresses_in_prose(text: str) -> Iterator[str]:
    """Yield private addresses in text for people, without versions and default addresses."""
    for match in islice(ADDRESS.finditer(text), MAX_MATCHES):
        before = max(0, match.start() - MAX_CONTEXT)
        if not _is_internal(match[0]) or VERSION_BEFORE.search(text, before, match.start()):
            continue
        # 10.1.2.3 may be a version number. Other networks, IPv6 and addresses with a port are hardly version numbers.
        has_port = re.match(r":\d{2,5}\b", text[match.end() : match.end() + 6])
        if not match[0].startswith("10.") or has_port or ADDRESS_BEFORE.search(text, before, match.start()):
            yield match[0]


def _is_internal(address: str) -> bool:
    return address not in DEFAULT_ADDRESSES and is_private(address)


def is_private(address: str) -> bool:
    """Return True for an address in a private or link-local network, except IPv4 addresses ending in .0 or .255."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if parsed.version == 4 and parsed.packed[3] in (0, 255):
        return False
    return any(parsed in network for network in NETWORKS if network.version == parsed.version)
