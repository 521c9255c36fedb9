"""Arrivals of visits at the pages of a site's audit: a URL that is no page is left out, and links lead to new pages.

Discovery reads few of the pages that a sitemap names. So each visit tells from its own response whether its URL is a
page of the list, and adds the pages that it links to while there is room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import transaction

from scans.visits.claims import LEFT_OUT
from sites.models import Audit, AuditPage
from website_scan.crawl.discovery.addresses import Site, identity
from website_scan.crawl.discovery.arrival import Arrival, arrive
from website_scan.crawl.discovery.mazes import ANYTHING, Mazes, shape
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.robots import CrawlerRules, normalised_path, product_token
from website_scan.crawl.robots_file import load_robots
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.http.request import Reuse
from website_scan.net.targets import Target, parse_target
from website_scan.page.evidence import Page
from website_scan.result import ScanFailed

FULL = "The visited pages link to more pages than {:,}; these have no place in the list."


class LeftOut(ScanFailed):
    """The URL is no page of the audit's list; its scans are refunded."""

    code = LEFT_OUT


def receive_page(*, scan_id: str, page: Page, network: Network, **_: object) -> None:
    """Leave out a discovered URL that is no page, and add the pages that it leads to. Receives `page_loaded`.

    Raises LeftOut.
    """
    listed = AuditPage.objects.select_related("audit").filter(scans=scan_id, audit__kind=Audit.Kind.SITE).first()
    if listed is None or listed.position == 0:  # discovery has read the start page
        return
    agent = product_token(network.policy.user_agent)
    target = parse_target(listed.url, network.policy)
    arrival = arrive(target, page, agent, is_linked=listed.is_linked)
    links = arrival.links if listed.audit.follows_links else ()
    if not arrival.fault and not links:
        return
    is_listed = _Places(listed, target, _permitted(target, listed.audit, network, agent)).take(arrival, links)
    if arrival.fault and not (arrival.keeps_without_other and not is_listed):
        raise LeftOut(f"Left out of the audit. {arrival.fault}")


@dataclass(frozen=True, slots=True)
class _Rules:
    """Patterns and robots.txt of an audit of a site. Without `crawler`, robots.txt could not be read."""

    patterns: Patterns
    crawler: CrawlerRules | None

    def permit(self, path: str) -> bool:
        normal = normalised_path(path)
        return self.crawler is not None and self.patterns.admit(normal) and self.crawler.allows(normal)


def _permitted(target: Target, audit: Audit, network: Network, agent: str) -> _Rules:
    patterns = Patterns(audit.include, audit.exclude)
    try:
        robots = load_robots(target, network, Reuse.ALLOWED)
    except (Refusal, NetError):
        return _Rules(patterns, None)
    return _Rules(patterns, None if robots.is_unreachable else CrawlerRules(robots.robots, agent))


class _Places:
    """Places in the list of an audit, for what the visit of `listed` has found."""

    def __init__(self, listed: AuditPage, target: Target, rules: _Rules) -> None:
        self._listed = listed
        self._site = Site(target)
        self._rules = rules

    def take(self, arrival: Arrival, links: Iterable[str]) -> bool:
        """List the page's other URL, or a spare one, and its links; return True if the other URL is listed now."""
        known = self._known()
        wanted = [path for path in links if identity(path) not in known]
        if not arrival.fault and not wanted:
            return False
        with transaction.atomic():
            audit = Audit.objects.select_for_update(no_key=True).get(id=self._listed.audit_id)
            if audit.status != Audit.Status.RUNNING:
                return False
            known = self._known()
            other = arrival.other
            is_other_listed = other is not None and known.get(identity(other), "") not in ("", "left_out")
            room = audit.max_pages - audit.pages_planned
            added: list[tuple[str, bool]] = []
            if other is not None and identity(other) not in known and self._rules.permit(other):
                added.append((other, False))
                is_other_listed = True
            is_gone = bool(arrival.fault) and (is_other_listed or not arrival.keeps_without_other)
            room += is_gone
            if is_gone and not added:
                added += self._spare(audit, known)
            found = self._new(wanted, known | {identity(path): "" for path, _ in added})
            if found and len(added) + len(found) > room:
                note = FULL.format(audit.max_pages)
                audit.notes = [*audit.notes, *([] if note in audit.notes else [note])]
            _add(audit, [(self._site.url(path), linked) for path, linked in [*added, *found][: max(room, 0)]])
        return is_other_listed

    def _known(self) -> dict[str, str]:
        """Return the statuses of the audit's pages by identity."""
        pages = AuditPage.objects.filter(audit=self._listed.audit_id).values_list("url", "status")
        return {identity(path): status for url, status in pages if (path := self._site.path(url, url)) is not None}

    def _spare(self, audit: Audit, known: Collection[str]) -> list[tuple[str, bool]]:
        """Take the next page from those that discovery has found beyond the list."""
        while audit.spare_pages:
            url = audit.spare_pages.pop(0)
            path = self._site.path(url, url)
            if path is not None and identity(path) not in known:
                return [(path, False)]
        return []

    def _new(self, links: Iterable[str], known: dict[str, str]) -> list[tuple[str, bool]]:
        """Return the links that may be listed. No page that only links lead to brings more pages of its own shape."""
        own = self._site.path(self._listed.url, self._listed.url) or ""
        mazes = Mazes(self._listed.audit.max_pages)
        linked = AuditPage.objects.filter(audit=self._listed.audit_id, is_linked=True).values_list("url", flat=True)
        for path in filter(None, (self._site.path(url, url) for url in linked)):
            mazes.admit(path, shape(path), 0, 0)
        found: dict[str, str] = {}
        for path in links:
            made = shape(path)
            is_circle = self._listed.is_linked and ANYTHING in made and made == shape(own)
            if identity(path) in known or is_circle or not self._rules.permit(path):
                continue
            if mazes.admit(path, made, 0, 0):
                found.setdefault(identity(path), path)
        return [(path, True) for path in found.values()]


def _add(audit: Audit, pages: Collection[tuple[str, bool]]) -> None:
    """Add waiting pages to a running audit, as URL and whether only links lead there; the caller holds its lock."""
    if audit.error_code:  # the quota is used up
        pages = ()
    last = AuditPage.objects.filter(audit=audit).order_by("-position").values_list("position", flat=True)[0]
    origin = AuditPage.objects.filter(audit=audit).values_list("origin", flat=True)[0]
    AuditPage.objects.bulk_create(
        AuditPage(audit=audit, position=last + number, url=url, origin=origin, is_linked=is_linked)
        for number, (url, is_linked) in enumerate(pages, 1)
    )
    audit.pages_planned += len(pages)
    audit.pages_found = max(audit.pages_found, audit.pages_planned)
    audit.save(update_fields=["pages_planned", "pages_found", "notes", "spare_pages"])
