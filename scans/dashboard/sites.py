"""Sites: the hosts of an organization's scans, and how they did. All of it is read through one index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from accounts import access
from scans.models import Scan, is_kept, path_of

PAGE_SIZE = 25
# How many hosts one page looks at for a text.
WINDOW = 1_000
# How far back in the list of scans the hosts scanned last are looked for.
RECENT_SCANS = 200

# From one host to the next, a look into the index each: the hosts are never counted and their scans never read.
NEXT_HOSTS = """
    WITH RECURSIVE hosts AS (
        (SELECT host FROM scans_scan WHERE organization_id = %(organization)s AND host {beyond} %(place)s
         ORDER BY host {order} LIMIT 1)
        UNION ALL
        SELECT (SELECT host FROM scans_scan WHERE organization_id = %(organization)s AND host {beyond} hosts.host
                ORDER BY host {order} LIMIT 1)
        FROM hosts WHERE hosts.host IS NOT NULL
    )
    SELECT host FROM hosts WHERE host IS NOT NULL LIMIT %(limit)s
"""
RESULTS = """
    SELECT host, type, result.id, result.url, result.score, result.grade, result.created_at
    FROM jsonb_array_elements_text(%(hosts)s::jsonb) AS wanted (host)
    CROSS JOIN jsonb_array_elements_text(%(types)s::jsonb) AS kind (type)
    CROSS JOIN LATERAL (
        SELECT id, url, score, grade, created_at FROM scans_scan AS scan
        WHERE organization_id = %(organization)s AND scan.host = wanted.host AND scan.type = kind.type
            AND status IN ('completed', 'partial')
        ORDER BY scan.created_at DESC, scan.id DESC LIMIT %(limit)s
    ) AS result
"""


@dataclass(frozen=True, slots=True)
class Result:
    scan_id: str
    url: str
    score: int
    grade: str
    created_at: datetime

    @property
    def moment(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M}"

    @property
    def path(self) -> str:
        """What follows the host in the URL."""
        return path_of(self.url)

    @property
    def is_kept(self) -> bool:
        return is_kept(self.created_at)


@dataclass(frozen=True, slots=True)
class Site:
    """A host with its results by type, in the order of the types, newest first; types without any are empty."""

    host: str
    results: Mapping[str, Sequence[Result]]

    @property
    def cells(self) -> list[tuple[str, Result | None]]:
        return [(Scan.Type(type).label, next(iter(found), None)) for type, found in self.results.items()]

    @property
    def pages(self) -> list[str]:
        """The URLs that have results, the one with most of them first, of several such the shortest."""
        counts = Counter(result.url for found in self.results.values() for result in found)
        return sorted(counts, key=lambda url: (-counts[url], len(url), url))

    def of_page(self, url: str) -> Site:
        """The same with the results of that page alone: one line through several would show no trend of any."""
        results = {type: [each for each in found if each.url == url] for type, found in self.results.items()}
        return replace(self, results=results)

    @property
    def last_result(self) -> Result | None:
        latest = (found[0] for found in self.results.values() if found)
        return max(latest, key=lambda each: each.created_at, default=None)


@dataclass(frozen=True, slots=True)
class SitePage:
    """Sites by name, and the query strings of the pages beside it. `searched_to`: where a search has stopped."""

    sites: list[Site]
    previous: str | None
    next: str | None
    searched_to: str | None


def site_page(organization_id: int, *, text: str = "", after: str = "", before: str = "") -> SitePage:
    """The sites whose host contains `text`, by host: those that follow `after`, or come before `before`."""
    filters = {"q": text} if text else {}
    if before:
        found, end = _hosts(organization_id, text, before, backward=True)
        if end is not None:
            sites = site_results(organization_id, found[::-1], limit=1)
            following = _link(filters, after=found[0] if found else before)
            return SitePage(sites, _link(filters, before=end), following, None)
    found, end = _hosts(organization_id, text, "" if before else after, backward=False)
    previous = None
    if after and not before:
        previous = _link(filters, before=found[0]) if found else urlencode(filters)
    return SitePage(
        site_results(organization_id, found, limit=1),
        previous,
        _link(filters, after=end) if end else None,
        end if end and len(found) < PAGE_SIZE else None,
    )


def site_results(organization_id: int, hosts: Sequence[str], *, limit: int) -> list[Site]:
    """The hosts, in the given order, with up to `limit` results of each type. One query."""
    results: dict[str, dict[str, list[Result]]] = {host: {type: [] for type in Scan.Type.values} for host in hosts}
    if hosts:
        found = access.fetch_rows(
            RESULTS, organization_id, hosts=json.dumps(hosts), types=json.dumps(Scan.Type.values), limit=limit
        )
        for host, type, *result in found:
            results[host][type].append(Result(*result))
    return [Site(host, by_type) for host, by_type in results.items()]


def recent_hosts(organization_id: int, limit: int) -> list[str]:
    """The hosts scanned last, among the last scans: a site of which there are hundreds hides what came before."""
    newest = access.rows(Scan, organization_id).order_by("-created_at", "-id").values_list("host", flat=True)
    return list(dict.fromkeys(newest[:RECENT_SCANS]))[:limit]


def _hosts(organization_id: int, text: str, place: str, *, backward: bool) -> tuple[list[str], str | None]:
    """A page of hosts from `place` on, and after which there may be more."""
    query = NEXT_HOSTS.format(beyond="<" if backward else ">", order="DESC" if backward else "ASC")
    limit = WINDOW if text else PAGE_SIZE + 1
    seen = [host for (host,) in access.fetch_rows(query, organization_id, place=place, limit=limit)]
    found = [host for host in seen if text in host]
    if len(found) > PAGE_SIZE:
        return found[:PAGE_SIZE], found[PAGE_SIZE - 1]
    return found, seen[-1] if text and len(seen) == WINDOW else None


def _link(filters: Mapping[str, str], **place: str) -> str:
    return urlencode({**filters, **place})
