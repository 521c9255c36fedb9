"""Validate the JSON form of own requirements, which comes from users of the API and from files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from website_scan.crawl.discovery.patterns import pattern_fault
from website_scan.findings import MEDIUM, ScanType, Severity
from website_scan.journeys.fields import did_you_mean
from website_scan.journeys.rules import UNPRINTABLE
from website_scan.messages import excerpt
from website_scan.requirements.model import (
    MAX_FILE_RULES,
    MAX_NAME_CHARACTERS,
    MAX_RULES,
    MAX_WEIGHT,
    BytesRule,
    Condition,
    ElementRule,
    FileKind,
    FileRule,
    HeaderRule,
    LinkRule,
    Metric,
    MetricRule,
    RequestsRule,
    Requirements,
    Rule,
    TextRule,
)
from website_scan.requirements.selectors import parse_selector

MAX_TEXT_CHARACTERS = 300
MAX_HEADER_NAME_CHARACTERS = 100
MAX_PATTERNS = 10
MAX_PATTERN_CHARACTERS = 200
MAX_LIMIT = 1e12
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
PATH = re.compile(r"/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]*")
ADDRESS = re.compile(r"(?:/(?!/)|\*|https?://|mailto:|tel:)\S*", re.IGNORECASE)
E = TypeVar("E", bound=StrEnum)


class InvalidRule(ValueError):
    """Raised for an invalid rule. The message is a sentence that names the rule and the field.

    `number` is the position of the rule, from 1. `sentence` has no name of the rule and of `field` at its beginning.
    `field` is empty if the sentence is about the whole rule.
    """

    def __init__(self, number: int, name: str, field: str, sentence: str) -> None:
        rule = f"Rule {number} (“{name}”)" if name else f"Rule {number}"
        super().__init__(f"{rule}: “{field}” {sentence}" if field else f"{rule}: {sentence}")
        self.number, self.field, self.sentence = number, field, sentence


def read_requirements(data: object) -> Requirements:
    """Return the set. Raises ValueError, whose message is a sentence, and InvalidRule for a fault of one rule."""
    if not isinstance(data, Mapping):
        raise ValueError("Requirements must be an object with a list of rules.")  # noqa: TRY004 -- one error for all
    for name in data:
        if name not in ("rules", "weight"):
            raise ValueError(f"“{_quoted(name)}” is not a field of requirements; these are rules and weight.")
    weight = data.get("weight", 0)
    if isinstance(weight, bool) or not isinstance(weight, int) or not 0 <= weight <= MAX_WEIGHT:
        raise ValueError(f"“weight” must be a whole number from 0 to {MAX_WEIGHT}.")
    raw = data.get("rules")
    if not isinstance(raw, list):
        raise ValueError("“rules” must be a list of rules.")  # noqa: TRY004 -- one error for all
    if len(raw) > MAX_RULES:
        raise ValueError(f"There may be at most {MAX_RULES} rules; these are {len(raw):,}.")
    rules = tuple(_Fields(rule, number).rule() for number, rule in enumerate(raw, 1))
    if sum(isinstance(rule.condition, FileRule) for rule in rules) > MAX_FILE_RULES:
        raise ValueError(f"At most {MAX_FILE_RULES} rules may have “file”.")
    _refuse_equal_names(rules)
    return Requirements(rules, weight)


def joined(first: Requirements, second: Requirements) -> Requirements:
    """Return a set with the rules of both, and the larger weight.

    Raises ValueError, whose message is a sentence, if two rules have the same name or there are too many.
    """
    rules = [*first.json()["rules"], *second.json()["rules"]]
    return read_requirements({"rules": rules, "weight": max(first.weight, second.weight)})


def _refuse_equal_names(rules: Iterable[Rule]) -> None:
    names: dict[str, str] = {}
    for number, rule in enumerate(rules, 1):
        if (other := names.get(rule.check_id)) is not None:
            fault = "is the name of another rule" if other == rule.name else f"is too similar to the name “{other}”"
            raise InvalidRule(number, rule.name, "name", f"{fault}.")
        names[rule.check_id] = rule.name


class _Fields:
    """Fields of one rule.

    Each method raises InvalidRule.
    """

    def __init__(self, data: object, number: int) -> None:
        self._number, self._rule_name = number, ""
        if not isinstance(data, Mapping):
            self._refuse("must be an object.")
        self._data: Mapping[object, Any] = data
        self._used: set[object] = set()

    def rule(self) -> Rule:
        self._rule_name = name = self._name()
        kinds = [kind for kind in KINDS if kind in self._data]
        if len(kinds) != 1:
            what = f"has {' and '.join(kinds)}" if kinds else "has none"
            self._refuse(f"must have exactly one of {', '.join(KINDS)}; it {what}.")
        read, default_type = KINDS[kinds[0]]
        condition = read(self)
        severity = self._choice("severity", Severity, MEDIUM)
        scan_type = self._choice("type", ScanType, default_type)
        if default_type is ScanType.PERFORMANCE and scan_type is not default_type:
            self._refuse_field("type", f"must be performance for {kinds[0]}")
        pages = self._pages()
        for field in self._data:
            if field not in self._used:
                self._refuse_unknown(field, kinds[0])
        return Rule(name, condition, scan_type, severity, pages)

    def header(self) -> HeaderRule:
        header = self._text("header", MAX_HEADER_NAME_CHARACTERS)
        if HEADER_NAME.fullmatch(header) is None:
            self._refuse_field("header", "is not the name of a header, such as X-Frame-Options")
        equals = self._text("equals", MAX_TEXT_CHARACTERS) if "equals" in self._data else None
        matches = self._text("matches", MAX_TEXT_CHARACTERS) if "matches" in self._data else None
        if equals is not None and matches is not None:
            self._refuse_field("equals", "and “matches” exclude each other")
        return HeaderRule(header, equals, matches, self._absent())

    def text(self) -> TextRule:
        text = self._text("text", MAX_TEXT_CHARACTERS)
        if not text.strip("* "):
            self._refuse_field("text", "must have a character other than *")
        return TextRule(text, self._absent())

    def element(self) -> ElementRule:
        selector = self._text("element", MAX_TEXT_CHARACTERS)
        try:
            parse_selector(selector)
        except ValueError as error:
            self._refuse_field("element", str(error))
        return ElementRule(selector, self._absent())

    def file(self) -> FileRule:
        path = self._text("file", MAX_TEXT_CHARACTERS)
        if PATH.fullmatch(path) is None or path.startswith("//"):
            self._refuse_field(
                "file", "must be a path on the site that starts with /, such as /.well-known/security.txt"
            )
        return FileRule(path, self._absent())

    def link(self) -> LinkRule:
        link = self._text("link", MAX_TEXT_CHARACTERS)
        if ADDRESS.fullmatch(link) is None:
            self._refuse_field("link", "must be an address such as /imprint, https://example.com/* or tel:+49*")
        return LinkRule(link, self._absent())

    def metric(self) -> MetricRule:
        return MetricRule(self._choice("metric", Metric), self._at_most(is_whole=False))

    def bytes(self) -> BytesRule:
        return BytesRule(self._choice("bytes", FileKind), self._at_most(is_whole=True))

    def requests(self) -> RequestsRule:
        return RequestsRule(self._choice("requests", FileKind), self._at_most(is_whole=True))

    def _name(self) -> str:
        name = " ".join(self._text("name", MAX_NAME_CHARACTERS).split())
        if "{" in name or "}" in name:
            self._refuse_field("name", "must not contain { or }")
        return name

    def _pages(self) -> tuple[str, ...]:
        self._used.add("pages")
        patterns = self._data.get("pages", [])
        if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
            self._refuse_field("pages", "must be a list of patterns, such as /shop/*")
        if len(patterns) > MAX_PATTERNS:
            self._refuse_field("pages", f"may have at most {MAX_PATTERNS} patterns")
        for pattern in patterns:
            if len(pattern) > MAX_PATTERN_CHARACTERS:
                self._refuse_field("pages", f"has a pattern of more than {MAX_PATTERN_CHARACTERS} characters")
            if fault := pattern_fault(pattern):
                self._refuse_field("pages", f"has the pattern “{_quoted(pattern)}”. {fault.removesuffix('.')}")
        return tuple(dict.fromkeys(patterns))

    def _absent(self) -> bool:
        self._used.add("absent")
        absent = self._data.get("absent", False)
        if not isinstance(absent, bool):
            self._refuse_field("absent", "must be true or false")
        return absent

    def _at_most(self, *, is_whole: bool) -> float:
        self._used.add("at_most")
        limit = self._data.get("at_most")
        kinds = int if is_whole else (int, float)
        what = "a whole number" if is_whole else "a number"
        if isinstance(limit, bool) or not isinstance(limit, kinds):
            self._refuse_field("at_most", f"must be {what}")
        if not 0 <= limit <= MAX_LIMIT:  # False for NaN, too
            self._refuse_field("at_most", f"must be {what} from 0 to {MAX_LIMIT:,.0f}")
        return limit

    def _choice(self, field: str, choices: type[E], default: E | None = None) -> E:
        self._used.add(field)
        value = self._data.get(field, default)
        if not isinstance(value, str) or value not in list(choices):
            self._refuse_field(field, f"must be one of {', '.join(choices)}")
        return choices(value)

    def _text(self, field: str, limit: int) -> str:
        self._used.add(field)
        value = self._data.get(field)
        if not isinstance(value, str) or not value.strip():
            self._refuse_field(field, "must be a text that is not empty")
        if len(value) > limit:
            self._refuse_field(field, f"has more than {limit} characters")
        if UNPRINTABLE.search(value):
            self._refuse_field(field, "contains characters that cannot be shown")
        return value.strip()

    def _refuse_unknown(self, field: object, kind: str) -> NoReturn:
        if field in FIELDS:
            self._refuse_field(str(field), f"has no meaning with {kind}")
        self._refuse(f"“{_quoted(field)}” is not a field of a rule.{did_you_mean(str(field)[:40], FIELDS)}")

    def _refuse_field(self, field: str, fault: str) -> NoReturn:
        self._refuse(f"{fault}.", field)

    def _refuse(self, sentence: str, field: str = "") -> NoReturn:
        raise InvalidRule(self._number, self._rule_name, field, sentence)


def _quoted(text: object) -> str:
    return excerpt(str(text)[:200], 60)


KINDS: Mapping[str, tuple[Callable[[_Fields], Condition], ScanType]] = {
    "header": (_Fields.header, ScanType.SECURITY),
    "text": (_Fields.text, ScanType.SEO),
    "element": (_Fields.element, ScanType.SEO),
    "file": (_Fields.file, ScanType.SECURITY),
    "link": (_Fields.link, ScanType.SEO),
    "metric": (_Fields.metric, ScanType.PERFORMANCE),
    "bytes": (_Fields.bytes, ScanType.PERFORMANCE),
    "requests": (_Fields.requests, ScanType.PERFORMANCE),
}
FIELDS = ("name", "severity", "type", "pages", "equals", "matches", "absent", "at_most", *KINDS)
