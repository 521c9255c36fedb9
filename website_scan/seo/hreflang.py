"""Language versions (hreflang) of a page.

Google Search Central, "localized versions of your pages".
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from msgspec import Struct

from website_scan.crawl.link_relations import RelatedLink, related_links
from website_scan.crawl.sitemap_entries import SitemapEntries
from website_scan.crawl.sitemaps import Sitemaps
from website_scan.page.evidence import Document, Page
from website_scan.urls import normal_form

X_DEFAULT_CODE = "x-default"
MAX_ALTERNATES = 500
LANGUAGE_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}))?", re.IGNORECASE
)
UN_REGION_TAG = re.compile(r"[a-z]{2,3}-(\d{3})", re.IGNORECASE)
# Region codes that ISO 3166-1 reserves for private use.
PRIVATE_USE_REGION = re.compile(r"AA|Q[M-Z]|X[A-Z]|ZZ")
# Region codes in the IANA registry of language subtags that ISO 3166-1 only reserves or has withdrawn.
INVALID_REGIONS = frozenset(
    "AC AN BU CP CS DD DG EA EU EZ FX IC NT SU TA TP UK UN XK YD YU ZR".split()  # noqa: SIM905
)


class Alternate(Struct, frozen=True):
    """Language version of a page.

    The hreflang code is as written, the URL is in `normal_form`.
    """

    code: str
    url: str | None
    link: RelatedLink

    @property
    def is_x_default(self) -> bool:
        """Return True for the language code x-default.

        This version is for all languages without a version of their own.
        """
        return self.code.lower() == X_DEFAULT_CODE


class Alternates(Struct, frozen=True):
    """Language versions of a page in its head and Link headers.

    The page itself is included if it is listed.
    """

    links: tuple[Alternate, ...] = ()

    @property
    def version_by_url(self) -> Mapping[str, Alternate]:
        """Return the language versions by http(s) URL.

        The last version counts for a duplicate URL.
        """
        return {alternate.url: alternate for alternate in self.links if alternate.url is not None}


class SitemapAlternates(Struct, frozen=True):
    """Language versions in the site's sitemaps.

    They count like those in the head (Google Search Central).

    `sitemaps` is None if none could be read.
    """

    sitemaps: Sitemaps | None

    @property
    def page_versions(self) -> Mapping[str, str]:
        """Return the page's language versions in sitemaps.

        They are URLs by lower-case code.

        The URLs are in normal form.
        """
        return {code: url for entries in self._entries for code, url in entries.page_versions.items()}

    @property
    def returning_urls(self) -> frozenset[str]:
        """Return the URLs that list the page as a language version.

        They are URLs of sitemap entries in normal form.
        """
        return frozenset(url for entries in self._entries for url in entries.returning)

    @property
    def may_list_more(self) -> bool:
        """Return True if unread sitemap entries may list language versions."""
        if any(entries.has_unread_links for entries in self._entries):
            return True
        has_links = any(entries.has_language_links for entries in self._entries)
        return has_links and self.sitemaps is not None and not self.sitemaps.is_complete

    @property
    def _entries(self) -> list[SitemapEntries]:
        files = (*self.sitemaps.files, *self.sitemaps.children) if self.sitemaps is not None else ()
        return [file.sitemap.entries for file in files if file.sitemap is not None]


def read_alternates(page: Page, document: Document) -> Alternates:
    """Read the first 500 language versions of a page."""
    alternates = (
        Alternate((link.attributes["hreflang"] or "").strip(), link.url and normal_form(link.url), link)
        for link in related_links(page, document, "alternate")
        if "hreflang" in link.attributes
    )
    return Alternates(tuple(itertools.islice(alternates, MAX_ALTERNATES)))


def find_hreflang_code_fault(code: str) -> str | None:
    """Return why search engines do not understand a hreflang code.

    The reason is a clause.

    None if the code is valid.
    """
    if code.lower() == X_DEFAULT_CODE:
        return None
    import langcodes  # The import takes 30 ms, and few pages have hreflang.

    match = LANGUAGE_TAG.fullmatch(code)
    if match is None and (un_region := UN_REGION_TAG.fullmatch(code)):
        return f"ends with {un_region[1]}, which is a UN region, not a country"
    if match is None:
        return "is not a language code with an optional script and country"
    if not langcodes.tag_is_valid(match["language"]):
        return f"starts with {match['language']}, which is not a language"
    if len(match["language"]) == 3 and len(short := langcodes.standardize_tag(match["language"])) == 2:
        return f"starts with {match['language']}; search engines know that language as {short}"
    if match["script"] and not langcodes.tag_is_valid(f"und-{match['script']}"):
        return f"contains {match['script']}, which is not a script"
    region = (match["region"] or "").upper()
    if region and (
        region in INVALID_REGIONS or PRIVATE_USE_REGION.fullmatch(region) or not langcodes.tag_is_valid(f"und-{region}")
    ):
        return f"ends with {region}, which is not a country{'; the United Kingdom is GB' if region == 'UK' else ''}"
    return None
