"""What has changed on a page since it was last confirmed, and what of that is believed at once. Pure.

Not everything that differs is news. What a report that has gaps says, and what rests on measured times, is believed
when a further run says the same; what came and went lately, when several do. Until then it is a doubt, and the page
is known as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from scanner.report.diff import Change, Diff, Reason, diff
from sites.monitors.states import Document, has_browser, is_error, merged, silent_checks

# How many runs are remembered of what came and went, and how many of a row are asked for at most.
REMEMBERED_RUNS = 10
MOST_RUNS = 5
GONE = "gone"
Doubts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """What is known of a page and type from now on, and what has changed: the groups of a diff with their changes.

    `doubts` is JSON: by check the direction and how many runs in a row said so (`checks`), how many runs ago a check
    came or went (`moved`), runs in a row without the browser that there had been (`other`), or without an answer
    (`down`). What is not there is nothing.
    """

    document: Document
    doubts: Doubts
    changes: tuple[tuple[str, Change], ...] = ()
    known: Document = field(default_factory=dict)


def compare(known: Document, doubts: Doubts, report: Document, *, is_partial: bool, measured: Set[str]) -> Compared:
    """Compare a report, reduced, with what is known of the page (empty: nothing yet).

    `measured` are the checks whose verdict may differ although the site is the same.
    """
    if not known:
        return Compared(report, {})
    if has_browser(known) != has_browser(report):
        # What a browser shows and what markup says are two things. Where it was missing once, it comes back.
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
        # What does not apply may be away for once only; whatever could not run says nothing.
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
            # Other rules may weigh the same finding otherwise: then the site has not changed.
            is_other = was is None or now is None or was.status != now.status
            if found.same_rules or is_other or change.new_places or change.fixed_places:
                yield direction, change


class _Memory:
    """The doubts of a page and type, from one run to the next."""

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
        """Whether as many runs in a row say so as are asked for: `runs`, and one for each time it came and went."""
        self._seen.add(id)
        said, times = self._before.get(id, ("", 0))
        times = times + 1 if said == direction else 1
        if times >= min(MOST_RUNS, runs + len(self._moved.get(id, ())) // 2):
            self._moved.setdefault(id, []).append(0)
            return True
        self.waiting[id] = [direction, times]
        return False

    def end(self) -> None:
        """Forget what this run does not say any more; what it could not judge goes on waiting."""
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
    """Whether the page answered with an error instead: with any of the server's, or where it had been there."""
    answer = report["answer"]
    return answer is not None and (answer >= 500 or (is_error(report) and bool(known) and not is_error(known)))


def runs_down(doubts: Iterable[Doubts]) -> int:
    """How many runs in a row a page could not be judged at all, by the doubts of its types."""
    return max((each.get("down", 0) for each in doubts), default=0)
