"""URLs as somebody wrote them, split by RFC 3986, without validation and without canonicalization.

Used for text that no scan requests: addresses of services in settings and options, paths of incoming requests, texts of
stored reports, which may be cut, and the normal forms of fingerprints, which must never change. For URLs of the web,
use `urls.Url`.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urljoin, urlsplit

WrittenUrl = SplitResult


def split_url(text: str) -> WrittenUrl:
    """Return the parts of a URL. Raises ValueError if the host has an unbalanced bracket."""
    return urlsplit(text)


def join_urls(base: WrittenUrl, reference: str) -> WrittenUrl:
    """Return the parts of the URL of a reference on the page `base`. Raises ValueError if it is malformed."""
    return urlsplit(urljoin(base.geturl(), reference))


def written_host(text: str) -> str:
    """Return the host of a URL in lower case, IPv6 without brackets; empty if it has no host, or is malformed."""
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""
