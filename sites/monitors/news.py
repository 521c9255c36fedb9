"""News of a run: the changes on all pages, grouped by finding, in the format of the event's data. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from scanner.report.diff import SEVERITY_RANK, Change, Place
from sites.monitors.comparing import Compared
from sites.monitors.scores import Scored
from sites.monitors.states import checks_of

DIRECTIONS = ("new", "fixed", "worse", "better")
GROUPS, PAGES, PLACES, ADDRESSES = 50, 5, 5, 20
# Limit of groups in memory, because a site may show a different fault on every page.
MOST_GROUPS = 1_000
TITLE, TEXT, PLACE, ADDRESS = 200, 300, 150, 1_000
# Maximum size in bytes of the news in a message, which may have 256 KB, for any content of pages.
LARGEST = 200_000

# Returns True if the organization has muted the finding, given by check, URL and fingerprint.
IsMuted = Callable[[str, str, str], bool]


@dataclass(frozen=True, slots=True)
class Looked:
    """Compared page: its type, its report, and the previous report, which is empty if it has expired."""

    url: str
    type: str
    report_url: str
    previous_report_url: str


@dataclass(slots=True)
class _Group:
    change: Change
    type: str
    said: str
    fix: str
    fingerprints: list[str]
    pages_affected: int = 0
    pages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def weight(self) -> tuple[int, int]:
        return SEVERITY_RANK[self.change.severity], -self.pages_affected

    def as_json(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "check": self.change.id,
            "title": cut(self.change.title, TITLE),
            "severity": self.change.severity,
            "pages_affected": self.pages_affected,
            "message": cut(self.change.message, TEXT),
            "fix": cut(self.fix, TEXT),
            "said": self.said,
            "fingerprints": self.fingerprints,
            "pages": self.pages,
        }


class News:
    """Collector of changes, page by page."""

    def __init__(self, is_muted: IsMuted) -> None:
        self.unreachable: list[dict[str, str]] = []
        self.reachable: list[dict[str, str]] = []
        self._is_muted = is_muted
        self._groups: dict[str, dict[tuple[str, ...], _Group]] = {name: {} for name in DIRECTIONS}
        self._dropped = dict.fromkeys(DIRECTIONS, 0)
        self._worst: dict[str, int] = {}

    def add(self, page: Looked, compared: Compared, fixes: Mapping[str, str]) -> None:
        """Add the changes of one page and type; `fixes` has the fix of each check."""
        if not compared.changes:
            return
        was, now = checks_of(compared.known), checks_of(compared.document)
        for direction, change in compared.changes:
            shown = now[change.id] if change.after else was[change.id]
            heard = self._heard(change, page.url, shown["places"])
            if heard is not None:
                self._group(direction, heard, page, fixes.get(change.id, ""))

    def _heard(self, change: Change, url: str, places: Mapping[str, str]) -> Change | None:
        """Return the change without its muted places; None if nothing of it is left."""
        if places and all(self._is_muted(change.id, url, each) for each in places):
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
        return tuple(each for each in places if not self._is_muted(change.id, url, each.fingerprint))

    def _group(self, direction: str, change: Change, page: Looked, fix: str) -> None:
        places = change.fixed_places if direction in ("fixed", "better") else change.new_places
        fingerprints = sorted(each.fingerprint for each in places)
        groups = self._groups[direction]
        key = (page.type, change.id, change.severity, *fingerprints)
        group = groups.get(key)
        if group is None:
            if len(groups) >= MOST_GROUPS:
                self._drop_lighter_half(direction)
            group = groups[key] = _Group(change, page.type, change.said, fix, fingerprints)
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

    def _drop_lighter_half(self, direction: str) -> None:
        heaviest = sorted(self._groups[direction].items(), key=lambda item: item[1].weight)
        self._groups[direction] = dict(heaviest[: MOST_GROUPS // 2])
        self._dropped[direction] += len(heaviest) - MOST_GROUPS // 2

    def worst(self, *directions: str) -> int | None:
        """Return the rank of the highest severity in these directions; None without changes."""
        return min((self._worst[each] for each in directions if each in self._worst), default=None)

    def as_json(self) -> dict[str, Any]:
        """Return `new`, `fixed`, `worse` and `better`, highest severity first, the pages, and the counts of `more`."""
        found: dict[str, Any] = {"more": {}}
        for name in DIRECTIONS:
            ordered = sorted(self._groups[name].values(), key=lambda group: group.weight)
            found[name] = [each.as_json() for each in ordered[:GROUPS]]
            found["more"][name] = len(ordered[GROUPS:]) + self._dropped[name]
        for name, pages in (("unreachable_pages", self.unreachable), ("reachable_pages", self.reachable)):
            found[name] = pages[:ADDRESSES]
            found["more"][name] = len(pages[ADDRESSES:])
        return found


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def reasons(
    alert: Mapping[str, Any], news: News, scored: Mapping[str, Scored], certificate: Mapping[str, Any] | None
) -> list[str]:
    """Return the reasons for which a monitor with this `alert` sends a message; empty if it does not."""
    least = SEVERITY_RANK.get(alert["new_findings"] or "", -1)

    def weighs(direction: str) -> bool:
        worst = news.worst(direction)
        return worst is not None and worst <= least

    found = {
        "new_findings": weighs("new"),
        "worse_findings": weighs("worse"),
        "score_drop": any(each.has_dropped for each in scored.values()),
        "score_below": any(each.fell_below for each in scored.values()),
        "certificate": certificate is not None,
        "unreachable_pages": bool(alert["unreachable"] and news.unreachable),
        "reachable_pages": bool(alert["recovered"] and news.reachable),
        "fixed": bool(alert["fixed"] and news.worst("fixed", "better") is not None),
    }
    return [name for name, is_so in found.items() if is_so]


def described(
    news: News, scored: Mapping[str, Scored], certificate: Mapping[str, Any] | None, why: list[str]
) -> dict[str, Any]:
    """Return `MonitorRun.news`, which is also an event's `data` without the monitor; empty if nothing has changed."""
    found = news.as_json()
    if not why and not any(found[name] for name in found if name != "more"):
        return {}
    scores = {name: {"before": each.before, "after": each.score, "grade": each.grade} for name, each in scored.items()}
    return _fitting({"scores": scores, **found, "certificate": certificate, "reasons": why})


