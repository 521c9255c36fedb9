"""Sites that a member is limited to (ADR 32).

A limit is a host (`www.example.org`), a host with all of its subdomains (`*.example.org`), or a tag of entries of lists
(`tag:client`). A member without limits may see all sites of the organization.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db.models import Q
from msgspec import Struct

from accounts.models import Membership
from website_scan.urls import Url

MAX_LIMITS = 100
MAX_LIMIT_LENGTH = 300
MAX_TAG_LENGTH = 60
TAG, SUBDOMAINS = "tag:", "*."
# Regular expression of PostgreSQL for the host of a canonical URL, with its port unless it is the scheme's default.
HOST_IN_URL = "^https?://([^/?#]+)"


class InvalidLimit(ValueError):
    """Raised for a text that names no site and no tag. `str(error)` is a sentence for people."""


class VisibleSites(Struct, frozen=True):
    """Hosts that a limited member may see: exact hosts, and suffixes such as `.example.org`.

    A host includes its port if that is not the scheme's own, as in the column `host` of scans.
    """

    hosts: frozenset[str]
    suffixes: tuple[str, ...]

    def allows(self, host: str) -> bool:
        return host in self.hosts or host.endswith(self.suffixes)

    def allows_url(self, url: str) -> bool:
        """Return True if the member may see the URL's host. `url` is canonical."""
        return self.allows(Url.of(url).host_and_port)

    def allows_urls(self, urls: Iterable[str]) -> bool:
        """Return True if the member may see the hosts of all URLs, which are canonical."""
        return all(map(self.allows_url, urls))

    @property
    def condition(self) -> Q:
        """Query condition for rows with a column `host`."""
        condition = Q(host__in=sorted(self.hosts))
        for suffix in self.suffixes:
            condition |= Q(host__endswith=suffix)
        return condition

    @property
    def url_condition(self) -> Q:
        """Query condition for rows with a column `url`."""
        hosts = [re.escape(host) for host in sorted(self.hosts)]
        hosts += [f"[^/]+{re.escape(suffix)}" for suffix in self.suffixes]
        return Q(url__regex=f"^https?://({'|'.join(hosts)})(/|$)") if hosts else Q(pk__in=[])

    def sql(self, column: str) -> tuple[str, dict[str, Any]]:
        """Return an SQL condition for a column with hosts, and its parameters. `column` is a constant."""
        condition = (
            f"({column} = ANY(%(scope_hosts)s) OR EXISTS (SELECT FROM unnest(%(scope_suffixes)s::text[]) AS suffix"
            f" WHERE right({column}, length(suffix)) = suffix))"
        )
        return condition, {"scope_hosts": sorted(self.hosts), "scope_suffixes": list(self.suffixes)}

    def urls_sql(self, column: str) -> tuple[str, dict[str, Any]]:
        """Return an SQL condition that the hosts of all URLs in an array are visible, and its parameters."""
        condition, parameters = self.sql(f"substring(url FROM '{HOST_IN_URL}')")
        return f"NOT EXISTS (SELECT FROM unnest({column}) AS url WHERE {condition} IS NOT TRUE)", parameters


HostsOfTags = Callable[[int, Sequence[str]], Iterable[str]]
_hosts_of_tags: HostsOfTags | None = None


def register_hosts_of_tags(function: HostsOfTags) -> None:
    """Register the function that returns the hosts with any of the tags in an organization."""
    global _hosts_of_tags
    _hosts_of_tags = function


def visible_sites_of(membership: Membership) -> VisibleSites | None:
    """Return the sites of a limited member, or None for a member who may see everything.

    Executes a query if the limits have tags.
    """
    if not membership.is_limited:
        return None
    tags = [limit.removeprefix(TAG) for limit in membership.limited_to if limit.startswith(TAG)]
    names = [limit for limit in membership.limited_to if not limit.startswith(TAG)]
    suffixes = tuple(limit.removeprefix("*") for limit in names if limit.startswith(SUBDOMAINS))
    hosts = {limit.removeprefix(SUBDOMAINS) for limit in names}
    if tags:
        assert _hosts_of_tags is not None, "the app `sites` has registered its function"
        hosts.update(_hosts_of_tags(membership.organization_id, tags))
    return VisibleSites(frozenset(hosts), suffixes)


def parse_limits(text: str) -> list[str]:
    """Return the limits in a text with one per line, in order and without duplicates. Raises InvalidLimit."""
    lines = dict.fromkeys(line.strip() for line in text.splitlines())
    limits = list(dict.fromkeys(_parse_limit(line) for line in lines if line))
    if len(limits) > MAX_LIMITS:
        raise InvalidLimit(f"A person can be limited to {MAX_LIMITS} sites and tags.")
    return limits


def _parse_limit(line: str) -> str:
    if line.startswith(TAG):
        tag = " ".join(line.removeprefix(TAG).split())
        if not tag or len(tag) > MAX_TAG_LENGTH or not tag.isprintable():
            raise InvalidLimit(f"A tag has 1 to {MAX_TAG_LENGTH} characters: {line[:80]}")
        return f"{TAG}{tag}"
    wildcard = SUBDOMAINS if line.startswith(SUBDOMAINS) else ""
    name = line.removeprefix(SUBDOMAINS)
    is_readable = len(name) <= MAX_LIMIT_LENGTH - 2 and name.isprintable() and "*" not in name
    url = Url.parse(f"https://{name}/") if is_readable else None
    # "*.org" would allow nearly everything.
    if url is None or url.href != f"https://{url.host_and_port}/" or not url.host or (wildcard and "." not in url.host):
        raise InvalidLimit(f"Not a site, such as www.example.org or *.example.org: {line[:80]}")
    return f"{wildcard}{url.host_and_port}"
