"""Registrable domains by the Public Suffix List in the package tldextract.

No list is downloaded.
"""

from __future__ import annotations

import functools
import ipaddress
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import ExtractResult, TLDExtract

_extract_lock = threading.Lock()


@functools.cache
def _suffix_extractor() -> TLDExtract:
    # The import is here, because it takes 40 ms, and pages on this machine do not need it.
    import tldextract

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


def _extract(host: str) -> ExtractResult:
    """Split a host name at its public suffix.

    The lock prevents several threads from loading the list.
    """
    with _extract_lock:
        return _suffix_extractor()(host)


@functools.lru_cache(maxsize=4096)
def site_of(host: str) -> str:
    """Return a host name's registrable domain.

    This is the public suffix and one more label.

    Addresses, single labels and public suffixes are returned unchanged.
    """
    host = host.strip("[].").lower()
    return _extract(host).top_domain_under_public_suffix or host if _has_several_labels(host) else host


def is_public_name(host: str) -> bool:
    """Return True if a host name ends in a public suffix.

    Other names do not exist in the public DNS.
    """
    return bool(_extract(host.strip("[].").lower()).suffix)


def own_domain(host: str) -> str | None:
    """Return the domain that the site's owner has registered.

    None for addresses, single labels and hosted names.

    For a name under a hosting service's suffix (name.github.io), the DNS belongs to the service.
    """
    host = host.strip("[].").lower()
    if not _has_several_labels(host):
        return None
    parts = _extract(host)
    return parts.top_domain_under_public_suffix or None if parts.suffix and not parts.is_private else None


def _has_several_labels(host: str) -> bool:
    """Return True if a host is a name with more than one label."""
    return "." in host and not is_ip_address(host)


def is_ip_address(host: str) -> bool:
    """Return True if the host of a URL is an IP address.

    IPv6 addresses may have brackets.
    """
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_same_site(host: str, other: str) -> bool:
    """Return True if two hosts have the same registrable domain."""
    return site_of(host) == site_of(other)
