"""Language versions (hreflang) of a page (Google Search Central, "localized versions of your pages")."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from website_scan.crawl.link_relations import RelatedLink, related_links, same_escapes
from website_scan.page.evidence import Document, Page

X_DEFAULT = "x-default"
MAX_ALTERNATES = 500
LANGUAGE_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}))?", re.IGNORECASE
)
UN_REGION = re.compile(r"[a-z]{2,3}-(\d{3})", re.IGNORECASE)
# Codes that ISO 3166-1 reserves for private use.
PRIVATE_REGION = re.compile(r"AA|Q[M-Z]|X[A-Z]|ZZ")
# Codes that the IANA registry of language subtags has, but that ISO 3166-1 only reserves or has withdrawn.
INVALID_REGIONS = frozenset(
    "AC AN BU CP CS DD DG EA EU EZ FX IC NT SU TA TP UK UN XK YD YU ZR".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Alternate:
    """Link with `rel=alternate` and `hreflang`: code as written, and URL normalized by `same_escapes`."""

    code: str
    url: str | None
    link: RelatedLink

    @property
    def is_default(self) -> bool:
        """True for x-default, the version for all languages without a version of their own."""
        return self.code.lower() == X_DEFAULT


@dataclass(frozen=True, slots=True)
class Alternates:
    """Language versions of a page, including the page itself if listed: first in the head, then in Link headers."""

    links: tuple[Alternate, ...] = ()

    @property
    def by_url(self) -> Mapping[str, Alternate]:
        """Versions with an http or https URL, by URL. The last of several with the same URL counts."""
        return {alternate.url: alternate for alternate in self.links if alternate.url is not None}


def read_alternates(page: Page, document: Document) -> Alternates:
    """Read the first 500 language versions of a page."""
    alternates = (
        Alternate((link.attributes["hreflang"] or "").strip(), link.url and same_escapes(link.url), link)
        for link in related_links(page, document, "alternate")
        if "hreflang" in link.attributes
    )
    return Alternates(tuple(itertools.islice(alternates, MAX_ALTERNATES)))


def code_fault(code: str) -> str | None:
    """Return the reason, as a clause, why search engines do not understand a hreflang code. None if valid."""
    if code.lower() == X_DEFAULT:
        return None
    import langcodes  # deferred, because it takes 30 ms and few pages have hreflang

    match = LANGUAGE_TAG.fullmatch(code)
    if match is None and (un_region := UN_REGION.fullmatch(code)):
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
        region in INVALID_REGIONS or PRIVATE_REGION.fullmatch(region) or not langcodes.tag_is_valid(f"und-{region}")
    ):
        return f"ends with {region}, which is not a country{'; the United Kingdom is GB' if region == 'UK' else ''}"
    return None
