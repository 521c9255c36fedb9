"""Which address a page names as its canonical one (RFC 6596): link elements in the head, Link headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import ada_url

from scans.engine.messages import excerpt
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, live, resolve
from scans.engine.seo.evidence import CanonicalAnswer
from scans.engine.seo.indexing import EVERYBODY, GOOGLE, exclusions, indexing_rules

# A canonical link with one of these speaks of another version of the page, and search engines skip it.
QUALIFIERS = ("hreflang", "lang", "media", "type")
ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
LINK_TARGET = re.compile(r"\s*+,?\s*+<([^>]*)>")
LINK_PARAMETER = re.compile(r"""\s*;\s*([\w!#$&+.^`|~*-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?""")


@dataclass(frozen=True, slots=True)
class Canonical:
    """One canonical link. `url` is absolute, without a fragment; None when it is no http(s) URL."""

    reference: str
    url: str | None
    source: str  # "<link>" or "Link header"
    qualifier: str = ""  # the attribute for which search engines ignore the link

    @property
    def is_absolute(self) -> bool:
        """Whether the reference itself names scheme and host."""
        return ABSOLUTE.match(self.reference.strip()) is not None


@dataclass(frozen=True, slots=True)
class Alternate:
    """One `rel=alternate` link with a language."""

    language: str
    url: str


def canonicals(page: Page, document: Document) -> tuple[Canonical, ...]:
    """Every canonical link that counts by its place: in the document's head, and in Link headers."""
    found = []
    for node in live(document, "head > link[rel][href]"):
        if "canonical" in _relations(attribute(node, "rel") or ""):
            reference = attribute(node, "href") or ""
            qualifier = next((name for name in QUALIFIERS if attribute(node, name)), "")
            found.append(Canonical(reference, _http_url(document, reference), "<link>", qualifier))
    for reference, parameters in links(page):
        if "canonical" in _relations(parameters.get("rel", "")) and "anchor" not in parameters:
            url = without_fragment(parse(reference, page.target.url))
            qualifier = next((name for name in QUALIFIERS if parameters.get(name)), "")
            found.append(Canonical(reference, url, "Link header", qualifier))
    return tuple(found)


def named_url(found: tuple[Canonical, ...]) -> str | None:
    """The one address that the canonical links agree on; None without any, or when they contradict."""
    urls = {each.url for each in found if not each.qualifier and each.reference.strip()}
    return urls.pop() if len(urls) == 1 else None


def alternates(page: Page, document: Document) -> tuple[Alternate, ...]:
    """The page's other language versions that it names, itself among them; relative ones are resolved."""
    found = []
    for node in live(document, "head > link[hreflang][href]"):
        if "alternate" in _relations(attribute(node, "rel") or ""):
            url = _http_url(document, attribute(node, "href") or "")
            if url is not None:
                found.append(Alternate((attribute(node, "hreflang") or "").strip().lower(), url))
    for reference, parameters in links(page):
        if "alternate" in _relations(parameters.get("rel", "")) and parameters.get("hreflang"):
            url = without_fragment(parse(reference, page.target.url))
            if url is not None:
                found.append(Alternate(parameters["hreflang"].lower(), url))
    return tuple(found)


def answer_fault(page: Page, answer: CanonicalAnswer, now: datetime) -> str | None:
    """Why the canonical address can't stand for the page, as the end of a sentence; None where it can."""
    if answer.page is None or answer.document is None:
        return f"can't be loaded: {answer.error.rstrip('.')}"
    response = answer.page.response
    if 300 <= response.status < 400:
        goal = without_fragment(parse(response.headers.get("Location") or "", response.url))
        to = "this very page" if goal == page.target.url else excerpt(goal or "nowhere")
        return f"redirects ({response.status}) to {to}"
    if response.status != 200:
        return f"answers with status {response.status}"
    for rule in exclusions(indexing_rules(answer.page, answer.document), now):
        if rule.agent in (EVERYBODY, GOOGLE):
            return f"must not be indexed: {excerpt(rule.shown)}"
    return None


def links(page: Page) -> Iterator[tuple[str, dict[str, str]]]:
    """The links of all Link headers (RFC 8288, section 3): reference and parameters, the first of each."""
    for line in page.headers.all("Link"):
        position = 0
        while (target := LINK_TARGET.match(line, position)) is not None:
            position = target.end()
            parameters: dict[str, str] = {}
            while (parameter := LINK_PARAMETER.match(line, position)) is not None:
                position = parameter.end()
                quoted = re.sub(r"\\(.)", r"\1", parameter[2]) if parameter[2] is not None else parameter[3]
                parameters.setdefault(parameter[1].lower(), quoted or "")
            yield target[1].strip(), parameters
            # Whatever stands behind it is skipped up to the next link.
            following = line.find(",", position)
            if following < 0:
                break
            position = following


def _relations(value: str) -> frozenset[str]:
    return frozenset(value.lower().split())


def _http_url(document: Document, reference: str) -> str | None:
    return without_fragment(resolve(document, reference)) if reference.strip() else None


def parse(reference: str, base: str) -> ada_url.URL | None:
    """The absolute URL of a reference, None when it is not a URL (WHATWG URL)."""
    try:
        return ada_url.URL(reference, base)
    except ValueError:
        return None


def without_fragment(url: ada_url.URL | None) -> str | None:
    """The address that is asked for; None when it is no http(s) URL."""
    if url is None or url.protocol not in ("http:", "https:"):
        return None
    url.hash = ""
    return url.href.removesuffix("#")
