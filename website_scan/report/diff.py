"""Compare two reports (JSON exports).

The result has new, fixed, worse and better findings.

A finding is a check that failed or warned. Its places are compared by their fingerprints and counted. If one report
has no verdict on a finding of the other, the finding is neither new nor fixed, but not compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from website_scan.fingerprints import fingerprint
from website_scan.messages import counted
from website_scan.priority import SEVERITY_RANK, STATUS_RANK, Priority, priority_of
from website_scan.report.mute_matching import NO_MUTES, MutedPlaces, Mutes
from website_scan.report.not_compared import Reason, reason_of_absence
from website_scan.report.places import is_cut, occurrences_by_fingerprint
from website_scan.report_json import ComparableCheck, ComparableFinding, ComparableJson, ExportJson

Compared = TypeVar("Compared", bound=ComparableJson)


class Place(Struct, frozen=True):
    """Place of a finding: its fingerprint, and a description."""

    fingerprint: str
    text: str


class State(Struct, frozen=True):
    """Status (`fail` or `warn`) and severity of a finding in one report."""

    status: str
    severity: str


class Change(Struct, frozen=True):
    """Change of a finding between two reports.

    `title` and `message` are from the newer finding. If a report has cut its list of places, places that may be missing
    from the list are neither new nor fixed.
    """

    id: str
    name: str
    title: str
    outcome: str
    category: str
    message: str
    before: State | None
    after: State | None
    priority: Priority
    new_places: tuple[Place, ...] = ()
    fixed_places: tuple[Place, ...] = ()

    @property
    def state(self) -> State:
        """State of the finding in the newer report.

        If the newer report has no finding, it is the state in the earlier one.
        """
        state = self.after or self.before
        assert state is not None
        return state

    @property
    def severity(self) -> str:
        return self.state.severity

    @property
    def said(self) -> str:
        """Text about changes of a finding that both reports have.

        An example is "now high, was low; 2 new places".
        """
        parts = []
        if self.before and self.after and self.before != self.after:
            if self.before.status != self.after.status:
                fails = self.after.status == "fail"
                parts.append("now failed, was only a warning" if fails else "now only a warning, had failed")
            if self.before.severity != self.after.severity:
                parts.append(f"now {self.after.severity}, was {self.before.severity}")
        for places, word in ((self.new_places, "new"), (self.fixed_places, "fixed")):
            if places and self.before and self.after:
                parts.append(counted(len(places), f"{word} place"))
        return "; ".join(parts)


class NotCompared(Struct, frozen=True):
    """Finding of one report whose check has no verdict in the other report.

    `found_in` is "from" or "to".
    """

    id: str
    name: str
    title: str
    category: str
    severity: str
    found_in: str
    reason: Reason
    priority: Priority

    @property
    def said(self) -> str:
        return f"{self.reason.said} {'last time' if self.found_in == 'to' else 'this time'}"


class Diff(Struct, Generic[Compared], frozen=True):
    """Changes between two reports, sorted by priority.

    `points` is None if the catalogue versions or the chosen categories differ. `same` has the findings that did not
    change, `muted` the findings of either report that are muted as a whole.
    """

    before: Compared
    after: Compared
    new: tuple[Change, ...]
    fixed: tuple[Change, ...]
    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    same: tuple[Change, ...]
    muted: tuple[Change, ...]
    not_compared: tuple[NotCompared, ...]

    @property
    def before_at(self: Diff[ExportJson]) -> datetime:
        return datetime.fromisoformat(self.before["created_at"])

    @property
    def after_at(self: Diff[ExportJson]) -> datetime:
        return datetime.fromisoformat(self.after["created_at"])

    @property
    def same_rules(self) -> bool:
        return self.before["catalogue_version"] == self.after["catalogue_version"]

    @property
    def same_categories(self) -> bool:
        """Return True if both reports judge the same categories, so that their scores can be compared."""
        return self.before.get("chosen_categories") == self.after.get("chosen_categories")

    @property
    def same_browser(self) -> bool:
        """Return True if both reports or neither used a browser.

        The browser's version does not matter.
        """
        return _has_browser(self.before) == _has_browser(self.after)

    @property
    def points(self: Diff[ExportJson]) -> int | None:
        if not self.same_rules or not self.same_categories:
            return None
        before, after = self.before["score"], self.after["score"]
        assert before is not None
        assert after is not None
        return after - before

    @property
    def same_count(self) -> int:
        return len(self.same)

    @property
    def is_empty(self) -> bool:
        """Return True if nothing but muted findings changed.

        All findings must have been comparable.
        """
        return not (self.new or self.fixed or self.worse or self.better or self.not_compared)


class _CategorizedFinding(NamedTuple):
    """Finding of a report, with the name of its category."""

    category: str
    finding: ComparableFinding


def diff(before: Compared, after: Compared, mutes: Mutes = NO_MUTES) -> Diff[Compared]:
    """Compare two reports of the same scan type.

    A fingerprint does not contain the report's own page, so reports of two pages can be compared. `mutes` apply to both
    reports, whenever the mutes were made: muted places, and findings with only muted places, do not count as changes.
    """
    was, now = _checks(before), _checks(after)
    compares_places = _has_browser(before) == _has_browser(after)
    muted_before, muted_after = mutes.findings(before), mutes.findings(after)
    muted_places = {id: {*_muted_places(muted_before, id), *_muted_places(muted_after, id)} for id in {**was, **now}}
    groups: dict[str, list[Change]] = {name: [] for name in ("new", "fixed", "worse", "better", "same", "muted")}
    not_compared: list[NotCompared] = []
    for id in dict.fromkeys([*now, *was]):
        earlier_check, newer_check = was.get(id), now.get(id)
        earlier_finding, newer_finding = _finding(earlier_check), _finding(newer_check)
        is_muted = _is_wholly_muted(muted_before, id, earlier_finding) and _is_wholly_muted(
            muted_after, id, newer_finding
        )
        if earlier_finding and newer_finding:
            new, fixed = _new_and_fixed_places(earlier_finding, newer_finding) if compares_places else ((), ())
            change = _change(
                earlier_finding,
                newer_finding,
                _omit_places(new, muted_places[id]),
                _omit_places(fixed, muted_places[id]),
            )
            groups["muted" if is_muted else _group_of_change(change)].append(change)
        elif newer_finding:
            # If the earlier report lacks the check, the catalogue versions decide whether the finding is new.
            reason = Reason.NOT_APPLICABLE if earlier_check else _reason_of_absence(newer_finding, before, after)
            if reason is Reason.NOT_APPLICABLE:
                places = _omit_places(_places(newer_finding), muted_places[id])
                groups["muted" if is_muted else "new"].append(_change(None, newer_finding, places, ()))
            else:
                not_compared.append(_not_compared(newer_finding, "to", reason))
        elif earlier_finding and newer_check is not None:
            places = _omit_places(_places(earlier_finding), muted_places[id])
            groups["muted" if is_muted else "fixed"].append(_change(earlier_finding, None, (), places))
        elif earlier_finding:
            reason = _reason_of_absence(earlier_finding, after, before)
            not_compared.append(_not_compared(earlier_finding, "from", reason))
    ordered = {name: tuple(sorted(group, key=_priority)) for name, group in groups.items()}
    return Diff(before, after, not_compared=tuple(sorted(not_compared, key=_priority)), **ordered)


def _checks(report: ComparableJson) -> dict[str, tuple[str, ComparableCheck]]:
    """Return a report's checks with their category names, by check ID."""
    return {check["id"]: (category["name"], check) for category in report["categories"] for check in category["checks"]}


