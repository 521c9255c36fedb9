"""URLs as somebody wrote them, split by RFC 3986: nothing is checked, and nothing made canonical.

For text that no request follows: addresses of services in settings and options, paths of incoming requests, texts of
stored reports, which may be cut, and the normal forms of fingerprints, which must never change. URLs of the web are
`urls.Url`.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urljoin, urlsplit

WrittenUrl = SplitResult


def split_url(text: str) -> WrittenUrl:
    """Return the parts of a URL. Raises ValueError if its host has a bracket too many or too few."""
    return urlsplit(text)


def join_urls(base: WrittenUrl, reference: str) -> WrittenUrl:
    """Return the parts of the URL to which a reference on the page `base` leads. Raises ValueError."""
    return urlsplit(urljoin(base.geturl(), reference))


def written_host(text: str) -> str:
    """Return the host of a URL in lower case, IPv6 without brackets; empty if it has none, or is malformed."""
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""
