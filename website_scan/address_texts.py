"""Recognize texts that a person means as an address, in files of sites."""

from __future__ import annotations

import re

# Text with a scheme, an IP address, or a host name with a dot before two letters.
ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{0,20}:/|\[|localhost\b|\d{1,3}(?:\.\d{1,3}){3}|\S*@|[^\s/?#]*[\w-]\.[^\W\d_]{2}",
    re.IGNORECASE,
)


def is_like_address(text: str) -> bool:
    """Return True if a person would take the text for an address.

    The address need not be scannable.
    """
    return bool(ADDRESS.match(text.strip()))
