"""Changes of a page against its confirmed state, doubts that await confirmation, and groups of equal changes. Pure.

Not every difference is a change. A difference from a partial report, or from measured times, is confirmed by a second
run in a row; a finding that came and went lately needs several. Until then it is a doubt, and the confirmed state
of the page stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from sites.models.documents import (
    Changes,
    Direction,
    Doubt,
    Doubts,
    FindingNews,
    PageNews,
    ReachedPage,
    UnreachablePage,
)
from sites.monitors.states import checks_of, has_browser, is_error, merged, silent_checks
from website_scan.messages import cut
from website_scan.priority import SEVERITY_RANK, Priority
from website_scan.report.diff import Change, Diff, Place, Reason, diff
from website_scan.report_json import ReducedJson

# Number of runs for which a check's changes are remembered, and maximum number of runs in a row for a confirmation.
REMEMBERED_RUNS = 10
MOST_RUNS = 5
GONE = "gone"
DIRECTIONS: tuple[Direction, ...] = ("new", "fixed", "worse", "better")
GROUPS, PAGES, PLACES, ADDRESSES = 50, 5, 5, 20
# Limit of groups in memory, because a site may show a different fault on every page.
MOST_GROUPS = 1_000
TITLE, TEXT, PLACE, ADDRESS = 200, 300, 150, 1_000
# Returns True if the organization has muted the finding, given by check, outcome, URL and fingerprint.
IsMuted = Callable[[str, str, str, str], bool]


@dataclass(frozen=True, slots=True)
class Compared:
    """New confirmed state of a page and type, the former one, and the confirmed changes with their directions.

    `unmuted` are the checks with changes because a mute has ended.
    """

    document: ReducedJson
    doubts: Doubts
    changes: tuple[tuple[Direction, Change], ...] = ()
    known: ReducedJson | None = None
    unmuted: frozenset[str] = frozenset()


def compare(
    known: ReducedJson | None, doubts: Doubts, report: ReducedJson, *, is_partial: bool, measured: Set[str]
) -> Compared:
    """Compare a reduced report with the confirmed state of the page (`known`; None at first).

    `measured` are the checks whose verdict may vary although the site is the same.
    """
    if known is None:
        return Compared(report, {})
    if has_browser(known) != has_browser(report):
        # Reports with and without a browser are not comparable. A browser that is missing once will be back.
        other = doubts.get("other", 0) + 1
        if has_browser(report) or other > 1:
            return Compared(report, {})
        kept = doubts.copy()
        kept.pop("down", None)
        kept.pop("is_down_told", None)
        return Compared(known, {**kept, "other": other})
    if is_error(known) and not is_error(report):
        return Compared(report, {})
    found = diff(known, report)
    memory = _Memory(doubts, silent_checks(report))
    changes: list[tuple[Direction, Change]] = []
    for direction, change in _moved(found):
        runs = 2 if is_partial or change.id in measured else 1
        if memory.believes(change.id, direction, runs):
            changes.append((direction, change))
    keeps: set[str] = set()
    for each in found.not_compared:
        if each.found_in == "to" or each.reason in (Reason.OTHER_RULES, Reason.TOLD_BY_ANOTHER):
            continue
        # A check that stops applying needs confirmation; a check that could not run tells nothing.
        if each.reason is not Reason.NOT_APPLICABLE:
            keeps.add(each.id)
        else:
            memory.believes(each.id, GONE, 2)
    memory.end()
    document = merged(known, report, keeps=keeps | memory.waiting.keys())
    return Compared(document, memory.doubts(), tuple(changes), known)


def _moved(found: Diff[ReducedJson]) -> Iterator[tuple[Direction, Change]]:
    for direction in DIRECTIONS:
        for change in getattr(found, direction):
            was, now = change.before, change.after
            # A new catalogue may rate the same finding differently: then the site has not changed.
            is_other = was is None or now is None or was.status != now.status
            if found.same_rules or is_other or change.new_places or change.fixed_places:
                yield direction, change


class _Memory:
    """Doubts about a page and type, from one run to the next."""

    def __init__(self, doubts: Doubts, silent: Set[str]) -> None:
        self.waiting: dict[str, Doubt] = {}
        self._before = doubts.get("checks", {})
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
        doubt = self._before.get(id)
        times = doubt["runs"] + 1 if doubt and doubt["direction"] == direction else 1
        if times >= min(MOST_RUNS, runs + len(self._moved.get(id, ())) // 2):
            self._moved.setdefault(id, []).append(0)
            return True
        self.waiting[id] = {"direction": direction, "runs": times}
        return False

    def end(self) -> None:
        """Drop doubts that this run does not show again; doubts about checks that could not run stay."""
        for id, doubt in self._before.items():
            if id in self._seen:
                continue
            if id in self._silent:
                self.waiting[id] = doubt
            else:
                self._moved.setdefault(id, []).extend((0, 0))

    def doubts(self) -> Doubts:
        found: Doubts = {}
        if self.waiting:
            found["checks"] = self.waiting
        if self._moved:
            found["moved"] = self._moved
        return found


def is_down(known: ReducedJson | None, report: ReducedJson) -> bool:
    """Return True if the response is an error instead of the page: any 5xx, or a 4xx where the page was fine before."""
    answer = report["answer"]
    return answer is not None and (answer >= 500 or (is_error(report) and known is not None and not is_error(known)))


def runs_down(doubts: Iterable[Doubts]) -> int:
    """Return the number of runs in a row in which the page could not be judged at all, from its types' doubts."""
    return max((each.get("down", 0) for each in doubts), default=0)


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """Compared page: its type, its report, and the previous report, which is empty if it has expired."""

    url: str
    type: str
    report_url: str
    previous_report_url: str


