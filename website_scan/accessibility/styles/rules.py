"""CSS rules of the page that show or hide elements.

They are from the page's style elements and style attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from website_scan.accessibility.styles.selectors import Selector, resolve_nested, specificity, split_selectors
from website_scan.page.css import MAX_SELECTORS, SIMPLE, Allowance, Compound, declarations, last_compounds, rules
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, live

DISPLAY_PROPERTIES = frozenset({"display", "visibility", "content-visibility"})
KEYWORD = re.compile(r"[\w-]+")
SCREEN_MEDIA = re.compile(r"@media\s+(?:only\s+)?(?:screen|all)", re.IGNORECASE)
PRINT_MEDIA = re.compile(r"@media\s+(?:only\s+)?(?:print|speech)\b", re.IGNORECASE)
LAYER = re.compile(r"@layer\b(.*)", re.IGNORECASE | re.DOTALL)
# Other at-rules contain no rules for elements.
CONDITIONS = re.compile(r"@(?:media|supports|container|scope)\b", re.IGNORECASE)
IMPORTANT = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)
MAX_DISPLAY_RULES = 5_000

Rank = tuple[bool, int, tuple[int, int, int], int]


class DisplayRule(Struct, frozen=True):
    """CSS rule that shows or hides elements.

    `name` is the CSS property, `rank` is the rule's position in the cascade.
    """

    selector: Selector
    compound: Compound  # Tag, ID and classes that all matching elements must have.
    name: str
    keyword: str
    rank: Rank
    is_certain: bool  # The rule applies on all screens and in all browsers.

    @property
    def key(self) -> str:
        """Return the index key of the CSS rule.

        The key is its ID, else a class, else its tag, else `*`.
        """
        if self.compound.id:
            return f"#{self.compound.id}"
        return f".{min(self.compound.classes)}" if self.compound.classes else self.compound.tag or "*"

    @property
    def is_simple_selector(self) -> bool:
        """Return True if the selector needs only a single element.

        It can be matched without the document tree.
        """
        return len(self.selector.compounds) == 1 and SIMPLE.fullmatch(self.selector.own) is not None

    @property
    def is_important(self) -> bool:
        return self.rank[0]


def inline_style(node: LexborNode) -> dict[str, str]:
    """Return the display properties of the style attribute.

    `display`, `visibility` and `content-visibility`, in lower case.
    """
    style = attribute(node, "style") or ""
    if "display" not in style.lower() and "visibility" not in style.lower():
        return {}
    return {name: keyword for name, (keyword, _) in _display_declarations(declarations(style)).items()}


def page_rules(document: Document) -> tuple[DisplayRule, ...]:
    """Return the rules that show or hide elements.

    They are from the page's own `<style>` elements.
    """
    display_rules: list[DisplayRule] = []
    layers: dict[str, int] = {}
    allowance = Allowance()
    for node in live(document, "style"):
        media = (attribute(node, "media") or "all").strip().lower()
        if media not in ("print", "speech"):
            media_prelude = () if media in ("", "all", "screen") else (f"@media {media}",)
            for rule in _parse_rules(node.text() or "", media_prelude, layers, allowance):
                display_rules.append(replace(rule, rank=(*rule.rank[:3], len(display_rules))))
                if len(display_rules) == MAX_DISPLAY_RULES:
                    return tuple(display_rules)
    return tuple(display_rules)


def _parse_rules(
    css: str, outer_preludes: tuple[str, ...], layers: dict[str, int], allowance: Allowance
) -> Iterator[DisplayRule]:
    for rule in rules(css, allowance):
        if rule.block is None:
            _register_layers(rule.prelude, layers)
            continue
        style = _display_declarations(rule.declarations)
        style.pop("content-visibility", None)
        if not style:
            continue
        preludes = (*outer_preludes, *rule.within, rule.prelude)
        at_rules = [prelude for prelude in preludes if prelude.startswith("@") and not SCREEN_MEDIA.fullmatch(prelude)]
        conditions = [at_rule for at_rule in at_rules if not LAYER.match(at_rule)]
        if any(PRINT_MEDIA.match(condition) or not CONDITIONS.match(condition) for condition in conditions):
            continue
        layer = ".".join(match[1].strip() for at_rule in at_rules if (match := LAYER.match(at_rule)))
        is_in_layer = any(LAYER.match(at_rule) for at_rule in at_rules)
        layer_position = layers.setdefault(layer, len(layers)) if is_in_layer else MAX_DISPLAY_RULES
        selectors = reduce(resolve_nested, (prelude for prelude in preludes if not prelude.startswith("@")))
        allowance.selectors -= min(MAX_SELECTORS, selectors.count(",") + 1)
        for selector in split_selectors(selectors):
            for name, (keyword, is_important) in style.items():
                # Earlier layers win with important declarations (CSS Cascade 5, section 6.4.3).
                rank = (is_important, -layer_position if is_important else layer_position, specificity(selector), 0)
                compound = next(last_compounds(selector.own))
                yield DisplayRule(
                    selector, compound, name, keyword, rank, is_certain=not conditions and keyword != "var"
                )


def _register_layers(statement: str, layers: dict[str, int]) -> None:
    if match := LAYER.match(statement):
        for name in match[1].split(","):
            layers.setdefault(name.strip(), len(layers))


def _display_declarations(parsed: Iterable[tuple[str, str]]) -> dict[str, tuple[str, bool]]:
    """Return the keyword of each display property.

    The keyword comes with True for `!important`.
    """
    keywords: dict[str, tuple[str, bool]] = {}
    for name, value in parsed:
        if name in DISPLAY_PROPERTIES and (keyword := KEYWORD.match(value)):
            is_important = IMPORTANT.search(value) is not None
            if is_important or not keywords.get(name, ("", False))[1]:
                keywords[name] = (keyword[0].lower(), is_important)
    return keywords
