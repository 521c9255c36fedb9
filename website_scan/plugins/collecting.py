"""Collect the declarations of a plug-in, in its own process."""

from __future__ import annotations

import importlib
import inspect
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from website_scan.outcomes import Fix, Outcome
from website_scan.plugins.declaring import Category, DeclaredCheck, declared_checks, declared_probes
from website_scan.plugins.errors import PlainError, describe
from website_scan.plugins.evidence import Document, Network, Page, RenderedPage, Requests
from website_scan.plugins.verdicts import fix_json

# Evidence that the scanner provides, by the name under which the scanner knows it.
PROVIDED: Mapping[type, str] = {
    Page: "page",
    Document: "document",
    Requests: "requests",
    RenderedPage: "rendered",
    Network: "network",
}


class Unusable(PlainError):
    """Raised for a check that cannot run as it is declared. The message is a clause."""


class Parameter(Struct, frozen=True):
    """Parameter of a check or probe: the evidence class that it needs. An optional one may be None."""

    name: str
    evidence: type
    is_optional: bool


class CollectedProbe(Struct, frozen=True):
    name: str
    provides: type
    function: Callable[..., object]
    parameters: Sequence[Parameter]


class CollectedCheck(Struct, frozen=True):
    function: Callable[..., object]
    parameters: Sequence[Parameter]


class Collection(Struct):
    """Declarations of a plug-in.

    `packages` are its top-level packages. `probes` are by the class of their evidence. `problems` are sentences.
    """

    packages: frozenset[str] = frozenset()

    checks: dict[str, CollectedCheck] = field(default_factory=dict)
    probes: dict[type, CollectedProbe] = field(default_factory=dict)
    formats: dict[str, Callable[..., object]] = field(default_factory=dict)
    categories: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def description(self) -> dict[str, Any]:
        """Return the declarations as JSON."""
        return {"categories": self.categories, "formats": sorted(self.formats), "problems": self.problems}


def collect(collection: Collection, modules: Mapping[str, str], formats: Mapping[str, str]) -> None:
    """Import the entry points of a plug-in, and add its declarations to an empty collection.

    `modules` and `formats` are the values of the entry points by their names. Raises any exception of the plug-in. A
    format that fails is left out.
    """
    collection.packages = frozenset(
        value.partition(":")[0].partition(".")[0] for value in (*modules.values(), *formats.values())
    )
    imported = {name: importlib.import_module(value) for name, value in modules.items()}
    for function in declared_probes():
        _add_probe(collection, function)
    for name, module in imported.items():
        category = getattr(module, "CATEGORY", None)
        if not isinstance(category, Category):
            raise Unusable(f"the module {module.__name__} has no CATEGORY")
        checks = [_check_json(collection, declared) for declared in declared_checks(module.__name__)]
        if not checks:
            collection.problems.append(f"{module.__name__} has no checks.")
        collection.categories.append(
            {
                "id": name,
                "name": category.name,
                "type": category.type,
                "error_pages": category.error_pages,
                "checks": checks,
            }
        )
    for name, value in formats.items():
        try:
            collection.formats[name] = _format(value)
        except BaseException as error:  # noqa: BLE001 -- the module may raise anything, such as SystemExit
            collection.problems.append(f"The format {name} was left out: {describe(error, collection.packages)}.")


def _format(value: str) -> Callable[..., object]:
    """Return the function that an entry point names. Raises any exception of the plug-in."""
    module_name, _, attribute = value.partition(":")
    if not attribute:
        raise Unusable(f"the entry point names no function, as in “{module_name}:table”")
    function = operator.attrgetter(attribute)(importlib.import_module(module_name))
    if not callable(function):
        raise Unusable(f"{attribute} in {module_name} is no function")
    found: Callable[..., object] = function
    return found


def _add_probe(collection: Collection, function: Callable[..., Any]) -> None:
    provides = inspect.get_annotations(function, eval_str=True).get("return")
    if not isinstance(provides, type):
        raise Unusable(f"annotate the class that the probe {function.__name__} returns, as in “-> OpeningHours”")
    if provides in collection.probes or provides in PROVIDED:
        raise Unusable(f"two probes return {provides.__name__}")
    collection.probes[provides] = CollectedProbe(function.__name__, provides, function, _parameters(function))


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    """Return the evidence that a function needs. Raises Unusable."""
    hints = inspect.get_annotations(function, eval_str=True)
    hints.pop("return", None)
    parameters = []
    for name in inspect.signature(function).parameters:
        hint = hints.get(name)
        union = hint.__args__ if isinstance(hint, types.UnionType) else (hint,)
        classes = [member for member in union if member is not types.NoneType]
        if len(classes) != 1 or not isinstance(classes[0], type):
            raise Unusable(f"the parameter {name} is not annotated with one evidence class")
        parameters.append(Parameter(name, classes[0], len(classes) < len(union)))
    return parameters


def _check_json(collection: Collection, declared: DeclaredCheck) -> dict[str, Any]:
    """Return a check as JSON, and add it to the collection.

    A check that cannot run has a `problem`. The scanner refuses values of wrong types.
    """
    problem, evidence = "", {}
    try:
        parameters = _parameters(declared.function)
        _refuse_network(parameters)
        evidence = _evidence(collection, parameters, frozenset())
        collection.checks.setdefault(str(declared.id), CollectedCheck(declared.function, parameters))
    except (Unusable, NameError) as unusable:
        problem = str(unusable)
    outcomes, fix, references = declared.outcomes, declared.fix, declared.references
    return {
        "id": declared.id,
        "name": declared.name,
        "outcomes": {name: _outcome_json(outcome) for name, outcome in outcomes.items()}
        if isinstance(outcomes, Mapping)
        else str(outcomes),
        "severity": declared.severity,
        "fix": fix_json(fix if isinstance(fix, Fix) else Fix(fix)),
        "why": declared.why,
        "consequence": declared.consequence,
        "judged": declared.judged,
        "references": list(references) if isinstance(references, list | tuple) else str(references),
        "evidence": evidence,
        "problem": problem,
    }


def _refuse_network(parameters: Sequence[Parameter]) -> None:
    if any(parameter.evidence is Network for parameter in parameters):
        raise Unusable("only probes may use Network")


def _outcome_json(declared: str | Outcome) -> dict[str, Any]:
    outcome = declared if isinstance(declared, Outcome) else Outcome(declared)
    return {
        "title": outcome.title,
        "severities": [str(severity) for severity in outcome.severities],
        "consequence": outcome.consequence,
    }


def _evidence(collection: Collection, parameters: Sequence[Parameter], above: frozenset[type]) -> dict[str, bool]:
    """Return the provided evidence that the parameters need, directly or through probes, and if it is required.

    `above` are the classes whose evidence needs these parameters. Raises Unusable.
    """
    evidence: dict[str, bool] = {}
    for parameter in parameters:
        if name := PROVIDED.get(parameter.evidence):
            found = {name: True}
        elif (probe := collection.probes.get(parameter.evidence)) is None:
            raise Unusable(f"no probe returns {parameter.evidence.__name__}")
        elif parameter.evidence in above:
            raise Unusable(f"the probe {probe.name} needs its own evidence")
        else:
            found = _evidence(collection, probe.parameters, above | {parameter.evidence})
        for name, is_required in found.items():
            evidence[name] = evidence.get(name, False) or (is_required and not parameter.is_optional)
    return evidence
