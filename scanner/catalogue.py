"""The catalogue: every check and probe, read from the decorators on plain functions.

The engine's tree is the tree of a report: folder = scan type, file in its `checks` = category, function = check.
Nothing is registered by hand; `checks()` and `probes()` walk the packages once.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from scanner.findings import Finding, ScanType, Severity
from scanner.scoring import GRADES, RULES_VERSION, SEVERITY_WEIGHT, STATUS_CREDIT, Cap

F = TypeVar("F", bound=Callable[..., Any])

ENGINE = "scanner"
VERSION_DIGITS = 12
# Where a room keeps its probes: in one file, or in a package of several.
CHECK_ID = re.compile(r'^@check\(\s*"([^"]+)"', re.MULTILINE)
PROBES = frozenset({"fetch", "probe", "probes"})


class CatalogueError(Exception):
    """A check or probe is declared wrongly; raised when the catalogue is read, so at start and in tests."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category of a report. `weight` is relative to the other categories of the scan type.

    `static_weight` is the weight where no browser judged the page, if it is another one. The checks of one that is
    `html` judge HTML alone, and without `error_pages` none that answers with an error status: they do not apply to
    other pages, and need not ask. Those of `content` judge what the page shows: where its markup shows nothing and no
    browser ran its scripts, they could not run.
    """

    name: str
    weight: int
    static_weight: int | None = None
    html: bool = False
    error_pages: bool = True
    content: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """A parameter of a check or probe: the type of the evidence, and whether it may be missing."""

    parameter: str
    evidence: type
    optional: bool


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it is called, what it weighs, what it reads, and the pure function that judges.

    `name` says what holds when it passes, `found` what was seen when it does not, `why` why that matters, and `judged`
    from where on, if that is not plain; `html`: it judges HTML alone;
    `error_pages`: also pages that answer with an error status; `content`: it judges what the page shows; `measured`:
    what it judges differs from visit to visit, as times do.
    """

    id: str
    name: str
    found: str
    why: str
    judged: str
    severity: Severity
    fix: str
    references: tuple[str, ...]
    type: ScanType
    category_id: str
    category: Category
    function: Callable[..., Finding]
    needs: tuple[Need, ...]
    verdict: Verdict | None
    html: bool
    error_pages: bool
    content: bool
    measured: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """A second judge for all checks of a scan type: `function(check, …)` decides where it does not return None."""

    function: Callable[..., Finding | None]
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe: the evidence it provides, and what it needs. An essential one fails the scan with it.

    What one of the origin brings is the same for all its pages. One that measures must not be disturbed.
    """

    name: str
    provides: type
    function: Callable[..., object]
    needs: tuple[Need, ...]
    essential: bool
    is_of_origin: bool
    is_measuring: bool


@dataclass(frozen=True, slots=True)
class _CheckMark:
    id: str
    name: str
    found: str
    why: str
    judged: str
    severity: Severity
    fix: str
    references: tuple[str, ...]
    html: bool | None
    error_pages: bool | None
    content: bool | None
    measured: bool


@dataclass(frozen=True, slots=True)
class _ProbeMark:
    essential: bool
    is_of_origin: bool
    is_measuring: bool


def check(
    id: str,
    *,
    name: str,
    found: str,
    severity: Severity,
    fix: str,
    why: str = "",
    judged: str = "",
    references: tuple[str, ...] = (),
    html: bool | None = None,
    error_pages: bool | None = None,
    content: bool | None = None,
    measured: bool = False,
) -> Callable[[F], F]:
    """Declare a function to be a check. It stays an ordinary function: evidence in, `Finding` out.

    `name` is its title on a pass ("Git repository is not public"), and its name in the API; `found` the title of a
    warning or fail ("Git repository is public"). For the check's page in the documentation, `why` says what the fault
    does to visitors or the owner, and `judged` from where on it warns or fails, where that is not plain. `severity` is
    that of a fail unless the finding overrides it; `fix` tells a site owner what to send or change; `html`,
    `error_pages` and `content` override the category's; `references` are the sources of the rule, e.g. "RFC 6797,
    section 6.1" or "CWE-319". What one that is `measured` judges depends on how fast site and machine are at the
    moment; so does what rests on a probe that measures, without saying so.
    """

    def mark(function: F) -> F:
        declared = _CheckMark(
            id, name, found, why, judged, severity, fix, references, html, error_pages, content, measured
        )
        function.__check__ = declared  # type: ignore[attr-defined]  # functions take attributes
        return function

    return mark


def probe(*, essential: bool = False, of_origin: bool = False, measures: bool = False) -> Callable[[F], F]:
    """Declare a function to be the probe that makes the evidence its return annotation names.

    Without its evidence a check could not run (`partial`); without an essential probe's the scan fails. Evidence
    `of_origin` is the same for all pages of an origin, and gathered once for those of an audit. One that `measures`
    the site runs while no other asks it anything.
    """

    def mark(function: F) -> F:
        function.__probe__ = _ProbeMark(essential, of_origin, measures)  # type: ignore[attr-defined]  # functions take attributes
        return function

    return mark


@cache
def checks(scan_type: ScanType) -> tuple[Check, ...]:
    """The checks of one scan type, in report order: heaviest category first, then as written in its file."""
    found: list[Check] = []
    verdict = _verdict(scan_type)
    for module in _modules(f"{ENGINE}.{scan_type}.checks"):
        category = getattr(module, "CATEGORY", None)
        if not isinstance(category, Category):
            raise CatalogueError(f"{module.__name__} has no CATEGORY")
        category_id = module.__name__.rpartition(".")[2]
        for function in _marked(module, "__check__"):
            mark: _CheckMark = function.__check__  # type: ignore[attr-defined]  # `_marked` found it
            found.append(
                Check(
                    id=mark.id,
                    name=mark.name,
                    found=mark.found,
                    why=mark.why,
                    judged=mark.judged,
                    severity=mark.severity,
                    fix=mark.fix,
                    references=mark.references,
                    type=scan_type,
                    category_id=category_id,
                    category=category,
                    function=function,
                    needs=_needs(function),
                    verdict=verdict,
                    html=category.html if mark.html is None else mark.html,
                    error_pages=category.error_pages if mark.error_pages is None else mark.error_pages,
                    content=category.content if mark.content is None else mark.content,
                    measured=mark.measured,
                )
            )
    for attribute in ("id", "name", "found"):
        values = [getattr(each, attribute) for each in found]
        if twice := {value for value in values if values.count(value) > 1}:
            raise CatalogueError(f"{scan_type}: more than one check has the {attribute} {sorted(twice)}")
    return tuple(sorted(found, key=lambda each: (-each.category.weight, each.category.name)))


@cache
def probes() -> dict[type, Probe]:
    """Every probe by the type of evidence it provides."""
    found: dict[type, Probe] = {}
    for module in _probe_modules():
        for function in _marked(module, "__probe__"):
            provides = typing.get_type_hints(function).get("return")
            if not isinstance(provides, type):
                raise CatalogueError(f"{function.__qualname__} must return one evidence class")
            if provides in found:
                raise CatalogueError(f"two probes provide {provides.__name__}")
            mark: _ProbeMark = function.__probe__  # type: ignore[attr-defined]  # `_marked` found it
            found[provides] = Probe(
                name=function.__name__,
                provides=provides,
                function=function,
                needs=_needs(function),
                essential=mark.essential,
                is_of_origin=mark.is_of_origin,
                is_measuring=mark.is_measuring,
            )
    return found


@cache
def measured_checks(scan_type: ScanType) -> frozenset[str]:
    """The IDs of the checks whose verdict may differ although nothing on the site has changed."""
    measuring = {provides for provides, probe in probes().items() if probe.is_measuring}
    return frozenset(
        each.id for each in checks(scan_type) if each.measured or any(need.evidence in measuring for need in each.needs)
    )


@cache
def caps(scan_type: ScanType) -> tuple[Cap, ...]:
    """The caps of a scan type: `CAPS` in `caps.py` of its folder."""
    module = importlib.import_module(f"{ENGINE}.{scan_type}.caps")
    return tuple(module.CAPS)


def catalogue_version(scan_type: ScanType) -> str:
    """A digest that tells reports apart which other checks, weights, caps, texts or rules of scoring have made."""
    members = [
        (each.id, each.name, each.found, each.severity, each.fix, each.references, each.category)
        for each in checks(scan_type)
    ]
    limits = [(cap.limit, cap.reason, cap.count, cap.severity, sorted(cap.checks)) for cap in caps(scan_type)]
    rules = (RULES_VERSION, SEVERITY_WEIGHT, STATUS_CREDIT, GRADES)
    return hashlib.sha256(repr((members, limits, rules)).encode()).hexdigest()[:VERSION_DIGITS]


@cache
def check_ids(scan_type: ScanType) -> frozenset[str]:
    """The checks of a scan type by ID, read from the source: for processes that never scan."""
    folder = Path(__file__).parent / scan_type / "checks"
    sources = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    return frozenset(id for source in sources for id in CHECK_ID.findall(source))


def _verdict(scan_type: ScanType) -> Verdict | None:
    """`VERDICT` in `caps.py` of the scan type's folder, whose parameter `check` is no evidence."""
    function = getattr(importlib.import_module(f"{ENGINE}.{scan_type}.caps"), "VERDICT", None)
    if function is None:
        return None
    return Verdict(function, tuple(need for need in _needs(function) if need.parameter != "check"))


