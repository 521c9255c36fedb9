"""Own requirements: rules of a user for the pages that are scanned.

They are the table `[requirements]` of website-scan.toml and the field `requirements` of the API. This module imports
no part of the scan engine, because web processes validate with it; `website_scan.requirements.checks` makes checks of
the rules.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from enum import StrEnum
from typing import Annotated, NotRequired, TypedDict

from msgspec import Struct
from msgspec.structs import asdict

from website_scan.findings import MEDIUM, ScanType, Severity
from website_scan.json_types import Keywords, SeverityName, TypeName, component, values

CATEGORY_ID = "own"
CATEGORY_NAME = "Own requirements"
CHECK_ID_PREFIX = "own-"

MAX_RULES = 50
MAX_FILE_RULES = 10
MAX_WEIGHT = 100
MAX_NAME_CHARACTERS = 60
SLUG_DIGEST_DIGITS = 8


class Metric(StrEnum):
    """Metric with a limit, by the name that Lighthouse uses. Times are in milliseconds."""

    FIRST_CONTENTFUL_PAINT = "first-contentful-paint"
    LARGEST_CONTENTFUL_PAINT = "largest-contentful-paint"
    TOTAL_BLOCKING_TIME = "total-blocking-time"
    CUMULATIVE_LAYOUT_SHIFT = "cumulative-layout-shift"
    SPEED_INDEX = "speed-index"
    SERVER_RESPONSE_TIME = "server-response-time"
    MAIN_THREAD_TIME = "main-thread-time"
    SCRIPT_TIME = "script-time"
    DOM_ELEMENTS = "dom-elements"


class FileKind(StrEnum):
    """Kind of the files that a rule counts, by the name that Lighthouse's budgets use."""

    TOTAL = "total"
    DOCUMENT = "document"
    SCRIPT = "script"
    STYLESHEET = "stylesheet"
    IMAGE = "image"
    FONT = "font"
    MEDIA = "media"
    OTHER = "other"
    THIRD_PARTY = "third-party"


class HeaderRule(Struct, frozen=True):
    """A response header must exist or have a value.

    `equals` is a whole value, and `matches` a pattern with `*`. Both are None if any value suffices.
    """

    header: str
    equals: str | None = None
    matches: str | None = None
    absent: bool = False


class TextRule(Struct, frozen=True):
    """The page must show a text, in which `*` stands for any characters."""

    text: str
    absent: bool = False


class ElementRule(Struct, frozen=True):
    """The page must have an element that the CSS selector selects."""

    element: str
    absent: bool = False


class FileRule(Struct, frozen=True):
    """The origin of the page must have a file at this path."""

    file: str
    absent: bool = False


class LinkRule(Struct, frozen=True):
    """The page must link to an address, in which `*` stands for any characters."""

    link: str
    absent: bool = False


class MetricRule(Struct, frozen=True):
    """A metric must be at most this value. Times are in milliseconds."""

    metric: Metric
    at_most: float


class BytesRule(Struct, frozen=True):
    """The page's files of a kind must have at most this many transferred bytes."""

    bytes: FileKind
    at_most: float


class RequestsRule(Struct, frozen=True):
    """The page must be loaded with at most this many requests for files of a kind."""

    requests: FileKind
    at_most: float


Condition = HeaderRule | TextRule | ElementRule | FileRule | LinkRule | MetricRule | BytesRule | RequestsRule
Limit = MetricRule | BytesRule | RequestsRule


class Rule(Struct, frozen=True):
    """Rule of a set.

    Without `pages`, it applies to all pages. Otherwise one of the patterns, as in `--include`, must match the whole
    path and query.
    """

    name: str
    condition: Condition
    type: ScanType
    severity: Severity = MEDIUM
    pages: tuple[str, ...] = ()

    @property
    def check_id(self) -> str:
        """ID of the rule's check, such as `own-imprint-is-linked`. It depends on the name only."""
        return CHECK_ID_PREFIX + _slug(self.name)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Names of the outcomes that the rule's check can have, other than a pass."""
        if isinstance(self.condition, Limit):
            return ("above",)
        if self.condition.absent:
            return ("present",)
        has_value = isinstance(self.condition, HeaderRule) and (self.condition.equals or self.condition.matches)
        return ("missing", "different") if has_value else ("missing",)

    def json(self) -> RuleJson:
        """Return the rule as JSON, without optional fields that have their default."""
        rule: RuleJson = {"name": self.name, "severity": str(self.severity), "type": str(self.type)}
        if self.pages:
            rule["pages"] = list(self.pages)
        condition = asdict(self.condition)
        fields = {name: value for name, value in condition.items() if value not in (None, False)}
        if isinstance(self.condition, Limit):
            fields["at_most"] = self.condition.at_most
        plain = {name: str(value) if isinstance(value, StrEnum) else value for name, value in fields.items()}
        return {**rule, **plain}  # type: ignore[typeddict-item]  # the fields of a condition are keys of RuleJson


