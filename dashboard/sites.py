"""Sites and their pages: hosts and URLs of an organization's scans with their results, read through indexes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias
from urllib.parse import urlencode

from django.utils import timezone

from accounts import access
from infrastructure.web import keyset
from scans.models import INDEXED_URL, Scan, path_of
from website_scan.urls import host_and_port_of

PAGE_SIZE = 25
# Maximum number of hosts, or pages, that one search reads.
WINDOW = 1_000

# One index lookup leads from each host or page to the next (a loose index scan): no count, no read of all scans.
# Pages are distinguished by the indexed prefix of their URL (`scans.models.INDEXED_URL`).
NEXT = """
    WITH RECURSIVE names AS (
        (SELECT {name} AS name FROM scans_scan WHERE organization_id = %(organization)s AND lead_id IS NULL{within}
            AND {key} {beyond} %(place)s ORDER BY {key} {order} LIMIT 1)
        UNION ALL
        SELECT (SELECT {name} FROM scans_scan WHERE organization_id = %(organization)s AND lead_id IS NULL{within}
            AND {key} {beyond} left(names.name, 1000) ORDER BY {key} {order} LIMIT 1)
        FROM names WHERE names.name IS NOT NULL
    )
    SELECT name FROM names WHERE name IS NOT NULL LIMIT %(limit)s
"""
# The last results of pages, by type, looked up by the URL's MD5 digest, like the index.
RESULTS = """
    SELECT wanted.url, kind.type, result.id, result.score, result.grade, result.created_at, result.catalogue_version,
        result.kept_days
    FROM jsonb_array_elements_text(%(urls)s::jsonb) AS wanted (url)
    CROSS JOIN jsonb_array_elements_text(%(types)s::jsonb) AS kind (type)
    CROSS JOIN LATERAL (
        SELECT id, score, grade, created_at, catalogue_version, kept_days FROM scans_scan AS scan
        WHERE organization_id = %(organization)s AND md5(scan.url) = md5(wanted.url) AND scan.url = wanted.url
            AND scan.type = kind.type AND status IN ('completed', 'partial')
        ORDER BY scan.created_at DESC LIMIT %(limit)s
    ) AS result
"""
# The main page of a host: its https start page if that has a result, else the page with the first URL.
MAIN = """
    SELECT wanted.host, coalesce(
        (SELECT url FROM scans_scan WHERE organization_id = %(organization)s
            AND md5(url) = md5('https://' || wanted.host || '/') AND status IN ('completed', 'partial') LIMIT 1),
        (SELECT url FROM scans_scan AS scan WHERE organization_id = %(organization)s AND lead_id IS NULL
            AND scan.host = wanted.host ORDER BY left(url, 1000) LIMIT 1)
    )
    FROM jsonb_array_elements_text(%(hosts)s::jsonb) AS wanted (host)
"""


@dataclass(frozen=True, slots=True)
class Result:
    """Score and grade of a scan of a page."""

    scan_id: str
    score: int
    grade: str
    created_at: datetime
    catalogue_version: str
    kept_days: int

    @property
    def moment(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M}"

    @property
    def is_kept(self) -> bool:
        return self.created_at + timedelta(days=self.kept_days) > timezone.now()


# Results by type, in the order of the types, newest first; empty for types without results.
Results: TypeAlias = Mapping[str, Sequence[Result]]


@dataclass(frozen=True, slots=True)
class PageRow:
    """Row of a page with its results of each type; `host` is the site's host."""

    host: str
    url: str
    results: Results

    @property
    def path(self) -> str:
        return path_of(self.url)

    @property
    def query(self) -> str:
        """Return the query string for the site's page that shows this page's scores over time."""
        return urlencode({"page": self.url})

    @property
    def cells(self) -> list[tuple[str, Result | None]]:
        return [(Scan.Type(type).label, next(iter(found), None)) for type, found in self.results.items()]

    @property
    def last_result(self) -> Result | None:
        latest = (found[0] for found in self.results.values() if found)
        return max(latest, key=lambda each: each.created_at, default=None)


