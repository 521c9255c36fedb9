"""CSS selectors of own requirements.

The parser's own search cannot be interrupted, and some selectors take it hours on a large page: `b ~ p` or
`:nth-child(2)` compare all siblings with each other, and `a div div div` all ancestors. So a selector is split into
compounds, such as `a.logo`, which the parser finds in linear time, and the combinators between them
(`website_scan.requirements.selection`). Pseudo-classes that count or search are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

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


class Step(Struct, frozen=True):
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
