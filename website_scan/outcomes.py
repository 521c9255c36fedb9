"""Outcomes and verdicts: what a check can find, and what it returns, as data.

A check declares its outcomes by name, each with the title of its finding: {"short": "HSTS lasts only {lifetime}"}. A
verdict names one of the outcomes, with a summary of what the check saw, the values of that sentence, and the places of
the fault. Texts for readers are composed in `website_scan.wording`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from website_scan.findings import NotApplicable, Server, Severity
from website_scan.places import Place
from website_scan.values import Value, filled, typed


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a check that did not pass: the title of its finding, and the severities that the finding can have.

    The first severity is the default of a verdict without one; an outcome declared without severities has that of the
    check. `title` is a template with values of the verdict.
    """

    title: str
    severities: tuple[Severity, ...] = ()


def outcome(title: str, *severities: Severity) -> Outcome:
    """Return an outcome with severities that differ from the check's."""
    return Outcome(title, severities)


class Language(StrEnum):
    """Language of a snippet that is the same for every web server. The value is the label in front of it."""

    HTML = "HTML"
    CSS = "CSS"
    JAVASCRIPT = "JavaScript"
    HEADER = "Header"
    DNS = "DNS"
    FILE = "File"


# Values up to this multiple of the limit may look equal to the limit once both are rounded: 1.54 MB and 1.5 MB.
LOOKS_EQUAL = 1.04

Snippets = Mapping[Server, str] | Mapping[Language, str] | Mapping[Server | Language, str]


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change: sentences with code in backticks (a template with values of the verdict), and snippets to copy.

    Readers get the snippet of the server that answered, if there is one, and those that depend on no server.
    """

    text: str
    snippets: Snippets = field(default_factory=dict)

    def snippets_for(self, server: Server | None) -> Mapping[str, str]:
        """Return the snippets for a server, or all snippets if the server is unknown or has none."""
        suitable = {str(label): code for label, code in self.snippets.items() if label == server or label in Language}
        return suitable if server in self.snippets else {str(label): code for label, code in self.snippets.items()}


class _Observed:
    """Base of verdicts: what a check observed. `summary` is a template, without the places and without the reason.

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
        self.places = tuple(places)
        self.details = tuple(details)
        self.credit = credit
        self.values = typed(values)

    def __repr__(self) -> str:
        outcome = getattr(self, "outcome", "")
        return f"{type(self).__name__}({outcome!r}, {self.message!r}, {self.places!r}, {self.details!r})"

    @property
    def message(self) -> str:
        """Return the summary with its values filled in."""
        return filled(self.summary, self.values)


class Pass(_Observed):
    """Verdict that nothing is wrong."""

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


class Fault(_Observed):
    """Verdict that something is, or may be, wrong: base of warnings, reviews and fails.

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
    """Verdict that something is worth improving, or uncertain. Earns half its weight, or `credit`. Never critical."""

    __slots__ = ()


class Note(Warn):
    """Warning that is certain and useful, but does not affect the score."""

    __slots__ = ()


class Review(Fault):
    """Verdict that only a person can decide whether something is wrong: low severity, and no effect on the score."""

    __slots__ = ()


class Fail(Fault):
    """Verdict that something is wrong. Earns nothing, or `credit`."""

    __slots__ = ()


class CategoryFail(Fail):
    """Fail that leaves the other checks of its category nothing to judge, and costs their weight as well."""

    __slots__ = ()


V = TypeVar("V", bound=_Observed)
Verdict = Pass | Warn | Review | Fail | NotApplicable


def beyond(value: float, good: float, limit: str) -> str:
    """Return `limit`, such as "up to 1.5 MB is good"; prefixed if the value is only just above `good`."""
    return f"just above the limit: {limit}" if value <= good * LOOKS_EQUAL else limit


def by_limits(
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
    """Return a pass up to the first of the limits, a warning up to the second, else a fail.

    `summary` has no full stop. A warning or fail ends with `limit`, the first limit with its unit: "up to 20 kB is
    good", in brackets if places follow. A pass lists the places as details.
    """
    good, poor = limits
    if value <= good:
        return with_values(Pass(f"{summary}.", details=(*details, *places)), values)
    if limit is None:
        text = f"{summary}."
    else:
        limited = beyond(value, good, "up to {limit} is good")
        text = f"{summary} ({limited})." if places else f"{summary}; {limited}."
        values |= {"limit": limit}
    kind = Warn if value <= poor else Fail
    return with_values(kind(outcome, text, places=places, details=details), values)


def with_values(verdict: V, values: Mapping[str, Value | int | datetime]) -> V:
    """Return the verdict after replacing its values."""
    verdict.values = typed(values)
    return verdict
