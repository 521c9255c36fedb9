"""Requests to services of the operator, such as an RPKI validator, whose address the settings name."""

from __future__ import annotations

from ipaddress import ip_network

from msgspec.structs import replace

from website_scan.net.client import Network
from website_scan.net.errors import NotReachable
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy
from website_scan.net.targets import Target
from website_scan.urls import Url

EVERYWHERE = (ip_network("0.0.0.0/0"), ip_network("::/0"))


def fetch_from_operator(network: Network, address: str, *, timeout_s: float, max_bytes: int) -> bytes:
    """Return the body of the response with status 200 from a service of the operator.

    The operator's word counts for the host, which may be on a private network and have any name, as `routinator` in a
    container's network. Redirects are not followed, and the request has no credentials. Longer bodies are truncated.
    Raises a NetError.
    """
    url = Url.of(address)
    policy = Policy(
        allowed_networks=EVERYWHERE, ca_bundle=network.policy.ca_bundle, user_agent=network.policy.user_agent
    )
    with Network(policy, time_limit_s=min(timeout_s, network.remaining_s)) as service:
        response = service.fetch(Request(Target(replace(url, href=url.without_fragment), policy), max_bytes=max_bytes))
    if response.status != 200:
        raise NotReachable(f"The service answered with status {response.status}.")
    return response.body
