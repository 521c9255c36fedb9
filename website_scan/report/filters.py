"""Filters for the findings on a report's page, in its query string, so that a filtered page has an address.

static/js/findings.js filters in the same way in the browser. Both hide a finding with the attribute `hidden`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from website_scan.priority import SEVERITY_RANK
from website_scan.report.metrics import METRICS, METRICS_BY_CHECK
from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck

STATUS_OF = {"failed": "fail", "warnings": "warn", "passed": "pass"}
SHOWN = {"": "All", "failed": "Failed", "warnings": "Warnings", "passed": "Passed"}
MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Filter:
    """Filter of findings; an empty field excludes nothing. `q` has words that must all occur in a finding."""

    show: str = ""
    severity: str = ""
    metric: str = ""
    q: str = ""

    @classmethod
    def asked_by(cls, query: Mapping[str, str], scan_type: str) -> Filter:
        """Parse a query string. Ignores unknown values, and the metric unless the scan type is performance."""
        return cls(
            show=_known_or_empty(query.get("show"), STATUS_OF),
            severity=_known_or_empty(query.get("severity"), SEVERITY_RANK),
            metric=_known_or_empty(query.get("metric"), METRICS if scan_type == "performance" else ()),
            q=" ".join(query.get("q", "")[:MAX_TEXT].split()),
        )

    @property
    def is_active(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    @property
    def query(self) -> str:
        """The query string of the filter, without empty fields."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return urlencode({name: value for name, value in values.items() if value})

    def fits(self, check: ExportedCheck) -> bool:
        """Return True if the filter includes a check of a JSON export."""
        if self.show and check["status"] != STATUS_OF[self.show]:
            return False
        if self.severity and check["severity"] != self.severity:
            return False
        if self.metric and self.metric not in METRICS_BY_CHECK.get(check["id"], ()):
            return False
        return not self.q or _has_words(check, self.q.lower().split())


EVERYTHING = Filter()


def _known_or_empty(value: str | None, known: Iterable[str]) -> str:
    return value if value is not None and value in known else ""


def _has_words(check: ExportedCheck, words: Iterable[str]) -> bool:
    values = (str(value) for row in rows_of(check) for value in row.values())
    text = "\n".join(
        (
            check["id"],
            check["title"],
            check["message"],
            "" if check["status"] == "pass" else check.get("fix", ""),
            *values,
        )
    ).lower()
    return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Option:
    """Option of a filter, with the number of matching findings."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class FilterBar:
    """Filter form above the findings: the chosen filter, the options, and the numbers of visible and all findings."""

    chosen: Filter
    shows: tuple[Option, ...]
    severities: tuple[Option, ...]
    metrics: tuple[Option, ...]
    shown: int
    total: int


def filter_bar(chosen: Filter, checks: Iterable[ExportedCheck], scan_type: str) -> FilterBar:
    """Return the filter form for the checks of a JSON export."""
    checks = list(checks)
    statuses: Counter[str] = Counter(check["status"] for check in checks)
    severities = Counter(check["severity"] for check in checks)
    concerned = Counter(metric for check in checks for metric in METRICS_BY_CHECK.get(check["id"], ()))
    return FilterBar(
        chosen=chosen,
        shows=tuple(
            Option(value, label, statuses[STATUS_OF[value]] if value else len(checks)) for value, label in SHOWN.items()
        ),
        severities=tuple(
            Option(severity, severity.capitalize(), severities[severity])
            for severity in SEVERITY_RANK
            if severities[severity] or severity == chosen.severity
        ),
        metrics=tuple(
            Option(id, name, concerned[id])
            for id, (name, *_) in METRICS.items()
            if concerned[id] or id == chosen.metric
        )
        if scan_type == "performance"
        else (),
        shown=sum(map(chosen.fits, checks)),
        total=len(checks),
    )
