"""CSS selectors of own requirements.

The parser's own search cannot be interrupted, and some selectors take it hours on a large page: `b ~ p` or
`:nth-child(2)` compare all siblings with each other, and `a div div div` all ancestors. So a selector is split into
compounds, such as `a.logo`, which the parser finds in linear time, and the combinators between them are matched here,
also in linear time. Pseudo-classes that count or search are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

MAX_SELECTOR_CHARACTERS = 300
MAX_COMPOUNDS = 12
SIMPLE_PSEUDO_CLASSES = ("first-child", "last-child", "only-child", "empty", "root", "checked", "disabled", "required")

_NAME = r"-{0,2}(?:[A-Za-z_]|[^\x00-\x7f]|\\[^\n0-9a-fA-F])(?:[\w-]|[^\x00-\x7f]|\\[^\n0-9a-fA-F])*+"
_VALUE = rf"""(?:"[^"\\\n]*+"|'[^'\\\n]*+'|{_NAME})"""
_ATTRIBUTE = rf"\[\s*+{_NAME}\s*+(?:[~|^$*]?=\s*+{_VALUE}\s*+[is]?\s*+)?\]"
_PSEUDO = rf":(?:{'|'.join(SIMPLE_PSEUDO_CLASSES)})(?![\w(-])"
_SIMPLE = rf"(?:\#{_NAME}|\.{_NAME}|{_ATTRIBUTE}|{_PSEUDO})"
_PLAIN = rf"(?:(?:\*|{_NAME}){_SIMPLE}*+|{_SIMPLE}++)"
_NOT = rf":not\(\s*+{_PLAIN}\s*+\)"
COMPOUND = re.compile(rf"(?:(?:\*|{_NAME})(?:{_SIMPLE}|{_NOT})*+|(?:{_SIMPLE}|{_NOT})++)")
COMBINATOR = re.compile(r"\s*+([>+~])\s*+|\s++(?![,>+~]|\Z)")
COMMA = re.compile(r"\s*+,\s*+")
UNSUPPORTED = re.compile(r"::?([\w-]+)")


@dataclass(frozen=True, slots=True)
class Step:
    """Compound selector, and the combinator before it: "" for the first, otherwise " ", ">", "+" or "~"."""

    combinator: str
    compound: str


def parse_selector(text: str) -> tuple[tuple[Step, ...], ...]:
    """Split a list of selectors.

    Returns the steps of each selector in the list. Raises ValueError, whose message is a clause.
    """
    if len(text) > MAX_SELECTOR_CHARACTERS:
        raise ValueError(f"has more than {MAX_SELECTOR_CHARACTERS} characters")
    selectors = tuple(_parse_list(text.strip()))
    if sum(map(len, selectors)) > MAX_COMPOUNDS:
        raise ValueError(f"has more than {MAX_COMPOUNDS} parts")
    empty = LexborHTMLParser("")
    for step in (step for steps in selectors for step in steps):
        try:
            empty.css(step.compound)
        except (SelectolaxError, UnicodeEncodeError):
            raise ValueError("is not a valid CSS selector") from None
    return selectors


def _parse_list(text: str) -> Iterator[tuple[Step, ...]]:
    position = 0
    while True:
        steps: list[Step] = []
        combinator = ""
        while True:
            compound = COMPOUND.match(text, position)
            if compound is None:
                raise ValueError(_fault(text[position:]))
            steps.append(Step(combinator, compound[0]))
            position = compound.end()
            between = COMBINATOR.match(text, position)
            if between is None:
                break
            combinator, position = between[1] or " ", between.end()
        yield tuple(steps)
        if position == len(text):
            return
        comma = COMMA.match(text, position)
        if comma is None:
            raise ValueError(_fault(text[position:]))
        position = comma.end()


def _fault(rest: str) -> str:
    if pseudo := UNSUPPORTED.match(rest):
        supported = ", ".join(f":{name}" for name in SIMPLE_PSEUDO_CLASSES)
        return f"has :{pseudo[1][:40]}, which is not supported; supported are {supported} and :not(…) of one element"
    return "is not a valid CSS selector"


def select(tree: LexborHTMLParser, selectors: tuple[tuple[Step, ...], ...]) -> list[LexborNode]:
    """Return the elements that one of the selectors selects, in document order by selector, each once."""
    elements: dict[int, LexborNode] = {}
    for steps in selectors:
        for node in _select(tree, steps):
            elements.setdefault(node.mem_id, node)
    return list(elements.values())


def _select(tree: LexborHTMLParser, steps: tuple[Step, ...]) -> list[LexborNode]:
    nodes: list[LexborNode] = []
    for step in steps:
        candidates = tree.css(step.compound)
        if step.combinator:
            matches = _Relation(step.combinator, {node.mem_id for node in nodes})
            candidates = [node for node in candidates if matches.holds(node)]
        if not candidates:
            return []
        nodes = candidates
    return nodes


class _Relation:
    """Relation of elements to those that the selector before the combinator selects.

    Results for ancestors and for preceding siblings are stored, so that each element of a page is visited once.
    """

    def __init__(self, combinator: str, selected: set[int]) -> None:
        self._combinator = combinator
        self._selected = selected
        self._results: dict[int, bool] = {}

    def holds(self, node: LexborNode) -> bool:
        if self._combinator in (">", "+"):
            neighbour = self._next(node)
            return neighbour is not None and neighbour.mem_id in self._selected
        return self._any_beyond(node)

    def _any_beyond(self, node: LexborNode) -> bool:
        """Return True if an ancestor or a preceding sibling is selected."""
        path: list[int] = []
        current: LexborNode | None = node
        result = False
        while current is not None:
            if (stored := self._results.get(current.mem_id)) is not None:
                result = stored
                break
            path.append(current.mem_id)
            current = self._next(current)
            if current is not None and current.mem_id in self._selected:
                result = True
                break
        # Elements between the node and the end of the walk have the same result.
        self._results.update(dict.fromkeys(path, result))
        return result

    def _next(self, node: LexborNode) -> LexborNode | None:
        if self._combinator in (">", " "):
            return node.parent
        sibling = node.prev
        while sibling is not None and not sibling.is_element_node:
            sibling = sibling.prev
        return sibling
