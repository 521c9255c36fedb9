"""Foreign origins that resemble a site's own origin.

Servers compare the header `Origin` by its beginning, its end, a part of it, or a pattern whose dots match any
character. Each of these lets in domains that anybody can register (CWE-942, CWE-346).
"""

from __future__ import annotations

import hashlib

from website_scan.net.targets import Target
from website_scan.page.registrable_domain import is_ip_address, site_of

DEFAULT_PORTS = {"http": 80, "https": 443}


def similar_origins(target: Target, *, asks_plain_http: bool) -> list[str]:
    """Return foreign origins that resemble that of a URL.

    `asks_plain_http` adds the same host over plain HTTP, from which others on the network read what an HTTPS site
    sends. With HSTS, browsers do not load it.
    """
    host, scheme = target.host, target.scheme
    own = f"{scheme}://{host}"
    # The name is the same in each scan, so that reports of the same page are equal.
    stranger = f"{hashlib.sha256(host.encode()).hexdigest()[:8]}.example"
    if ":" in host:
        return []  # No other host name begins or ends with an IPv6 address.
    origins = [f"{own}.{stranger}", f"{own}_.{stranger}"]
    if not is_ip_address(host):
        domain = site_of(host)
        if host != domain:
            origins.append(f"{scheme}://{domain}.{stranger}")
        port = "" if target.port == DEFAULT_PORTS[scheme] else f":{target.port}"
        origins.append(f"{scheme}://{_look_alike(host, domain)}{port}")
    if scheme == "https" and asks_plain_http:
        origins.append(f"http://{host}")
    return origins


def is_plain_http_origin(origin: str, target: Target) -> bool:
    """Return True if an origin is the URL's host over plain HTTP."""
    return origin == f"http://{target.host}"


def _look_alike(host: str, domain: str) -> str:
    """Return a similar host in another registrable domain.

    An x replaces the dot before the registrable domain, such as wwwxshop.example.

    It ends with the domain, and matches a pattern for the host whose dots are not escaped. Anybody may register it.
    """
    below = host.removesuffix(domain).rstrip(".") or "www"
    return f"{below}x{domain}"