class Requirements(Struct, frozen=True):
    """Set of own requirements.

    `weight` is the weight of their category in the score, relative to other categories; with 0 they do not affect it.
    """

    rules: tuple[Rule, ...] = ()
    weight: int = 0

    @property
    def outcome_names(self) -> frozenset[str]:
        """Names of all outcomes, such as `own-imprint-is-linked.missing`."""
        return frozenset(f"{rule.check_id}.{outcome}" for rule in self.rules for outcome in rule.outcomes)

    @property
    def measured_checks(self) -> frozenset[str]:
        """IDs of the checks that measure speed: their verdicts may change although the site does not."""
        return frozenset(rule.check_id for rule in self.rules if isinstance(rule.condition, MetricRule))

    def json(self) -> RequirementsJson:
        """Return the JSON form that `reading.read_requirements` reads."""
        return {"weight": self.weight, "rules": [rule.json() for rule in self.rules]}


NO_REQUIREMENTS = Requirements()


def is_own_check(check_id: str) -> bool:
    """Return True for the ID of an own requirement's check."""
    return check_id.startswith(CHECK_ID_PREFIX)


def _slug(name: str) -> str:
    """Return the name in lower-case ASCII letters and digits, joined by hyphens.

    A name with letters that ASCII cannot express, or one that becomes too long, ends with a digest of the name, so that
    different names differ.
    """
    decomposed = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    words = re.findall(r"[a-z0-9]+", letters)
    slug = "-".join(words)
    has_other_letters = any(character.isalnum() and not character.isascii() for character in letters)
    if slug and len(slug) <= MAX_NAME_CHARACTERS and not has_other_letters:
        return slug
    digest = hashlib.sha256(name.encode()).hexdigest()[:SLUG_DIGEST_DIGITS]
    return "-".join(filter(None, (slug[:MAX_NAME_CHARACTERS].rstrip("-"), digest)))


Limits = Annotated[float, Keywords(minimum=0)]


@component("Requirement")
class RuleJson(TypedDict):
    """One requirement.

    It has exactly one of header, text, element, file, link, metric, bytes and requests.
    """

    name: Annotated[str, "Statement that the page must fulfil, such as “Imprint is linked”. Unique in the set."]
    severity: NotRequired[Annotated[SeverityName, "Severity of the finding; medium by default."]]
    type: NotRequired[
        Annotated[
            TypeName,
            "Scan type that reports it. By default security for header and file, SEO for text, element and link, and "
            "performance for metric, bytes and requests.",
        ]
    ]
    pages: NotRequired[
        Annotated[list[str], "Patterns with * of the paths that the rule applies to, such as /shop/*. All by default."]
    ]
    header: NotRequired[Annotated[str, "Name of a response header."]]
    equals: NotRequired[Annotated[str, "Whole value of the header."]]
    matches: NotRequired[Annotated[str, "Pattern with * for the value of the header."]]
    text: NotRequired[Annotated[str, "Text that the page shows. * stands for any characters."]]
    element: NotRequired[Annotated[str, "CSS selector of an element."]]
    file: NotRequired[Annotated[str, "Path of a file on the page's origin."]]
    link: NotRequired[Annotated[str, "Address that the page links to. * stands for any characters."]]
    metric: NotRequired[Annotated[str, values(Metric), "Metric of the page load."]]
    bytes: NotRequired[Annotated[str, values(FileKind), "Kind of the files whose transferred bytes are added."]]
    requests: NotRequired[Annotated[str, values(FileKind), "Kind of the files whose requests are counted."]]
    at_most: NotRequired[
        Annotated[Limits, "Largest allowed value: milliseconds for times, bytes for sizes, otherwise a number."]
    ]
    absent: NotRequired[Annotated[bool, "True if it must not exist. Only for header, text, element, file and link."]]


@component("Requirements")
class RequirementsJson(TypedDict):
    """Own requirements of a user for the scanned pages."""

    rules: Annotated[list[RuleJson], f"At most {MAX_RULES}, of which at most {MAX_FILE_RULES} have a file."]
    weight: NotRequired[
        Annotated[
            int,
            Keywords(minimum=0, maximum=MAX_WEIGHT),
            "Weight of the requirements in the score, relative to other categories. 0 by default: no effect.",
        ]
    ]
