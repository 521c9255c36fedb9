"""Read what a plug-in declares: JSON from its process, which is data from outside.

A check with a wrong declaration could not run in scans. One without a valid ID is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from website_scan.catalogue import Category, Check, Declaration, new_check
from website_scan.findings import LOW, NotApplicable, ScanType
from website_scan.outcomes import Outcome, Verdict
from website_scan.plugins.installed import InstalledPlugIn
from website_scan.plugins.json_checking import WrongData, items, mapping, one_line, text
from website_scan.plugins.verdicts import read_fix, read_severity
from website_scan.report.references import reference
from website_scan.values import template_fields

MAX_CHECKS = 100
MAX_OUTCOMES = 30
MAX_REFERENCES = 20
MAX_NAME = 120
MAX_PROBLEM = 500
CHECK_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
MAX_ID = 80  # The database has at most this many characters for the ID of a check.
OUTCOME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
EVIDENCE = frozenset({"page", "document", "requests", "rendered", "network"})
OF_BROWSER = frozenset({"requests", "rendered"})


class DescribedCheck(Struct, frozen=True):
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


class Description(Struct, frozen=True):
    """What a plug-in declares.

    `formats` are those that can be used. `problems` are sentences about what is left out.
    """

    checks: tuple[DescribedCheck, ...] = ()
    formats: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class _Names(Struct, frozen=True):
    """Names of the catalogue: IDs of checks, and what has a name or title in reports of a scan type."""

    ids: frozenset[str]
    owners: Mapping[tuple[str, str], str]


@cache
def _catalogue_names() -> _Names:
    checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
    owners = {(check["type"], check["category"]): "a category of the scanner" for check in checks}
    owners |= {(check["type"], check[key]): check["id"] for check in checks for key in ("name", "found")}
    return _Names(frozenset(check["id"] for check in checks), owners)


def read_description(data: object, plug_in: InstalledPlugIn) -> Description:
    """Return the description. Raises WrongData."""
    sent = mapping(data, "the description")
    problems = [one_line(str(problem), MAX_PROBLEM) for problem in items(sent.get("problems"), "the problems", 100)]
    checks: list[DescribedCheck] = []
    owners = dict(_catalogue_names().owners)
    for member in items(sent.get("categories"), "the categories", MAX_CHECKS):
        category_data = mapping(member, "a category")
        category_id = text(category_data.get("id"), "the ID of a category")
        if category_id not in dict(plug_in.checks):
            raise WrongData(f"the category {category_id} has no entry point")
        scan_type, category = _category(category_data)
        if owner := owners.get((scan_type, category.name)):
            raise WrongData(f"the category has the name “{category.name}”, which {owner} has already")
        for check_data in items(category_data.get("checks"), "the checks", MAX_CHECKS):
            try:
                check = _read_check(mapping(check_data, "a check"), plug_in, category_id, category, scan_type)
                _refuse_taken_names(check, checks, owners)
            except WrongData as wrong:
                problems.append(f"A check was left out: {wrong}.")
                continue
            owners |= {(scan_type, title): check.id for title in _titles(check)}
            checks.append(check)
    if len(checks) > MAX_CHECKS:
        raise WrongData(f"there are more than {MAX_CHECKS} checks")
    problems += [f"{check.id} cannot run: {check.problem}." for check in checks if check.problem]
    usable = [name for name in items(sent.get("formats"), "the formats", MAX_CHECKS) if name in dict(plug_in.formats)]
    return Description(tuple(checks), tuple(usable), tuple(problems))


def _titles(check: DescribedCheck) -> tuple[str, str]:
    return check.declaration.name, check.declaration.found


def _refuse_taken_names(
    check: DescribedCheck, others: Sequence[DescribedCheck], owners: Mapping[tuple[str, str], str]
) -> None:
    """Raise WrongData for an ID or a title of another check. Reports without IDs distinguish findings by titles."""
    if check.id in {other.id for other in others}:
        raise WrongData(f"two checks have the ID {check.id}")
    for title in _titles(check):
        if owner := owners.get((check.type, title)):
            raise WrongData(f"{check.id} has the title “{title}”, which {owner} has already")


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
        form = f"{plug_in.name}- and words of the characters a to z and 0 to 9 with dashes"
        raise WrongData(f"“{check_id}” is no ID, because IDs are {form}")
    if check_id in _catalogue_names().ids:
        raise WrongData(f"the scanner has a check {check_id}")
    evidence: Mapping[str, bool] = {}
    try:
        problem = text(data.get("problem"), "the problem", MAX_PROBLEM)
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
        for name, outcome in mapping(data.get("outcomes"), "outcomes", MAX_OUTCOMES).items()
    }
    if not outcomes:
        raise WrongData("outcomes is empty")
    if template_fields(next(iter(outcomes.values())).title):
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
        references=_references(data.get("references")),
    )


def _references(data: object) -> tuple[str, ...]:
    if isinstance(data, str):
        raise WrongData('references must be a tuple or list of texts, such as ("CWE-319",)')
    references = tuple(text(member, "a reference", 500) for member in items(data, "references", MAX_REFERENCES))
    for member in references:
        if member.startswith("http:") or reference(member).url is None:
            forms = "such as “RFC 6797, section 6.1” or “CWE-319”, and no https address"
            raise WrongData(f"the reference “{member}” is no name of a standard {forms}")
    return references


def _outcome_name(value: object) -> str:
    if not OUTCOME.fullmatch(name := text(value, "the name of an outcome", MAX_ID)):
        suggestion = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        raise WrongData(f"“{name}” is no name; write {suggestion if OUTCOME.fullmatch(suggestion) else 'too-short'}")
    return name


def _outcome(data: object) -> Outcome:
    outcome = mapping(data, "an outcome")
    severities = items(outcome.get("severities"), "the severities", 10)
    return Outcome(
        text(outcome.get("title"), "the title of an outcome", MAX_NAME, may_be_empty=False),
        tuple(read_severity(severity) for severity in severities),
        text(outcome.get("consequence"), "the consequence"),
    )
