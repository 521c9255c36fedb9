"""Findings: the four possible results of a check, with their evidence, and the scan types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

# One item of evidence, as JSON: {"header": "Server", "value": "nginx/1.25.3"}.
EvidenceItem = Mapping[str, str | int | float | bool | None]


class Severity(StrEnum):
    """Severity of a failed check. Ordered by weight, heaviest first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CRITICAL, HIGH, MEDIUM, LOW = Severity


class ScanType(StrEnum):
    """The four kinds of scan; each is a folder of `website_scan`."""

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
        """Return True if checks of this type may need a browser. Other types neither plan nor wait for one."""
        return self is not ScanType.SECURITY


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing is wrong; the message says what was seen. `credit`, 0 to 1, is the share earned by a check on a curve.

    Evidence may have more items than a report shows: the runner cuts it, here and in the other findings.
    """

    message: str
    evidence: Sequence[EvidenceItem] = ()
    credit: float | None = None


@dataclass(frozen=True, slots=True)
class Warn:
    """Worth improving, or not certain. Earns half, or `credit`.

    `title` says the one thing found, where the check finds several; it, `severity` and `fix` override the check's own.
    A warning is never critical: that of a critical check has high severity. A warning with `weighs=False` is for people
    to review: the score is as if there had been no such check.
    """

    message: str
    severity: Severity | None = None
    evidence: Sequence[EvidenceItem] = ()
    fix: str | None = None
    credit: float | None = None
    weighs: bool = True
    title: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """Something is wrong. Earns nothing, or `credit`.

    `title`, `severity` and `fix` override the check's own, as in a warning. A fail that covers its category leaves the
    category's other checks nothing to judge, and costs their weight as well.
    """

    message: str
    severity: Severity | None = None
    evidence: Sequence[EvidenceItem] = ()
    fix: str | None = None
    credit: float | None = None
    covers_category: bool = False
    title: str = ""


class Server(StrEnum):
    """A web server, or hosting without server configuration. The value is the label in front of its examples."""

    NGINX = "nginx"
    APACHE = "Apache"
    CADDY = "Caddy"
    IIS = "IIS"
    STATIC = "static hosting"


class Fix(str):
    """A fix with an example for each web server. Its text as a string contains all of them.

    `template` has “{example}” in the place of the examples; `otherwise` is an example for any server.
    """

    def __new__(cls, template: str, examples: Mapping[Server, str], otherwise: str = "") -> Self:
        every = [*([otherwise] if otherwise else []), *(f"{server}: {text}" for server, text in examples.items())]
        fix = super().__new__(cls, template.replace("{example}", " · ".join(every)))
        fix._of_server = {
            server: template.replace("{example}", f"{server}: {text}") for server, text in examples.items()
        }
        return fix

    _of_server: Mapping[Server, str]

    def for_server(self, server: Server | None) -> str:
        """Return the text with the example for one server; with all examples if there is none for that server."""
        return str(self) if server is None else self._of_server.get(server, str(self))


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The check has nothing to judge on this page; the report leaves it out."""

    reason: str


Finding = Pass | Warn | Fail | NotApplicable


# Values up to this many times the limit may look equal to it once they are rounded: 1.54 MB and 1.5 MB.
LOOKS_EQUAL = 1.04


def beyond(value: float, good: float, limit: str) -> str:
    """Return `limit`, such as "up to 1.5 MB is good"; it says so if the value is only just above `good`."""
    return f"just above the limit: {limit}" if value <= good * LOOKS_EQUAL else limit


def by_limits(
    value: float, good: float, poor: float, message: str, limit: str = "", evidence: Sequence[EvidenceItem] = ()
) -> Finding:
    """Return a pass up to `good`, a warning up to `poor`, else a fail.

    `limit` follows the message of warnings and fails, such as "up to 20 kB is good".
    """
    if value <= good:
        return Pass(f"{message}.", evidence)
    limited = f"{message}; {beyond(value, good, limit)}." if limit else f"{message}."
    return Warn(limited, evidence=evidence) if value <= poor else Fail(limited, evidence=evidence)
