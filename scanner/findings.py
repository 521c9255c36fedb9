"""What a check says: one of four findings, with what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

# One thing a check saw, as JSON: {"header": "Server", "value": "nginx/1.25.3"}.
EvidenceItem = Mapping[str, str | int | float | bool | None]


class Severity(StrEnum):
    """How much a failed check matters. Ordered by weight, heaviest first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CRITICAL, HIGH, MEDIUM, LOW = Severity


class ScanType(StrEnum):
    """The four kinds of scan; each is a folder of `scanner`."""

    SECURITY = "security"
    PERFORMANCE = "performance"
    ACCESSIBILITY = "accessibility"
    SEO = "seo"

    @property
    def label(self) -> str:
        """As it is written for people."""
        return "SEO" if self is ScanType.SEO else self.capitalize()

    @property
    def uses_browser(self) -> bool:
        """Whether it may ask for a browser: for one that does not, none is planned and none has to be waited for."""
        return self is not ScanType.SECURITY


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing wrong; the message says what was seen. `credit` is what it earns, 0 to 1, where that is on a curve.

    Evidence may hold more than a report shows: the runner cuts it, here and in the other findings.
    """

    message: str
    evidence: Sequence[EvidenceItem] = ()
    credit: float | None = None


@dataclass(frozen=True, slots=True)
class Warn:
    """Worth improving, or not certain: counts half, or `credit`. `severity` and `fix` override the check's own.

    One that does not weigh is for people to look at: the score is as if there had been no such check.
    """

    message: str
    severity: Severity | None = None
    evidence: Sequence[EvidenceItem] = ()
    fix: str | None = None
    credit: float | None = None
    weighs: bool = True


@dataclass(frozen=True, slots=True)
class Fail:
    """Wrong: counts nothing, or `credit`. `severity` and `fix` override the check's own.

    One that covers its category leaves the other checks there nothing to judge, and costs what they weigh, too.
    """

    message: str
    severity: Severity | None = None
    evidence: Sequence[EvidenceItem] = ()
    fix: str | None = None
    credit: float | None = None
    covers_category: bool = False


class Server(StrEnum):
    """A web server, or where no server can be configured; the value is how examples for it begin."""

    NGINX = "nginx"
    APACHE = "Apache"
    IIS = "IIS"
    STATIC = "static hosting"


class Fix(str):
    """A fix with an example for each web server. As text it shows all of them.

    `template` has “{example}” in the place of the examples; `otherwise` is one for any server.
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
        """The text with the example of one server; with all of them where there is none for it."""
        return str(self) if server is None else self._of_server.get(server, str(self))


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The check has nothing to judge on this page; it is left out of the report."""

    reason: str


Finding = Pass | Warn | Fail | NotApplicable


def by_limits(
    value: float, good: float, poor: float, message: str, why: str, evidence: Sequence[EvidenceItem] = ()
) -> Finding:
    """A pass up to `good`, a warning up to `poor`, else a fail; `why` is added unless it is a pass."""
    if value <= good:
        return Pass(f"{message}.", evidence)
    reasoned = f"{message}; {why}."
    return Warn(reasoned, evidence=evidence) if value <= poor else Fail(reasoned, evidence=evidence)
