"""Comparison of a page with its confirmed state. No I/O.

Not every difference is a change. A difference from a partial report or from measured times must be confirmed by the
next run. A finding that appeared and disappeared in recent runs needs several runs. Until then the difference is a
doubt, and the confirmed state of the page does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from msgspec import Struct, field
from msgspec.structs import replace

from sites.models.stored_json import (
    Changes,
    Direction,
    FindingNews,
    PageNews,
    ReachablePage,
    UnconfirmedChange,
    UnconfirmedChanges,
    UnreachablePage,
)
from sites.monitors.states import checks_of, checks_without_verdict, has_browser, is_error, merge_report
from website_scan.messages import cut
from website_scan.priority import SEVERITY_RANK, Priority
from website_scan.report.diff import Change, Diff, Place, diff
from website_scan.report.not_compared import Reason
from website_scan.report_json import ReducedJson

# Changes of a check are remembered for some runs. A change is confirmed by several consecutive runs.
MAX_REMEMBERED_RUNS = 10
MAX_CONFIRMING_RUNS = 5
GONE = "gone"
DIRECTIONS: tuple[Direction, ...] = ("new", "fixed", "worse", "better")
MAX_GROUPS, MAX_PAGES, MAX_PLACES, MAX_LISTED_URLS = 50, 5, 5, 20
# Limit of groups in memory, because a site may have another fault on every page.
MAX_GROUPS_IN_MEMORY = 1_000
MAX_TITLE_LENGTH, MAX_TEXT_LENGTH, MAX_PLACE_LENGTH, MAX_URL_LENGTH = 200, 300, 150, 1_000
# Function of check ID, outcome, URL and fingerprint that returns True if the organization has muted the finding.
IsMuted = Callable[[str, str, str, str], bool]


class Compared(Struct, frozen=True):
    """Result of comparing a page for one scan type.

    It has the new and the previous confirmed report, and the confirmed changes. `unmuted` are the IDs of checks that
    changed because a mute has ended.
    """

    confirmed: ReducedJson
    doubts: UnconfirmedChanges
    changes: tuple[tuple[Direction, Change], ...] = ()
    former: ReducedJson | None = None
    unmuted: frozenset[str] = frozenset()


def compare(
    confirmed: ReducedJson | None,
    doubts: UnconfirmedChanges,
    report: ReducedJson,
    *,
    is_partial: bool,
    measured: Set[str],
) -> Compared:
    """Compare a reduced report with the confirmed report of the page, which is None before the first run.

    `measured` are the IDs of checks whose verdict may vary although the site has not changed.
    """
    if confirmed is None:
        return Compared(report, {})
    if has_browser(confirmed) != has_browser(report):
        # Reports with and without a browser cannot be compared. A missing browser is usually back in the next run.
        other_runs = doubts.get("other", 0) + 1
        if has_browser(report) or other_runs > 1:
            return Compared(report, {})
        other_doubts = doubts.copy()
        other_doubts.pop("down", None)
        other_doubts.pop("is_down_told", None)
        return Compared(confirmed, {**other_doubts, "other": other_runs})
    if is_error(confirmed) and not is_error(report):
        return Compared(report, {})
    difference = diff(confirmed, report)
    memory = _Memory(doubts, checks_without_verdict(report))
    changes: list[tuple[Direction, Change]] = []
    for direction, change in _confirmable_changes(difference):
        required_runs = 2 if is_partial or change.id in measured else 1
        if memory.is_confirmed(change.id, direction, required_runs):
            changes.append((direction, change))
    unconfirmed: set[str] = set()
    for check in difference.not_compared:
        if check.found_in == "to" or check.reason in (Reason.OTHER_RULES, Reason.TOLD_BY_ANOTHER):
            continue
        # A check that no longer applies needs confirmation; a check that could not run says nothing about the site.
        if check.reason is not Reason.NOT_APPLICABLE:
            unconfirmed.add(check.id)
        else:
            memory.is_confirmed(check.id, GONE, 2)
    memory.end()
    new_state = merge_report(confirmed, report, unconfirmed=unconfirmed | memory.waiting.keys())
    return Compared(new_state, memory.doubts(), tuple(changes), confirmed)


def _confirmable_changes(difference: Diff[ReducedJson]) -> Iterator[tuple[Direction, Change]]:
    for direction in DIRECTIONS:
        for change in getattr(difference, direction):
            before, after = change.before, change.after
            # A new catalogue may rate the same finding differently although the site has not changed.
            is_new_status = before is None or after is None or before.status != after.status
            if difference.same_rules or is_new_status or change.new_places or change.fixed_places:
                yield direction, change


class _Memory:
    """Unconfirmed changes of a page for one scan type, updated from one run to the next."""

    def __init__(self, doubts: UnconfirmedChanges, checks_without_verdict: Set[str]) -> None:
        self.waiting: dict[str, UnconfirmedChange] = {}
        self._before = doubts.get("checks", {})
        self._checks_without_verdict = checks_without_verdict
        self._moved = {
            id: ages
            for id, previous_ages in doubts.get("moved", {}).items()
            if (ages := [age + 1 for age in previous_ages if age < MAX_REMEMBERED_RUNS])
        }
        self._ids_in_run: set[str] = set()

    def is_confirmed(self, id: str, direction: str, required_runs: int) -> bool:
        """Return True if enough consecutive runs had the change.

        `required_runs` runs are enough, plus one for each past relapse.
        """
        self._ids_in_run.add(id)
        doubt = self._before.get(id)
        times = doubt["runs"] + 1 if doubt and doubt["direction"] == direction else 1
        if times >= min(MAX_CONFIRMING_RUNS, required_runs + len(self._moved.get(id, ())) // 2):
            self._moved.setdefault(id, []).append(0)
            return True
        self.waiting[id] = {"direction": direction, "runs": times}
        return False

    def end(self) -> None:
        """Delete unconfirmed changes that did not recur in this run.

        Changes of checks that could not run are kept.
        """
        for id, doubt in self._before.items():
            if id in self._ids_in_run:
                continue
            if id in self._checks_without_verdict:
                self.waiting[id] = doubt
            else:
                self._moved.setdefault(id, []).extend((0, 0))

    def doubts(self) -> UnconfirmedChanges:
        doubts: UnconfirmedChanges = {}
        if self.waiting:
            doubts["checks"] = self.waiting
        if self._moved:
            doubts["moved"] = self._moved
        return doubts


def is_down(confirmed: ReducedJson | None, report: ReducedJson) -> bool:
    """Return True if the page responds with a 5xx status, or with a 4xx status that the confirmed report lacks."""
    answer = report["answer"]
    return answer is not None and (
        answer >= 500 or (is_error(report) and confirmed is not None and not is_error(confirmed))
    )


def count_consecutive_outages(doubts: Iterable[UnconfirmedChanges]) -> int:
    """Return for how many consecutive runs the page has been unreachable."""
    return max((doubts_of_type.get("down", 0) for doubts_of_type in doubts), default=0)


class ComparedPage(Struct, frozen=True):
    """Compared page for one scan type, with the URLs of its reports.

    `previous_report_url` is empty if that report has expired. `state` is the name of the state of a journey, and empty
    for pages.
    """

    url: str
    type: str
    report_url: str
    previous_report_url: str
    state: str = ""


class _Group(Struct):
    change: Change
    priority: Priority  # Rank among all findings, based on the changes on all pages.
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
            "title": cut(self.change.title, MAX_TITLE_LENGTH),
            "severity": self.change.severity,
            "pages_affected": self.pages_affected,
            "message": cut(self.change.message, MAX_TEXT_LENGTH),
            "fix": cut(self.fix, MAX_TEXT_LENGTH),
            "said": self.said,
            "fingerprints": self.fingerprints,
            "pages": self.pages,
        }


class ChangeGroups:
    """Changes on all pages, grouped by finding.

    They can be converted into event data.
    """

    def __init__(self, is_muted: IsMuted) -> None:
        self.unreachable: list[UnreachablePage] = []
        self.reachable: list[ReachablePage] = []
        # True if users were notified that one of the pages in `reachable` was unreachable.
        self.ends_notified_outage = False
        self.is_muted = is_muted
        self._groups: dict[Direction, dict[tuple[str | None, ...], _Group]] = {name: {} for name in DIRECTIONS}
        self._dropped = dict.fromkeys(DIRECTIONS, 0)
        self._worst: dict[Direction, int] = {}

    def add(self, page: ComparedPage, compared: Compared, fixes: Mapping[str, str]) -> None:
        """Add the changes of one page for one scan type.

        `fixes` has the fix texts by check ID.
        """
        for direction, change in self.unmuted(page.url, compared):
            texts = [change.said, "no longer muted" if change.id in compared.unmuted else ""]
            self._add_to_group(direction, change, page, fixes.get(change.id, ""), "; ".join(filter(None, texts)))

    def add_repeated(self, direction: Direction, change: Change) -> None:
        """Count the severity of a change that another scan type reports, so that it still triggers alerts."""
        self._count_severity(direction, change)

    def unmuted(self, url: str, compared: Compared) -> Iterator[tuple[Direction, Change]]:
        """Yield the page's changes for one scan type, without muted findings and places."""
        if compared.former is None:
            return
        before, after = checks_of(compared.former), checks_of(compared.confirmed)
        for direction, change in compared.changes:
            check = after[change.id] if change.after else before[change.id]
            unmuted = self._without_muted_places(change, url, check["places"] if check["status"] != "pass" else ())
            if unmuted is not None:
                yield direction, unmuted

    def _without_muted_places(self, change: Change, url: str, places: Iterable[str]) -> Change | None:
        """Return the change without its muted places, or None if all its places are muted."""
        if places and all(self.is_muted(change.id, change.outcome, url, fingerprint) for fingerprint in places):
            return None
        unmuted = replace(
            change,
            new_places=self._unmuted_places(change, change.new_places, url),
            fixed_places=self._unmuted_places(change, change.fixed_places, url),
        )
        had_places, has_places = (bool(version.new_places or version.fixed_places) for version in (change, unmuted))
        changes_only_places = change.before == change.after and had_places
        return None if changes_only_places and not has_places else unmuted

    def _unmuted_places(self, change: Change, places: tuple[Place, ...], url: str) -> tuple[Place, ...]:
        return tuple(place for place in places if not self.is_muted(change.id, change.outcome, url, place.fingerprint))

    def _add_to_group(self, direction: Direction, change: Change, page: ComparedPage, fix: str, said: str) -> None:
        places = change.fixed_places if direction in ("fixed", "better") else change.new_places
        fingerprints = sorted({place.fingerprint for place in places})
        groups = self._groups[direction]
        key = (page.type, change.id, change.severity, *fingerprints)
        group = groups.get(key)
        if group is None:
            if len(groups) >= MAX_GROUPS_IN_MEMORY:
                self._drop_lower_priority_half(direction)
            group = groups[key] = _Group(change, change.priority, page.type, said, fix, fingerprints)
        else:
            group.priority = group.priority.combine_with(change.priority)
        group.pages_affected += 1
        self._count_severity(direction, change)
        if len(group.pages) < MAX_PAGES:
            news: PageNews = {
                "url": cut(page.url, MAX_URL_LENGTH),
                "report_url": page.report_url,
                "previous_report_url": page.previous_report_url or None,
                "places": [cut(place.text, MAX_PLACE_LENGTH) for place in places[:MAX_PLACES]],
            }
            if page.state:
                news["state"] = page.state
            group.pages.append(news)

    def _count_severity(self, direction: Direction, change: Change) -> None:
        self._worst[direction] = min(self._worst.get(direction, 9), SEVERITY_RANK[change.severity])

    def _drop_lower_priority_half(self, direction: Direction) -> None:
        ordered = sorted(self._groups[direction].items(), key=lambda item: item[1].priority)
        self._groups[direction] = dict(ordered[: MAX_GROUPS_IN_MEMORY // 2])
        self._dropped[direction] += len(ordered) - MAX_GROUPS_IN_MEMORY // 2

    def worst(self, *directions: Direction) -> int | None:
        """Return the rank of the most severe change in these directions, or None without changes."""
        return min((self._worst[name] for name in directions if name in self._worst), default=None)

    def as_json(self) -> Changes:
        """Return the changes as event data.

        Findings are grouped by direction and sorted by priority. Omitted findings are only counted.
        """
        findings: dict[Direction, list[FindingNews]] = {}
        more: dict[Direction, int] = {}
        for name in DIRECTIONS:
            ordered = sorted(self._groups[name].values(), key=lambda group: group.priority)
            findings[name] = [group.as_json() for group in ordered[:MAX_GROUPS]]
            more[name] = len(ordered[MAX_GROUPS:]) + self._dropped[name]
        return {
            "new": findings["new"],
            "fixed": findings["fixed"],
            "worse": findings["worse"],
            "better": findings["better"],
            "unreachable_pages": self.unreachable[:MAX_LISTED_URLS],
            "reachable_pages": self.reachable[:MAX_LISTED_URLS],
            "more": {
                "new": more["new"],
                "fixed": more["fixed"],
                "worse": more["worse"],
                "better": more["better"],
                "unreachable_pages": len(self.unreachable[MAX_LISTED_URLS:]),
                "reachable_pages": len(self.reachable[MAX_LISTED_URLS:]),
            },
        }
