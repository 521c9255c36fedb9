"""The little of CSS that decides whether an element is shown at all, as far as the page itself carries it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.page.evidence import Document
from scans.engine.page.markup import attribute, live

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
DECLARATION = re.compile(r"(?:^|[;{\s])(display|visibility|content-visibility)\s*:\s*([\w-]+)", re.IGNORECASE)
# One compound of a tag, classes and an ID: what can be judged by looking at the element alone.
SIMPLE = re.compile(r"(?P<tag>[a-zA-Z][\w-]*|\*)?(?P<marks>(?:[.#][a-zA-Z_-][\w-]*)*)")
MARK = re.compile(r"([.#])([\w-]+)")
ON_SCREEN = re.compile(r"@media\s+(?:only\s+)?(?:screen|all)", re.IGNORECASE)
BRACE = re.compile(r"[{}]")
MAX_RULES = 5_000


@dataclass(frozen=True, slots=True)
class StyleRule:
    """A rule for elements that have this tag (empty: any), these classes and this ID."""

    tag: str
    classes: frozenset[str]
    id: str
    display: str = ""
    visibility: str = ""

    @property
    def key(self) -> str:
        """What to look the rule up by: an ID, else one of its classes, else its tag, else `*`."""
        if self.id:
            return f"#{self.id}"
        return f".{min(self.classes)}" if self.classes else self.tag or "*"

    def matches(self, node: LexborNode, classes: frozenset[str]) -> bool:
        """Whether the rule is for this element, whose classes are given."""
        return (
            (not self.tag or self.tag == node.tag)
            and self.classes <= classes
            and (not self.id or self.id == attribute(node, "id"))
        )


def inline_style(node: LexborNode) -> dict[str, str]:
    """`display`, `visibility` and `content-visibility` of the style attribute, the last of each, lower case."""
    text = COMMENT.sub(" ", attribute(node, "style") or "")
    return {name.lower(): value.lower() for name, value in DECLARATION.findall(text)}


def page_rules(document: Document) -> tuple[StyleRule, ...]:
    """The rules of the page's own `<style>` elements that show or hide elements by a simple selector.

    What stands in @media and its like holds only sometimes, so it is left out, unless it holds on all screens.
    """
    found: list[StyleRule] = []
    for node in live(document, "style"):
        media = (attribute(node, "media") or "all").strip().lower()
        if media in ("", "all", "screen"):
            found.extend(_rules(COMMENT.sub(" ", node.text() or "")))
            if len(found) > MAX_RULES:
                break
    return tuple(found[:MAX_RULES])


def _rules(css: str) -> Iterator[StyleRule]:
    for prelude, block in _blocks_on_screen(css):
        style = {name.lower(): value.lower() for name, value in DECLARATION.findall("{" + block)}
        display, visibility = style.get("display", ""), style.get("visibility", "")
        if not (display or visibility):
            continue
        for selector in prelude.split(","):
            found = SIMPLE.fullmatch(selector.strip())
            if found is None or not selector.strip():
                continue
            tag = (found["tag"] or "").lower().replace("*", "")
            marks = MARK.findall(found["marks"])
            yield StyleRule(
                tag,
                frozenset(name for kind, name in marks if kind == "."),
                next((name for kind, name in marks if kind == "#"), ""),
                display,
                visibility,
            )


def _blocks_on_screen(css: str) -> Iterator[tuple[str, str]]:
    for prelude, block in _blocks(css):
        inner = _blocks(block) if ON_SCREEN.fullmatch(prelude) else ((prelude, block),)
        yield from (each for each in inner if not each[0].startswith("@"))


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """The top level's rules: what stands before each brace, and what is between it and its end."""
    position = 0
    while (opening := css.find("{", position)) >= 0:
        depth, end = 1, opening + 1
        for brace in BRACE.finditer(css, opening + 1):
            depth += 1 if brace[0] == "{" else -1
            end = brace.end()
            if depth == 0:
                break
        else:
            return
        prelude = css[position:opening].rpartition(";")[2].strip()
        yield prelude, css[opening + 1 : end - 1]
        position = end
