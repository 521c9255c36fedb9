"""Build pairs of places with equal or different fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from website_scan.accessibility.contrasts import ContrastElement
from website_scan.performance.checks.images import OversizedImage
from website_scan.places import Element, Place, Resource, StyledElement
from website_scan.security.checks.content import VulnerableLibrary
from website_scan.security.checks.cookies import SentCookie
from website_scan.security.checks.exposure import RequestedPath
from website_scan.seo.checks.indexability import CrawlerRule

PAGE = "https://www.example.com/shop/bread"
SENTENCE = (
    "Element has insufficient color contrast of {} (foreground color: {}, background color: #ffffff, "
    "font size: 12.0pt (16px), font weight: normal). Expected contrast ratio of 4.5:1"
)
GREY = SENTENCE.format("2.3", "#AAAAAA")
RED = SENTENCE.format("3.1", "#ff5555")


class Pair(NamedTuple):
    """Two places of a check, and whether their fingerprints are equal."""

    is_same: bool
    why: str
    check_id: str
    one: Place
    other: Place


def ancestry(markup: str, path: str) -> str:
    tag = markup[1:].partition(">")[0].partition(" ")[0]
    return " > ".join(filter(None, ["html", "body", path, tag]))


def element(markup: str, path: str = "main", selector: str = "x") -> Element:
    """Return an element with this markup at a path below the body."""
    return Element(selector, markup, why="", wcag="1.1.1", level="A", ancestry=ancestry(markup, path))


def contrast(markup: str, path: str = "main", why: str = GREY) -> ContrastElement:
    """Return an element with insufficient contrast.

    `path` begins below the body.
    """
    return ContrastElement.from_axe_message(
        "x", markup, why=why, wcag="1.4.3", level="AA", ancestry=ancestry(markup, path)
    )


def styled(markup: str) -> StyledElement:
    """Return an element that a style sheet makes faulty."""
    return StyledElement("x", markup, why=GREY, ancestry=ancestry(markup, "main"))


def cookie(name: str, host: str, *, secure: bool = False) -> SentCookie:
    return SentCookie(name, host, False, secure, False, None, None)


def library(name: str, url: str) -> VulnerableLibrary:
    return VulnerableLibrary(name, "1.8.3", "CVE-2020-11022", None, url)


def crawler(name: str, line: int = 1) -> CrawlerRule:
    return CrawlerRule(name, False, "/robots.txt", line, "Disallow: /", "")


def requested(path: str, size_bytes: int = 92) -> RequestedPath:
    return RequestedPath(path, 200, "text/plain", size_bytes, True, None)


def oversized(selector: str, url: str) -> OversizedImage:
    return OversizedImage(url, selector, "900 by 900", "90 by 90", 9000, 8000)


def elements(is_same: bool, why: str, check_id: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
    """Return a pair of elements for every pair of markup texts."""
    return [Pair(is_same, why, check_id, element(one), element(other, selector="y")) for one, other in pairs]


def ids(is_same: bool, why: str, pairs: Iterable[tuple[str, str]], attribute: str = "id") -> list[Pair]:
    tags = [(f'<input {attribute}="{one}">', f'<input {attribute}="{other}">') for one, other in pairs]
    return elements(is_same, why, "label", tags)


def paths(is_same: bool, why: str, markup: str, pairs: Iterable[tuple[str, str]], check_id: str = "x") -> list[Pair]:
    return [Pair(is_same, why, check_id, element(markup, one), element(markup, other)) for one, other in pairs]


def places(is_same: bool, why: str, check_id: str, pairs: Iterable[tuple[Place, Place]]) -> list[Pair]:
    return [Pair(is_same, why, check_id, one, other) for one, other in pairs]


def urls(is_same: bool, why: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
    return places(is_same, why, "cache-short", [(Resource(one), Resource(other)) for one, other in pairs])


def classes(why: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
    """Return pairs of nameless buttons that differ only in their classes."""
    class_pairs = []
    for one, other in pairs:
        class_pairs += elements(True, why, "button-name", [(f'<button class="{one}">', f'<button class="{other}">')])
    return class_pairs