def _modules(package_name: str) -> Iterator[types.ModuleType]:
    for info in _members(package_name):
        yield importlib.import_module(f"{package_name}.{info.name}")


def _probe_modules() -> Iterator[types.ModuleType]:
    for room in _members(ENGINE):
        for info in _members(f"{ENGINE}.{room.name}") if room.ispkg else ():
            name = f"{ENGINE}.{room.name}.{info.name}"
            if info.name in PROBES:
                yield from _modules(name) if info.ispkg else [importlib.import_module(name)]


def _members(package_name: str) -> list[pkgutil.ModuleInfo]:
    package = importlib.import_module(package_name)
    return sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name)


def _marked(module: types.ModuleType, attribute: str) -> list[Callable[..., Any]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and hasattr(value, attribute)
    ]


def _needs(function: Callable[..., Any]) -> tuple[Need, ...]:
    hints = typing.get_type_hints(function)
    hints.pop("return", None)
    return tuple(_need(function, parameter, hint) for parameter, hint in hints.items())


def _need(function: Callable[..., Any], parameter: str, hint: object) -> Need:
    arguments = typing.get_args(hint)
    optional = types.NoneType in arguments
    candidates = [each for each in arguments if each is not types.NoneType] if optional else [hint]
    if len(candidates) != 1 or not isinstance(candidates[0], type):
        raise CatalogueError(f"{function.__qualname__}: {parameter} is not one evidence class")
    return Need(parameter, candidates[0], optional)
