"""Parse and match CSS selectors in bounded time.

This module also computes their specificity. lexbor finds the elements of one compound. This module follows combinators
itself, because lexbor's own matching of combinators takes forever on malicious pages.
"""

from __future__ import annotations

import re

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from website_scan.page.css import MAX_SELECTORS, PARENTHESES
from website_scan.page.markup import select

PIECES = re.compile(
    r"""\\.|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[(\[]|[)\]]|,|[\s>+~]++|[^\\"'()\[\],\s>+~]++""", re.DOTALL
)
INTERACTION_STATES = r"hover|focus|focus-visible|focus-within|active|target|target-within|visited"
# These pseudo-classes are always true while nobody uses the page.
NOT_IN_INTERACTION_STATE = re.compile(
    rf":not\(\s*+:(?:{INTERACTION_STATES})(?:\s*+,\s*+:(?:{INTERACTION_STATES}))*+\s*+\)", re.IGNORECASE
)
INTERACTION_STATE = re.compile(rf":(?:{INTERACTION_STATES})(?![\w-])", re.IGNORECASE)
PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])", re.IGNORECASE)
PSEUDO_CLASS = re.compile(r"(?<!\\):([\w-]++)")
# Pseudo-classes that lexbor matches as browsers do.
SUPPORTED_PSEUDO_CLASSES = frozenset(
    {"root", "empty", "first-child", "last-child", "only-child", "first-of-type", "last-of-type", "only-of-type"}
    | {"not", "is", "where"}
)
# lexbor counts siblings or searches descendants for these pseudo-classes.
COUNTING_PSEUDO_CLASSES = frozenset({"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "has"})
IDS = re.compile(r"#(?:[\w-]|\\.)++")
CLASSES = re.compile(r"\.(?:[\w-]|\\.)++|\[[^\[\]]*+\]|(?<!:):(?!not\b|is\b|has\b|where\b)[\w-]++", re.IGNORECASE)
TAGS = re.compile(r"(?:^|(?<=[\s>+~(,]))[A-Za-z][\w-]*+")
WEIGHTLESS = re.compile(r":where\([^()]*+\)", re.IGNORECASE)

# Direction of each combinator, and True if the search goes on.
COMBINATORS = {" ": ("parent", True), ">": ("parent", False), "~": ("prev", True), "+": ("prev", False)}
# Limit for all selectors of a page, reached after some tenths of a second.
MAX_VISITS = 2_000_000
# Visits for counting siblings are 20 times faster than others.
COUNTED_ELEMENTS_PER_STEP = 20
MAX_NESTED_SELECTOR_CHARACTERS = 20_000
STEPS_PER_COMBINATOR = 10


class Selector(Struct, frozen=True):
    """CSS selector as pairs of a combinator and a compound selector.

    The last compound selector matches the element itself.
    """

    compounds: tuple[tuple[str, str], ...]

    @property
    def own(self) -> str:
        return self.compounds[-1][1]


def split_selectors(selector_list: str) -> list[Selector]:
    """Split a CSS selector list.

    Selectors that need user interaction (`:hover`) or match no element are left out.
    """
    plain = NOT_IN_INTERACTION_STATE.sub("", selector_list)
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
        if compounds and not any(_needs_interaction(part) for _, part in compounds):
            selectors.append(Selector(tuple(compounds)))
        compounds, combinator, compound = [], "", ""
        if len(selectors) == MAX_SELECTORS:
            break
    return selectors


def resolve_nested(outer: str, inner: str) -> str:
    """Resolve the selectors of a nested CSS rule.

    They are relative to the outer rule's selectors (CSS Nesting 1). Empty if too long. The length of selectors can
    double with every level of nesting: by lists in lists, or by `& &`.
    """
    if (
        not outer
        or len(inner) + len(outer) * (inner.count(",") + inner.count("&") + 1) > MAX_NESTED_SELECTOR_CHARACTERS
    ):
        return ""
    parent = f":is({outer})" if "," in outer else outer
    parts = [part.strip() for part in inner.split(",")]
    return ", ".join(part.replace("&", parent) if "&" in part else f"{parent} {part}" for part in parts)


def specificity(selector: Selector) -> tuple[int, int, int]:
    """Return the specificity of a CSS selector.

    The numbers of IDs, classes and tags. Attributes and pseudo-classes count as classes. As an approximation, all
    selectors of a list in parentheses count, not only the most specific one.
    """
    text = " ".join(WEIGHTLESS.sub("", compound) for _, compound in selector.compounds)
    return len(IDS.findall(text)), len(CLASSES.findall(text)), len(TAGS.findall(text))


class SelectorMatcher:
    """Matcher of CSS selectors in one document tree, within bounded time."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._size = len(select(tree, "*"))
        self._steps = MAX_VISITS
        self._compounds: dict[str, list[LexborNode] | None] = {}

    def find(self, selector: Selector) -> list[LexborNode] | None:
        """Return the elements that match a CSS selector.

        None if matching takes too long or lexbor does not support the selector.
        """
        matches = self._find_compound(selector.own)
        if not matches or len(selector.compounds) == 1:
            return matches
        previous_matches = self._find_compound(selector.compounds[0][1])
        for combinator, compound in selector.compounds[1:]:
            candidates = self._find_compound(compound)
            if (
                previous_matches is None
                or candidates is None
                or not self._use_visits(STEPS_PER_COMBINATOR * len(candidates))
            ):
                return None
            previous_matches = (
                _follow_combinator({node.mem_id for node in previous_matches}, combinator, candidates)
                if previous_matches
                else []
            )
        return previous_matches

    def _use_visits(self, steps: int) -> bool:
        self._steps -= steps
        return self._steps >= 0

    def _find_compound(self, compound: str) -> list[LexborNode] | None:
        if compound not in self._compounds:
            self._compounds[compound] = self._select_compound(compound)
        return self._compounds[compound]

    def _select_compound(self, compound: str) -> list[LexborNode] | None:
        names = {name.lower() for name in PSEUDO_CLASS.findall(compound)}
        if "|" in compound or "&" in compound or not names <= SUPPORTED_PSEUDO_CLASSES | COUNTING_PSEUDO_CLASSES:
            return None
        needs_counting = names & COUNTING_PSEUDO_CLASSES or compound.count("(") > 1
        if not self._use_visits(
            self._size + (self._size * self._size // COUNTED_ELEMENTS_PER_STEP if needs_counting else 0)
        ):
            return None
        try:
            return select(self._tree, compound)
        except SelectolaxError:
            return None


def _needs_interaction(compound: str) -> bool:
    outside = PARENTHESES.sub("", PARENTHESES.sub("", compound))
    return INTERACTION_STATE.search(outside) is not None or PSEUDO_ELEMENT.search(outside) is not None


def _follow_combinator(previous_matches: set[int], combinator: str, candidates: list[LexborNode]) -> list[LexborNode]:
    """Return the candidates that the combinator connects to an element.

    The element is in `previous_matches`.
    """
    direction, follows_repeatedly = COMBINATORS.get(combinator, ("", False))
    results: dict[int, bool] = {}

    def leads_to_match(node: LexborNode) -> bool:
        path: list[int] = []
        current, result = node, False
        while True:
            if follows_repeatedly and current.mem_id in results:
                result = results[current.mem_id]
                break
            path.append(current.mem_id)
            following = _next_element(current, direction)
            if following is None or following.mem_id in previous_matches:
                result = following is not None
                break
            current = following
            if not follows_repeatedly:
                break
        results.update(dict.fromkeys(path, result))
        return result

    return [candidate for candidate in candidates if leads_to_match(candidate)] if direction else []


def _next_element(node: LexborNode, direction: str) -> LexborNode | None:
    current: LexborNode | None = getattr(node, direction)
    while current is not None and not current.is_element_node:
        current = getattr(current, direction)
    return current
