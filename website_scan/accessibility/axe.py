"""Verdicts from axe-core's results on the rendered page, which override the verdicts of static rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from website_scan.accessibility.wording import first_outcome, sentence, unclear, wording_of
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.catalogue import Check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable, Severity
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Pass, Review, Verdict, Warn, with_values
from website_scan.places import Element
from website_scan.values import Count, Excerpt, Value, Values

SEVERITY_BY_IMPACT = {"critical": CRITICAL, "serious": HIGH, "moderate": MEDIUM, "minor": LOW}
LEVEL_TAG = re.compile(r"wcag2\d?(a{1,3})")
CRITERION_TAG = re.compile(r"wcag(\d)(\d)(\d{1,2})")
BEST_PRACTICE = "best-practice"
# Rules that axe-core reports as incomplete when a page has no readable style sheet, so that nothing needs a review.
NO_REVIEW = frozenset({"css-orientation-lock"})
# Rules that are experimental in axe-core. The first has false positives in the W3C's own tests (ACT 2ee8b8), such as
# icon fonts and abbreviations; the others have them for layout tables and first rows that head all columns.
ONLY_WARNINGS = frozenset({"label-content-name-mismatch", "table-fake-caption", "td-has-header"})
# Start tags of elements that have a native role, whatever their attributes.
NATIVE_ROLE_TAG = re.compile(
    r"<(?:a|article|aside|button|footer|form|h[1-6]|header|input|li|main|nav|ol|select|table|textarea|ul)\b"
)
# Faults with little effect on people, by rule: browsers assume a level and ignore list items without a role; an
# element without a valid role keeps its native role.
MILD_FAULTS: Mapping[str, Callable[[AxeNode], object]] = {
    "aria-required-attr": lambda node: node.why.endswith(": aria-level"),
    "aria-required-children": lambda node: node.why.endswith(": li around the right ones"),
    "aria-roles": lambda node: NATIVE_ROLE_TAG.match(node.snippet),
}
INAPPLICABLE = NotApplicable("The rendered page has nothing to judge.")


def axe_verdict(check: Check, axe: AxeReport) -> Verdict | None:
    """Return axe-core's verdict for the rule with the check's ID. None if axe-core did not run a rule with this ID."""
    if rule := axe.violations.get(check.id):
        wording = wording_of(check.function)
        finding = (Warn if check.id in ONLY_WARNINGS else Fail)(
            first_outcome(check.function),
            f"{sentence(wording.template)}{', in {pairs} of colours ({colours})' if rule.pairs else ''}.",
            severity=_violation_severity(rule, check),
            places=_make_places(rule, wording.place),
            total=rule.count,
        )
        return with_values(finding, wording.values(rule.count) | _colour_values(rule))
    if check.id in axe.incomplete and check.id in NO_REVIEW:
        return INAPPLICABLE
    if rule := axe.incomplete.get(check.id):
        wording = wording_of(check.function)
        review = Review(
            first_outcome(check.function),
            unclear(wording.template),
            places=_make_places(rule, wording.place),
            total=rule.count,
        )
        return with_values(review, wording.values(rule.count))
    if check.id in axe.passes:
        return Pass("axe-core found no fault on the rendered page.")
    return INAPPLICABLE if check.id in axe.inapplicable else None


def severity_of_impact(impact: str, *, is_capped: bool) -> Severity | None:
    """Return the severity for axe-core's impact, at most medium if capped. None for an unknown impact."""
    severity = SEVERITY_BY_IMPACT.get(impact)
    return MEDIUM if is_capped and severity in (CRITICAL, HIGH) else severity


def _violation_severity(rule: AxeRule, check: Check) -> Severity | None:
    """Return axe-core's severity of a violation. None (the check's own severity) if the check does not declare it."""
    is_mild = rule.id in MILD_FAULTS and all(map(MILD_FAULTS[rule.id], rule.nodes))
    severity = severity_of_impact(rule.impact, is_capped=BEST_PRACTICE in rule.tags or is_mild)
    return severity if severity in check.outcome(first_outcome(check.function)).severities else None


def _colour_values(rule: AxeRule) -> dict[str, Value]:
    """Return the pairs of colours as values of the template. One fix for a pair mends all of its elements."""
    if not rule.pairs:
        return {}
    listed = [Excerpt(colours if count == 1 else f"{colours} {count:,} times") for colours, count in rule.pairs]
    return {"pairs": Count(len(rule.pairs), "pair"), "colours": Values(listed)}


def _make_places(rule: AxeRule, place: Callable[..., Element]) -> list[Element]:
    """Return the places of a rule's elements: the first element of each pair of colours before all others."""
    criterion = next((".".join(match.groups()) for tag in rule.tags if (match := CRITERION_TAG.fullmatch(tag))), None)
    level = next((match[1].upper() for tag in rule.tags if (match := LEVEL_TAG.fullmatch(tag))), None)
    first = {node.colours: node for node in reversed(rule.nodes)}.values() if rule.pairs else ()
    return [
        place(
            excerpt(node.selector, 300),
            excerpt(node.snippet, 300),
            why=excerpt(node.why, 300),
            wcag=criterion,
            level=level,
            ancestry=excerpt(node.ancestry, 300),
        )
        for node in sorted(rule.nodes, key=lambda node: node not in first)
    ]
