"""Registrable domains by the Public Suffix List of the installed package. No list is downloaded."""

from __future__ import annotations

import functools
import ipaddress
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import ExtractResult, TLDExtract

_one_reader = threading.Lock()


@functools.cache
def _suffixes() -> TLDExtract:
    import tldextract  # takes 40 ms with the list, and pages on this machine do not need it

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


def _extract(host: str) -> ExtractResult:
    """Split a name into its parts. The lock prevents probes in several threads from each loading the list."""
    with _one_reader:
        return _suffixes()(host)


@functools.lru_cache(maxsize=4096)
def site_of(host: str) -> str:
    """Return the registrable domain of a host name: its public suffix and one more label.

    Addresses, single labels and public suffixes are returned unchanged.
    """
    host = host.strip("[].").lower()
    return _extract(host).top_domain_under_public_suffix or host if _has_parent(host) else host


def is_public_name(host: str) -> bool:
    """Return True if a name ends in a public suffix. Other names do not exist in the public DNS."""
    return bool(_extract(host.strip("[].").lower()).suffix)


def own_domain(host: str) -> str | None:
    """Return the domain that the site's owner has registered; None for addresses, single labels and hosted names.

    For a name under a hosting service's suffix (name.github.io), the DNS belongs to the service.
    """
    host = host.strip("[].").lower()
    if not _has_parent(host):
        return None
    parts = _extract(host)
    return parts.top_domain_under_public_suffix or None if parts.suffix and not parts.is_private else None


def _has_parent(host: str) -> bool:
    """Return True if a name has more than one label and is not an address: the list has only such names."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." in host
    return False


def is_same_site(host: str, other: str) -> bool:
    """Return True if two hosts have the same registrable domain."""
    return site_of(host) == site_of(other)
