"""Make the checks of own requirements, as an extension of the catalogue."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.visit import Repetition
from website_scan.catalogue import Category, Check, Declaration, Need, Probe, States, new_check
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.robots import normalised_path
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import SEVERE, NotApplicable
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Page
from website_scan.performance.probes.vitals import repetition
from website_scan.requirements.content_checks import element_check, file_check, header_check, link_check, text_check
from website_scan.requirements.files import OwnFiles, file_probe
from website_scan.requirements.limit_checks import bytes_check, metric_check, requests_check, states_of
from website_scan.requirements.model import (
    CATEGORY_ID,
    CATEGORY_NAME,
    BytesRule,
    ElementRule,
    FileRule,
    HeaderRule,
    Limit,
    LinkRule,
    MetricRule,
    RequestsRule,
    Requirements,
    Rule,
    TextRule,
)
from website_scan.requirements.seen_page import SEEN_PAGE, SEEN_TEXT, SeenPage, SeenText
from website_scan.requirements.wording import CONSEQUENCE, WHY


def repeated_loads(page: Page, document: AccessibleDocument) -> Repetition:
    """Decide whether a page is loaded again if the user has limits for metrics.

    One load is never enough, because a busy machine may have slowed it down beyond such a limit.
    """
    return Repetition(repetition(page, document).needs_another_load, lambda _load: False)


REPETITION = Probe(
    "own_repetition",
    Repetition,
    repeated_loads,
    (Need("page", Page, optional=False), Need("document", AccessibleDocument, optional=False)),
    essential=False,
    applies_to_whole_origin=False,
    needs_idle_network=False,
)
OTHER_PAGES = NotApplicable("The requirement applies to other pages.")


class Kind(NamedTuple):
    """Kind of rules. `check` makes the function of a rule's check."""

    check: Callable[[Any], Callable[..., Verdict]]
    states: States = States.ALL
    # Only the content of HTML pages that are no error pages is judged.
    judges_content: bool = True


KINDS: Mapping[type, Kind] = {
    HeaderRule: Kind(header_check, States.NAVIGATIONS, judges_content=False),
    TextRule: Kind(text_check),
    ElementRule: Kind(element_check),
    FileRule: Kind(file_check, States.NONE, judges_content=False),
    LinkRule: Kind(link_check),
    MetricRule: Kind(metric_check),
    BytesRule: Kind(bytes_check, States.NONE),
    RequestsRule: Kind(requests_check, States.NONE),
}


@lru_cache(maxsize=32)
def extension_of(requirements: Requirements) -> Extension:
    """Return the checks of the requirements, and the probes of their evidence."""
    if not requirements.rules:
        return NO_EXTENSION
    category = Category(CATEGORY_NAME, requirements.weight)
    checks = tuple(_check(rule, category) for rule in requirements.rules)
    files = [rule.condition for rule in requirements.rules if isinstance(rule.condition, FileRule)]
    probes: dict[type, Probe] = {SeenPage: SEEN_PAGE, SeenText: SEEN_TEXT}
    if files:
        probes[OwnFiles] = file_probe(files)
    if any(isinstance(rule.condition, MetricRule) for rule in requirements.rules):
        probes[Repetition] = REPETITION
    return Extension(checks, probes)


def _check(rule: Rule, category: Category) -> Check:
    kind = KINDS[type(rule.condition)]
    is_absent = not isinstance(rule.condition, Limit) and rule.condition.absent
    is_metric = isinstance(rule.condition, MetricRule)
    declared = Declaration(
        rule.check_id,
        name=rule.name,
        outcomes=dict.fromkeys(rule.outcomes, f"Not met: {rule.name}"),
        severity=rule.severity,
        # Each verdict has a fix with the values of the rule.
        fix="Change the page, or the requirement.",
        why=WHY,
        consequence=CONSEQUENCE if rule.severity in SEVERE else "",
        html=kind.judges_content,
        error_pages=not kind.judges_content,
        content=kind.judges_content,
        absence=kind.judges_content and not is_absent and not isinstance(rule.condition, Limit),
        states=states_of(rule.condition.metric) if isinstance(rule.condition, MetricRule) else kind.states,
        measured=is_metric,
    )
    function = _on_pages(kind.check(rule.condition), rule.pages)
    return new_check(declared, rule.type, CATEGORY_ID, category, function)


def _on_pages(judge: Callable[..., Verdict], patterns: tuple[str, ...]) -> Callable[..., Verdict]:
    """Return a function that judges only pages whose address, before or after redirects, matches a pattern."""
    if not patterns:
        return judge
    admitted = Patterns(include=patterns)

    def judge_chosen_pages(own_page: Page, **evidence: object) -> Verdict:
        paths = {normalised_path(target.path) for target in (own_page.requested, own_page.target)}
        return judge(**evidence) if any(map(admitted.admit, paths)) else OTHER_PAGES

    # The catalogue reads the evidence that a function needs from its annotations.
    needed = inspect.get_annotations(judge, eval_str=True)
    judge_chosen_pages.__annotations__ = {"own_page": Page, **needed}
    return judge_chosen_pages
