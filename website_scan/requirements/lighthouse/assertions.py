"""Translate the assertions of Lighthouse CI's lighthouserc.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from website_scan.check_outcomes import outcomes_by_check
from website_scan.messages import excerpt
from website_scan.requirements.lighthouse.audits import PRESETS, Audits, audits, preset
from website_scan.requirements.lighthouse.numbers import PASSING_SCORE, is_limit, value_of_score
from website_scan.requirements.lighthouse.translation import TranslationBuilder, UnreadableFile
from website_scan.requirements.lighthouse.url_patterns import pattern_of_expression
from website_scan.requirements.model import BytesRule, Condition, FileKind, RequestsRule

LEVELS = ("off", "warn", "error")
OPTIONS = ("minScore", "maxNumericValue", "maxLength", "aggregationMethod")
WHOLE_SITE = "conditions of the gate apply to all pages"
# Lighthouse's own aggregation of several loads is the same as ours: the best of them counts.
BEST_LOAD = (None, "optimistic")
UPPER = re.compile(r"[A-Z]")


def add_assertions(section: Mapping[str, Any], builder: TranslationBuilder) -> None:
    """Translate `ci.assert`. Raises UnreadableFile."""
    matrix = section.get("assertMatrix")
    if matrix is not None and not isinstance(matrix, list):
        raise UnreadableFile("“assertMatrix” is not a list.")
    for group in [section] if matrix is None else matrix:
        if not isinstance(group, Mapping):
            raise UnreadableFile("An entry of “assertMatrix” is not an object.")
        _add_group(group, builder)
    if section.get("budgetsFile"):
        builder.add_note("“budgetsFile”", "it is another file; translate it with --budget, too")


def _add_group(group: Mapping[str, Any], builder: TranslationBuilder) -> None:
    pages: tuple[str, ...] = ()
    expression = group.get("matchingUrlPattern")
    if expression is not None:
        label = f"the group for {excerpt(str(expression), 60)}"
        try:
            pattern = pattern_of_expression(str(expression))
        except ValueError as error:
            builder.add_note(label, str(error))
            return
        pages = (pattern,) if pattern else ()
    raw = group.get("assertions", {})
    if not isinstance(raw, Mapping):
        raise UnreadableFile("“assertions” is not an object.")
    assertions: dict[str, Any] = {}
    if (name := group.get("preset")) is not None:
        if name in PRESETS:
            assertions |= preset(name)
        else:
            builder.add_note(f"preset {excerpt(str(name), 40)}", f"Lighthouse CI has only {', '.join(PRESETS)}")
    for audit, value in raw.items():
        name = str(audit).replace(".", ":")
        assertions[name] = _merged(assertions.get(name), value)
    for audit, value in assertions.items():
        _Assertion(audit, pages, builder, group.get("aggregationMethod")).add(value)


def _merged(of_preset: Any, value: Any) -> Any:
    """Return the assertion of a file over that of a preset. As in Lighthouse CI, it keeps options of the preset."""
    if _is_pair(of_preset) and _is_pair(value) and isinstance(value[1], Mapping):
        return value[0], {**of_preset[1], **value[1]}
    return value


class _Assertion:
    """Assertion about one audit on the pages of its group."""

    def __init__(self, audit: str, pages: tuple[str, ...], builder: TranslationBuilder, method: object) -> None:
        self._audit = audit
        self._pages = pages
        self._builder = builder
        self._method = method
        self._label = f"assertion {excerpt(audit, 60)}"
        self._is_error = False
        self._options: Mapping[str, Any] = {}

    def add(self, value: Any) -> None:
        level, options = (value, {}) if isinstance(value, str) else (value if _is_pair(value) else (None, None))
        if not isinstance(options, Mapping):
            self._note("it is neither a level nor a level with options")
            return
        if level not in LEVELS:
            self._builder.add_remark(
                f"{self._label} has the unknown level {json.dumps(level)[:40]}, which is a warning"
            )
        if level == "off":
            return
        self._is_error, self._options = level == "error", options
        for option in options:
            if option not in OPTIONS:
                self._note(f"its option {excerpt(str(option), 40)} is unknown")
                return
        method = options.get("aggregationMethod", self._method)
        self._add_known(audits())
        if method not in BEST_LOAD:
            self._builder.add_remark(
                f"aggregationMethod {json.dumps(method)[:40]} is not translated, because the best load of a page counts"
            )

    def _add_known(self, table: Audits) -> None:
        audit, _, part = self._audit.partition(":")
        if audit == "categories":
            self._add_category(table, part)
        elif audit == "resource-summary" and part:
            self._add_files(part)
        elif part:
            self._note("only categories and resource-summary have parts that are translated")
        elif audit in table.numbers:
            self._add_number(table)
        elif audit in table.outcomes:
            self._add_outcomes(table)
        elif UPPER.search(audit):
            self._note("Lighthouse's audits have names in lower case, so it has no effect there either")
        else:
            self._note(table.reasons.get(audit, "Lighthouse has no such audit"))

    def _add_category(self, table: Audits, category: str) -> None:
        score = self._options.get("minScore", PASSING_SCORE)
        scan_type = table.categories.get(category)
        if scan_type is None:
            self._note(table.reason_of_categories)
        elif not is_limit(score) or score > 1:
            self._note("its minScore is not a number from 0 to 1")
        elif self._pages:
            self._note(WHOLE_SITE)
        elif not self._is_error:
            self._note("a score can only fail the gate, not warn")
        else:
            self._builder.under[scan_type] = round(100 * score)

    def _add_files(self, part: str) -> None:
        kind, _, what = part.partition(":")
        limit = self._options.get("maxNumericValue")
        if kind not in list(FileKind) or what not in ("size", "count") or not is_limit(limit):
            self._note("it needs a kind of files, size or count, and maxNumericValue")
            return
        condition: Condition = BytesRule(FileKind(kind), round(limit))
        if what == "count":
            condition = RequestsRule(FileKind(kind), int(limit))
        self._add_limit(condition)

    def _add_number(self, table: Audits) -> None:
        number = table.numbers[self._audit]
        largest = self._options.get("maxNumericValue")
        score = self._options.get("minScore", None if "maxNumericValue" in self._options else PASSING_SCORE)
        values = [value for value in (largest, score) if value is not None]
        if "maxLength" in self._options or not values or not all(map(is_limit, values)):
            self._note("only minScore and maxNumericValue limit a number")
            return
        limits = [] if largest is None else [largest]
        limits += [] if score is None else [value_of_score(score, number.good, number.median)]
        if is_limit(min(limits)):
            self._add_limit(number.limit(min(limits)))

    def _add_outcomes(self, table: Audits) -> None:
        names = [outcome for name in table.outcomes[self._audit] for outcome in _outcomes(name)]
        options = {name: value for name, value in self._options.items() if name != "aggregationMethod"}
        if options.get("minScore") == 0:
            return
        if "maxNumericValue" in options or options.get("maxLength", 0) != 0:
            self._note("the gate fails for a finding, not for the number of its places or for saved milliseconds")
        elif "minScore" in options and not is_limit(options["minScore"]):
            self._note("its minScore is not a number from 0 to 1")
        elif self._is_error and self._audit in table.never_failing and "maxLength" not in options:
            self._note(table.reason_of_never_failing.format(names=", ".join(names)))
        elif self._is_error and self._pages:
            self._note(WHOLE_SITE)
        elif self._is_error:
            # As a warning, findings are in the report anyway.
            self._builder.add_outcomes(tuple(names))

    def _add_limit(self, condition: Condition) -> None:
        self._builder.add_limit(condition, self._pages, is_error=self._is_error)

    def _note(self, reason: str) -> None:
        self._builder.add_note(self._label, reason)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _outcomes(name: str) -> list[str]:
    """Return the outcome, or all outcomes of a check."""
    if "." in name:
        return [name]
    return [f"{name}.{outcome}" for outcome in outcomes_by_check()[name]]
