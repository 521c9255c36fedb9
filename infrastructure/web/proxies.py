"""The client's address behind reverse proxies, from the entries of `X-Forwarded-For` that trusted proxies wrote.

Also tells operators about proxies whose headers do not fit the settings.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from infrastructure.telemetry.middleware import MACHINES
from website_scan.environment import IPNetwork

logger = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Key of `request.META` with the problem that `header_problem` has found, for the operations page.
PROBLEM = "website_scan.proxy_problem"
# Each proxy appends one entry; longer chains do not occur.
MAX_ENTRIES = 32


class TrustedProxyMiddleware:
    """Puts the client's address into REMOTE_ADDR, where all other code reads it.

    Every proxy appends the address of its peer, so the last entries, written by our proxies, can be trusted. Entries
    that the client sent itself come before them and are ignored.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._logged: set[str] = set()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Load balancers and Prometheus send requests of their own, without the headers of one that they pass on.
        if request.path_info not in MACHINES and (problem := header_problem(request.META)):
            request.META[PROBLEM] = problem
            self._log_once(problem)
        trusted = settings.TRUSTED_PROXIES
        if trusted:
            peer = request.META.get("REMOTE_ADDR", "")
            entries = request.META.get("HTTP_X_FORWARDED_FOR", "").rsplit(",", MAX_ENTRIES)[-MAX_ENTRIES:]
            if isinstance(trusted, int):
                request.META["REMOTE_ADDR"] = _behind_hops(peer, entries, trusted)
            else:
                request.META["REMOTE_ADDR"] = _behind_networks(peer, entries, trusted)
        return self.get_response(request)

    def _log_once(self, problem: str) -> None:
        """Log each kind of problem once in a process; anybody can send wrong headers."""
        kind = problem.partition(":")[0]
        if kind not in self._logged:
            self._logged.add(kind)
            logger.warning(problem)


def header_problem(meta: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the headers of the proxy that sent a request, and the remedy; None if they fit.

    The part before the colon is the same for all requests with the problem. `meta` is that of the request, with the
    peer in REMOTE_ADDR. A peer with a public address is a client, whose headers mean nothing.
    """
    peer = _address(meta.get("REMOTE_ADDR", ""))
    if peer is None or peer.is_global:
        return None
    trusted = settings.TRUSTED_PROXIES
    entries = [entry for entry in meta.get("HTTP_X_FORWARDED_FOR", "").split(",") if entry.strip()]
    if entries and not trusted:
        return (
            "TRUSTED_PROXIES is not set, and a proxy passes requests on: all its clients share the limits of one "
            f"address. Set TRUSTED_PROXIES={peer}, if that is your proxy."
        )
    if entries and not isinstance(trusted, int) and not any(peer in network for network in trusted):
        return (
            "TRUSTED_PROXIES does not contain the proxy that passes requests on: all its clients share the limits of "
            f"one address. Add {peer} to TRUSTED_PROXIES, if that is your proxy."
        )
    if isinstance(trusted, int) and 0 < len(entries) < trusted:
        return (
            f"TRUSTED_PROXIES is {trusted}, and X-Forwarded-For has fewer entries: the service takes the address of "
            "the last proxy for the client's. Set TRUSTED_PROXIES to the number of proxies, each of which appends to "
            "the header."
        )
    if settings.SECURE and meta.get("HTTP_X_FORWARDED_PROTO") != "https":
        return (
            "BASE_URL is https, and requests arrive without X-Forwarded-Proto: https, so forms and log-ins are "
            "refused. Let the proxy set that header (nginx: proxy_set_header X-Forwarded-Proto $scheme)."
        )
    return None


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
