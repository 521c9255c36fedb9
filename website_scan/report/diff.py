"""Diff of two reports: findings that are new, fixed, worse or better. Pure functions on JSON exports.

A finding is a check that failed or warned. Its places are compared by their fingerprints and counted. If one report
has no verdict on a finding of the other, the finding is neither new nor fixed, but not compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from website_scan.fingerprints import fingerprint
from website_scan.messages import counted
from website_scan.priority import SEVERITY_RANK, STATUS_RANK, Priority, priority_of
from website_scan.report.mute_matching import NO_MUTES, Covered, Mutes
from website_scan.report.places import is_cut, occurrences_of
from website_scan.report_json import ComparableCheck, ComparableFinding, ComparableJson, ExportJson

Compared = TypeVar("Compared", bound=ComparableJson)


class Reason(StrEnum):
    """Reason why a finding of one report cannot be compared with the other report; `said` is the reason in words."""

    COULD_NOT_RUN = "could_not_run"
    NEEDS_BROWSER = "needs_browser"
    TOLD_BY_ANOTHER = "told_by_another"
    NOT_APPLICABLE = "not_applicable"
    OTHER_RULES = "other_rules"

    @property
    def said(self) -> str:
        return {
            Reason.COULD_NOT_RUN: "the check could not run",
            Reason.NEEDS_BROWSER: "no browser was available",
            Reason.TOLD_BY_ANOTHER: "another check told the same",
            Reason.NOT_APPLICABLE: "the check does not apply",
            Reason.OTHER_RULES: "other rules, which may not have included the check",
        }[self]


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a finding: its fingerprint, and its text from the evidence."""

    fingerprint: str
    text: str


@dataclass(frozen=True, slots=True)
class State:
    """Verdict of a report on a check: the status `fail` or `warn`, and the severity."""

    status: str
    severity: str


@dataclass(frozen=True, slots=True)
class Change:
    """A finding in one or both reports. `before` or `after` is None if the check passed or did not apply there.

    `title` and `message` are those of the newer finding. Where a report cut a list of places, places that may be
    missing from it are not listed as new or fixed.
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
        """The newer of the two states."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def severity(self) -> str:
        return self.state.severity

    @property
    def said(self) -> str:
        """The changes of a finding that both reports have, in words."""
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


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A finding of one report on which the other has no verdict."""

    id: str
    name: str
    title: str
    category: str
    severity: str
    found_in: str  # "from" or "to"
    reason: Reason
    priority: Priority

    @property
    def said(self) -> str:
        return f"{self.reason.said} {'last time' if self.found_in == 'to' else 'this time'}"


@dataclass(frozen=True, slots=True)
class Diff(Generic[Compared]):
    """Diff of two reports: groups of changes, each with highest priority first.

    `points` is None if the catalogue versions differ. `same` has the findings of both reports that did not change,
    `muted` those of either report that are muted as a whole.
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
    def same_browser(self) -> bool:
        """Return True if both reports or neither were judged in a browser; its version does not matter."""
        return _has_browser(self.before) == _has_browser(self.after)

    @property
    def points(self: Diff[ExportJson]) -> int | None:
        if not self.same_rules:
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
        """Return True if there is no change, apart from muted findings, and nothing that could not be compared."""
        return not (self.new or self.fixed or self.worse or self.better or self.not_compared)


class _Found(NamedTuple):
    """Finding of a document, and the name of its category."""

    category: str
    finding: ComparableFinding


def diff(before: Compared, after: Compared, mutes: Mutes = NO_MUTES) -> Diff[Compared]:
    """Compare the report `before` with the report `after`, both of one scan type.

    A fingerprint does not contain the report's own page, so reports of two pages can be compared. `mutes` apply to both
    reports, whenever they were made: muted places are no change, nor are findings that have only muted places.
    """
    was, now = _checks(before), _checks(after)
    has_same_rules = before["catalogue_version"] == after["catalogue_version"]
    compares_places = _has_browser(before) == _has_browser(after)
    muted_before, muted_after = mutes.findings(before), mutes.findings(after)
    hidden = {id: {*_muted_places(muted_before, id), *_muted_places(muted_after, id)} for id in {**was, **now}}
    groups: dict[str, list[Change]] = {name: [] for name in ("new", "fixed", "worse", "better", "same", "muted")}
    silent: list[NotCompared] = []
    for id in dict.fromkeys([*now, *was]):
        one, other = was.get(id), now.get(id)
        found_before, found_after = _finding(one), _finding(other)
        is_muted = _is_whole(muted_before, id, found_before) and _is_whole(muted_after, id, found_after)
        if found_before and found_after:
            new, fixed = _moved(found_before, found_after) if compares_places else ((), ())
            change = _change(found_before, found_after, _shown(new, hidden[id]), _shown(fixed, hidden[id]))
            groups["muted" if is_muted else _direction(change)].append(change)
        elif found_after:
            # A finding is new if its check passed before or did not apply. A missing check did not apply only if both
            # reports have the same catalogue version.
            reason = Reason.NOT_APPLICABLE if one else _silence(id, before, has_same_rules)
            if reason is Reason.NOT_APPLICABLE:
                places = _shown(_places(found_after), hidden[id])
                groups["muted" if is_muted else "new"].append(_change(None, found_after, places, ()))
            else:
                silent.append(_not_compared(found_after, "to", reason))
        elif found_before and other is not None:
            places = _shown(_places(found_before), hidden[id])
            groups["muted" if is_muted else "fixed"].append(_change(found_before, None, (), places))
        elif found_before:
            silent.append(_not_compared(found_before, "from", _silence(id, after, has_same_rules)))
    ordered = {name: tuple(sorted(group, key=_priority)) for name, group in groups.items()}
    return Diff(before, after, not_compared=tuple(sorted(silent, key=_priority)), **ordered)


