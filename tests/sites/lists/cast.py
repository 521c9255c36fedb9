"""Helpers that insert lists and entries into the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from sites.models import ListEntry, SiteList
from tests.factories import Member


def make_list(member: Member, **columns: Any) -> SiteList:
    """Create an empty list."""
    values: dict[str, Any] = {"name": "Cities", "types": ["security", "seo"]}
    return SiteList.objects.create(organization=member.organization, **values | columns)


def make_entry(site_list: SiteList, url: str = "https://example.com/", **columns: Any) -> ListEntry:
    """Add an entry to a list."""
    (entry,) = make_entries(site_list, [{"url": url, **columns}])
    return entry


def make_entries(site_list: SiteList, entries: Iterable[dict[str, Any]]) -> list[ListEntry]:
    """Add entries to a list.

    Each entry is a dict of column values.
    """
    created = ListEntry.objects.bulk_create(
        ListEntry(site_list=site_list, **{"host": urlsplit(entry["url"]).netloc, **entry}) for entry in entries
    )
    site_list.entries_count += len(created)
    site_list.save(update_fields=["entries_count"])
    return created
