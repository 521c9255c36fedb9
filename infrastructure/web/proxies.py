"""Find a client's IP address behind reverse proxies.

Trusted proxies add it to `X-Forwarded-For`.

This module also detects proxies whose headers contradict the settings, and reports them to operators.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from infrastructure.telemetry.middleware import MONITORING_PATHS
from website_scan.environment import IPNetwork

logger = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Key in `request.META` for the problem that `header_problem` returned. The operations page displays it.
PROBLEM = "website_scan.proxy_problem"
# Maximum number of X-Forwarded-For entries to parse. A proxy appends one entry, and real chains are shorter.
MAX_ENTRIES = 32


class TrustedProxyMiddleware:
    """Middleware that sets REMOTE_ADDR to the client's IP address, which all other code reads there.

    Every proxy appends the address of its peer to X-Forwarded-For, so the last entries, written by trusted proxies, are
    reliable. Earlier entries, which the client may have sent, are ignored.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._logged: set[str] = set()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Load balancers' health checks and Prometheus's requests have no forwarding headers, and need none.
        if request.path_info not in MONITORING_PATHS and (problem := header_problem(request.META)):
            request.META[PROBLEM] = problem
            self._log_once(problem)
        request.META["REMOTE_ADDR"] = client_address(request.META)
        return self.get_response(request)

    def _log_once(self, problem: str) -> None:
        """Log every kind of problem only once per process, because any client can send wrong headers."""
        kind = problem.partition(":")[0]
        if kind not in self._logged:
            self._logged.add(kind)
            logger.warning(problem)


def client_address(meta: Mapping[str, Any]) -> str:
    """Return the client's IP address from a WSGI environment.

    Its REMOTE_ADDR is the peer's address.
    """
    trusted = settings.TRUSTED_PROXIES
    peer: str = meta.get("REMOTE_ADDR", "")
    if not trusted:
        return peer
    entries = meta.get("HTTP_X_FORWARDED_FOR", "").rsplit(",", MAX_ENTRIES)[-MAX_ENTRIES:]
    if isinstance(trusted, int):
        return _behind_hops(peer, entries, trusted)
    return _behind_networks(peer, entries, trusted)


def header_problem(meta: Mapping[str, Any]) -> str | None:
    """Return the problem with a request's forwarding headers, and its remedy.

    None if they match the settings.

    The text before the colon is the same for all requests with the problem. `meta` is `request.META`, with the peer's
    address in REMOTE_ADDR. A peer with a public address is a client, so its headers are not examined.
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
    """Return the entry from the outermost of `hops` proxies.

    Returns the peer if that entry is missing or invalid.
    """
    client = _address(entries[-hops]) if hops <= len(entries) else None
    return peer if client is None else str(client)


def _behind_networks(peer: str, entries: list[str], trusted: tuple[IPNetwork, ...]) -> str:
    """Return the first address outside the trusted networks.

    The search starts at the peer and goes backwards.
    """
    client = peer
    address = _address(peer)
    for entry in reversed(entries):
        if address is None or not any(address in network for network in trusted):
            break
        address = _address(entry)
        if address is not None:
            client = str(address)
    return client


def _address(raw: str) -> Address | None:
    """Parse an IP address with an optional port.

    None for other text, such as `unknown`.

    IPv4-mapped IPv6 addresses become IPv4.
    """
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
