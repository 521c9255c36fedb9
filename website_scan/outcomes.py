"""Outcomes: what a check returns, as data.

A check declares its outcomes by name, each with the title of its finding: {"short": "HSTS lasts only {lifetime}"}. It
returns one of them with a summary of what it saw, the values of that sentence, and the places of the fault. Texts for
readers are composed in `website_scan.report.wording`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from website_scan.findings import NotApplicable, Server, Severity
from website_scan.places import Place
from website_scan.values import Value, filled, typed


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a check that did not pass: the title of its finding, and the severities that it can have.

    Without severities it has that of the check. `title` is a template with values of the finding.
    """

    title: str
    severities: tuple[Severity, ...] = ()


def outcome(title: str, *severities: Severity) -> Outcome:
    """Return an outcome with severities of its own."""
    return Outcome(title, severities)


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change: a text with code in backticks, a template with values of the finding, and snippets by server."""

    text: str
    snippets: Mapping[Server, str] = field(default_factory=dict)


class _Seen:
    """What a check saw. `summary` is a template, without the list of places and without the reason why it matters.

    `details` are rows that explain a figure or describe the whole page; `places` are where the fault is. Both may have
    more rows than a report keeps: the runner cuts them. `credit`, 0 to 1, is the share that a check on a curve earns.
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

    @property
    def message(self) -> str:
        """Return the summary with its values."""
        return filled(self.summary, self.values)

    @property
    def rows(self) -> list[dict[str, object]]:
        """Return details and places by the names of their columns."""
        return [dict(place.row()) for place in (*self.details, *self.places)]


class Pass(_Seen):
    """Nothing is wrong."""

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


class Fault(_Seen):
    """`severity` is one of those that the outcome declares; None for its only one. `fix` replaces the check's."""

    __slots__ = ("fix", "outcome", "severity")

    def __init__(
        self,
        outcome: str,
        summary: str,
        *,
        severity: Severity | None = None,
        places: Sequence[Place] = (),
        details: Sequence[Place] = (),
        fix: str | Fix | None = None,
        credit: float | None = None,
        **values: Value | int | datetime,
    ) -> None:
        super().__init__(summary, places, details, credit, values)
        self.outcome = outcome
        self.severity = severity
        self.fix = Fix(fix) if isinstance(fix, str) else fix


class Warn(Fault):
    """Worth improving, or not certain. Earns half, or `credit`. Never critical: see `Judgement`."""

    __slots__ = ()


class Review(Fault):
    """Only a person can tell whether something is wrong: low severity, and the score is as if there were no check."""

    __slots__ = ()


class Fail(Fault):
    """Something is wrong. Earns nothing, or `credit`."""

    __slots__ = ()


class CategoryFail(Fail):
    """A fail that leaves the other checks of its category nothing to judge, and costs their weight as well."""

    __slots__ = ()


Finding = Pass | Warn | Review | Fail | NotApplicable
