"""Decorators with which plug-ins declare checks and probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from website_scan.findings import Severity
from website_scan.outcomes import Fix, Outcome

F = TypeVar("F", bound=Callable[..., Any])

Type = Literal["security", "performance", "accessibility", "seo"]
SeverityName = Literal["critical", "high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Category:
    """Category of a plug-in's checks in reports: the constant `CATEGORY` of a module.

    `type` is the scan type. Its checks do not apply to a page that answers with an error status, unless it judges
    `error_pages`.
    """

    name: str
    type: Type
    error_pages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDeclaration:
    """Decorator that declares a check.

    `@check("acme-imprint", name=…, …)` is written before a function. Its parameters are annotated with the classes of
    evidence that it needs; it returns a verdict. The ID begins with the plug-in's name and a dash. `name` is the title
    of a pass. `outcomes` are the titles of findings by the name of the outcome, or `outcome("title", HIGH, …)`. `fix`
    says what a site owner changes. `why` is one sentence on the harm. `consequence` is a sentence for site owners, for
    findings that are critical or high. `judged` explains thresholds, `references` are sources of the rule.
    """

    id: str = field(kw_only=False)
    name: str
    outcomes: Mapping[str, str | Outcome]
    severity: Severity | SeverityName
    fix: str | Fix
    why: str = ""
    consequence: str = ""
    judged: str = ""
    references: tuple[str, ...] = ()

    def __call__(self, function: F) -> F:
        function.__plug_in_check__ = self  # type: ignore[attr-defined]  # functions accept attributes
        return function


check = CheckDeclaration


def probe(function: F) -> F:
    """Declare a probe: a function that gathers evidence for checks.

    Its parameters are evidence, too; only probes may use `Network`. Its return annotation is the class of its evidence.
    """
    function.__plug_in_probe__ = True  # type: ignore[attr-defined]  # functions accept attributes
    return function
