"""Verdicts from axe-core's results on the rendered page.

They override the verdicts of static rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from website_scan.accessibility.wording import (
    capitalize_clause,
    first_declared_outcome,
    get_wording,
    needs_review_sentence,
)
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.browser.visit import BrowserFailed
from website_scan.catalogue import Check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable, Severity
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Pass, Review, Verdict, Warn, set_values
from website_scan.places import Element
from website_scan.values import Count, Excerpt, Value, Values

SEVERITY_BY_IMPACT = {"critical": CRITICAL, "serious": HIGH, "moderate": MEDIUM, "minor": LOW}
LEVEL_TAG = re.compile(r"wcag2\d?(a{1,3})")
CRITERION_TAG = re.compile(r"wcag(\d)(\d)(\d{1,2})")
BEST_PRACTICE = "best-practice"
# axe-core reports these rules as incomplete only on pages without readable style sheets.
RULES_WITHOUT_REVIEW = frozenset({"css-orientation-lock"})
# Violations of axe-core's experimental rules are warnings. The first rule has false positives in the W3C's tests (ACT
# 2ee8b8), the others for layout tables and for first rows that head all columns.
EXPERIMENTAL_RULES = frozenset({"label-content-name-mismatch", "table-fake-caption", "td-has-header"})
# Start tag of an element that has a native role regardless of its attributes.
NATIVE_ROLE_START_TAG = re.compile(
    r"<(?:a|article|aside|button|footer|form|h[1-6]|header|input|li|main|nav|ol|select|table|textarea|ul)\b"
)
# These faults hardly affect people, because browsers assume a heading level, ignore the item or keep the native role.
IS_MILD_BY_RULE: Mapping[str, Callable[[AxeNode], object]] = {
    "aria-required-attr": lambda node: node.why.endswith(": aria-level"),
    "aria-required-children": lambda node: node.why.endswith(": li around the right ones"),
    "aria-roles": lambda node: NATIVE_ROLE_START_TAG.match(node.snippet),
}
UNFINISHED = "The page is so large that axe-core could not judge all of it in time."
# Faults that affect only older browsers, by axe-core rule.
OLDER_BROWSERS: Mapping[str, tuple[str, str]] = {
    "scrollable-region-focusable": (
        "older-browsers",
        "cannot be scrolled by keyboard in older browsers, such as Chromium before version 130",
    )
}
INAPPLICABLE = NotApplicable("The rendered page has nothing to judge.")


def axe_verdict(check: Check, axe: AxeReport) -> Verdict | None:
    """Return the verdict of the axe-core rule with the check's ID.

    None if axe-core did not run a rule with this ID, or did not finish it, and the check can judge the markup instead.
    Raises `BrowserFailed` for an unfinished rule that only axe-core can judge.
    """
    if rule := axe.violations.get(check.id):
        wording = get_wording(check.function)
        finding = (Warn if check.id in EXPERIMENTAL_RULES else Fail)(
            first_declared_outcome(check.function),
            f"{capitalize_clause(wording.template)}{', in {pairs} of colours ({colours})' if rule.pairs else ''}.",
            severity=_violation_severity(rule, check),
            places=_make_places(rule, wording.place),
            total=rule.count,
        )
        return set_values(finding, wording.values(rule.count) | _colour_values(rule))
    if check.id in axe.incomplete and check.id in RULES_WITHOUT_REVIEW:
        return INAPPLICABLE
    if rule := axe.incomplete.get(check.id):
        wording = get_wording(check.function)
        if check.id in OLDER_BROWSERS:
            outcome, predicate = OLDER_BROWSERS[check.id]
            wording = replace(wording, predicate=predicate)
            places = _make_places(rule, wording.place)
            warning = Warn(outcome, f"{capitalize_clause(wording.template)}.", places=places, total=rule.count)
            return set_values(warning, wording.values(rule.count))
        review = Review(
            first_declared_outcome(check.function),
            needs_review_sentence(wording.template),
            places=_make_places(rule, wording.place),
            total=rule.count,
        )
        return set_values(review, wording.values(rule.count))
    if check.id in axe.passes:
        return Pass("axe-core found no fault on the rendered page.")
    if check.id in axe.unfinished and any(need.evidence is AxeReport for need in check.needs):
        raise BrowserFailed(UNFINISHED)
    return INAPPLICABLE if check.id in axe.inapplicable else None


def map_impact_to_severity(impact: str, *, is_capped: bool) -> Severity | None:
    """Return the severity for an axe-core impact.

    It is at most medium if `is_capped`. None for an unknown impact.
    """
    severity = SEVERITY_BY_IMPACT.get(impact)
    return MEDIUM if is_capped and severity in (CRITICAL, HIGH) else severity


def _violation_severity(rule: AxeRule, check: Check) -> Severity | None:
    """Return the severity of an axe-core violation.

    None, for the default severity, if the check does not declare the severity.
    """
    has_only_mild_faults = rule.id in IS_MILD_BY_RULE and all(map(IS_MILD_BY_RULE[rule.id], rule.nodes))
    severity = map_impact_to_severity(rule.impact, is_capped=BEST_PRACTICE in rule.tags or has_only_mild_faults)
    return severity if severity in check.outcome(first_declared_outcome(check.function)).severities else None


def _colour_values(rule: AxeRule) -> dict[str, Value]:
    """Return pairs of text and background colours for the template."""
    if not rule.pairs:
        return {}
    listed = [Excerpt(colours if count == 1 else f"{colours} {count:,} times") for colours, count in rule.pairs]
    return {"pairs": Count(len(rule.pairs), "pair"), "colours": Values(listed)}


def _make_places(rule: AxeRule, place: Callable[..., Element]) -> list[Element]:
    """Return the places of a rule's elements.

    The first element of every colour pair comes first.
    """
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
            page_width=node.width,
            ancestry=excerpt(node.ancestry, 300),
        )
        for node in sorted(rule.nodes, key=lambda node: node not in first)
    ]
