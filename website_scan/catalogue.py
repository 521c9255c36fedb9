"""Catalogue of all checks and probes.

Decorators on functions declare them. The folders of the engine match the tree of a report: folder = scan type, file in
its `checks` = category, function = check. Several files may have the same category. Nothing is registered by hand;
`checks()` and `probes()` import the packages once.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import pkgutil
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from website_scan.findings import SEVERE, ScanType, Severity
from website_scan.outcomes import Fix, Outcome, Verdict
from website_scan.repeats import REPEATS
from website_scan.scoring import GRADES, RULES_VERSION, SEVERITY_WEIGHT, STATUS_CREDIT, Cap

F = TypeVar("F", bound=Callable[..., Any])

ENGINE = "website_scan"
VERSION_DIGITS = 12
# Fields that a check takes from its category by default.
INHERITED_FIELDS = ("html", "error_pages", "content", "absence", "states")
# Names of the modules and packages that define probes.
PROBES = frozenset({"fetch", "probe", "probes"})


class CatalogueError(Exception):
    """Raised for an invalid declaration of a check or probe.

    This happens at process start and in tests.
    """


class States(StrEnum):
    """States of a journey in which a check can judge, if the browser provides its evidence."""

    ALL = "all"
    NAVIGATIONS = "navigations"  # States whose page has just been loaded: it judges the load.
    NONE = "none"  # It judges the markup as sent, of which the browser shows the result only.


class Category(Struct, frozen=True):
    """Category of checks in a report.

    `weight` is relative to the other categories of the scan type; without a weight, the results affect neither score
    nor grade. `static_weight` replaces `weight` where no browser judged the page. Checks of an `html` category apply to
    HTML pages only. Checks of a category without `error_pages` do not apply to a page that answers with an error
    status. The runner decides both, so checks need not test for it.
    Checks of a `content` category judge the visible content of the page. If none was seen, because a browser shows
    none, or the markup has none and no browser ran the scripts, these checks report the faults that they find, and
    "could not run" if they find none or measure. Checks of an `absence` category find that something is missing, so
    they could not run while scripts may still add it, or have failed to. `states` says in which states of a journey
    the checks can judge.
    """

    name: str
    weight: int
    static_weight: int | None = None
    html: bool = False
    error_pages: bool = True
    content: bool = False
    absence: bool = False
    states: States = States.ALL


class Need(Struct, frozen=True):
    """Evidence that a check or probe takes as a parameter.

    `optional` parameters may be None.
    """

    parameter: str
    evidence: type
    optional: bool


class _Named(Struct, frozen=True):
    """ID of a declaration: the only argument that needs no keyword."""

    id: str

    def __hash__(self) -> int:
        return hash(self.id)


class Declaration(_Named, frozen=True, kw_only=True):
    """Decorator that declares a check.

    `@check("id", name=…, …)` is written before a function. The function stays an ordinary one: evidence in, `Verdict`
    out. `name` is the check's title on a pass ("Git repository is not public") and its name in the API. `outcomes` are
    the verdicts other than a pass that the check can return, by name, each with the title of its finding ("Git
    repository is public") or an `Outcome`; the first is the most usual one, and its title has no value in it. `why` is
    one sentence on the harm to visitors or the owner, and follows the message of each warning and fail. `consequence`
    is one sentence without technical terms on what can happen to the business or its visitors, for site owners; each
    outcome that can be critical or high needs one, of its own or of the check. For the check's
    page in the documentation, `judged` lists the thresholds for a warning or fail where they are not obvious.
    `severity` is that of each outcome that declares none; `fix` describes what a site owner sends or changes, unless
    the verdict has a fix of its own; `references` are the sources of the rule, as "RFC 6797, section 6.1" or "CWE-319".
    `html`, `error_pages`, `content`, `absence` and `states` override the category's values. Set `measured` if the
    verdict depends on the momentary speed of site and machine; a check that reads the evidence of a measuring probe
    counts as measured by default.
    """

    name: str
    outcomes: Mapping[str, str | Outcome]
    severity: Severity
    fix: str | Fix
    why: str = ""
    consequence: str = ""
    judged: str = ""
    references: tuple[str, ...] = ()
    html: bool | None = None
    error_pages: bool | None = None
    content: bool | None = None
    absence: bool | None = None
    states: States | None = None
    measured: bool = False

    @property
    def found(self) -> str:
        """Return the title of the first declared outcome.

        It is the most common one.
        """
        return self.outcome(next(iter(self.outcomes))).title

    @property
    def own_fix(self) -> Fix:
        """Return the check's fix for findings whose verdict has no fix."""
        return Fix(self.fix) if isinstance(self.fix, str) else self.fix

    def outcome(self, name: str) -> Outcome:
        """Return a declared outcome with its severities and its consequence.

        Raises CatalogueError if the check does not declare it.
        """
        if (declared := self.outcomes.get(name)) is None:
            raise CatalogueError(f"{self.id} declares no outcome {name}")
        outcome = Outcome(declared) if isinstance(declared, str) else declared
        severities = outcome.severities or (self.severity,)
        consequence = (outcome.consequence or self.consequence) if SEVERE.intersection(severities) else ""
        return replace(outcome, severities=severities, consequence=consequence)

    def __call__(self, function: F) -> F:
        function.__check__ = self  # type: ignore[attr-defined]  # functions accept attributes
        return function


check = Declaration


class Check(Declaration, frozen=True, kw_only=True):
    """Check in the catalogue.

    It has a function and the evidence that the function needs. Fields that the declaration leaves to the category have
    the category's value.
    """

    html: bool
    error_pages: bool
    content: bool
    absence: bool
    states: States
    type: ScanType
    category_id: str
    category: Category
    function: Callable[..., Verdict]
    needs: tuple[Need, ...]
    override: Override | None


class Override(Struct, frozen=True):
    """Function that may replace the verdict of any check of a scan type.

    Returns None to leave it unchanged.
    """

    function: Callable[..., Verdict | None]
    needs: tuple[Need, ...]


class Probe(Struct, frozen=True):
    """Function that gathers evidence.

    If an `essential` probe fails, the scan fails. `applies_to_whole_origin` marks a probe whose evidence is the same
    for all pages of the origin; `needs_idle_network` marks a probe during which no other probe may send requests.
    """

    name: str
    provides: type
    function: Callable[..., object]
    needs: tuple[Need, ...]
    essential: bool
    applies_to_whole_origin: bool
    needs_idle_network: bool


class _ProbeOptions(Struct, frozen=True):
    essential: bool
    applies_to_whole_origin: bool
    needs_idle_network: bool


def probe(*, essential: bool = False, of_origin: bool = False, measures: bool = False) -> Callable[[F], F]:
    """Decorator that declares a probe.

    The function's return annotation is the class of the evidence. If a probe fails, the checks that need its evidence
    could not run (`partial`); if an essential probe fails, the scan fails. Evidence `of_origin` is the same for all
    pages of an origin; an audit gathers it once for all of them. A probe that `measures` runs while no other probe
    sends requests to the site.
    """

    def mark(function: F) -> F:
        function.__probe__ = _ProbeOptions(essential, of_origin, measures)  # type: ignore[attr-defined]  # functions accept attributes
        return function

    return mark


@cache
def checks(scan_type: ScanType) -> tuple[Check, ...]:
    """Return the checks of a scan type in the order of the catalogue.

    They are sorted by the weight of their category, then by position in the source file.
    """
    members: list[Check] = []
    category_ids: dict[int, str] = {}
    override = _override(scan_type)
    for module in _modules(f"{ENGINE}.{scan_type}.checks"):
        category = getattr(module, "CATEGORY", None)
        if not isinstance(category, Category):
            raise CatalogueError(f"{module.__name__} has no CATEGORY")
        # A category may have several files. It has the name of the first.
        category_id = category_ids.setdefault(id(category), module.__name__.rpartition(".")[2])
        for function in _decorated_functions(module, "__check__"):
            declared: Declaration = function.__check__  # type: ignore[attr-defined]  # set by the decorator
            members.append(new_check(declared, scan_type, category_id, category, function, override))
    for attribute in ("id", "name", "found"):
        counts = Counter(getattr(member, attribute) for member in members)
        if duplicates := sorted(value for value, count in counts.items() if count > 1):
            raise CatalogueError(f"{scan_type}: more than one check has the {attribute} {duplicates}")
    return tuple(sorted(members, key=lambda member: (-member.category.weight, member.category.name)))


def new_check(
    declared: Declaration,
    scan_type: ScanType,
    category_id: str,
    category: Category,
    function: Callable[..., Verdict],
    override: Override | None = None,
) -> Check:
    """Return a check, with the category's values in fields that its declaration leaves out.

    Raises CatalogueError if a parameter of the function is not one evidence class.
    """
    values = asdict(declared)
    values |= {name: getattr(category, name) for name in INHERITED_FIELDS if values[name] is None}
    return Check(
        **values,
        type=scan_type,
        category_id=category_id,
        category=category,
        function=function,
        needs=_needs(function),
        override=override,
    )


@cache
def probes() -> dict[type, Probe]:
    """Return all probes by the evidence class that they provide."""
    probes_by_evidence: dict[type, Probe] = {}
    for module in _probe_modules():
        for function in _decorated_functions(module, "__probe__"):
            provides = inspect.get_annotations(function, eval_str=True).get("return")
            if not isinstance(provides, type):
                raise CatalogueError(f"{function.__qualname__} must return one evidence class")
            if provides in probes_by_evidence:
                raise CatalogueError(f"two probes provide {provides.__name__}")
            mark: _ProbeOptions = function.__probe__  # type: ignore[attr-defined]  # set by the decorator
            probes_by_evidence[provides] = Probe(
                name=function.__name__,
                provides=provides,
                function=function,
                needs=_needs(function),
                essential=mark.essential,
                applies_to_whole_origin=mark.applies_to_whole_origin,
                needs_idle_network=mark.needs_idle_network,
            )
    return probes_by_evidence


@cache
def measured_checks(scan_type: ScanType) -> frozenset[str]:
    """Return the IDs of checks that measure speed.

    Their verdicts may change although the site does not.
    """
    measuring = {provides for provides, probe in probes().items() if probe.needs_idle_network}
    return frozenset(
        member.id
        for member in checks(scan_type)
        if member.measured or any(need.evidence in measuring for need in member.needs)
    )


@cache
def caps(scan_type: ScanType) -> tuple[Cap, ...]:
    """Return the score caps of a scan type.

    They are `CAPS` in `website_scan/<type>/caps.py`.
    """
    module = importlib.import_module(f"{ENGINE}.{scan_type}.caps")
    return tuple(module.CAPS)


@cache
def catalogue_version(scan_type: ScanType) -> str:
    """Return the version of a scan type's catalogue.

    A digest of its checks, weights, texts, caps and scoring rules. Reports with different digests were made by
    different catalogues.
    """
    members = [
        (member.id, member.name, member.outcomes, member.severity, member.fix, member.references, member.category)
        for member in checks(scan_type)
    ]
    limits = [(cap.limit, cap.reason, cap.count, cap.severity, sorted(cap.checks)) for cap in caps(scan_type)]
    repeats = [repeat for repeat in REPEATS if repeat.check.type is scan_type and repeat.is_within_type]
    rules = (RULES_VERSION, SEVERITY_WEIGHT, STATUS_CREDIT, GRADES)
    return hashlib.sha256(repr((members, limits, repeats, rules)).encode()).hexdigest()[:VERSION_DIGITS]


def _override(scan_type: ScanType) -> Override | None:
    """Return the scan type's function `OVERRIDE` as an Override.

    None if there is none. The file `website_scan/<type>/caps.py` defines the function.
    """
    function = getattr(importlib.import_module(f"{ENGINE}.{scan_type}.caps"), "OVERRIDE", None)
    if function is None:
        return None
    return Override(function, tuple(need for need in _needs(function) if need.parameter != "check"))


def _modules(package_name: str) -> Iterator[types.ModuleType]:
    for info in _members(package_name):
        yield importlib.import_module(f"{package_name}.{info.name}")


def _probe_modules() -> Iterator[types.ModuleType]:
    for package in _members(ENGINE):
        for info in _members(f"{ENGINE}.{package.name}") if package.ispkg else ():
            name = f"{ENGINE}.{package.name}.{info.name}"
            if info.name in PROBES:
                yield from _modules(name) if info.ispkg else [importlib.import_module(name)]


def _members(package_name: str) -> list[pkgutil.ModuleInfo]:
    package = importlib.import_module(package_name)
    return sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name)


def _decorated_functions(module: types.ModuleType, attribute: str) -> list[Callable[..., Any]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and hasattr(value, attribute)
    ]


def _needs(function: Callable[..., Any]) -> tuple[Need, ...]:
    # `typing.get_type_hints` would take twice as long.
    hints = inspect.get_annotations(function, eval_str=True)
    hints.pop("return", None)
    return tuple(_parse_need(function, parameter, hint) for parameter, hint in hints.items())


def _parse_need(function: Callable[..., Any], parameter: str, hint: object) -> Need:
    arguments = typing.get_args(hint)
    optional = types.NoneType in arguments
    candidates = [argument for argument in arguments if argument is not types.NoneType] if optional else [hint]
    if len(candidates) != 1 or not isinstance(candidates[0], type):
        raise CatalogueError(f"{function.__qualname__}: {parameter} is not one evidence class")
    return Need(parameter, candidates[0], optional)
