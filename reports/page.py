"""From a frozen report to what its page shows, in the page's order. No database here.

Text from the scanned site stays text: the templates escape it, and only the addresses made or admitted here
become links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.template.defaultfilters import filesizeformat

from reports.waterfall import Chart, chart

STATUS_ORDER = ("fail", "warn", "pass")
# What `facts` holds is named by the engine; a name that is not listed is shown as it is written there.
FACT_LABELS = {
    "final_url": "Final address",
    "status": "HTTP status",
    "address": "IP address",
    "document_bytes": "Document size",
    "duration_s": "Duration of the scan",
    "axe_core": "axe-core",
    "console_errors": "Errors in the console",
}
# Told in a sentence of their own.
COUNTS = frozenset({"checks_planned", "checks_known"})


@dataclass(frozen=True, slots=True)
class Reference:
    """A source that a check names; `url` is None where there is no page to link to."""

    text: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """A check's evidence: one row per thing seen, and a column for every name that any of them has."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check as a card."""

    id: str
    name: str
    status: str
    severity: str | None
    message: str
    fix: str | None
    points: float
    evidence: Table | None
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Category:
    """A category with its checks, those to mend apart from those that passed."""

    name: str
    anchor: str
    score: int
    failed: tuple[Check, ...]
    warned: tuple[Check, ...]
    passed: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the scan noted beside its checks."""

    label: str
    value: str
    url: str | None


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Everything the template shows. Times are aware, UTC."""

    document: Mapping[str, Any]
    link: str | None
    created_at: datetime
    completed_at: datetime
    categories: tuple[Category, ...]
    top: tuple[Check, ...]
    facts: tuple[Fact, ...]
    checks_planned: int
    checks_known: int
    chart: Chart | None

    @property
    def is_static(self) -> bool:
        """Whether there are checks that only a browser could have run, and there was none."""
        return self.checks_planned < self.checks_known


def report_page(
    document: Mapping[str, Any], facts: Mapping[str, Any], waterfall: Mapping[str, Any] | None = None
) -> ReportPage:
    """The page of a report; `document` is the JSON export."""
    categories = tuple(_category(category, number) for number, category in enumerate(document["categories"], 1))
    to_mend = [check for each in categories for check in (*each.failed, *each.warned) if check.points > 0]
    return ReportPage(
        document=document,
        link=safe_link(document["url"]),
        created_at=datetime.fromisoformat(document["created_at"]),
        completed_at=datetime.fromisoformat(document["completed_at"]),
        categories=categories,
        top=tuple(sorted(to_mend, key=lambda check: -check.points)[:3]),
        facts=tuple(_fact(name, value) for name, value in facts.items() if name not in COUNTS),
        checks_planned=facts.get("checks_planned", 0),
        checks_known=facts.get("checks_known", 0),
        chart=chart(waterfall),
    )


def safe_link(url: object) -> str | None:
    """The URL when it may stand in an href: absolute, http or https. None for `javascript:` and the like."""
    if not isinstance(url, str) or not re.match(r"https?://[^\s/]", url):
        return None
    try:
        return url if urlsplit(url).hostname else None
    except ValueError:
        return None


def reference(text: str) -> Reference:
    """A reference with its page, for URLs, CWE numbers and RFCs (with their section)."""
    if match := re.fullmatch(r"CWE-(\d+)", text):
        return Reference(text, f"https://cwe.mitre.org/data/definitions/{match[1]}.html")
    if match := re.fullmatch(r"RFC (\d+)(?:, section (\d+(?:\.\d+)*))?", text):
        section = f"#section-{match[2]}" if match[2] else ""
        return Reference(text, f"https://www.rfc-editor.org/rfc/rfc{match[1]}{section}")
    return Reference(text, safe_link(text))


def _category(category: Mapping[str, Any], number: int) -> Category:
    checks = [_check(check) for check in category["checks"]]
    checks.sort(key=lambda check: -check.points)  # stable: equal points keep the report's order
    failed, warned, passed = (tuple(check for check in checks if check.status == status) for status in STATUS_ORDER)
    return Category(category["name"], f"category-{number}", category["score"], failed, warned, passed)


def _check(check: Mapping[str, Any]) -> Check:
    return Check(
        id=check["id"],
        name=check["name"],
        status=check["status"],
        severity=check["severity"],
        message=check["message"],
        fix=check.get("fix"),
        points=check["points"],
        evidence=_table(check["evidence"]),
        references=tuple(reference(text) for text in check["references"]),
    )


def _table(items: Iterable[Mapping[str, Any]]) -> Table | None:
    items = list(items)
    columns = tuple(dict.fromkeys(name for item in items for name in item))
    if not columns:
        return None
    return Table(
        columns=tuple(_words(name) for name in columns),
        rows=tuple(tuple(_cell(item.get(name)) for name in columns) for item in items),
    )


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
    return str(value)


def _fact(name: str, value: object) -> Fact:
    if name.endswith("_bytes"):
        shown = filesizeformat(str(value))
    elif name.endswith("_ms"):
        shown = f"{value} ms"
    elif name.endswith("_s"):
        shown = f"{value} s"
    else:
        shown = _cell(value)
    label = FACT_LABELS.get(name, _words(re.sub(r"_(bytes|ms|s)$", "", name)))
    return Fact(label, shown, safe_link(value))


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
