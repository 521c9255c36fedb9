"""Basic types of verdicts and reports.

Severities, scan types and web servers.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Severity(StrEnum):
    """Severity of a failed check, in descending order of weight."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CRITICAL, HIGH, MEDIUM, LOW = Severity
# Findings with these severities have a sentence for site owners.
SEVERE = frozenset({CRITICAL, HIGH})


class ScanType(StrEnum):
    """Type of a scan.

    Each type has a folder in `website_scan` with its checks.
    """

    SECURITY = "security"
    PERFORMANCE = "performance"
    ACCESSIBILITY = "accessibility"
    SEO = "seo"

    @property
    def label(self) -> str:
        """Return the name of the scan type for users, such as "SEO"."""
        return "SEO" if self is ScanType.SEO else self.capitalize()

    @property
    def uses_browser(self) -> bool:
        """Return True if checks of this scan type may need a browser."""
        return self is not ScanType.SECURITY


class Server(StrEnum):
    """Web server or hosting service, for which fixes have snippets.

    The value is the label of the snippet.
    """

    NGINX = "nginx"
    APACHE = "Apache"
    CADDY = "Caddy"
    IIS = "IIS"
    STATIC = "static hosting"


class NotApplicable(Struct, frozen=True):
    """Verdict that a check does not apply to the page.

    The report omits the check.
    """

    reason: str
