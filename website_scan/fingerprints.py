"""Fingerprints: recognize the same finding in another scan or on another page, in spite of generated details.

A fingerprint identifies a check and one place: the element, file, header or cookie that an item of evidence names.
A finding has a multiset of them: elements of one kind are counted. Groups, mutes, baselines, monitors and comparisons
use this module to tell new places from known ones (ADR 11). Fingerprints are stored outside of reports, so the normal
forms must not change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from website_scan.addresses import normal_address
from website_scan.elements import element, prose
from website_scan.generated_names import without_generated
from website_scan.written_urls import WrittenUrl, split_url

DIGITS = 16
# A report keeps this many items of a finding's evidence. If it has this many, there may have been more.
EVIDENCE_ITEMS = 20

# Checks whose evidence explains a figure or describes the whole page. It does not name a place to fix.
OF_THE_PAGE = frozenset(
    {
        "accessibility-blank-page",
        "blank-page",
        "cls",
        "cors-credentials",
        "css-weight",
        "doc-redirects",
        "font-weight",
        "http-to-https-redirect",
        "image-weight",
        "js-weight",
        "lcp",
        "lcp-lazy",
        "lcp-priority",
        "redirect-chain",
        "seo-blank-page",
        "total-weight",
    }
)
# Checks of what style sheets do: one rule is at fault for all elements of a kind, whatever they contain.
STYLED = frozenset({"color-contrast", "link-in-text-block", "tap-targets", "target-size"})
# Evidence names of an element. The `selector` of axe-core is the shortest one that matches only that element, so it
# changes with the elements around it; `ancestry` does not.
ELEMENTS = (
    ("ancestry", "snippet"),
    ("selector", "snippet"),
    ("selector", "url"),
    ("selector",),
    ("element", "snippet"),
    ("text", "markup"),
)
# Evidence names that identify a place. The first group applies of which an item has all names.
PLACES = (
    *ELEMENTS,
    ("cookie", "host"),
    ("library", "url"),
    ("header",),
    ("source", "rule"),
    ("source",),
    ("crawler",),
    ("element", "attribute", "value"),
    ("element", "url"),
    ("text",),
    ("hreflang",),
    ("family",),
    ("style_sheet", "imports"),
    ("version",),
    ("cipher",),
    ("shows",),
    ("where",),
    ("names",),
    ("comment",),
    ("script",),
    ("src",),
    ("action",),
    ("origin",),
    ("host",),
    ("path",),
    ("name",),
    ("missing",),
    ("url",),
    ("fault",),
    ("response_status",),
)

# Evidence names of what is counted. How many files of a kind a page loads, or cookies it sets, changes by itself.
COUNTED = frozenset({"ancestry", "element", "selector", "text"})


class Occurrence(NamedTuple):
    """A place that an item of evidence names: its fingerprint, its normal form, and its name in the evidence."""

    fingerprint: str
    place: str
    text: str
    is_counted: bool


def fingerprint(check_id: str, place: str = "") -> str:
    """Return 16 hexadecimal digits for a check and the normal form of a place; without a place, for the check alone."""
    return hashlib.sha256(f"{check_id}\n{place}".encode()).hexdigest()[:DIGITS]


def fingerprints(check_id: str, evidence: Iterable[Mapping[str, object]], url: str) -> dict[str, str]:
    """Return the fingerprints of a failed or warned check on the page `url`, each with its first place.

    Never empty: a finding that names no place has one fingerprint, with an empty text.
    """
    return {each: texts[0] for each, texts in occurrences(check_id, evidence, url).items()}


def occurrences(check_id: str, evidence: Iterable[Mapping[str, object]], url: str) -> dict[str, list[str]]:
    """Return the fingerprints as `fingerprints` does, each with all its occurrences on the page.

    So a fourth image of a kind differs from three. Only elements occur more than once.
    """
    found: dict[str, list[str]] = {}
    for each in _named(check_id, evidence, url):
        texts = found.setdefault(each.fingerprint, [])
        if not texts or each.is_counted:
            texts.append(each.text)
    return found or {fingerprint(check_id): [""]}


def normal_places(check_id: str, evidence: Iterable[Mapping[str, object]], url: str) -> dict[str, str]:
    """Return the fingerprints as `fingerprints` does, each with the normal form of its place, which does not change."""
    found = {each.fingerprint: each.place for each in _named(check_id, evidence, url)}
    return found or {fingerprint(check_id): ""}


def page_path(url: str) -> str:
    """Return path and query: they identify the same page on another host, such as a preview."""
    parts = split_url(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _named(check_id: str, evidence: Iterable[Mapping[str, object]], url: str) -> Iterator[Occurrence]:
    if check_id in OF_THE_PAGE:
        return
    own = split_url(url)
    for item in evidence:
        names = next((group for group in PLACES if all(item.get(name) for name in group)), ())
        if names:
            is_element = names in ELEMENTS
            place = _element(check_id, item, names, own) if is_element else _joined(item, names, own)
            text = str(item.get("selector") or " ".join(str(item[name]) for name in names))
            yield Occurrence(fingerprint(check_id, place), place, text, not COUNTED.isdisjoint(names))


def _element(check_id: str, item: Mapping[str, object], names: Iterable[str], own: WrittenUrl) -> str:
    named = {name: str(item[name]) for name in names}
    return element(
        named.get("ancestry") or named.get("selector", ""),
        named.get("snippet") or named.get("markup", ""),
        own,
        source=named.get("url", ""),
        text=named.get("text", ""),
        is_styled=check_id in STYLED,
        why=str(item.get("why", "")),
    )


def _joined(item: Mapping[str, object], names: Iterable[str], own: WrittenUrl) -> str:
    return " ".join(NORMAL_FORM.get(name, _as_it_is)(str(item[name]), own) for name in names)


def _as_it_is(text: str, _own: WrittenUrl) -> str:
    return text.strip().lower()


def _prose(text: str, _own: WrittenUrl) -> str:
    return prose(text)


def _name(text: str, _own: WrittenUrl) -> str:
    return without_generated(text)


def _host(text: str, own: WrittenUrl) -> str:
    host = text.strip().lower().lstrip(".")
    return "" if host == own.hostname else host


NORMAL_FORM: Mapping[str, Callable[[str, WrittenUrl], str]] = {
    "cookie": _name,
    "host": _host,
    **dict.fromkeys(("action", "imports", "path", "src", "style_sheet", "url", "value"), normal_address),
    **dict.fromkeys(("comment", "fault", "names", "script", "shows", "text", "where"), _prose),
}
