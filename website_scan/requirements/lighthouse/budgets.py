"""Translate Lighthouse's budget.json: limits of sizes in KiB, of numbers of requests, and of times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.messages import KIB, excerpt
from website_scan.requirements.lighthouse.numbers import is_limit
from website_scan.requirements.lighthouse.translation import TranslationBuilder, UnreadableFile
from website_scan.requirements.lighthouse.url_patterns import pattern_of_budget
from website_scan.requirements.model import BytesRule, Condition, FileKind, Metric, MetricRule, RequestsRule

UNMEASURED = frozenset({"interactive", "first-meaningful-paint", "max-potential-fid"})
LISTS = ("resourceSizes", "resourceCounts", "timings")
# Lists of hosts that are no third party.
OPTIONS = ("path", "options")


def add_budgets(budgets: list[Any], builder: TranslationBuilder) -> None:
    """Translate all budgets. As in Lighthouse CI, each budget whose path matches a page applies to it.

    Raises UnreadableFile.
    """
    for number, budget in enumerate(budgets, 1):
        if not isinstance(budget, Mapping):
            raise UnreadableFile(f"Budget {number} is not an object.")
        label = f"budget {number}" if len(budgets) > 1 else "the budget"
        path = budget.get("path", "/")
        try:
            pattern = pattern_of_budget(str(path))
        except ValueError as error:
            builder.add_note(label, str(error))
            continue
        for field in budget:
            if field not in (*LISTS, *OPTIONS):
                builder.add_note(f"“{excerpt(str(field), 40)}” of {label}", "budgets of Lighthouse have no such field")
        if budget.get("options"):
            builder.add_note(f"“options” of {label}", "other sites are those of another domain")
        for field in LISTS:
            entries = budget.get(field, [])
            if not isinstance(entries, list):
                raise UnreadableFile(f"“{field}” of {label} is not a list.")
            for entry in entries:
                _add_entry(field, entry, label, (pattern,) if pattern else (), builder)


def _add_entry(field: str, entry: Any, label: str, pages: tuple[str, ...], builder: TranslationBuilder) -> None:
    name = entry.get("metric" if field == "timings" else "resourceType") if isinstance(entry, Mapping) else None
    limit = entry.get("budget") if isinstance(entry, Mapping) else None
    subject = f"“{excerpt(str(name), 40)}” in “{field}” of {label}"
    if not isinstance(name, str) or not is_limit(limit):
        builder.add_note(subject, "it has no name or no limit")
        return
    condition: Condition
    if field == "timings":
        if name in UNMEASURED:
            builder.add_note(subject, "the command does not measure this")
            return
        if name not in list(Metric):
            builder.add_note(subject, "it is not a metric of budgets")
            return
        condition = MetricRule(Metric(name), limit)
    elif name not in list(FileKind):
        builder.add_note(subject, "it is not a kind of files")
        return
    elif field == "resourceSizes":
        condition = BytesRule(FileKind(name), round(limit * KIB))
    else:
        condition = RequestsRule(FileKind(name), int(limit))
    builder.add_limit(condition, pages, is_error=True)
