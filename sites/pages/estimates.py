"""Estimate of the number of scans that a form's values would use.

`static/js/estimate.js` updates it in the browser.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from accounts.models import Interval
from accounts.usage import Quota
from sites.audits.requests import MAX_PAGES_PER_LIST
from sites.models import Audit, Journey
from sites.pages.forms import TargetForm
from website_scan.journeys.planned import planned_states

# Number of runs of a monitor in a month of 31 days.
RUNS = {
    Interval.HOUR: 744,
    Interval.SIX_HOURS: 124,
    Interval.DAY: 31,
    Interval.WEEK: 5,
    Interval.MONTH: 1,
}


class Cost(Struct, frozen=True):
    """Maximum number of scans for one kind of target.

    Each page is scanned once for each type. `pages` is 0 for a journey that is not chosen yet.
    """

    kind: str
    pages: int
    types: int
    runs: int

    @property
    def is_bound(self) -> bool:
        """Return True if the number of scans is an upper bound, because a site or a run of a journey may have less."""
        return self.kind in (Audit.Kind.SITE, Audit.Kind.JOURNEY)

    @property
    def noun(self) -> str:
        """Return what is scanned once for each type."""
        return "state" if self.kind == Audit.Kind.JOURNEY else "page"

    @property
    def scans(self) -> int:
        return self.pages * self.types

    @property
    def in_month(self) -> int:
        return self.scans * self.runs


class Estimate(Struct, frozen=True):
    """Estimated numbers of scans by kind of target, with the month's remaining quota.

    The states of the journey `journey_id` are counted. It is empty if no journey is chosen.
    """

    costs: list[Cost]
    quota: Quota
    default_pages: int
    journey_id: str = ""

    @property
    def nouns(self) -> str:
        """Return what is scanned once for each type, for all kinds of target."""
        return " or ".join(dict.fromkeys(cost.noun for cost in self.costs))

    def exceeds_quota(self, cost: Cost) -> bool:
        """Return True if the scans exceed the remaining quota, or a month of monitor runs exceeds the monthly quota."""
        return cost.in_month > self.quota.limit if cost.runs else cost.scans > self.quota.remaining


def estimate(form: TargetForm, quota: Quota, journey: Journey | None = None) -> Estimate:
    """Return the estimated number of scans for the form's values, which may be invalid. `journey` is the chosen one."""
    max_pages = _number(form["max_pages"].value()) or form.default_pages
    types = len(set(form["type"].value() or ()) & {value for value, _ in form.fields["type"].choices})  # type: ignore[attr-defined]
    pages = {Audit.Kind.PAGE: 1, Audit.Kind.SITE: min(max_pages, form.pages_per_audit)}
    runs = 0
    if "pages" in form.fields:
        listed_pages = len(str(form["pages"].value() or "").split())
        pages[Audit.Kind.PAGES] = min(listed_pages, form.pages_per_audit, MAX_PAGES_PER_LIST)
        runs = RUNS.get(form["every"].value(), 0)
    costs = [Cost(kind, number, types, runs) for kind, number in pages.items()]
    if "journey" in form.fields:
        states = planned_states(journey.steps, form.pages_per_audit) if journey else 0
        costs.append(Cost(Audit.Kind.JOURNEY, states, len(journey.types) if journey else 0, runs))
    return Estimate(costs, quota, form.default_pages, journey.id if journey else "")


def _number(value: Any) -> int:
    text = str(value or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0
