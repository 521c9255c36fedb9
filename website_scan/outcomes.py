"""Outcomes that checks declare, and verdicts that checks return.

A check declares its outcomes by name, each with the title of its finding: {"short": "HSTS lasts only {lifetime}"}. A
verdict names one of the outcomes, with a summary of what the check saw, the values of that sentence, and the places of
the fault. Texts for readers are composed in `website_scan.wording`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, field

from website_scan.findings import NotApplicable, Server, Severity
from website_scan.places import Place
from website_scan.values import Value, filled, typed


class Outcome(Struct, frozen=True):
    """Outcome of a check, with its title and the severities that it can have.

    The first severity is the default of a verdict without one; an outcome declared without severities has that of the
    check. `title` is a template with values of the verdict. `consequence` is as in the declaration of a check, whose
    sentence it replaces.
    """

    title: str
    severities: tuple[Severity, ...] = ()
    consequence: str = ""


def outcome(title: str, *severities: Severity, consequence: str = "") -> Outcome:
    """Declare an outcome with severities or a consequence of its own.

    They differ from those of the check.
    """
    return Outcome(title, severities, consequence)


class Language(StrEnum):
    """Language of a code snippet that does not depend on the web server.

    The value is the label of the snippet.
    """

    HTML = "HTML"
    CSS = "CSS"
    JAVASCRIPT = "JavaScript"
    HEADER = "Header"
    DNS = "DNS"
    FILE = "File"


# A larger value may look equal to the limit after rounding, such as 1.54 MB and 1.5 MB.
MAX_ROUNDING_FACTOR = 1.04

Snippets = Mapping[Server, str] | Mapping[Language, str] | Mapping[Server | Language, str]


class Fix(Struct, frozen=True):
    """Instructions to fix a finding.

    They are a template of sentences with code in backticks, and code snippets.

    Readers get the snippet of the server that answered, if there is one, and those that depend on no server.
    """

    text: str
    snippets: Snippets = field(default_factory=dict)

    def snippets_for(self, server: Server | None) -> Mapping[str, str]:
        """Return the snippets for a web server.

        If the server is unknown or has none, the result has all snippets.
        """
        suitable = {str(label): code for label, code in self.snippets.items() if label == server or label in Language}
        return suitable if server in self.snippets else {str(label): code for label, code in self.snippets.items()}


def _listed(places: Sequence[Place], name: str) -> tuple[Place, ...]:
    if not isinstance(places, Iterable):
        raise TypeError(f"{name} must be a list")
    return tuple(places)


class _BaseVerdict:
    """Base class of verdicts.

    `summary` is a template of what the check observed, without places and reason.

    `details` are rows that explain a figure or describe the whole page; `places` are where the fault is. Both may have
    more rows than a report stores: the runner cuts them. `credit`, 0 to 1, is the share of its weight that a check on a
    curve earns.
    """

    __slots__ = ("credit", "details", "places", "summary", "values")

    def __init__(
        self,
        summary: str,
        places: Sequence[Place],
        details: Sequence[Place],
        credit: float | None,
        values: Mapping[str, Value | int | datetime],
    ) -> None:
        self.summary = summary
        self.places = _listed(places, "places")
        self.details = _listed(details, "details")
        self.credit = credit
        self.values = typed(values)

    def __repr__(self) -> str:
        outcome = getattr(self, "outcome", "")
        return f"{type(self).__name__}({outcome!r}, {self.message!r}, {self.places!r}, {self.details!r})"

    @property
    def message(self) -> str:
        """Return the summary with the values inserted."""
        return filled(self.summary, self.values)


class Pass(_BaseVerdict):
    """Verdict that the page passes the check."""

    __slots__ = ()

    def __init__(
        self,
        summary: str,
        *,
        details: Sequence[Place] = (),
        credit: float | None = None,
        **values: Value | int | datetime,
    ) -> None:
        super().__init__(summary, (), details, credit, values)


class Fault(_BaseVerdict):
    """Base class of the verdicts for faults: warnings, notes, reviews and fails.

    `severity` is one of the severities that the outcome declares; None for the first of them. `fix` replaces the
    check's. `total` is the number of all places if `places` are only the first.
    """

    __slots__ = ("fix", "outcome", "severity", "total")

    def __init__(  # noqa: PLR0913 -- options by keyword
        self,
        outcome: str,
        summary: str,
        *,
        severity: Severity | None = None,
        places: Sequence[Place] = (),
        total: int | None = None,
        details: Sequence[Place] = (),
        fix: str | Fix | None = None,
        credit: float | None = None,
        **values: Value | int | datetime,
    ) -> None:
        super().__init__(summary, places, details, credit, values)
        self.outcome = outcome
        self.severity = severity
        self.total = len(places) if total is None else total
        self.fix = Fix(fix) if isinstance(fix, str) else fix


class Warn(Fault):
    """Verdict for a minor or uncertain fault.

    The check earns half of its weight, or the share `credit`.
    """

    __slots__ = ()


class Note(Warn):
    """Verdict for a definite fault that does not affect the score."""

    __slots__ = ()


class Review(Fault):
    """Verdict for a page that a person must check.

    It has low severity and does not affect the score.
    """

    __slots__ = ()


class Fail(Fault):
    """Verdict for a definite fault.

    The check earns nothing, or the share `credit` of its weight.
    """

    __slots__ = ()


class CategoryFail(Fail):
    """Verdict for a fault that prevents the category's other checks.

    It also costs their weight.
    """

    __slots__ = ()


V = TypeVar("V", bound=_BaseVerdict)
Verdict = Pass | Warn | Review | Fail | NotApplicable


def beyond(value: float, good: float, limit: str) -> str:
    """Return `limit`, with a note if the value is close to `good`.

    The note is "just above the limit:".

    `limit` is a clause such as "up to 1.5 MB is good".
    """
    return f"just above the limit: {limit}" if value <= good * MAX_ROUNDING_FACTOR else limit


def judge_by_limits(
    outcome: str,
    summary: str,
    value: float,
    limits: tuple[float, float],
    *,
    limit: Value | None = None,
    places: Sequence[Place] = (),
    details: Sequence[Place] = (),
    **values: Value | int | datetime,
) -> Pass | Warn | Fail:
    """Judge a value by two limits.

    Pass up to the first limit, Warn up to the second limit, and Fail above.

    `summary` has no full stop. A warning or fail ends with `limit`, the first limit with its unit: "up to 20 kB is
    good", in brackets if places follow. A pass lists the places as details.
    """
    good, poor = limits
    if value <= good:
        return set_values(Pass(f"{summary}.", details=(*details, *places)), values)
    if limit is None:
        text = f"{summary}."
    else:
        limited = beyond(value, good, "up to {limit} is good")
        text = f"{summary} ({limited})." if places else f"{summary}; {limited}."
        values |= {"limit": limit}
    kind = Warn if value <= poor else Fail
    return set_values(kind(outcome, text, places=places, details=details), values)


def set_values(verdict: V, values: Mapping[str, Value | int | datetime]) -> V:
    """Replace the values of a verdict, and return the verdict."""
    verdict.values = typed(values)
    return verdict
