"""The language versions that a page names (Google Search Central, "localized versions of your pages")."""

from __future__ import annotations

import re
from dataclasses import dataclass

import ada_url
import langcodes

from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, live, resolve
from scans.engine.seo.canonical import ABSOLUTE, canonicals, links, named_url, parse, without_fragment

X_DEFAULT = "x-default"
MAX_VERSIONS = 500
TAG = re.compile(r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}))?", re.IGNORECASE)
ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
UN_REGION = re.compile(r"[a-z]{2,3}-(\d{3})", re.IGNORECASE)
# ISO 3166-1 leaves these to whoever wants to use them.
PRIVATE = re.compile(r"AA|Q[M-Z]|X[A-Z]|ZZ")
# Codes that ISO 3166-1 only reserves, or has withdrawn; the registry of language tags knows them.
NO_COUNTRIES = frozenset(
    "AC AN BU CP CS DD DG EA EU EZ FX IC NT SU TA TP UK UN XK YD YU ZR".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Version:
    """One language version. `url` is absolute, without a fragment; None when it is no http(s) address."""

    code: str  # as written
    reference: str
    url: str | None

    @property
    def is_absolute(self) -> bool:
        """Whether the reference itself names scheme and host."""
        return ABSOLUTE.match(self.reference.strip()) is not None


def versions(page: Page, document: Document) -> tuple[Version, ...]:
    """Those in the head and in Link headers, in order."""
    found = []
    for node in live(document, "head > link[hreflang][href]"):
        if "alternate" in (attribute(node, "rel") or "").lower().split():
            reference = attribute(node, "href") or ""
            found.append(
                Version((attribute(node, "hreflang") or "").strip(), reference, _clean(resolve(document, reference)))
            )
    for reference, parameters in links(page):
        if "alternate" in parameters.get("rel", "").lower().split() and "hreflang" in parameters:
            found.append(Version(parameters["hreflang"].strip(), reference, _clean(parse(reference, page.target.url))))
    return tuple(found[:MAX_VERSIONS])


def code_fault(code: str) -> str | None:
    """Why search engines do not understand a code, as a clause; None where they do."""
    if code.lower() == X_DEFAULT:
        return None
    matched = TAG.fullmatch(code)
    if matched is None and (numbered := UN_REGION.fullmatch(code)):
        return f"ends with {numbered[1]}, a region of the United Nations, and no country"
    if matched is None:
        return "is no language, script and country joined by hyphens"
    if not langcodes.tag_is_valid(matched["language"]):
        return f"begins with {matched['language']}, which is no language"
    if matched["script"] and not langcodes.tag_is_valid(f"und-{matched['script']}"):
        return f"has {matched['script']}, which is no script"
    region = (matched["region"] or "").upper()
    if region and (region in NO_COUNTRIES or PRIVATE.fullmatch(region) or not langcodes.tag_is_valid(f"und-{region}")):
        return f"ends with {region}, which is no country{'; the United Kingdom is GB' if region == 'UK' else ''}"
    return None


def own_addresses(page: Page, document: Document) -> frozenset[str]:
    """The addresses that mean this page: its own, and its canonical one."""
    canonical = named_url(canonicals(page, document))
    own = page.target.url.partition("#")[0]
    return frozenset({same_escapes(own), same_escapes(canonical or own)})


def same_escapes(url: str) -> str:
    """The URL with its percent escapes in capitals (RFC 3986, section 6.2.2.1); WordPress writes small ones."""
    return ESCAPE.sub(lambda found: found[0].upper(), url)


def _clean(url: ada_url.URL | None) -> str | None:
    address = without_fragment(url)
    return None if address is None else same_escapes(address)