def _finding(categorized: tuple[str, ComparableCheck] | None) -> _CategorizedFinding | None:
    """Return a check's finding, or None if the check passed or is missing."""
    if categorized is None:
        return None
    category, check = categorized
    return None if check["status"] == "pass" else _CategorizedFinding(category, check)


def _muted_places(muted: Mapping[str, MutedPlaces], id: str) -> Iterable[str]:
    return muted[id].rules if id in muted else ()


def _is_wholly_muted(muted: Mapping[str, MutedPlaces], id: str, categorized: _CategorizedFinding | None) -> bool:
    """Return True if no part of the finding remains unmuted.

    The result is also True if the report has no finding of the check.
    """
    return categorized is None or (id in muted and muted[id].is_whole)


def _omit_places(places: tuple[Place, ...], fingerprints: Collection[str]) -> tuple[Place, ...]:
    return tuple(place for place in places if place.fingerprint not in fingerprints)


def _has_browser(report: ComparableJson) -> bool:
    return report.get("browser") is not None


def _reason_of_absence(finding: _CategorizedFinding, report: ComparableJson, other: ComparableJson) -> Reason:
    """Return the reason why a report has no verdict on the check of the other report's finding."""
    has_same_rules = report["catalogue_version"] == other["catalogue_version"]
    return reason_of_absence(finding.finding["id"], finding.category, report, has_same_rules=has_same_rules)