def _checks(document: ComparableJson) -> dict[str, tuple[str, ComparableCheck]]:
    """Return the checks by ID, each with the name of its category."""
    return {
        check["id"]: (category["name"], check) for category in document["categories"] for check in category["checks"]
    }


def _finding(found: tuple[str, ComparableCheck] | None) -> _Found | None:
    """Return the finding of a check with its category, None if the check passed or is missing."""
    if found is None:
        return None
    category, check = found
    return None if check["status"] == "pass" else _Found(category, check)


def _muted_places(muted: Mapping[str, Covered], id: str) -> Iterable[str]:
    return muted[id].rules if id in muted else ()


def _is_whole(muted: Mapping[str, Covered], id: str, found: _Found | None) -> bool:
    """Return True if the finding is muted as a whole, or if there is none."""
    return found is None or (id in muted and muted[id].is_whole)


def _shown(places: tuple[Place, ...], hidden: Collection[str]) -> tuple[Place, ...]:
    return tuple(place for place in places if place.fingerprint not in hidden)


def _has_browser(document: ComparableJson) -> bool:
    return document.get("browser") is not None


def _silence(id: str, document: ComparableJson, has_same_rules: bool) -> Reason:
    """Return the reason why a report has no verdict on a check."""
    if any(each["id"] == id for each in document["skipped_checks"]):
        return Reason.COULD_NOT_RUN
    # Older exports, which are kept as they were written, have neither `omitted_checks` nor `repeated_checks`.
    if any(each["id"] == id for each in document.get("omitted_checks", ())):
        return Reason.NEEDS_BROWSER
    if any(each["id"] == id for each in document.get("repeated_checks", ())):
        return Reason.TOLD_BY_ANOTHER
    return Reason.NOT_APPLICABLE if has_same_rules else Reason.OTHER_RULES


def _moved(found_before: _Found, found_after: _Found) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return the places that only the newer finding has, and those that only the earlier one has.

    Both are empty if one of the findings names no place. A cut list proves nothing about the places missing from it.
    A place that a report names more often than the other is missing from the other.
    """
    was, now = found_before.finding, found_after.finding
    # Most findings did not change.
    if was["places"] == now["places"]:
        return (), ()
    known, found = occurrences_of(was), occurrences_of(now)
    alone = fingerprint(now["id"])
    if alone in known or alone in found:
        return (), ()
    new = () if is_cut(was) else _missing(found, known)
    fixed = () if is_cut(now) else _missing(known, found)
    return new, fixed


def _missing(places: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]]) -> tuple[Place, ...]:
    """Return the places that `known` lacks: of each fingerprint as many as there are more, unknown texts first."""
    missing = []
    for each, texts in places.items():
        there = known.get(each, ())
        lacking = [text for text in texts if text not in there] + [text for text in texts if text in there]
        missing += [Place(each, text) for text in lacking[: max(0, len(texts) - len(there))]]
    return tuple(missing)


def _places(found: _Found) -> tuple[Place, ...]:
    places = occurrences_of(found.finding)
    return tuple(Place(each, text) for each, texts in places.items() for text in texts if text)


def _change(
    was: _Found | None, now: _Found | None, new_places: tuple[Place, ...], fixed_places: tuple[Place, ...]
) -> Change:
    found = now or was
    assert found is not None
    shown = found.finding
    return Change(
        id=shown["id"],
        name=shown["name"],
        title=shown["title"],
        outcome=shown["outcome"],
        category=found.category,
        message=shown["message"],
        before=_state(was),
        after=_state(now),
        priority=priority_of(shown),
        new_places=new_places,
        fixed_places=fixed_places,
    )


def _state(found: _Found | None) -> State | None:
    return State(found.finding["status"], found.finding["severity"]) if found else None


def _direction(change: Change) -> str:
    """Return the group of a change. It is "worse" if anything became worse, even if another place was fixed."""
    was, now = change.before, change.after
    assert was is not None
    assert now is not None
    severity = SEVERITY_RANK[now.severity] - SEVERITY_RANK[was.severity]
    status = STATUS_RANK[now.status] - STATUS_RANK[was.status]
    if severity < 0 or status < 0 or change.new_places:
        return "worse"
    return "better" if severity > 0 or status > 0 or change.fixed_places else "same"


def _not_compared(found: _Found, found_in: str, reason: Reason) -> NotCompared:
    shown = found.finding
    return NotCompared(
        id=shown["id"],
        name=shown["name"],
        title=shown["title"],
        category=found.category,
        severity=shown["severity"],
        found_in=found_in,
        reason=reason,
        priority=priority_of(shown),
    )


def _priority(each: Change | NotCompared) -> Priority:
    return each.priority
