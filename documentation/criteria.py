"""Generated tables of docs/conformance.md: success criteria, and the checks and axe-core rules that concern them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

from website_scan.accessibility.standards import LEVELS, Standard, SuccessCriterion, success_criteria
from website_scan.report.conformance import checks_by_criterion

Row = tuple[str, ...]

VERSION = "2.2"
# Beginning of a rule in axe-core's source: {id:"image-alt",impact:"critical",…tags:["wcag2a","wcag111",…]
RULE_BEGINS = '{id:"'
# Matches a rule after `RULE_BEGINS`.
RULE = re.compile(r'([\w-]+)",(.*?)tags:\[([^\[\]]*)\]')
CRITERION_TAG = re.compile(r'"wcag(\d)(\d)(\d{1,2})"')
OFF = "enabled:!1"
OFF_BY_TAG = re.compile('"(?:deprecated|experimental)"')
EN_301_549 = {one.number for one in success_criteria().values() if one.is_in(Standard.EN_301_549.wcag_version)}


def criteria(_old_table: str) -> Iterator[Row]:
    """Yield the success criteria of WCAG 2.2 with what automatic checks can decide."""
    yield "criterion", "level", "EN 301 549", "since WCAG", "what automatic checks decide"
    for one in _criteria():
        name = f"[{one.number} {one.name}]({one.url})"
        clause = one.clause(Standard.EN_301_549) if _is_required_in_europe(one) else ""
        yield name, one.level, clause, one.since, one.machine


def checks(_old_table: str) -> Iterator[Row]:
    """Yield the criteria that checks concern, with the checks' IDs, which are those of axe-core's rules."""
    yield "criterion", "level", "checks"
    for one in _criteria():
        ids, rules = checks_by_criterion().get(one.number, ()), axe_rules().get(one.number, ())
        names = [f"`{id}`{'' if id in rules else ' (not tagged in axe-core)'}" for id in ids]
        names += [f"`{id}` (tagged in axe-core only)" for id in rules if id not in ids]
        if names:
            yield f"{one.number} {one.name}", one.level, ", ".join(names)


def numbers(_old_table: str) -> Iterator[Row]:
    """Yield how many criteria checks concern, by level."""
    yield "level", "criteria", "with checks", "without checks"
    total = [0, 0]
    for level in LEVELS:
        of_level = [one for one in _criteria() if one.level == level]
        checked = sum(one.number in checks_by_criterion() for one in of_level)
        total = [total[0] + len(of_level), total[1] + checked]
        yield level, str(len(of_level)), str(checked), str(len(of_level) - checked)
    yield "all", str(total[0]), str(total[1]), str(total[0] - total[1])


@cache
def axe_rules() -> Mapping[str, list[str]]:
    """Return the IDs of axe-core's rules by the criterion of their tags, such as wcag111.

    They include only rules that run in a scan. Reads the source of axe-core, which only generation and tests do.
    """
    # Imported here, because a service without a browser does not need these packages.
    from website_scan.browser.axe import OPTIONS

    source = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    rules: dict[str, list[str]] = {}
    for text in source.split(RULE_BEGINS):
        match = RULE.match(text)
        if match is None:
            continue
        id, attributes, tags = match.groups()
        is_on = OFF not in attributes and not OFF_BY_TAG.search(tags)
        if OPTIONS["rules"].get(id, {}).get("enabled", is_on):
            for parts in CRITERION_TAG.findall(tags):
                rules.setdefault(".".join(parts), []).append(id)
    return {number: sorted(ids) for number, ids in rules.items()}


def _criteria() -> list[SuccessCriterion]:
    return [one for one in success_criteria().values() if one.is_in(VERSION)]


def _is_required_in_europe(one: SuccessCriterion) -> bool:
    return one.number in EN_301_549 and one.level != "AAA"
