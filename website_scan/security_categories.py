"""Categories of security checks, to which a scan may be limited."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from website_scan.findings import ScanType


class SecurityCategory(StrEnum):
    """Category of security checks. The values are the file names of the checks, in the order of the catalogue."""

    TRANSPORT = "transport"
    HEADERS = "headers"
    CSP = "csp"
    COOKIES = "cookies"
    EXPOSURE = "exposure"
    DISCLOSURE = "disclosure"
    CONTENT = "content"
    DNS_SECURITY = "dns_security"
    MAIL = "mail"
    NAMES = "names"

    @property
    def label(self) -> str:
        """Return the name of the category in reports."""
        return LABELS[self]


LABELS: dict[str, str] = {
    SecurityCategory.TRANSPORT: "Transport security",
    SecurityCategory.HEADERS: "HTTP headers",
    SecurityCategory.CSP: "Content Security Policy",
    SecurityCategory.COOKIES: "Cookies",
    SecurityCategory.EXPOSURE: "Sensitive file exposure",
    SecurityCategory.DISCLOSURE: "Information leakage",
    SecurityCategory.CONTENT: "Page content",
    SecurityCategory.DNS_SECURITY: "DNS security",
    SecurityCategory.MAIL: "Mail",
    SecurityCategory.NAMES: "Names and addresses",
}
# Values of the API's fields.
CATEGORY_KEYS: tuple[str, ...] = tuple(map(str, SecurityCategory))
# Categories of a scan in the order of the catalogue. None: the scan judges all categories.
Categories = tuple[SecurityCategory, ...]
CATEGORIES_RULE = f"categories must be a list with one or more of {', '.join(SecurityCategory)}."
NEEDS_SECURITY = "categories needs the type security."


def parse_categories(names: Collection[str] | None, types: Collection[str]) -> Categories | None:
    """Return the categories with these names, or None for all categories.

    `types` are the scan types. Raises ValueError for no or unknown names, and without the type security.
    """
    if names is None:
        return None
    if not names or not set(names) <= set(SecurityCategory):
        raise ValueError(CATEGORIES_RULE)
    if ScanType.SECURITY not in types:
        raise ValueError(NEEDS_SECURITY)
    return tuple(category for category in SecurityCategory if category in names)


def limitation(categories: Collection[str] | None) -> str:
    """Return the sentences for a report that was limited to these categories. Empty for None."""
    if categories is None:
        return ""
    *others, last = (category.label for category in SecurityCategory if category in categories)
    listed = f"{', '.join(others)} and {last}" if others else last
    alone = "these categories" if others else "this category"
    return f"Of the security checks, only those of {listed} ran. Score and grade are of {alone} alone."
