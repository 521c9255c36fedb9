"""Estimate of the scans that a form will use with its current values. `static/js/estimate.js` updates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accounts.models import Interval
from accounts.usage import Quota
from sites.audits.requests import MAX_LISTED
from sites.models import Audit
from sites.pages.forms import TargetForm

# Maximum number of runs of a monitor, in a month of 31 days.
RUNS = {Interval.HOUR: 744, Interval.SIX_HOURS: 124, Interval.DAY: 31, Interval.WEEK: 5, Interval.MONTH: 1}


@dataclass(frozen=True, slots=True)
class Cost:
    """Number of scans for one kind of target: at most one scan for each type of each page."""

    kind: str
    pages: int
    types: int
    runs: int

    @property
    def is_bound(self) -> bool:
        """Return True if fewer pages may be found, so that the number of scans is an upper bound."""
        return self.kind == Audit.Kind.SITE

    @property
    def scans(self) -> int:
        return self.pages * self.types

    @property
    def in_month(self) -> int:
        return self.scans * self.runs


@dataclass(frozen=True, slots=True)
class Estimate:
    """Costs of each kind of target that the form offers, with the remaining quota of the month."""

    costs: list[Cost]
    quota: Quota
    default_pages: int

    def exceeds_quota(self, cost: Cost) -> bool:
        """Return True if the scans exceed the remaining quota or, for a monitor, a month of runs the month's quota."""
        return cost.in_month > self.quota.limit if cost.runs else cost.scans > self.quota.remaining


def estimate(form: TargetForm, quota: Quota) -> Estimate:
    """Return the estimate for the form's values, which may be invalid."""
    max_pages = _number(form["max_pages"].value()) or form.default_pages
    types = len(set(form["type"].value() or ()) & {value for value, _ in form.fields["type"].choices})  # type: ignore[attr-defined]
    pages = {Audit.Kind.PAGE: 1, Audit.Kind.SITE: min(max_pages, form.pages_per_audit)}
    runs = 0
    if "pages" in form.fields:
        listed_pages = len(str(form["pages"].value() or "").split())
        pages[Audit.Kind.PAGES] = min(listed_pages, form.pages_per_audit, MAX_LISTED)
        runs = RUNS.get(form["every"].value(), 0)
    return Estimate([Cost(kind, number, types, runs) for kind, number in pages.items()], quota, form.default_pages)


def _number(entered: Any) -> int:
    text = str(entered or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0
