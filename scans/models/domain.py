"""Domain of a visit, by which politeness is counted over all organizations (docs/adr/0008)."""

from __future__ import annotations

import ipaddress
from typing import Any

from django.conf import settings
from django.db import models

from website_scan.page.registrable_domain import is_public_name, site_of
from website_scan.urls import host_and_port_of, host_of

LONGEST_NAME = 253
LONGEST_ADDRESS = 60  # of IPv6 with a port


def is_public(host: str) -> bool:
    """Return True if a canonical URL's host, with or without a port, may be a third party's site.

    False for exempted addresses (SCAN_ALLOWED_NETWORKS), and for names that no public DNS has, such as `localhost`.
    """
    name = _name_of(host)
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return is_public_name(name)
    return not _is_exempted(address)


def domain_of(host: str) -> str:
    """Return the registrable domain of a public host, or a public IP address itself; else the host with its port.

    A private machine may serve many sites that differ only in their ports.
    """
    return (site_of(_name_of(host)) if is_public(host) else host)[:LONGEST_NAME]


def address_of(address: str, port: int) -> str:
    """Return the key by which requests to an address, and visits, are counted: a private one counts by its port."""
    return f"{address}:{port}" if _is_exempted(ipaddress.ip_address(address)) else address


def _is_exempted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    networks = (each[0] if isinstance(each, tuple) else each for each in settings.SCAN_ALLOWED_NETWORKS)
    return any(address in network for network in networks)


def _name_of(host: str) -> str:
    return host_of(f"http://{host}")


class DomainField(models.CharField):
    """Field computed from `url` on insert, in Python because the database has no Public Suffix List."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        if add:
            setattr(model_instance, self.attname, domain_of(host_and_port_of(model_instance.url)))
        return super().pre_save(model_instance, add)
