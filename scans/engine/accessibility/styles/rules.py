"""The little of CSS that decides whether an element is shown at all, as far as the page itself carries it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.page.css import Compound, declarations, rules, simple_selectors
from scans.engine.page.evidence import Document
from scans.engine.page.markup import attribute, live

SHOWING = frozenset({"display", "visibility", "content-visibility"})
KEYWORD = re.compile(r"[\w-]+")
ON_SCREEN = re.compile(r"@media\s+(?:only\s+)?(?:screen|all)", re.IGNORECASE)
MAX_RULES = 5_000


@dataclass(frozen=True, slots=True)
class DisplayRule:
    """A rule that shows or hides elements."""

    compound: Compound
    display: str = ""
    visibility: str = ""

    @property
    def key(self) -> str:
        """What to look the rule up by: an ID, else one of its classes, else its tag, else `*`."""
        if self.compound.id:
            return f"#{self.compound.id}"
        return f".{min(self.compound.classes)}" if self.compound.classes else self.compound.tag or "*"


def inline_style(node: LexborNode) -> dict[str, str]:
    """`display`, `visibility` and `content-visibility` of the style attribute, the last of each, lower case."""
    style = attribute(node, "style") or ""
    return _showing(declarations(style)) if "display" in style.lower() or "visibility" in style.lower() else {}


def page_rules(document: Document) -> tuple[DisplayRule, ...]:
    """The rules of the page's own `<style>` elements that show or hide elements by a simple selector.

    What stands in @media and its like holds only sometimes, so it is left out, unless it holds on all screens.
    """
    found: list[DisplayRule] = []
    for node in live(document, "style"):
        media = (attribute(node, "media") or "all").strip().lower()
        if media in ("", "all", "screen"):
            found.extend(_rules(node.text() or ""))
            if len(found) > MAX_RULES:
                break
    return tuple(found[:MAX_RULES])


def _rules(css: str) -> Iterator[DisplayRule]:
    for rule in rules(css):
        if rule.prelude.startswith("@") or len(rule.within) > 1 or not all(map(ON_SCREEN.fullmatch, rule.within)):
            continue
        style = _showing(rule.declarations or ())
        display, visibility = style.get("display", ""), style.get("visibility", "")
        if display or visibility:
            for compound in simple_selectors(rule.prelude):
                yield DisplayRule(compound, display, visibility)


def _showing(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    keywords = ((name, KEYWORD.match(value)) for name, value in found if name in SHOWING)
    return {name: keyword[0].lower() for name, keyword in keywords if keyword}
