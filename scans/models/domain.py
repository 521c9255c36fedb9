"""Whose site a visit asks: what all organizations together keep their distance from (docs/adr/0029)."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from scanner.page.registrable_domain import is_public_name, site_of

LONGEST_NAME = 253


def is_public(host: str) -> bool:
    """Whether a canonical URL's host, with or without a port, may be somebody else's site.

    No: exempted addresses, and names that no public DNS has, such as `localhost`.
    """
    name = _name_of(host)
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return is_public_name(name)
    networks = (each[0] if isinstance(each, tuple) else each for each in settings.SCAN_ALLOWED_NETWORKS)
    return not any(address in network for network in networks)


def domain_of(host: str) -> str:
    """The registrable domain of a public host, an address for itself; of any other the host with its port.

    One machine of one's own serves many sites, which only their ports tell apart.
    """
    return (site_of(_name_of(host)) if is_public(host) else host)[:LONGEST_NAME]


def _name_of(host: str) -> str:
    return urlsplit(f"//{host}").hostname or ""


class DomainField(models.CharField):
    """Written with the row, from its `url`; Python alone knows the Public Suffix List."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        if add:
            setattr(model_instance, self.attname, domain_of(urlsplit(model_instance.url).netloc))
        return super().pre_save(model_instance, add)
