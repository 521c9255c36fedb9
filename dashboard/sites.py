"""Pages that an organization has scanned, with results.

All queries use indexes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias
from urllib.parse import urlencode

from django.utils import timezone
from msgspec import Struct

from accounts import access
from infrastructure.web import keyset
from scans.models import INDEXED_URL_LENGTH, Scan, path_of

PAGE_SIZE = 25
# How many pages one search reads at most.
MAX_SEARCHED = 1_000

# States of journeys are not pages of a site: they may have the address of a page, and other content.
# Loose index scan: one index lookup finds the host's next page, so that not all scans are read.
# Pages are distinguished by the indexed prefix of their URL (`scans.models.INDEXED_URL_LENGTH`).
NEXT = """
    WITH RECURSIVE pages AS (
        (SELECT url FROM scans_scan WHERE organization_id = %(organization)s AND lead_id IS NULL AND host = %(host)s
            AND NOT is_of_journey AND left(url, 1000) {beyond} %(place)s ORDER BY left(url, 1000) {order} LIMIT 1)
        UNION ALL
        SELECT (SELECT url FROM scans_scan WHERE organization_id = %(organization)s AND lead_id IS NULL
            AND host = %(host)s AND NOT is_of_journey AND left(url, 1000) {beyond} left(pages.url, 1000)
            ORDER BY left(url, 1000) {order} LIMIT 1)
        FROM pages WHERE pages.url IS NOT NULL
    )
    SELECT url FROM pages WHERE url IS NOT NULL LIMIT %(limit)s
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
            AND scan.type = kind.type AND status IN ('completed', 'partial') AND NOT is_of_journey
            AND categories IS NULL
        ORDER BY scan.created_at DESC LIMIT %(limit)s
    ) AS result
"""
# Main page of the host: the https start page if that page has a result of all categories, otherwise the first page by
# URL.
MAIN = """
    SELECT coalesce(
        (SELECT url FROM scans_scan WHERE organization_id = %(organization)s
            AND md5(url) = md5('https://' || %(host)s || '/') AND status IN ('completed', 'partial')
            AND NOT is_of_journey AND categories IS NULL LIMIT 1),
        (SELECT url FROM scans_scan WHERE organization_id = %(organization)s AND lead_id IS NULL
            AND host = %(host)s AND NOT is_of_journey ORDER BY left(url, 1000) LIMIT 1)
    )
"""


class Result(Struct, frozen=True):
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


class PageRow(Struct, frozen=True):
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


# Page of rows in the order of their URLs.
SitePage: TypeAlias = keyset.LinkedPage[PageRow, str]


def pages_of_site(organization_id: int, host: str, query: Mapping[str, str]) -> SitePage:
    """Return the site's pages whose URL contains the search text, ordered by URL.

    A search reads at most MAX_SEARCHED pages.
    """
    text = keyset.search_text(query).lower()

    def read(beyond: str | None, *, is_backward: bool) -> tuple[list[str], str | None]:
        limit = MAX_SEARCHED if text else PAGE_SIZE + 1
        urls_read = _next_urls(organization_id, host, beyond or "", limit, is_backward=is_backward)
        matches = [url for url in urls_read if text in url.lower()]
        if len(matches) > PAGE_SIZE:
            return matches[:PAGE_SIZE], matches[PAGE_SIZE - 1]
        return matches, urls_read[-1] if text and len(urls_read) == MAX_SEARCHED else None

    filters = {"q": text} if text else {}
    urls = keyset.linked(read, query, order=keyset.BY_TEXT, size=PAGE_SIZE, key=str, filters=filters)
    results = page_results(organization_id, urls.rows, limit=1)
    rows = [PageRow(host, url, results[url]) for url in urls.rows]
    return keyset.LinkedPage(rows, urls.previous, urls.next, urls.searched_to)


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


def main_page(organization_id: int, host: str) -> str:
    """Return the URL of the site's main page."""
    ((url,),) = access.fetch_rows(MAIN, organization_id, host=host)
    return str(url)


def _next_urls(organization_id: int, host: str, url: str, limit: int, *, is_backward: bool) -> list[str]:
    """Return the URLs of the host's pages after `url`, or before it."""
    query = NEXT.format(beyond="<" if is_backward else ">", order="DESC" if is_backward else "ASC")
    rows = access.fetch_rows(query, organization_id, place=url[:INDEXED_URL_LENGTH], limit=limit, host=host)
    return [url for (url,) in rows]
