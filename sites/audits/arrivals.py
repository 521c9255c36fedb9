"""Update a site audit's page list when a page has loaded.

URLs that are not pages are removed, and linked pages are added. Discovery reads only few of the pages that a sitemap
names. So each visit decides by its own response whether its URL is a page, and adds the pages that it links to until
the audit has its maximum number of pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db import transaction
from msgspec import Struct

from scans.visits.ending import LEFT_OUT
from sites.models import Audit, AuditPage
from website_scan.crawl.discovery.addresses import Site, identity
from website_scan.crawl.discovery.arrival import Arrival, arrive
from website_scan.crawl.discovery.mazes import ANYTHING, CrawlerTraps, shape
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.robots import CrawlerRules, normalised_path, product_token
from website_scan.crawl.robots_file import load_robots
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.targets import Target, parse_target
from website_scan.page.evidence import Page
from website_scan.result import ScanFailed

FULL = "The visited pages link to more pages than {:,}; the others are not in the list."


class LeftOut(ScanFailed):
    """Raised when a discovered URL is not a page.

    Its scans end and are refunded.
    """

    code = LEFT_OUT


def receive_page(*, scan_id: str, page: Page, network: Network, **_: object) -> None:
    """Add the pages that a loaded page links to.

    Receives the signal `page_loaded`.

    Raises LeftOut if the discovered URL is not a page, such as a redirect to another site.
    """
    listed = AuditPage.objects.select_related("audit").filter(scans=scan_id, audit__kind=Audit.Kind.SITE).first()
    # Discovery has already read the start page, which has position 0.
    if listed is None or listed.position == 0:
        return
    agent = product_token(network.policy.user_agent)
    target = parse_target(listed.url, network.policy)
    arrival = arrive(target, page, agent, is_linked=listed.is_linked)
    links = arrival.links if listed.audit.follows_links else ()
    if not arrival.fault and not links:
        return
    rules = _load_crawl_rules(target, listed.audit, network, agent)
    is_listed = _PageList(listed, target, rules).update(arrival, links)
    if arrival.fault and not (arrival.stays_listed_without_other and not is_listed):
        raise LeftOut(f"Left out of the audit. {arrival.fault}")


class _CrawlRules(Struct, frozen=True):
    """URL patterns and robots.txt rules of a site audit.

    `crawler` is None if robots.txt was unavailable.
    """

    patterns: Patterns
    crawler: CrawlerRules | None

    def allows(self, path: str) -> bool:
        normalized = normalised_path(path)
        return self.crawler is not None and self.patterns.admit(normalized) and self.crawler.allows(normalized)


def _load_crawl_rules(target: Target, audit: Audit, network: Network, agent: str) -> _CrawlRules:
    patterns = Patterns(audit.include, audit.exclude)
    try:
        robots = load_robots(target, network)
    except (Refusal, NetError):
        return _CrawlRules(patterns, None)
    return _CrawlRules(patterns, None if robots.is_unreachable else CrawlerRules(robots.robots, agent))


class _PageList:
    """List of a site audit's pages.

    The visit of a page adds redirect targets and linked pages to it.
    """

    def __init__(self, listed: AuditPage, target: Target, rules: _CrawlRules) -> None:
        self._listed = listed
        self._site = Site(target)
        self._rules = rules

    def update(self, arrival: Arrival, links: Iterable[str]) -> bool:
        """Add the page's redirect target (or a spare page) and its linked pages to the list.

        Returns True if the redirect target is in the list.
        """
        statuses = self._status_by_identity()
        new_links = [path for path in links if identity(path) not in statuses]
        if not arrival.fault and not new_links:
            return False
        with transaction.atomic():
            audit = Audit.objects.select_for_update(no_key=True).get(id=self._listed.audit_id)
            if audit.status != Audit.Status.RUNNING:
                return False
            statuses = self._status_by_identity()
            other = arrival.other
            is_other_listed = other is not None and statuses.get(identity(other), "") not in ("", "left_out")
            free_count = audit.max_pages - audit.pages_planned
            added: list[tuple[str, bool]] = []
            if other is not None and identity(other) not in statuses and self._rules.allows(other):
                added.append((other, False))
                is_other_listed = True
            is_removed = bool(arrival.fault) and (is_other_listed or not arrival.stays_listed_without_other)
            free_count += is_removed
            if is_removed and not added:
                added += self._pop_spare_page(audit, statuses)
            linked_pages = self._allowed_links(new_links, statuses | {identity(path): "" for path, _ in added})
            if linked_pages and len(added) + len(linked_pages) > free_count:
                note = FULL.format(audit.max_pages)
                audit.notes = [*audit.notes, *([] if note in audit.notes else [note])]
            new_pages = [*added, *linked_pages][: max(free_count, 0)]
            _add_pages(audit, [(self._site.url(path), is_linked) for path, is_linked in new_pages])
        return is_other_listed

    def _status_by_identity(self) -> dict[str, str]:
        """Return the statuses of the audit's pages by normalized URL."""
        pages = AuditPage.objects.filter(audit=self._listed.audit_id).values_list("url", "status")
        return {identity(path): status for url, status in pages if (path := self._site.path(url, url)) is not None}

    def _pop_spare_page(self, audit: Audit, statuses: Collection[str]) -> list[tuple[str, bool]]:
        """Remove and return the next spare page.

        Discovery collects spare pages beyond the maximum number of pages.
        """
        while audit.spare_pages:
            url = audit.spare_pages.pop(0)
            path = self._site.path(url, url)
            if path is not None and identity(path) not in statuses:
                return [(path, False)]
        return []

    def _allowed_links(self, links: Iterable[str], statuses: dict[str, str]) -> list[tuple[str, bool]]:
        """Return the links that may be added as pages.

        A page that was found by links only cannot add pages whose URL has the same shape, so that endless calendars and
        filters do not fill the list.
        """
        page_path = self._site.path(self._listed.url, self._listed.url) or ""
        mazes = CrawlerTraps(self._listed.audit.max_pages)
        linked = AuditPage.objects.filter(audit=self._listed.audit_id, is_linked=True).values_list("url", flat=True)
        for path in filter(None, (self._site.path(url, url) for url in linked)):
            mazes.admit(path, shape(path), 0, 0)
        path_by_identity: dict[str, str] = {}
        for path in links:
            path_shape = shape(path)
            is_maze = self._listed.is_linked and ANYTHING in path_shape and path_shape == shape(page_path)
            if identity(path) in statuses or is_maze or not self._rules.allows(path):
                continue
            if mazes.admit(path, path_shape, 0, 0):
                path_by_identity.setdefault(identity(path), path)
        return [(path, True) for path in path_by_identity.values()]


def _add_pages(audit: Audit, pages: Collection[tuple[str, bool]]) -> None:
    """Add waiting pages to a running audit that the caller has locked.

    `pages` has (URL, is_linked) pairs.
    """
    is_quota_used_up = bool(audit.error_code)
    if is_quota_used_up:
        pages = ()
    last = AuditPage.objects.filter(audit=audit).order_by("-position").values_list("position", flat=True)[0]
    origin = AuditPage.objects.filter(audit=audit).values_list("origin", flat=True)[0]
    AuditPage.objects.bulk_create(
        AuditPage(audit=audit, position=last + number, url=url, origin=origin, is_linked=is_linked)
        for number, (url, is_linked) in enumerate(pages, 1)
    )
    audit.pages_planned += len(pages)
    # Rows are counted, because `pages_planned` does not include pages that were left out.
    audit.pages_found = max(audit.pages_found, AuditPage.objects.filter(audit=audit).count())
    audit.save(update_fields=["pages_planned", "pages_found", "notes", "spare_pages"])
