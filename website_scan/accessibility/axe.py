"""Findings from axe-core's results on the rendered page. Where axe-core has a result, it decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from website_scan.accessibility.verdicts import places
from website_scan.accessibility.wording import review_title, sentence, unclear, wording_of
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check
from website_scan.findings import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    NotApplicable,
    Pass,
    Severity,
    Warn,
)
from website_scan.messages import counted, excerpt, some

IMPACTS = {"critical": CRITICAL, "serious": HIGH, "moderate": MEDIUM, "minor": LOW}
LEVELS = re.compile(r"wcag2\d?(a{1,3})")
CRITERIA = re.compile(r"wcag(\d)(\d)(\d{1,2})")
BEST_PRACTICE = "best-practice"
# axe-core reports these as incomplete when it found no style sheet to read: there is nothing to review.
NEVER_REVIEWED = frozenset({"css-orientation-lock"})
# Experimental in axe-core. The first is wrong on pages of the W3C's own tests (ACT 2ee8b8), such as icon fonts and
# abbreviations; the others where a table only lays out the page, or its first row is a header of all columns.
NEVER_CERTAIN = frozenset({"label-content-name-mismatch", "table-fake-caption", "td-has-header"})
# Start tags of elements with a role by themselves, whatever their attributes.
WITH_OWN_ROLE = re.compile(
    r"<(?:a|article|aside|button|footer|form|h[1-6]|header|input|li|main|nav|ol|select|table|textarea|ul)\b"
)
# Faults that harm people little, by rule: browsers assume a level, and look through list items; an element without a
# valid role keeps its own.
MILD: Mapping[str, Callable[[AxeNode], object]] = {
    "aria-required-attr": lambda node: node.why.endswith(": aria-level"),
    "aria-required-children": lambda node: node.why.endswith(": li around the right ones"),
    "aria-roles": lambda node: WITH_OWN_ROLE.match(node.snippet),
}
INAPPLICABLE = NotApplicable("The rendered page has nothing to judge.")


def axe_verdict(check: Check, axe: AxeReport) -> Finding | None:
    """Return axe-core's result for the rule with the check's ID. None if axe-core has no such rule or has it off."""
    if rule := axe.violations.get(check.id):
        return (Warn if check.id in NEVER_CERTAIN else Fail)(
            f"{sentence(_clause(check, rule))}{_pairs(rule)}{_places(check, rule)}.",
            severity=_severity(rule, check.severity),
            evidence=_evidence(rule),
        )
    if check.id in axe.incomplete and check.id in NEVER_REVIEWED:
        return INAPPLICABLE
    if rule := axe.incomplete.get(check.id):
        return Warn(
            f"{unclear(_clause(check, rule))}{_places(check, rule)}.",
            # Not a finding yet, so it costs no points.
            severity=LOW,
            evidence=_evidence(rule),
            weighs=False,
            title=review_title(check.function),
        )
    if check.id in axe.passes:
        return Pass("axe-core found no fault on the rendered page.")
    return INAPPLICABLE if check.id in axe.inapplicable else None


def _clause(check: Check, rule: AxeRule) -> str:
    return wording_of(check.function).clause(rule.count)


def _pairs(rule: AxeRule) -> str:
    """Return the pairs of colours, each of which takes one fix for all of its elements."""
    if not rule.pairs:
        return ""
    listed = some([f"{colours} ({counted(count, 'element')})" for colours, count in rule.pairs])
    return f", in {counted(len(rule.pairs), 'pair')} of colours: {listed}. Examples"


def _places(check: Check, rule: AxeRule) -> str:
    """Return the first elements; if there are pairs of colours, the first of each. Empty if the whole page lacks it."""
    if check.absence and [node.selector for node in rule.nodes] == ["html"]:
        return ""
    of_pairs = {node.colours: node for node in reversed(rule.nodes)}
    nodes = [of_pairs[colours] for colours, _ in rule.pairs if colours in of_pairs] or rule.nodes
    return f": {places(((node.snippet, node.selector) for node in nodes), rule.count)}"


def _severity(rule: AxeRule, declared: Severity) -> Severity:
    severity = IMPACTS.get(rule.impact, declared)
    is_mild = rule.id in MILD and all(map(MILD[rule.id], rule.nodes))
    if (BEST_PRACTICE in rule.tags or is_mild) and severity in (CRITICAL, HIGH):
        return MEDIUM
    return severity


def _evidence(rule: AxeRule) -> list[EvidenceItem]:
    criterion = next((".".join(match.groups()) for tag in rule.tags if (match := CRITERIA.fullmatch(tag))), None)
    level = next((match[1].upper() for tag in rule.tags if (match := LEVELS.fullmatch(tag))), None)
    return [
        {
            "selector": excerpt(node.selector, 300),
            "ancestry": excerpt(node.ancestry, 300),
            "snippet": excerpt(node.snippet, 300),
            "why": excerpt(node.why, 300),
            "wcag": criterion,
            "level": level,
        }
        for node in rule.nodes
    ]
