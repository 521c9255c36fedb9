"""The client's address behind reverse proxies, from the entries of `X-Forwarded-For` that trusted proxies wrote."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from scanner.environment import IPNetwork

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Each proxy appends one entry; longer chains do not occur.
MAX_ENTRIES = 32


class TrustedProxyMiddleware:
    """Puts the client's address into REMOTE_ADDR, where all other code reads it.

    Every proxy appends the address of its peer, so the last entries, written by our proxies, can be trusted. Entries
    that the client sent itself come before them and are ignored.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        trusted = settings.TRUSTED_PROXIES
        if trusted:
            peer = request.META.get("REMOTE_ADDR", "")
            entries = request.META.get("HTTP_X_FORWARDED_FOR", "").rsplit(",", MAX_ENTRIES)[-MAX_ENTRIES:]
            if isinstance(trusted, int):
                request.META["REMOTE_ADDR"] = _behind_hops(peer, entries, trusted)
            else:
                request.META["REMOTE_ADDR"] = _behind_networks(peer, entries, trusted)
        return self.get_response(request)


def _behind_hops(peer: str, entries: list[str], hops: int) -> str:
    """Return the entry that the outermost of `hops` proxies wrote; the peer if there are fewer, or it is no address."""
    client = _address(entries[-hops]) if hops <= len(entries) else None
    return peer if client is None else str(client)


def _behind_networks(peer: str, entries: list[str], trusted: tuple[IPNetwork, ...]) -> str:
    """Walk back from the peer over trusted addresses, and return the first address that is not trusted."""
    found = peer
    address = _address(peer)
    for entry in reversed(entries):
        if address is None or not any(address in network for network in trusted):
            break
        address = _address(entry)
        if address is not None:
            found = str(address)
    return found


def _address(raw: str) -> Address | None:
    """Parse an address, with or without a port. Unmaps IPv4-mapped IPv6. None for anything else, such as `unknown`."""
    raw = raw.strip()
    if raw.startswith("["):
        raw = raw[1:].partition("]")[0]
    elif raw.count(":") == 1:
        raw = raw.partition(":")[0]
    try:
        address = ipaddress.ip_address(raw)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
