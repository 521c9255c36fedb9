"""Registrable domain of a visit.

The number of concurrent visits per domain is limited (docs/adr/0008).
"""

from __future__ import annotations

import ipaddress
from typing import Any

from django.conf import settings
from django.db import models

from website_scan.page.registrable_domain import is_public_name, site_of
from website_scan.urls import host_and_port_of, host_of

MAX_NAME_LENGTH = 253
# The length is enough for an IPv6 address with a port.
MAX_ADDRESS_LENGTH = 60


def is_public(host: str) -> bool:
    """Return True if a host, with or without a port, may be a site of a third party.

    Returns False for addresses in SCAN_ALLOWED_NETWORKS, and for names that no public DNS has, such as `localhost`.
    """
    name = _host_name(host)
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return is_public_name(name)
    return not _is_exempt_from_limits(address)


def domain_of(host: str) -> str:
    """Return the registrable domain of a public host.

    A public IP address is returned unchanged, and any other host with its port. The port distinguishes the sites of a
    private machine, which may serve many of them.
    """
    return (site_of(_host_name(host)) if is_public(host) else host)[:MAX_NAME_LENGTH]


def address_of(address: str, port: int) -> str:
    """Return the key for limits of requests and visits per IP address.

    Private addresses include the port.
    """
    return f"{address}:{port}" if _is_exempt_from_limits(ipaddress.ip_address(address)) else address


def _is_exempt_from_limits(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    networks = (allowed[0] if isinstance(allowed, tuple) else allowed for allowed in settings.SCAN_ALLOWED_NETWORKS)
    return any(address in allowed for allowed in networks)


def _host_name(host: str) -> str:
    return host_of(f"http://{host}")


class DomainField(models.CharField):
    """Model field for the domain of `url`, computed in Python, because PostgreSQL has no Public Suffix List."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        if add:
            setattr(model_instance, self.attname, domain_of(host_and_port_of(model_instance.url)))
        return super().pre_save(model_instance, add)
