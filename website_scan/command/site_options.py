"""Options for the scan of a whole site, and the pages that it has.

The options are `--site`, `--sitemap`, `--max-pages`, `--include` and `--exclude`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from website_scan.command.errors import WrongUsage
from website_scan.command.pages import SYNTAX, canonical_pages
from website_scan.errors import Refusal
from website_scan.messages import counted
from website_scan.net.targets import parse_target
from website_scan.report_json import ExportedError

DEFAULT_PAGES = 20
# All reports are in memory until the command writes them.
MAX_PAGES = 500
MAX_SITEMAP_BYTES = 10 * 1024 * 1024
# Options that only limit the scan of a site.
LIMITS = ("max_pages", "include", "exclude")
OPTIONS = ("site", "sitemap", *LIMITS)


class SitemapFile(Struct, frozen=True):
    """Content of a sitemap file on this machine: URLs of pages, or of other sitemaps if the file is an index."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


class SiteOptions(Struct, frozen=True):
    """Options for the discovery of a site's pages.

    `sitemap` is the URL or the content of the sitemap that replaces those of robots.txt. `is_named` is True for a site
    that `--site` names. Otherwise only the pages of the sitemap are scanned.
    """

    is_named: bool = True
    sitemap: str | SitemapFile | None = None
    max_pages: int = DEFAULT_PAGES
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class SitePages(Struct, frozen=True):
    """Discovered pages of a site.

    `limit` is the value of `--max-pages`, and `found` counts all known pages. If not `is_complete`, the site may have
    more. `notes` are sentences about what was left out. With an `error` there are no pages.
    """

    start: str
    pages: tuple[str, ...]
    limit: int
    found: int
    notes: tuple[str, ...] = ()
    is_complete: bool = True
    error: ExportedError | None = None

    @property
    def sentence(self) -> str:
        """Sentence that compares the number of scanned and of known pages."""
        scanned = f"{counted(len(self.pages), 'page')} of {self.start}"
        if self.found > len(self.pages):
            least = "" if self.is_complete else "at least "
            left_out = self.found - len(self.pages)
            return f"{scanned}; {least}{left_out:,} left out (--max-pages is {self.limit:,})."
        if len(self.pages) == self.limit and not self.is_complete:
            return f"{scanned}; it may have more (--max-pages is {self.limit:,})."
        return f"{scanned}."


def page_count(raw: object) -> int:
    """Parse the value of `max-pages`.

    Raises ValueError.
    """
    text = str(raw)
    if isinstance(raw, bool) or not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_PAGES):
        raise ValueError(f"{text!r} is not a number of pages from 1 to {MAX_PAGES}")
    return int(text)


def is_url(sitemap: str) -> bool:
    """Return True if the value of `--sitemap` is a URL, False for a file."""
    return sitemap.lower().startswith(("http://", "https://"))


def choose_site_or_pages(typed: Mapping[str, Any], file_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the file and the command line, with either a site or pages.

    URLs on the command line replace the site of the file, and the reverse. Raises WrongUsage.
    """
    is_site = "site" in typed or "sitemap" in typed
    if is_site and "urls" in typed:
        raise WrongUsage("Use --site for a whole site, or URLs for single pages, not both.")
    ignored = {"urls", "site", "sitemap"} if is_site else set(OPTIONS) if "urls" in typed else set()
    chosen: dict[str, Any] = {name: value for name, value in file_options.items() if name not in ignored}
    chosen.update(typed)
    if "site" not in chosen and "sitemap" not in chosen:
        if unused := [name for name in LIMITS if name in chosen]:
            raise WrongUsage(f"--{unused[0].replace('_', '-')} works only with --site or --sitemap.")
    elif "urls" in chosen:
        raise WrongUsage("website-scan.toml has urls and a site or sitemap: remove one of them.")
    return chosen


def site_options(chosen: Mapping[str, Any]) -> tuple[str, SiteOptions] | None:
    """Return the start page as the user wrote it, and the options for a site's discovery.

    None if single pages are scanned. Raises WrongUsage.
    """
    site, source = chosen.get("site"), chosen.get("sitemap")
    if site is None and source is None:
        return None
    if source is not None and "server" in chosen:
        raise WrongUsage("--server reads the sitemaps of the site itself: use --site instead of --sitemap.")
    sitemap: str | SitemapFile | None = None
    if source is not None:
        sitemap = canonical_pages([source])[0] if is_url(source) else read_sitemap(Path(source))
    include, exclude = tuple(chosen.get("include", ())), tuple(chosen.get("exclude", ()))
    _refuse_invalid_patterns(include, exclude)
    if site is None:
        site = _start_page(sitemap)
    is_named = chosen.get("site") is not None
    return site, SiteOptions(is_named, sitemap, chosen.get("max_pages", DEFAULT_PAGES), include, exclude)


def _start_page(sitemap: str | SitemapFile | None) -> str:
    """Return the start page of the site that a sitemap belongs to: that of the file's first URL."""
    first = next(iter((*sitemap.pages, *sitemap.sitemaps))) if isinstance(sitemap, SitemapFile) else sitemap or ""
    try:
        return f"{parse_target(canonical_pages([first])[0], SYNTAX).origin}/"
    except Refusal as refusal:
        raise WrongUsage(f"--sitemap: {refusal}") from None


def _refuse_invalid_patterns(include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    if not include and not exclude:
        return
    from website_scan.crawl.discovery.patterns import Patterns  # Few commands have patterns.

    for option, patterns in (("--include", include), ("--exclude", exclude)):
        try:
            Patterns(patterns)
        except ValueError as error:
            raise WrongUsage(f"{option}: {error}") from None


def read_sitemap(path: Path) -> SitemapFile:
    """Read a sitemap file: XML, an index, a feed or text, also compressed with gzip.

    Raises WrongUsage.
    """
    from website_scan.crawl.sitemaps import parse_sitemap  # Few commands read a sitemap.

    try:
        with path.open("rb") as file:
            body = file.read(MAX_SITEMAP_BYTES + 1)
    except OSError as error:
        raise WrongUsage(f"--sitemap: {path} can't be read: {error.strerror}.") from None
    pages: list[str] = []
    sitemap = parse_sitemap(body[:MAX_SITEMAP_BYTES], is_cut=len(body) > MAX_SITEMAP_BYTES, on_url=pages.append)
    if sitemap.fault or sitemap.kind is None:
        raise WrongUsage(f"--sitemap: {path} {sitemap.fault or 'is not a sitemap'}.")
    content = SitemapFile(tuple(filter(is_url, pages)), tuple(filter(is_url, sitemap.children)))
    if not content.pages and not content.sitemaps:
        raise WrongUsage(f"--sitemap: {path} lists no absolute URL.")
    return content
