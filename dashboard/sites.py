"""Hosts and pages that an organization has scanned, with results.

All queries use indexes.
"""

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
from scans.models import INDEXED_URL_LENGTH, Scan, path_of
from website_scan.urls import host_and_port_of

PAGE_SIZE = 25
# How many hosts or pages one search reads at most.
MAX_SEARCHED = 1_000

# Loose index scan: one index lookup finds the next host or page, so that not all scans are read.
# Pages are distinguished by the indexed prefix of their URL (`scans.models.INDEXED_URL_LENGTH`).
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
# Last results of pages by type. The index contains the URL's MD5 digest, and so does the condition.
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
# Main page of each host: the https start page if that page has a result, otherwise the first page by URL.
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
    """Score and grade from one scan."""

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
    """A page and its results for every scan type. `host` is the site's host."""

    host: str
    url: str
    results: Results

    @property
    def path(self) -> str:
        return path_of(self.url)

    @property
    def query(self) -> str:
        """Query string that selects this page in the charts on its site's page."""
        return urlencode({"page": self.url})

    @property
    def cells(self) -> list[tuple[str, Result | None]]:
        return [(Scan.Type(type).label, next(iter(results), None)) for type, results in self.results.items()]

    @property
    def last_result(self) -> Result | None:
        latest = (results[0] for results in self.results.values() if results)
        return max(latest, key=lambda result: result.created_at, default=None)


# Page of rows in the order of their names, which are hosts or URLs.
SitePage: TypeAlias = keyset.LinkedPage[PageRow, str]


def site_page(organization_id: int, query: Mapping[str, str]) -> SitePage:
    """Return the main pages of sites whose host contains the search text, ordered by host."""
    hosts = _names_page(_Names(organization_id), query)
    pages = _main_pages(organization_id, hosts.rows)
    return _with_results(organization_id, hosts, [(host, pages[host]) for host in hosts.rows])


def pages_of_site(organization_id: int, host: str, query: Mapping[str, str]) -> SitePage:
    """Return the site's pages whose URL contains the search text, ordered by URL."""
    urls = _names_page(_Names(organization_id, host), query)
    return _with_results(organization_id, urls, [(host, url) for url in urls.rows])


def page_results(organization_id: int, urls: Sequence[str], *, limit: int) -> dict[str, Results]:
    """Return up to `limit` results per type and URL, with one query."""
    results: dict[str, dict[str, list[Result]]] = {url: {type: [] for type in Scan.Type.values} for url in urls}
    if urls:
        rows = access.fetch_rows(
            RESULTS, organization_id, urls=json.dumps(list(results)), types=json.dumps(Scan.Type.values), limit=limit
        )
        for url, type, *result in rows:
            results[url][type].append(Result(*result))
    return dict(results)


def main_pages(urls: Iterable[str], limit: int) -> dict[str, str]:
    """Map every host to its most frequent URL, or the shortest one in a tie.

    Hosts keep the order of the URLs.
    """
    counts: dict[str, Counter[str]] = {}
    for url in urls:
        counts.setdefault(host_and_port_of(url), Counter())[url] += 1
    hosts = list(counts.items())[:limit]
    return {host: min(by_url, key=lambda url: (-by_url[url], len(url), url)) for host, by_url in hosts}


def main_page(organization_id: int, host: str) -> str:
    """Return the URL of the site's main page."""
    return _main_pages(organization_id, [host])[host]


def _main_pages(organization_id: int, hosts: Sequence[str]) -> dict[str, str]:
    return dict(access.fetch_rows(MAIN, organization_id, hosts=json.dumps(hosts))) if hosts else {}


def _with_results(
    organization_id: int, names: keyset.LinkedPage[str, str], pages: Sequence[tuple[str, str]]
) -> SitePage:
    results = page_results(organization_id, [url for _, url in pages], limit=1)
    rows = [PageRow(host, url, results[url]) for host, url in pages]
    return keyset.LinkedPage(rows, names.previous, names.next, names.searched_to)


@dataclass(frozen=True, slots=True)
class _Names:
    """Query for an organization's hosts, or for a host's pages."""

    organization_id: int
    host: str | None = None

    def next_after(self, name: str, limit: int, *, backward: bool) -> list[str]:
        query = NEXT.format(
            name="host" if self.host is None else "url",
            key="host" if self.host is None else "left(url, 1000)",
            within="" if self.host is None else " AND host = %(host)s",
            beyond="<" if backward else ">",
            order="DESC" if backward else "ASC",
        )
        rows = access.fetch_rows(
            query, self.organization_id, place=name[:INDEXED_URL_LENGTH], limit=limit, host=self.host
        )
        return [name for (name,) in rows]


def _names_page(names: _Names, query: Mapping[str, str]) -> keyset.LinkedPage[str, str]:
    """Return a page of names that contain the search text.

    A search reads at most MAX_SEARCHED names.
    """
    text = keyset.search_text(query).lower()

    def read(beyond: str | None, *, is_backward: bool) -> tuple[list[str], str | None]:
        limit = MAX_SEARCHED if text else PAGE_SIZE + 1
        names_read = names.next_after(beyond or "", limit, backward=is_backward)
        matches = [name for name in names_read if text in name.lower()]
        if len(matches) > PAGE_SIZE:
            return matches[:PAGE_SIZE], matches[PAGE_SIZE - 1]
        return matches, names_read[-1] if text and len(names_read) == MAX_SEARCHED else None

    filters = {"q": text} if text else {}
    return keyset.linked(read, query, order=keyset.BY_TEXT, size=PAGE_SIZE, key=str, filters=filters)
