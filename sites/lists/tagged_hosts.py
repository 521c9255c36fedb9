"""Hosts of list entries with a tag, for members who are limited to tags."""

from __future__ import annotations

from collections.abc import Sequence

from accounts import access
from sites.models import ListEntry, SiteList

# A member with more sites than this sees the first of them.
MAX_HOSTS = 5_000


def hosts_of_tags(organization_id: int, tags: Sequence[str]) -> list[str]:
    """Return the hosts of the organization's list entries that have any of the tags."""
    entries = ListEntry.objects.filter(site_list__in=access.rows(SiteList, organization_id), tags__overlap=list(tags))
    return list(entries.order_by("host").values_list("host", flat=True).distinct()[:MAX_HOSTS])
