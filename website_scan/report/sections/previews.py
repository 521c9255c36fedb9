"""Previews of the page as a search result and as a shared link.

They are made from texts that the scan has stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from msgspec import Struct

from website_scan.messages import plain
from website_scan.report_json import ExportedCheck
from website_scan.stored_data import StoredSearchResult, StoredSharedLink
from website_scan.written_urls import split_url

BETWEEN = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


class SearchResult(Struct, frozen=True):
    """Preview of the page as a search result.

    `trail` is the URL as breadcrumbs: the host, then the folders.

    `is_hidden` is True if the page asks search engines not to index it.
    """

    site: str
    trail: str
    title: str
    description: str
    is_hidden: bool


class SharedLink(Struct, frozen=True):
    """Preview of a shared link.

    `image` is only a URL, because loading the image would reveal the report's reader to the site.
    """

    host: str
    title: str
    description: str
    image: str
    is_large: bool


def search_result(stored: StoredSearchResult, checks: Mapping[str, ExportedCheck]) -> SearchResult:
    host, path = _host_and_path(stored["url"])
    folders = [plain(unquote(folder)) for folder in path.split("/") if folder]
    indexable = checks.get("is-indexable")
    return SearchResult(
        site=stored["site"] or host,
        trail=BETWEEN.join([host, *folders]),
        title=stored["title"],
        description=stored["description"],
        is_hidden=indexable is not None and indexable["status"] == "fail",
    )


def shared_link(stored: StoredSharedLink) -> SharedLink:
    return SharedLink(
        host=_host_and_path(stored["url"])[0],
        title=stored["title"],
        description=stored["description"],
        image=stored["image"],
        is_large=stored["card"] == "summary_large_image",
    )


def _host_and_path(url: str) -> tuple[str, str]:
    try:
        parts = split_url(url)
    except ValueError:
        return url, ""
    return parts.netloc, parts.path
