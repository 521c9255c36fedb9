"""What files of Lighthouse are translated to: own requirements, and conditions of the gate."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from website_scan.findings import HIGH, LOW, ScanType
from website_scan.requirements.model import (
    MAX_NAME_CHARACTERS,
    MAX_RULES,
    NO_REQUIREMENTS,
    BytesRule,
    Condition,
    FileKind,
    Metric,
    MetricRule,
    RequestsRule,
    Requirements,
    Rule,
)


class UnreadableFile(ValueError):
    """Raised for a file that is no file of Lighthouse. The message is a sentence without the file's name."""


class Translation(Struct, frozen=True):
    """Translated file.

    `under` maps scan types to the lowest passing score. `outcomes` fail the gate. `notes` say what is not translated,
    each as a clause such as “audit interactive is not translated, because …”.
    """

    requirements: Requirements = NO_REQUIREMENTS
    under: Mapping[str, int] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


METRIC_NAMES: Mapping[Metric, str] = {
    Metric.FIRST_CONTENTFUL_PAINT: "First contentful paint",
    Metric.LARGEST_CONTENTFUL_PAINT: "Largest contentful paint",
    Metric.TOTAL_BLOCKING_TIME: "Total blocking time",
    Metric.CUMULATIVE_LAYOUT_SHIFT: "Cumulative layout shift",
    Metric.SPEED_INDEX: "Speed index",
    Metric.SERVER_RESPONSE_TIME: "Server response time",
    Metric.MAIN_THREAD_TIME: "Main-thread time",
    Metric.SCRIPT_TIME: "Script time",
    Metric.DOM_ELEMENTS: "Number of elements",
}
FILE_NAMES: Mapping[FileKind, str] = {
    FileKind.TOTAL: "all files",
    FileKind.DOCUMENT: "documents",
    FileKind.SCRIPT: "scripts",
    FileKind.STYLESHEET: "style sheets",
    FileKind.IMAGE: "images",
    FileKind.FONT: "fonts",
    FileKind.MEDIA: "media",
    FileKind.OTHER: "other files",
    FileKind.THIRD_PARTY: "files of other sites",
}


class TranslationBuilder:
    """Collects the parts of a translation."""

    def __init__(self) -> None:
        self.under: dict[str, int] = {}
        self._outcomes: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._rules: dict[tuple[str, tuple[str, ...]], Rule] = {}

    def add_note(self, subject: str, reason: str) -> None:
        self._notes[f"{subject} is not translated, because {reason}"] = None

    def add_remark(self, clause: str) -> None:
        """Add a note about something that is translated with a difference."""
        self._notes[clause] = None

    def add_outcomes(self, names: tuple[str, ...]) -> None:
        self._outcomes.update(dict.fromkeys(names))

    def add_limit(self, condition: Condition, pages: tuple[str, ...], *, is_error: bool) -> None:
        """Add a rule. Only one that `is_error` fails the gate."""
        name = _limit_name(condition)
        if len(self._rules) >= MAX_RULES:
            self.add_note(f"“{name}”", f"a set may have at most {MAX_RULES} rules")
            return
        key = (name, pages)
        rule = Rule(
            self._unique_name(name, pages) if key not in self._rules else self._rules[key].name,
            condition,
            ScanType.PERFORMANCE,
            HIGH if is_error else LOW,
            pages,
        )
        self._rules[key] = rule
        names = tuple(f"{rule.check_id}.{outcome}" for outcome in rule.outcomes)
        for outcome in names:
            self._outcomes.pop(outcome, None)
        if is_error:
            self.add_outcomes(names)

    def build(self) -> Translation:
        return Translation(
            Requirements(tuple(self._rules.values())), self.under, tuple(self._outcomes), tuple(self._notes)
        )

    def _unique_name(self, name: str, pages: tuple[str, ...]) -> str:
        taken = {rule.check_id for rule in self._rules.values()}
        where = pages[0].replace("{", "").replace("}", "") if pages else ""
        whole = f"{name} on {where}"[:MAX_NAME_CHARACTERS].strip() if where else name
        number = 2
        while Rule(whole, MetricRule(Metric.SPEED_INDEX, 0), ScanType.PERFORMANCE).check_id in taken:
            suffix = f" ({number})"
            whole = f"{name} on {where}"[: MAX_NAME_CHARACTERS - len(suffix)].strip() + suffix
            number += 1
        return whole


def _limit_name(condition: Condition) -> str:
    if isinstance(condition, MetricRule):
        return METRIC_NAMES[condition.metric]
    if isinstance(condition, BytesRule):
        return f"Size of {FILE_NAMES[condition.bytes]}"
    assert isinstance(condition, RequestsRule)
    return f"Number of {FILE_NAMES[condition.requests]}"
