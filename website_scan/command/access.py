"""Decide which private addresses the command may contact.

This module also names the option that allows more.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

from msgspec.structs import replace

from website_scan import settings as scanning
from website_scan.command.arguments import Options
from website_scan.command.pages import SYNTAX
from website_scan.environment import Exemption
from website_scan.local_scans import policy_of_settings
from website_scan.net.addresses import IPAddress, loopback_addresses, refusal
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target


def network_policy(url: str, options: Options) -> Policy:
    """Return the network policy for the scan of one page.

    A loopback address that the user has typed is allowed, on the typed port, for pages on that address only.
    """
    policy = policy_of_settings(options.allowed_networks, mail_servers=options.contacts_mail_servers)
    return replace(policy, typed_loopback=tuple(_loopback_exemptions([url]) & _loopback_exemptions(options.typed)))


def allow_option_hint(url: str, network: Network) -> str:
    """Return a hint at the option that allows the refused address of a page.

    Empty if no option allows the address.
    """
    try:
        target = parse_target(url, SYNTAX)
    except Blocked:
        # No option allows a reserved host name.
        return ""
    address = _refused_address(target, network)
    if address is None:
        return ""
    if address.is_unspecified:
        suggestion = f"{target.scheme}://localhost:{target.port}{target.path}"
        return f"{target.host} is not the address of a page: did you mean {suggestion}?"
    address_network = ip_network(address)
    if refusal(address, (address_network,), (), scanning.SCAN_DENIED_NETWORKS):
        return ""
    host = f"[{address_network}]" if address_network.version == 6 else str(address_network)
    network_and_port = f"{host}:{target.port}"
    advice = "type its URL on the command line, or add" if loopback_addresses(target.host) else "add"
    return f"To scan {target.host}, {advice} --allow-network {shlex.quote(network_and_port)}"


def _refused_address(target: Target, network: Network) -> IPAddress | None:
    """Return the address of the page if it was refused.

    None if only the target of a redirect was refused.
    """
    if resolved := dict(network.refused).get(target.host):
        return ip_address(resolved)
    try:
        parse_target(target.url, network.policy)
    except Blocked:
        return next(iter(loopback_addresses(target.host)), None) or ip_address(target.host)
    return None


def _loopback_exemptions(urls: Iterable[str]) -> set[Exemption]:
    """Return the loopback addresses and ports of the URLs."""
    exemptions: set[Exemption] = set()
    for url in urls:
        try:
            target = parse_target(url, SYNTAX)
        except Blocked:
            continue
        exemptions |= {(ip_network(address), target.port) for address in loopback_addresses(target.host)}
    return exemptions
