"""Read what a plug-in declares: JSON from its process, which is data from outside.

A check with a wrong declaration could not run in scans. One without a valid ID is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from website_scan.catalogue import Category, Check, Declaration, new_check
from website_scan.findings import LOW, NotApplicable, ScanType
from website_scan.outcomes import Outcome, Verdict
from website_scan.plugins.installed import InstalledPlugIn
from website_scan.plugins.json_checking import WrongData, items, mapping, text
from website_scan.plugins.verdicts import read_fix, read_severity
from website_scan.values import template_fields

MAX_CHECKS = 100
MAX_OUTCOMES = 30
MAX_REFERENCES = 20
MAX_NAME = 120
CHECK_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
MAX_ID = 80  # The database has at most this many characters for the ID of a check.
OUTCOME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
EVIDENCE = frozenset({"page", "document", "requests", "rendered", "network"})
OF_BROWSER = frozenset({"requests", "rendered"})


@dataclass(frozen=True, slots=True)
class DescribedCheck:
    """Check of a plug-in.

    `evidence` maps the evidence that it needs to True if it is required. `problem` is a clause; a check with a problem
    could not run.
    """

    declaration: Declaration
    type: ScanType
    category_id: str
    category: Category
    evidence: Mapping[str, bool]
    problem: str = ""

    @property
    def id(self) -> str:
        return self.declaration.id

    @property
    def needs_browser(self) -> bool:
        return any(self.evidence.get(name) for name in OF_BROWSER)

    def weighted(self, weight: int) -> Check:
        """Return the check with the weight of its category. Its function is a placeholder."""
        category = Category(self.category.name, weight, html=self.is_of_html, error_pages=self.category.error_pages)
        return new_check(self.declaration, self.type, self.category_id, category, _judge_nothing)

    @property
    def is_of_html(self) -> bool:
        return bool(self.evidence.get("document") or self.evidence.get("rendered"))


def _judge_nothing() -> Verdict:
    return NotApplicable("Only the plug-in judges it.")


@dataclass(frozen=True, slots=True)
class Description:
    """What a plug-in declares. `problems` are sentences about what is left out."""

    checks: tuple[DescribedCheck, ...] = ()
    formats: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the catalogue: IDs of checks, and per scan type the names of checks, findings and categories."""

    ids: frozenset[str]
    of_type: frozenset[tuple[str, str]]


@cache
def _catalogue_names() -> _Names:
    checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
    return _Names(
        frozenset(check["id"] for check in checks),
        frozenset((check["type"], check[key]) for check in checks for key in ("name", "found", "category")),
    )


def read_description(data: object, plug_in: InstalledPlugIn) -> Description:
    """Return the description. Raises WrongData."""
    sent = mapping(data, "the description")
    problems: list[str] = []
    checks: list[DescribedCheck] = []
    taken = set(_catalogue_names().of_type)
    for member in items(sent.get("categories"), "the categories", MAX_CHECKS):
        category_data = mapping(member, "a category")
        category_id = text(category_data.get("id"), "the ID of a category")
        if category_id not in dict(plug_in.checks):
            raise WrongData(f"the category {category_id} has no entry point")
        scan_type, category = _category(category_data)
        if (scan_type, category.name) in taken:
            raise WrongData(f"another category of {scan_type} has the name {category.name}")
        for check_data in items(category_data.get("checks"), "the checks", MAX_CHECKS):
            try:
                check = _read_check(mapping(check_data, "a check"), plug_in, category_id, category, scan_type)
            except WrongData as wrong:
                problems.append(f"A check was left out: {wrong}.")
                continue
            names = {(scan_type, check.declaration.name), (scan_type, check.declaration.found)}
            if check.id in {other.id for other in checks} or names & taken:
                problems.append(f"A check was left out: another check has the ID or a name of {check.id}.")
                continue
            taken |= names
            checks.append(check)
    if len(checks) > MAX_CHECKS:
        raise WrongData(f"there are more than {MAX_CHECKS} checks")
    problems += [f"{check.id} cannot run: {check.problem}." for check in checks if check.problem]
    return Description(tuple(checks), tuple(name for name, _ in plug_in.formats), tuple(problems))