# Page of rows sorted by a name, the host or the URL.
SitePage: TypeAlias = keyset.LinkedPage[PageRow, str]


def site_page(organization_id: int, query: Mapping[str, str]) -> SitePage:
    """Return the main pages of the sites whose host contains the search text, by host."""
    found = _names_page(_Names(organization_id), query)
    pages = _main_pages(organization_id, found.rows)
    return _with_results(organization_id, found, [(host, pages[host]) for host in found.rows])


def page_page(organization_id: int, host: str, query: Mapping[str, str]) -> SitePage:
    """Return the pages of a site whose URL contains the search text, by URL."""
    found = _names_page(_Names(organization_id, host), query)
    return _with_results(organization_id, found, [(host, url) for url in found.rows])


def page_results(organization_id: int, urls: Sequence[str], *, limit: int) -> dict[str, Results]:
    """Return up to `limit` results of each type, by URL. One query."""
    results: dict[str, dict[str, list[Result]]] = {url: {type: [] for type in Scan.Type.values} for url in urls}
    if urls:
        found = access.fetch_rows(
            RESULTS, organization_id, urls=json.dumps(list(results)), types=json.dumps(Scan.Type.values), limit=limit
        )
        for url, type, *result in found:
            results[url][type].append(Result(*result))
    return dict(results)


def main_pages(urls: Iterable[str], limit: int) -> dict[str, str]:
    """Map each host, in the order of the URLs, to its most frequent URL; of equally frequent ones the shortest."""
    counts: dict[str, Counter[str]] = {}
    for url in urls:
        counts.setdefault(host_and_port_of(url), Counter())[url] += 1
    chosen = list(counts.items())[:limit]
    return {host: min(found, key=lambda url: (-found[url], len(url), url)) for host, found in chosen}


def main_page(organization_id: int, host: str) -> str:
    """Return the URL of the site's main page."""
    return _main_pages(organization_id, [host])[host]


def _main_pages(organization_id: int, hosts: Sequence[str]) -> dict[str, str]:
    return dict(access.fetch_rows(MAIN, organization_id, hosts=json.dumps(hosts))) if hosts else {}


def _with_results(
    organization_id: int, found: keyset.LinkedPage[str, str], pages: Sequence[tuple[str, str]]
) -> SitePage:
    results = page_results(organization_id, [url for _, url in pages], limit=1)
    rows = [PageRow(host, url, results[url]) for host, url in pages]
    return keyset.LinkedPage(rows, found.previous, found.next, found.searched_to)


@dataclass(frozen=True, slots=True)
class _Names:
    """Query for the hosts of an organization, or for the pages of one of its hosts."""

    organization_id: int
    host: str | None = None

    def next(self, place: str, limit: int, *, backward: bool) -> list[str]:
        query = NEXT.format(
            name="host" if self.host is None else "url",
            key="host" if self.host is None else "left(url, 1000)",
            within="" if self.host is None else " AND host = %(host)s",
            beyond="<" if backward else ">",
            order="DESC" if backward else "ASC",
        )
        found = access.fetch_rows(query, self.organization_id, place=place[:INDEXED_URL], limit=limit, host=self.host)
        return [name for (name,) in found]


def _names_page(names: _Names, query: Mapping[str, str]) -> keyset.LinkedPage[str, str]:
    """Return a page of the names that contain the search text. A search reads at most WINDOW names."""
    text = keyset.search_text(query).lower()

    def read(beyond: str | None, *, is_backward: bool) -> tuple[list[str], str | None]:
        limit = WINDOW if text else PAGE_SIZE + 1
        seen = names.next(beyond or "", limit, backward=is_backward)
        found = [name for name in seen if text in name.lower()]
        if len(found) > PAGE_SIZE:
            return found[:PAGE_SIZE], found[PAGE_SIZE - 1]
        return found, seen[-1] if text and len(seen) == WINDOW else None

    filters = {"q": text} if text else {}
    return keyset.linked(read, query, order=keyset.BY_TEXT, size=PAGE_SIZE, key=str, filters=filters)
