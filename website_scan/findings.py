"""Basic types that verdicts and reports share: severities, scan types, web servers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Severity of a failed check. Ordered by weight, heaviest first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CRITICAL, HIGH, MEDIUM, LOW = Severity


class ScanType(StrEnum):
    """Kind of scan; each is a folder of `website_scan`."""

    SECURITY = "security"
    PERFORMANCE = "performance"
    ACCESSIBILITY = "accessibility"
    SEO = "seo"

    @property
    def label(self) -> str:
        """Return the name of the scan type as people write it."""
        return "SEO" if self is ScanType.SEO else self.capitalize()

    @property
    def uses_browser(self) -> bool:
        """Return True if checks of this type may need a browser. Scans of other types never wait for one."""
        return self is not ScanType.SECURITY


class Server(StrEnum):
    """Web server, or hosting without server configuration. The value is the label in front of its snippets."""

    NGINX = "nginx"
    APACHE = "Apache"
    CADDY = "Caddy"
    IIS = "IIS"
    STATIC = "static hosting"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Verdict that the check has nothing to judge on this page; the report leaves the check out."""

    reason: str
