"""The client's address behind reverse proxies: from `X-Forwarded-For`, as far as its writers are trusted."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from scanner.environment import IPNetwork

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Each proxy appends one entry; nobody has more of them in a row.
MAX_ENTRIES = 32


class TrustedProxyMiddleware:
    """Puts the client's address into REMOTE_ADDR, where everything else looks for it.

    Every proxy appends the address it was called from, so the list is true from its end as far as the writers are
    ours; what a client itself sent stands before that, and is never believed.
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
    """The entry that the outermost of so many proxies wrote; the peer when there are fewer, or it is no address."""
    client = _address(entries[-hops]) if hops <= len(entries) else None
    return peer if client is None else str(client)


def _behind_networks(peer: str, entries: list[str], trusted: tuple[IPNetwork, ...]) -> str:
    """Back from the peer, past every trusted address, to the first that is not one."""
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
    """An address, also one with a port; IPv4 inside of IPv6 as IPv4. None for anything else, such as `unknown`."""
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
