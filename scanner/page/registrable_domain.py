"""Which hosts belong to one site: the Public Suffix List, as it came with its package; nothing is fetched."""

from __future__ import annotations

import functools
import ipaddress
import threading

import tldextract

_suffixes = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
_one_reader = threading.Lock()


def _extract(host: str) -> tldextract.ExtractResult:
    """The parts of a name. The first call reads the list, which the probes' threads would each do otherwise."""
    with _one_reader:
        return _suffixes(host)


@functools.lru_cache(maxsize=4096)
def site_of(host: str) -> str:
    """The registrable domain of a host name: one label more than its public suffix.

    Addresses, single labels and public suffixes are their own site.
    """
    host = host.strip("[].").lower()
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return _extract(host).top_domain_under_public_suffix or host
    return host


def is_public_name(host: str) -> bool:
    """Whether a name ends in a public suffix: others are nobody's in the public DNS."""
    return bool(_extract(host.strip("[].").lower()).suffix)


def own_domain(host: str) -> str | None:
    """The domain that the site's owner has registered: None for addresses, single labels and hosted names.

    Of a name under a hosting service's suffix (name.github.io), the DNS is the service's.
    """
    host = host.strip("[].").lower()
    found = _extract(host)
    return found.top_domain_under_public_suffix or None if found.suffix and not found.is_private else None


def is_same_site(host: str, other: str) -> bool:
    """Whether two hosts belong to one site, whatever their subdomains."""
    return site_of(host) == site_of(other)
