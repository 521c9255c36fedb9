"""Comparison of a page's report with its confirmed state: changes, and doubts that await confirmation. Pure.

Not every difference is a change. A difference from a partial report, or from measured times, is confirmed by a second
run in a row; a finding that came and went lately needs several. Until then it is a doubt, and the confirmed state
of the page stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from scanner.report.diff import Change, Diff, Reason, diff
from sites.monitors.states import Document, has_browser, is_error, merged, silent_checks

# Number of runs for which a check's changes are remembered, and maximum number of runs in a row for a confirmation.
REMEMBERED_RUNS = 10
MOST_RUNS = 5
GONE = "gone"
Doubts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """New confirmed state of a page and type, and its confirmed changes: the direction in the diff, and the change.

    `doubts` is JSON: by check the direction and the number of runs in a row that showed it (`checks`), how many runs
    ago a check came or went (`moved`), the number of runs in a row without the browser that was there before (`other`),
    or without an answer (`down`). Missing keys count as empty or 0.
    """

    document: Document
    doubts: Doubts
    changes: tuple[tuple[str, Change], ...] = ()
    known: Document = field(default_factory=dict)


def compare(known: Document, doubts: Doubts, report: Document, *, is_partial: bool, measured: Set[str]) -> Compared:
    """Compare a reduced report with the confirmed state of the page (`known`; empty at first).

    `measured` are the checks whose verdict may vary although the site is the same.
    """
    if not known:
        return Compared(report, {})
    if has_browser(known) != has_browser(report):
        # Reports with and without a browser are not comparable. A browser that is missing once will be back.
        other = doubts.get("other", 0) + 1
        if has_browser(report) or other > 1:
            return Compared(report, {})
        return Compared(known, {**{name: doubts[name] for name in doubts if name != "down"}, "other": other})
    if is_error(known) and not is_error(report):
        return Compared(report, {})
    found = diff(known, report)
    memory = _Memory(doubts, silent_checks(report))
    changes: list[tuple[str, Change]] = []
    for direction, change in _moved(found):
        runs = 2 if is_partial or change.id in measured else 1
        if memory.believes(change.id, direction, runs):
            changes.append((direction, change))
    keeps: set[str] = set()
    for each in found.not_compared:
        if each.found_in == "to" or each.reason is Reason.OTHER_RULES:
            continue
        # A check that stops applying needs confirmation; a check that could not run tells nothing.
        if each.reason is not Reason.NOT_APPLICABLE:
            keeps.add(each.id)
        else:
            memory.believes(each.id, GONE, 2)
    memory.end()
    document = merged(known, report, keeps=keeps | memory.waiting.keys())
    return Compared(document, memory.doubts(), tuple(changes), known)


def _moved(found: Diff) -> Iterator[tuple[str, Change]]:
    for direction in ("new", "fixed", "worse", "better"):
        for change in getattr(found, direction):
            was, now = change.before, change.after
            # A new catalogue may rate the same finding differently: then the site has not changed.
            is_other = was is None or now is None or was.status != now.status
            if found.same_rules or is_other or change.new_places or change.fixed_places:
                yield direction, change


class _Memory:
    """Doubts about a page and type, from one run to the next."""

    def __init__(self, doubts: Doubts, silent: Set[str]) -> None:
        self.waiting: dict[str, list[Any]] = {}
        self._before: Mapping[str, list[Any]] = doubts.get("checks", {})
        self._silent = silent
        self._moved = {
            id: ages
            for id, every in doubts.get("moved", {}).items()
            if (ages := [each + 1 for each in every if each < REMEMBERED_RUNS])
        }
        self._seen: set[str] = set()

    def believes(self, id: str, direction: str, runs: int) -> bool:
        """Return True if enough runs in a row show the change: `runs`, plus one for each time it came and went."""
        self._seen.add(id)
        said, times = self._before.get(id, ("", 0))
        times = times + 1 if said == direction else 1
        if times >= min(MOST_RUNS, runs + len(self._moved.get(id, ())) // 2):
            self._moved.setdefault(id, []).append(0)
            return True
        self.waiting[id] = [direction, times]
        return False

    def end(self) -> None:
        """Drop doubts that this run does not show again; doubts about checks that could not run stay."""
        for id, doubt in self._before.items():
            if id in self._seen:
                continue
            if id in self._silent:
                self.waiting[id] = list(doubt)
            else:
                self._moved.setdefault(id, []).extend((0, 0))

    def doubts(self) -> dict[str, Any]:
        found = {"checks": self.waiting, "moved": self._moved}
        return {name: value for name, value in found.items() if value}


def is_down(known: Document, report: Document) -> bool:
    """Return True if the response is an error instead of the page: any 5xx, or a 4xx where the page was fine before."""
    answer = report["answer"]
    return answer is not None and (answer >= 500 or (is_error(report) and bool(known) and not is_error(known)))


def runs_down(doubts: Iterable[Doubts]) -> int:
    """Return the number of runs in a row in which the page could not be judged at all, from its types' doubts."""
    return max((each.get("down", 0) for each in doubts), default=0)
