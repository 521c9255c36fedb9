"""URLs split by RFC 3986, without validation and canonicalization.

Used for text that no scan requests: addresses of services in settings and options, paths of incoming requests, texts of
stored reports, which may be cut, and the normal forms of fingerprints, which must never change. For URLs of the web,
use `urls.Url`.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urljoin, urlsplit

WrittenUrl = SplitResult


def split_url(text: str) -> WrittenUrl:
    """Split a URL into its parts.

    Raises ValueError if the host has an unbalanced bracket.
    """
    return urlsplit(text)


def join_urls(base: WrittenUrl, reference: str) -> WrittenUrl:
    """Resolve a reference on the page `base`, and split the URL.

    Raises ValueError for a malformed URL.
    """
    return urlsplit(urljoin(base.geturl(), reference))


def written_host(text: str) -> str:
    """Return the host of a URL in lower case.

    An IPv6 address has no brackets. Empty if the URL is malformed or has no host.
    """
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""