def _fitting(described: dict[str, Any]) -> dict[str, Any]:
    """Drop groups of the lowest severities until the news fits into a message."""
    while len(json.dumps(described)) > LARGEST:
        longest = max((*DIRECTIONS, "unreachable_pages", "reachable_pages"), key=lambda name: _size(described[name]))
        kept = described[longest][: len(described[longest]) // 2]
        described["more"][longest] += len(described[longest]) - len(kept)
        described[longest] = kept
    return described


def _size(part: list[Any]) -> int:
    return len(json.dumps(part))


def ending_certificate(
    ends: Mapping[str, str], told: Mapping[str, Any], alert: Mapping[str, Any], now: datetime
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the certificate that expires first of those within the alert's days that were not notified yet, or None;
    and the new value of `told`.

    `ends` has the expiry of each host's certificate; `told` has for each host the expiry and the alert's days of its
    notification.
    """
    days = alert["certificate_days"]
    near = dict(_near(ends, days, now)) if days else {}
    kept = {host: each for host, each in told.items() if ends.get(host) == each[0]}
    untold = [host for host in near if kept.get(host, ["", 0]) != [ends[host], days]]
    if not untold:
        return None, kept
    host = min(untold, key=lambda each: (near[each], each))
    shown = {"host": host, "expires_at": ends[host], "days_left": max(0, (near[host] - now).days)}
    return shown, kept | {host: [ends[host], days]}


def _near(ends: Mapping[str, str], days: int, now: datetime) -> Iterator[tuple[str, datetime]]:
    for host, end in ends.items():
        ends_at = datetime.fromisoformat(end)
        if ends_at - now < timedelta(days=days):
            yield host, ends_at
