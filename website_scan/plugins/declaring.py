"""Decorators with which plug-ins declare checks and probes."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from msgspec import Struct

from website_scan.findings import Severity
from website_scan.outcomes import Fix, Outcome

F = TypeVar("F", bound=Callable[..., Any])

Type = Literal["security", "performance", "accessibility", "seo"]
SeverityName = Literal["critical", "high", "medium", "low"]


class Category(Struct, frozen=True):
    """Category of a plug-in's checks in reports: the constant `CATEGORY` of a module.

    `type` is the scan type. Its checks do not apply to a page that answers with an error status, unless it judges
    `error_pages`.
    """

    name: str
    type: Type
    error_pages: bool = False


class DeclaredCheck(Struct, frozen=True):
    """Function with the arguments of its decorator `check`. A plug-in may have passed values of wrong types."""

    function: Callable[..., Any]
    id: str
    name: str
    outcomes: Mapping[str, str | Outcome]
    severity: Severity | SeverityName
    fix: str | Fix
    why: str
    consequence: str
    judged: str
    references: Sequence[str]


# All declarations of this process, in their order. Two functions of a module may have the same name.
_checks: defaultdict[str, list[DeclaredCheck]] = defaultdict(list)
_probes: list[Callable[..., Any]] = []


def check(  # noqa: PLR0913 -- options by keyword
    id: str,
    *,
    name: str,
    outcomes: Mapping[str, str | Outcome],
    severity: Severity | SeverityName,
    fix: str | Fix,
    why: str = "",
    consequence: str = "",
    judged: str = "",
    references: Sequence[str] = (),
) -> Callable[[F], F]:
    """Declare a check.

    `@check("acme-imprint", name=…, …)` is written before a function. Its parameters are annotated with the classes of
    evidence that it needs; it returns a verdict. The ID begins with the plug-in's name and a dash. `name` is the title
    of a pass. `outcomes` are the titles of findings by the name of the outcome, or `outcome("title", HIGH, …)`. `fix`
    says what a site owner changes. `why` is one sentence on the harm. `consequence` is a sentence for site owners, for
    findings that are critical or high. `judged` explains thresholds, `references` are sources of the rule.
    """

    def declare(function: F) -> F:
        _refuse_other_objects(function, "check(…)")
        declared = DeclaredCheck(
            function, id, name, outcomes, severity, fix, why, consequence, judged, references
        )  # fmt: skip
        _checks[function.__module__].append(declared)
        return function

    return declare


def probe(function: F) -> F:
    """Declare a probe: a function that gathers evidence for checks.

    Its parameters are evidence, too; only probes may use `Network`. Its return annotation is the class of its evidence.
    """
    _refuse_other_objects(function, "probe")
    _probes.append(function)
    return function


def _refuse_other_objects(function: object, decorator: str) -> None:
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{decorator} must be written before a function")


def declared_checks(module_name: str) -> Sequence[DeclaredCheck]:
    """Return the checks that a module has declared, in their order."""
    return tuple(_checks[module_name])


def declared_probes() -> Sequence[Callable[..., Any]]:
    """Return the probes of all imported modules, in the order of their declaration."""
    return tuple(_probes)
