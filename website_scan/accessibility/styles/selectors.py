"""CSS selectors of the page's own rules: split into compounds, weighed, and matched in the tree within bounded time.

lexbor finds the elements of one compound. Combinators are followed here, because lexbor's own matching of them takes
forever on pages that are made for that.
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
# `:not()` of a state that no element has while nobody uses the page. It always holds then.
NOT_IN_USE = re.compile(rf":not\(\s*+:(?:{USE_STATES})(?:\s*+,\s*+:(?:{USE_STATES}))*+\s*+\)", re.IGNORECASE)
IN_USE = re.compile(rf":(?:{USE_STATES})(?![\w-])", re.IGNORECASE)
PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])", re.IGNORECASE)
PSEUDO_CLASS = re.compile(r"(?<!\\):([\w-]++)")
# Pseudo-classes that lexbor matches as browsers do.
SUPPORTED_PSEUDO_CLASSES = frozenset(
    {"root", "empty", "first-child", "last-child", "only-child", "first-of-type", "last-of-type", "only-of-type"}
    | {"not", "is", "where"}
)
# Pseudo-classes for which lexbor counts the siblings of every element, or looks through its whole content.
COUNTING_PSEUDO_CLASSES = frozenset({"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "has"})
IDS = re.compile(r"#(?:[\w-]|\\.)++")
CLASSES = re.compile(r"\.(?:[\w-]|\\.)++|\[[^\[\]]*+\]|(?<!:):(?!not\b|is\b|has\b|where\b)[\w-]++", re.IGNORECASE)
TAGS = re.compile(r"(?:^|(?<=[\s>+~(,]))[A-Za-z][\w-]*+")
WEIGHTLESS = re.compile(r":where\([^()]*+\)", re.IGNORECASE)

# For each combinator: the direction to look in, and whether it goes farther than one step.
COMBINATORS = {" ": ("parent", True), ">": ("parent", False), "~": ("prev", True), "+": ("prev", False)}
# Elements visited for all selectors of a page; takes some tenths of a second.
MAX_STEPS = 2_000_000
# A counting pseudo-class visits every element for each element, but each visit takes about a twentieth of the time.
COUNTED_AT_ONCE = 20
# Maximum length, in characters, of the selectors of a nested rule.
MAX_NESTED = 20_000
# Following a combinator from one element costs as much as visiting this many elements.
COMBINATOR_STEPS = 10


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector as compounds from the outermost to the element's own, each with the combinator before it."""

    compounds: tuple[tuple[str, str], ...]

    @property
    def own(self) -> str:
        return self.compounds[-1][1]


def split_selectors(selectors: str) -> list[Selector]:
    """Split a selector list. Selectors that match only while somebody uses the page, or no element, are left out."""
    plain = NOT_IN_USE.sub("", selectors)
    found: list[Selector] = []
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
            found.append(Selector(tuple(compounds)))
        compounds, combinator, compound = [], "", ""
        if len(found) == MAX_SELECTORS:
            break
    return found


def resolve_nested(outer: str, inner: str) -> str:
    """Resolve the selectors of a nested rule against its parent's (CSS Nesting 1). Empty if they would get too long.

    Their length can double with each level: by lists in lists, or by `& &`.
    """
    if not outer or len(inner) + len(outer) * (inner.count(",") + inner.count("&") + 1) > MAX_NESTED:
        return ""
    parent = f":is({outer})" if "," in outer else outer
    parts = [part.strip() for part in inner.split(",")]
    return ", ".join(part.replace("&", parent) if "&" in part else f"{parent} {part}" for part in parts)


def specificity(selector: Selector) -> tuple[int, int, int]:
    """Return the specificity: IDs; classes, attributes and states; tags.

    A list in parentheses counts as all of its selectors.
    """
    text = " ".join(WEIGHTLESS.sub("", compound) for _, compound in selector.compounds)
    return len(IDS.findall(text)), len(CLASSES.findall(text)), len(TAGS.findall(text))


class SelectorMatcher:
    """Matcher of selectors in one tree. It gives up on selectors that take too long or that lexbor does not know."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._size = len(select(tree, "*"))
        self._steps = MAX_STEPS
        self._known: dict[str, list[LexborNode] | None] = {}

    def find(self, selector: Selector) -> list[LexborNode] | None:
        """Return the elements that match, or None if that can't be determined."""
        found = self._find_compound(selector.own)
        if not found or len(selector.compounds) == 1:
            return found
        before = self._find_compound(selector.compounds[0][1])
        for combinator, compound in selector.compounds[1:]:
            of_compound = self._find_compound(compound)
            if before is None or of_compound is None or not self._use_steps(COMBINATOR_STEPS * len(of_compound)):
                return None
            before = _follow_combinator({node.mem_id for node in before}, combinator, of_compound) if before else []
        return before

    def _use_steps(self, steps: int) -> bool:
        self._steps -= steps
        return self._steps >= 0

    def _find_compound(self, compound: str) -> list[LexborNode] | None:
        if compound not in self._known:
            self._known[compound] = self._select(compound)
        return self._known[compound]

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


def _follow_combinator(before: set[int], combinator: str, found: list[LexborNode]) -> list[LexborNode]:
    """Return the found elements for which the combinator leads to one of the elements in `before`."""
    direction, is_far = COMBINATORS.get(combinator, ("", False))
    known: dict[int, bool] = {}  # by element passed: is there a match in this direction?

    def holds(node: LexborNode) -> bool:
        passed: list[int] = []
        current, result = node, False
        while True:
            if is_far and current.mem_id in known:
                result = known[current.mem_id]
                break
            passed.append(current.mem_id)
            following = _next(current, direction)
            if following is None or following.mem_id in before:
                result = following is not None
                break
            current = following
            if not is_far:
                break
        known.update(dict.fromkeys(passed, result))
        return result

    return [each for each in found if holds(each)] if direction else []


def _next(node: LexborNode, direction: str) -> LexborNode | None:
    current: LexborNode | None = getattr(node, direction)
    while current is not None and not current.is_element_node:
        current = getattr(current, direction)
    return current
