"""Addresses that are not public: which of them the command may contact, and how the user allows more."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

from website_scan import settings as scanning
from website_scan.command.arguments import Options
from website_scan.command.pages import SYNTAX
from website_scan.environment import Exemption
from website_scan.net.addresses import IPAddress, loopback_addresses, refusal
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target


def policy_of(url: str, options: Options) -> Policy:
    """Return the network policy for the visit of one page.

    A loopback address that the user has typed is allowed, on the typed port, for pages on that address only.
    """
    return Policy(
        allowed_networks=(*scanning.SCAN_ALLOWED_NETWORKS, *options.allowed_networks),
        typed_loopback=tuple(_loopback([url]) & _loopback(options.typed)),
        denied_networks=scanning.SCAN_DENIED_NETWORKS,
        name_servers=scanning.SCAN_NAME_SERVERS,
        allowed_ports=scanning.SCAN_ALLOWED_PORTS,
        ca_bundle=scanning.SCAN_CA_BUNDLE,
    )


def hint_to_allow(url: str, network: Network) -> str:
    """Return a sentence with the option that allows a page whose own address was refused; empty without an option."""
    try:
        target = parse_target(url, SYNTAX)
    except Blocked:
        return ""  # a reserved name, which no option allows
    address = _refused_address(target, network)
    if address is None:
        return ""
    if address.is_unspecified:
        suggestion = f"{target.scheme}://localhost:{target.port}{target.path}"
        return f"{target.host} is no address of a page: did you mean {suggestion}?"
    address_network = ip_network(address)
    if refusal(address, (address_network,), (), scanning.SCAN_DENIED_NETWORKS):
        return ""
    host = f"[{address_network}]" if address_network.version == 6 else str(address_network)
    network_and_port = f"{host}:{target.port}"
    advice = "Type its URL on the command line, or add" if loopback_addresses(target.host) else "To scan it, add"
    return f"{target.host} is not public. {advice} --allow-network {shlex.quote(network_and_port)}"


def _refused_address(target: Target, network: Network) -> IPAddress | None:
    """Return the page's own address if it was refused; None if the address of a redirect's target was refused."""
    if resolved := dict(network.refused).get(target.host):
        return ip_address(resolved)
    try:
        parse_target(target.url, network.policy)
    except Blocked:
        return next(iter(loopback_addresses(target.host)), None) or ip_address(target.host)
    return None


def _loopback(urls: Iterable[str]) -> set[Exemption]:
    """Return the loopback addresses and ports of the URLs; other URLs are ignored."""
    exemptions: set[Exemption] = set()
    for url in urls:
        try:
            target = parse_target(url, SYNTAX)
        except Blocked:
            continue
        exemptions |= {(ip_network(address), target.port) for address in loopback_addresses(target.host)}
    return exemptions
