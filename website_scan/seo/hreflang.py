"""Language versions that a page names (Google Search Central, "localized versions of your pages")."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from website_scan.crawl.link_relations import RelatedLink, related_links, same_escapes
from website_scan.page.evidence import Document, Page

X_DEFAULT = "x-default"
MAX_ALTERNATES = 500
TAG = re.compile(r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}))?", re.IGNORECASE)
UN_REGION = re.compile(r"[a-z]{2,3}-(\d{3})", re.IGNORECASE)
# Codes that ISO 3166-1 leaves for private use.
PRIVATE = re.compile(r"AA|Q[M-Z]|X[A-Z]|ZZ")
# Codes that ISO 3166-1 only reserves, or has withdrawn. The registry of language tags has them.
NO_COUNTRIES = frozenset(
    "AC AN BU CP CS DD DG EA EU EZ FX IC NT SU TA TP UK UN XK YD YU ZR".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Alternate:
    """One `rel=alternate` link with a language: its code as written, its URL in the form of `same_escapes`."""

    code: str
    url: str | None
    link: RelatedLink

    @property
    def is_default(self) -> bool:
        """True if it is the version for all languages that have none of their own."""
        return self.code.lower() == X_DEFAULT


@dataclass(frozen=True, slots=True)
class Alternates:
    """Language versions of a page, also the page itself if it lists itself: first in the head, then in Link headers."""

    links: tuple[Alternate, ...] = ()

    @property
    def by_url(self) -> Mapping[str, Alternate]:
        """The versions with an http(s) URL, by URL. If several have the same URL, the last counts."""
        return {each.url: each for each in self.links if each.url is not None}


def read_alternates(page: Page, document: Document) -> Alternates:
    """Read the first 500 language versions of a page."""
    found = (
        Alternate((each.attributes["hreflang"] or "").strip(), each.url and same_escapes(each.url), each)
        for each in related_links(page, document, "alternate")
        if "hreflang" in each.attributes
    )
    return Alternates(tuple(itertools.islice(found, MAX_ALTERNATES)))


def code_fault(code: str) -> str | None:
    """Return why search engines do not understand a code, as a clause. None if they do."""
    if code.lower() == X_DEFAULT:
        return None
    import langcodes  # 30 ms, which pages in one language do without

    matched = TAG.fullmatch(code)
    if matched is None and (numbered := UN_REGION.fullmatch(code)):
        return f"ends with {numbered[1]}, which is a UN region, not a country"
    if matched is None:
        return "is not a language code with an optional script and country"
    if not langcodes.tag_is_valid(matched["language"]):
        return f"starts with {matched['language']}, which is not a language"
    if len(matched["language"]) == 3 and len(short := langcodes.standardize_tag(matched["language"])) == 2:
        return f"starts with {matched['language']}; search engines know that language as {short}"
    if matched["script"] and not langcodes.tag_is_valid(f"und-{matched['script']}"):
        return f"contains {matched['script']}, which is not a script"
    region = (matched["region"] or "").upper()
    if region and (region in NO_COUNTRIES or PRIVATE.fullmatch(region) or not langcodes.tag_is_valid(f"und-{region}")):
        return f"ends with {region}, which is not a country{'; the United Kingdom is GB' if region == 'UK' else ''}"
    return None