@dataclass(slots=True)
class _Group:
    change: Change
    priority: Priority  # of all pages together
    type: str
    said: str
    fix: str
    fingerprints: list[str]
    pages_affected: int = 0
    pages: list[PageNews] = field(default_factory=list)

    def as_json(self) -> FindingNews:
        return {
            "type": self.type,
            "check": self.change.id,
            "outcome": self.change.outcome,
            "title": cut(self.change.title, TITLE),
            "severity": self.change.severity,
            "pages_affected": self.pages_affected,
            "message": cut(self.change.message, TEXT),
            "fix": cut(self.fix, TEXT),
            "said": self.said,
            "fingerprints": self.fingerprints,
            "pages": self.pages,
        }


class ChangeGroups:
    """Collector of the changes on all pages, grouped by finding, in the format of an event's data."""

    def __init__(self, is_muted: IsMuted) -> None:
        self.unreachable: list[UnreachablePage] = []
        self.reachable: list[ReachedPage] = []
        # Whether a message has said of any of the pages in `reachable` that it was unreachable.
        self.ends_told_outage = False
        self.is_muted = is_muted
        self._groups: dict[Direction, dict[tuple[str | None, ...], _Group]] = {name: {} for name in DIRECTIONS}
        self._dropped = dict.fromkeys(DIRECTIONS, 0)
        self._worst: dict[Direction, int] = {}

    def add(self, page: ComparedPage, compared: Compared, fixes: Mapping[str, str]) -> None:
        """Add the changes of one page and type; `fixes` has the fix of each check."""
        if compared.known is None or not compared.changes:
            return
        was, now = checks_of(compared.known), checks_of(compared.document)
        for direction, change in compared.changes:
            shown = now[change.id] if change.after else was[change.id]
            heard = self._heard(change, page.url, shown["places"] if shown["status"] != "pass" else ())
            if heard is not None:
                said = [heard.said, "no longer muted" if change.id in compared.unmuted else ""]
                self._group(direction, heard, page, fixes.get(change.id, ""), "; ".join(filter(None, said)))

    def _heard(self, change: Change, url: str, places: Iterable[str]) -> Change | None:
        """Return the change without its muted places; None if nothing of it is left."""
        if places and all(self.is_muted(change.id, change.outcome, url, each) for each in places):
            return None
        heard = replace(
            change,
            new_places=self._unmuted(change, change.new_places, url),
            fixed_places=self._unmuted(change, change.fixed_places, url),
        )
        had_places, has_places = (bool(each.new_places or each.fixed_places) for each in (change, heard))
        is_by_places = change.before == change.after and had_places
        return None if is_by_places and not has_places else heard

    def _unmuted(self, change: Change, places: tuple[Place, ...], url: str) -> tuple[Place, ...]:
        return tuple(each for each in places if not self.is_muted(change.id, change.outcome, url, each.fingerprint))

    def _group(self, direction: Direction, change: Change, page: ComparedPage, fix: str, said: str) -> None:
        places = change.fixed_places if direction in ("fixed", "better") else change.new_places
        fingerprints = sorted({each.fingerprint for each in places})
        groups = self._groups[direction]
        key = (page.type, change.id, change.severity, *fingerprints)
        group = groups.get(key)
        if group is None:
            if len(groups) >= MOST_GROUPS:
                self._drop_lower_priority_half(direction)
            group = groups[key] = _Group(change, change.priority, page.type, said, fix, fingerprints)
        else:
            group.priority = group.priority.with_other(change.priority)
        group.pages_affected += 1
        self._worst[direction] = min(self._worst.get(direction, 9), SEVERITY_RANK[change.severity])
        if len(group.pages) < PAGES:
            group.pages.append(
                {
                    "url": cut(page.url, ADDRESS),
                    "report_url": page.report_url,
                    "previous_report_url": page.previous_report_url or None,
                    "places": [cut(each.text, PLACE) for each in places[:PLACES]],
                }
            )

    def _drop_lower_priority_half(self, direction: Direction) -> None:
        ordered = sorted(self._groups[direction].items(), key=lambda item: item[1].priority)
        self._groups[direction] = dict(ordered[: MOST_GROUPS // 2])
        self._dropped[direction] += len(ordered) - MOST_GROUPS // 2

    def worst(self, *directions: Direction) -> int | None:
        """Return the rank of the highest severity in these directions; None without changes."""
        return min((self._worst[each] for each in directions if each in self._worst), default=None)

    def as_json(self) -> Changes:
        """Return `new`, `fixed`, `worse` and `better`, highest priority first, the pages, and the counts of `more`."""
        findings: dict[Direction, list[FindingNews]] = {}
        more: dict[Direction, int] = {}
        for name in DIRECTIONS:
            ordered = sorted(self._groups[name].values(), key=lambda group: group.priority)
            findings[name] = [each.as_json() for each in ordered[:GROUPS]]
            more[name] = len(ordered[GROUPS:]) + self._dropped[name]
        return {
            "new": findings["new"],
            "fixed": findings["fixed"],
            "worse": findings["worse"],
            "better": findings["better"],
            "unreachable_pages": self.unreachable[:ADDRESSES],
            "reachable_pages": self.reachable[:ADDRESSES],
            "more": {
                "new": more["new"],
                "fixed": more["fixed"],
                "worse": more["worse"],
                "better": more["better"],
                "unreachable_pages": len(self.unreachable[ADDRESSES:]),
                "reachable_pages": len(self.reachable[ADDRESSES:]),
            },
        }