def _new_and_fixed_places(
    earlier_finding: _CategorizedFinding, newer_finding: _CategorizedFinding
) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return the new and the fixed places.

    Only the newer finding has the new ones, only the earlier finding the fixed ones.

    Both are empty if one of the findings has no place. Places that are missing from a cut list are not returned. A
    place that occurs more often in one finding is missing from the other.
    """
    was, now = earlier_finding.finding, newer_finding.finding
    # This comparison is a shortcut, because most findings did not change.
    if was["places"] == now["places"]:
        return (), ()
    places_before, places_after = occurrences_by_fingerprint(was), occurrences_by_fingerprint(now)
    fingerprint_without_place = fingerprint(now["id"])
    if fingerprint_without_place in places_before or fingerprint_without_place in places_after:
        return (), ()
    new = () if is_cut(was) else _missing_places(places_after, places_before)
    fixed = () if is_cut(now) else _missing_places(places_before, places_after)
    return new, fixed


def _missing_places(places: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[str]]) -> tuple[Place, ...]:
    """Return the places that `others` lacks.

    Places with the same fingerprint are counted. Among them, those with new descriptions come first.
    """
    missing = []
    for place, texts in places.items():
        other_texts = others.get(place, ())
        candidates = [text for text in texts if text not in other_texts] + [
            text for text in texts if text in other_texts
        ]
        missing += [Place(place, text) for text in candidates[: max(0, len(texts) - len(other_texts))]]
    return tuple(missing)


def _places(categorized: _CategorizedFinding) -> tuple[Place, ...]:
    places = occurrences_by_fingerprint(categorized.finding)
    return tuple(Place(place, text) for place, texts in places.items() for text in texts if text)


def _change(
    was: _CategorizedFinding | None,
    now: _CategorizedFinding | None,
    new_places: tuple[Place, ...],
    fixed_places: tuple[Place, ...],
) -> Change:
    newer = now or was
    assert newer is not None
    finding = newer.finding
    return Change(
        id=finding["id"],
        name=finding["name"],
        title=finding["title"],
        outcome=finding["outcome"],
        category=newer.category,
        message=finding["message"],
        before=_state(was),
        after=_state(now),
        priority=priority_of(finding),
        new_places=new_places,
        fixed_places=fixed_places,
    )


def _state(categorized: _CategorizedFinding | None) -> State | None:
    return State(categorized.finding["status"], categorized.finding["severity"]) if categorized else None


def _group_of_change(change: Change) -> str:
    """Return how a change affects the page: "worse", "better" or "same".

    A change with new places is "worse", even if other places were fixed.
    """
    was, now = change.before, change.after
    assert was is not None
    assert now is not None
    severity = SEVERITY_RANK[now.severity] - SEVERITY_RANK[was.severity]
    status = STATUS_RANK[now.status] - STATUS_RANK[was.status]
    if severity < 0 or status < 0 or change.new_places:
        return "worse"
    return "better" if severity > 0 or status > 0 or change.fixed_places else "same"


def _not_compared(categorized: _CategorizedFinding, found_in: str, reason: Reason) -> NotCompared:
    finding = categorized.finding
    return NotCompared(
        id=finding["id"],
        name=finding["name"],
        title=finding["title"],
        category=categorized.category,
        severity=finding["severity"],
        found_in=found_in,
        reason=reason,
        priority=priority_of(finding),
    )


def _priority(change: Change | NotCompared) -> Priority:
    return change.priority
