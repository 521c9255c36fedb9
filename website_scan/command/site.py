"""Discover the pages of `--site` or `--sitemap` as audits do: with robots.txt, the network guard and its limits."""

from __future__ import annotations

from msgspec.structs import replace

from website_scan.command.access import allow_option_hint, network_policy
from website_scan.command.arguments import Options
from website_scan.command.errors import WrongUsage
from website_scan.command.local import credentials_by_url, refuse_invalid_settings
from website_scan.command.progress import ProgressLine
from website_scan.command.site_options import SitemapFile, SiteOptions, SitePages
from website_scan.command.terminal import write_err
from website_scan.crawl.discovery.discover import (
    LINKS,
    SITEMAP,
    Discovery,
    Wish,
    discover,
    discovery_limits,
    limit_notes,
)
from website_scan.errors import Refusal
from website_scan.messages import counted
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.targets import Target, parse_target
from website_scan.report_json import ExportedError
from website_scan.urls import Url

TIME_LIMIT_S = 300.0
# The network's time limit is longer than that of discovery, whose error message is clearer.
NETWORK_LIMIT_S = TIME_LIMIT_S + 5
ROBOTS_HINT = "To scan a page that robots.txt forbids to crawlers, write its URL without --site."


def discover_site(options: Options, site: SiteOptions, progress: ProgressLine) -> tuple[SitePages, Options]:
    """Discover the site's pages.

    Returns them, and the options for their scan. An error of the site is in the result. Raises WrongUsage.
    """
    (start,) = options.urls
    refuse_invalid_settings()
    policy = network_policy(start, options)
    credentials = credentials_by_url(options, {start: policy}).get(start)
    with Network(
        policy, limits=discovery_limits(site.max_pages), time_limit_s=NETWORK_LIMIT_S, credentials=credentials
    ) as network:
        try:
            found = _discover(parse_target(start, policy), site, network, progress)
            error: ExportedError | None = (
                {"code": found.error.code, "message": found.error.message} if found.error else None
            )
        except Refusal as refusal:
            found = Discovery((), (), is_complete=False, found=0)
            error = {"code": refusal.code, "message": str(refusal)}
        progress.clear()
        if error is not None:
            hint = allow_option_hint(start, network) if error["code"] == Blocked.code else ""
            write_err(ROBOTS_HINT if error["code"] == "ROBOTS_DISALLOWED" else hint)
    notes = tuple(note for note in found.notes if note not in limit_notes(site.max_pages))
    pages = SitePages(
        start, found.pages, site.max_pages, max(found.found, len(found.pages)), notes, found.is_complete, error
    )
    if error is None:
        _refuse_credentials_elsewhere(options, start, pages.pages[0])
        if not options.is_quiet:
            write_err("\n".join([f"Scanning {pages.sentence}", *(f"  {note}" for note in notes)]))
    return pages, replace(options, urls=pages.pages or (start,))


def _discover(start: Target, site: SiteOptions, network: Network, progress: ProgressLine) -> Discovery:
    def report_count(count: int) -> None:
        progress.update(0, f"{'discovering':<11}  {counted(count, 'page')}  {start.url}")

    report_count(0)
    urls: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] | None = None
    if isinstance(site.sitemap, SitemapFile):
        urls, sitemaps = site.sitemap.pages, site.sitemap.sitemaps
        if site.is_named:
            # The sitemap of a build names the published site, and --site its preview.
            urls = tuple(start.origin + path for path in map(_path_and_query, urls) if path)
    elif site.sitemap is not None:
        sitemaps = (site.sitemap,)
    wish = Wish(
        start,
        frozenset({SITEMAP, LINKS} if site.is_named else {SITEMAP}),
        site.max_pages,
        site.include,
        site.exclude,
        sitemaps=sitemaps,
        urls=urls,
        lists_start=site.is_named,
    )
    return discover(wish, network, report_count, TIME_LIMIT_S)


def _path_and_query(address: str) -> str:
    url = Url.parse(address)
    return url.path_and_query if url else ""


def _refuse_credentials_elsewhere(options: Options, start: str, page: str) -> None:
    """Raise WrongUsage if a redirect would decide who receives the credentials of the command line."""
    origin = parse_target(page, network_policy(page, options)).origin
    if (options.headers or options.cookies or options.basic_auth) and not start.startswith(f"{origin}/"):
        raise WrongUsage(
            f"{start} redirects to {origin}, which does not get your credentials. If they are for it, use "
            f"--site {origin}/."
        )