def _category(data: Mapping[str, Any]) -> tuple[ScanType, Category]:
    name = text(data.get("name"), "the name of a category", MAX_NAME, may_be_empty=False)
    try:
        scan_type = ScanType(text(data.get("type"), "the type of a category"))
    except ValueError:
        raise WrongData(f"the type of the category {name} is not one of {', '.join(ScanType)}") from None
    return scan_type, Category(name, 0, error_pages=data.get("error_pages") is True)


def _read_check(
    data: Mapping[str, Any], plug_in: InstalledPlugIn, category_id: str, category: Category, scan_type: ScanType
) -> DescribedCheck:
    """Return a check, with a problem if its declaration is wrong. Raises WrongData without a valid ID."""
    check_id = text(data.get("id"), "an ID", MAX_ID)
    if not CHECK_ID.fullmatch(check_id) or not check_id.startswith(f"{plug_in.name}-"):
        raise WrongData(f"the ID {check_id} does not begin with {plug_in.name}- or is no ID")
    if check_id in _catalogue_names().ids:
        raise WrongData(f"the scanner has a check {check_id}")
    evidence: Mapping[str, bool] = {}
    try:
        problem = text(data.get("problem"), "the problem", 500)
        declaration = _declaration(check_id, data)
        evidence = _evidence(data.get("evidence"), scan_type)
    except WrongData as wrong:
        problem, evidence = str(wrong), {}
        outcomes = {"failed": f"{check_id} failed"}
        declaration = Declaration(check_id, name=check_id, outcomes=outcomes, severity=LOW, fix="")
    return DescribedCheck(declaration, scan_type, category_id, category, {} if problem else evidence, problem)


def _evidence(data: object, scan_type: ScanType) -> Mapping[str, bool]:
    evidence = mapping(data, "the evidence")
    if evidence.keys() - EVIDENCE or not all(isinstance(required, bool) for required in evidence.values()):
        raise WrongData("it needs unknown evidence")
    if scan_type is ScanType.SECURITY and OF_BROWSER & evidence.keys():
        raise WrongData("security checks may not use Requests or RenderedPage")
    return evidence


def _declaration(check_id: str, data: Mapping[str, Any]) -> Declaration:
    outcomes = {
        _outcome_name(name): _outcome(outcome)
        for name, outcome in mapping(data.get("outcomes"), "the outcomes", MAX_OUTCOMES).items()
    }
    if not outcomes or template_fields(next(iter(outcomes.values())).title):
        raise WrongData("the first outcome must have a title without values")
    return Declaration(
        check_id,
        name=text(data.get("name"), "the name", MAX_NAME, may_be_empty=False),
        outcomes=outcomes,
        severity=read_severity(data.get("severity")),
        fix=read_fix(data.get("fix")),
        why=text(data.get("why"), "why"),
        consequence=text(data.get("consequence"), "the consequence"),
        judged=text(data.get("judged"), "judged"),
        references=tuple(
            text(reference, "a reference", 500)
            for reference in items(data.get("references"), "the references", MAX_REFERENCES)
        ),
    )


def _outcome_name(value: object) -> str:
    if not OUTCOME.fullmatch(name := text(value, "the name of an outcome", MAX_ID)):
        raise WrongData("the name of an outcome is not one such as too-short")
    return name


def _outcome(data: object) -> Outcome:
    outcome = mapping(data, "an outcome")
    severities = items(outcome.get("severities"), "the severities", 10)
    return Outcome(
        text(outcome.get("title"), "the title of an outcome", MAX_NAME, may_be_empty=False),
        tuple(read_severity(severity) for severity in severities),
        text(outcome.get("consequence"), "the consequence"),
    )
