"""Filters for the findings in a report page's query string.

static/js/findings.js filters in the same way in the browser. Both hide a finding with the attribute `hidden`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import asdict, astuple

from website_scan.priority import SEVERITY_RANK
from website_scan.report.metrics import METRICS, METRICS_BY_CHECK
from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck

CHECK_STATUS_BY_FILTER_OPTION = {"failed": "fail", "warnings": "warn", "passed": "pass"}
SHOWN = {"": "All", "failed": "Failed", "warnings": "Warnings", "passed": "Passed"}
MAX_QUERY_CHARACTERS = 200


class Filter(Struct, frozen=True):
    """Filter for the findings of a report.

    Empty fields exclude nothing. A finding must contain all words of `q`.
    """

    show: str = ""
    severity: str = ""
    metric: str = ""
    q: str = ""

    @classmethod
    def parse_query(cls, query: Mapping[str, str], scan_type: str) -> Filter:
        """Parse the query string of a report page.

        Ignores unknown values, and metrics of other scan types.
        """
        return cls(
            show=_valid_or_empty(query.get("show"), CHECK_STATUS_BY_FILTER_OPTION),
            severity=_valid_or_empty(query.get("severity"), SEVERITY_RANK),
            metric=_valid_or_empty(query.get("metric"), METRICS if scan_type == "performance" else ()),
            q=" ".join(query.get("q", "")[:MAX_QUERY_CHARACTERS].split()),
        )

    @property
    def is_active(self) -> bool:
        return any(astuple(self))

    @property
    def query(self) -> str:
        """Query string for the filter, without empty fields."""
        values = asdict(self)
        return urlencode({name: value for name, value in values.items() if value})

    def fits(self, check: ExportedCheck) -> bool:
        """Return True if the filter includes a check."""
        if self.show and check["status"] != CHECK_STATUS_BY_FILTER_OPTION[self.show]:
            return False
        if self.severity and check["severity"] != self.severity:
            return False
        if self.metric and self.metric not in METRICS_BY_CHECK.get(check["id"], ()):
            return False
        return not self.q or _contains_words(check, self.q.lower().split())


EVERYTHING = Filter()


def _valid_or_empty(value: str | None, known: Iterable[str]) -> str:
    return value if value is not None and value in known else ""


def _contains_words(check: ExportedCheck, words: Iterable[str]) -> bool:
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


class Option(Struct, frozen=True):
    """Option in the filter form, with the number of matching findings."""

    value: str
    label: str
    count: int


class FilterBar(Struct, frozen=True):
    """Filter form above the findings.

    It has the current filter, its options and the numbers of findings.
    """

    chosen: Filter
    shows: tuple[Option, ...]
    severities: tuple[Option, ...]
    metrics: tuple[Option, ...]
    shown: int
    total: int


def filter_bar(chosen: Filter, checks: Iterable[ExportedCheck], scan_type: str) -> FilterBar:
    """Create the filter form for the checks of a JSON export."""
    checks = list(checks)
    statuses: Counter[str] = Counter(check["status"] for check in checks)
    severities = Counter(check["severity"] for check in checks)
    concerned = Counter(metric for check in checks for metric in METRICS_BY_CHECK.get(check["id"], ()))
    return FilterBar(
        chosen=chosen,
        shows=tuple(
            Option(value, label, statuses[CHECK_STATUS_BY_FILTER_OPTION[value]] if value else len(checks))
            for value, label in SHOWN.items()
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
