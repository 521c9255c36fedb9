"""CSS selectors of the page's own rules: splitting into compounds, specificity, and matching within bounded time.

lexbor finds the elements of one compound. This module follows combinators itself, because lexbor's own matching of
combinators takes forever on malicious pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from website_scan.page.css import MAX_SELECTORS, PARENTHESES
from website_scan.page.markup import select

PIECES = re.compile(
    r"""\\.|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[(\[]|[)\]]|,|[\s>+~]++|[^\\"'()\[\],\s>+~]++""", re.DOTALL
)
USE_STATES = r"hover|focus|focus-visible|focus-within|active|target|target-within|visited"
# `:not()` of a state that no element has while nobody uses the page, so that the condition is always true.
NOT_IN_USE = re.compile(rf":not\(\s*+:(?:{USE_STATES})(?:\s*+,\s*+:(?:{USE_STATES}))*+\s*+\)", re.IGNORECASE)
IN_USE = re.compile(rf":(?:{USE_STATES})(?![\w-])", re.IGNORECASE)
PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])", re.IGNORECASE)
PSEUDO_CLASS = re.compile(r"(?<!\\):([\w-]++)")
# Pseudo-classes that lexbor matches like browsers.
SUPPORTED_PSEUDO_CLASSES = frozenset(
    {"root", "empty", "first-child", "last-child", "only-child", "first-of-type", "last-of-type", "only-of-type"}
    | {"not", "is", "where"}
)
# Pseudo-classes for which lexbor counts the siblings of every element, or searches its whole content.
COUNTING_PSEUDO_CLASSES = frozenset({"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "has"})
IDS = re.compile(r"#(?:[\w-]|\\.)++")
CLASSES = re.compile(r"\.(?:[\w-]|\\.)++|\[[^\[\]]*+\]|(?<!:):(?!not\b|is\b|has\b|where\b)[\w-]++", re.IGNORECASE)
TAGS = re.compile(r"(?:^|(?<=[\s>+~(,]))[A-Za-z][\w-]*+")
WEIGHTLESS = re.compile(r":where\([^()]*+\)", re.IGNORECASE)

# By combinator: the direction to search in, and whether the search goes farther than one step.
COMBINATORS = {" ": ("parent", True), ">": ("parent", False), "~": ("prev", True), "+": ("prev", False)}
# Limit of visited elements for all selectors of a page: some tenths of a second.
MAX_STEPS = 2_000_000
# A counting pseudo-class visits all elements for every element, but a visit takes about a twentieth of the time.
COUNTED_AT_ONCE = 20
# Maximum length, in characters, of the selectors of a nested rule.
MAX_NESTED = 20_000
# Cost of following a combinator from one element, in visits of elements.
COMBINATOR_STEPS = 10


@dataclass(frozen=True, slots=True)
class Selector:
    """Selector as pairs of a combinator and a compound, from the outermost compound to the element's own."""

    compounds: tuple[tuple[str, str], ...]

    @property
    def own(self) -> str:
        return self.compounds[-1][1]


def split_selectors(selector_list: str) -> list[Selector]:
    """Split a selector list. Omits selectors that match only while somebody uses the page, or match no element."""
    plain = NOT_IN_USE.sub("", selector_list)
    selectors: list[Selector] = []
    compounds: list[tuple[str, str]] = []
    combinator = compound = ""
    depth = 0

    for piece in (*PIECES.findall(plain), ","):
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        if depth > 0 or piece in (")", "]") or not (piece == "," or piece[0] in " \t\n\r\f>+~"):
            compound += piece
            continue
        if compound:
            compounds.append((combinator, compound))
        if piece != ",":
            combinator, compound = (piece.strip() or " ") if compound or compounds else "", ""
            continue
        if compounds and not any(_needs_use(part) for _, part in compounds):
            selectors.append(Selector(tuple(compounds)))
        compounds, combinator, compound = [], "", ""
        if len(selectors) == MAX_SELECTORS:
            break
    return selectors


def resolve_nested(outer: str, inner: str) -> str:
    """Resolve the selectors of a nested rule against its parent's (CSS Nesting 1). Empty if they would get too long.

    The length of selectors can double with every level of nesting: by lists in lists, or by `& &`.
    """
    if not outer or len(inner) + len(outer) * (inner.count(",") + inner.count("&") + 1) > MAX_NESTED:
        return ""
    parent = f":is({outer})" if "," in outer else outer
    parts = [part.strip() for part in inner.split(",")]
    return ", ".join(part.replace("&", parent) if "&" in part else f"{parent} {part}" for part in parts)


def specificity(selector: Selector) -> tuple[int, int, int]:
    """Return the specificity: number of IDs; of classes, attributes and pseudo-classes; of tags.

    As an approximation, all selectors of a list in parentheses count, not only the most specific one.
    """
    text = " ".join(WEIGHTLESS.sub("", compound) for _, compound in selector.compounds)
    return len(IDS.findall(text)), len(CLASSES.findall(text)), len(TAGS.findall(text))


class SelectorMatcher:
    """Matcher of selectors in one tree. Selectors that take too long or that lexbor does not support have no result."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._size = len(select(tree, "*"))
        self._steps = MAX_STEPS
        self._compounds: dict[str, list[LexborNode] | None] = {}

    def find(self, selector: Selector) -> list[LexborNode] | None:
        """Return the elements that match a selector, or None if the matcher cannot determine them."""
        matches = self._find_compound(selector.own)
        if not matches or len(selector.compounds) == 1:
            return matches
        matches_before = self._find_compound(selector.compounds[0][1])
        for combinator, compound in selector.compounds[1:]:
            candidates = self._find_compound(compound)
            if matches_before is None or candidates is None or not self._use_steps(COMBINATOR_STEPS * len(candidates)):
                return None
            matches_before = (
                _follow_combinator({node.mem_id for node in matches_before}, combinator, candidates)
                if matches_before
                else []
            )
        return matches_before

    def _use_steps(self, steps: int) -> bool:
        self._steps -= steps
        return self._steps >= 0

    def _find_compound(self, compound: str) -> list[LexborNode] | None:
        if compound not in self._compounds:
            self._compounds[compound] = self._select(compound)
        return self._compounds[compound]

    def _select(self, compound: str) -> list[LexborNode] | None:
        names = {name.lower() for name in PSEUDO_CLASS.findall(compound)}
        if "|" in compound or "&" in compound or not names <= SUPPORTED_PSEUDO_CLASSES | COUNTING_PSEUDO_CLASSES:
            return None
        is_counting = names & COUNTING_PSEUDO_CLASSES or compound.count("(") > 1
        if not self._use_steps(self._size + (self._size * self._size // COUNTED_AT_ONCE if is_counting else 0)):
            return None
        try:
            return select(self._tree, compound)
        except SelectolaxError:
            return None


def _needs_use(compound: str) -> bool:
    outside = PARENTHESES.sub("", PARENTHESES.sub("", compound))
    return IN_USE.search(outside) is not None or PSEUDO_ELEMENT.search(outside) is not None


def _follow_combinator(matches_before: set[int], combinator: str, candidates: list[LexborNode]) -> list[LexborNode]:
    """Return the candidates for which the combinator leads to one of the elements in `matches_before`."""
    direction, is_repeated = COMBINATORS.get(combinator, ("", False))
    results: dict[int, bool] = {}  # by element on a path: whether the direction leads to a match

    def is_match(node: LexborNode) -> bool:
        path: list[int] = []
        current, result = node, False
        while True:
            if is_repeated and current.mem_id in results:
                result = results[current.mem_id]
                break
            path.append(current.mem_id)
            following = _next_element(current, direction)
            if following is None or following.mem_id in matches_before:
                result = following is not None
                break
            current = following
            if not is_repeated:
                break
        results.update(dict.fromkeys(path, result))
        return result

    return [candidate for candidate in candidates if is_match(candidate)] if direction else []


def _next_element(node: LexborNode, direction: str) -> LexborNode | None:
    current: LexborNode | None = getattr(node, direction)
    while current is not None and not current.is_element_node:
        current = getattr(current, direction)
    return current
