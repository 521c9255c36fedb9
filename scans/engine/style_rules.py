"""The rules of a style sheet (CSS Syntax 3, section 5), as far as single checks need them, in one pass.

Conditions such as @media are entered whatever they say. What cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LENGTH = 512 * 1024  # characters; what is beyond is not read
MAX_DEPTH = 30
MAX_SELECTORS = 200  # of one rule

# Possessive, so that a style sheet that is made to be slow is not.
TOKENS = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z))"
    r"""|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?"""
    r"|url\([^\S\n]{0,9}[^\s\"'()]*+"
    r"|(?P<mark>[{};])",
    re.IGNORECASE | re.DOTALL,
)
PARENTHESES = re.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
PSEUDO = re.compile(r"(?<!\\)::?[\w-]++")
COMBINATORS = re.compile(r"(?<!\\)[\s>+~]++")
NAMES = re.compile(r"([.#])((?:[\w-]|\\.)++)")
TAG = re.compile(r"[\w-]++")
FLEXIBLE = re.compile(r"auto|inherit|initial|unset|revert|revert-layer|(?:fit|min|max)-content", re.IGNORECASE)
OUT_OF_FLOW = frozenset({"absolute", "fixed"})


@dataclass(frozen=True, slots=True)
class Rule:
    """What stands before the braces, and the declarations in them (name in lower case, value as written).

    A statement without braces, such as @import, has None.
    """

    prelude: str
    declarations: tuple[tuple[str, str], ...] | None


@dataclass(frozen=True, slots=True)
class Compound:
    """The last compound of a selector: what an element itself must be, without its ancestors and states."""

    tag: str = ""
    id: str = ""
    classes: frozenset[str] = frozenset()

    def may_match(self, tag: str, id: str, classes: frozenset[str]) -> bool:
        """Whether an element could match, if everything else of the selector holds."""
        return (not self.tag or self.tag == tag) and (not self.id or self.id == id) and self.classes <= classes


def rules(css: str) -> Iterator[Rule]:
    """The rules and statements, in the order in which they end; comments are dropped, nested rules come apart."""
    css = css[:MAX_LENGTH]
    pieces: list[str] = []
    blocks: list[tuple[str, list[tuple[str, str]]]] = []
    position = 0
    for token in TOKENS.finditer(css):
        mark = token["mark"]
        if mark is None:
            pieces.append(css[position : token.start() if token["comment"] else token.end()])
            position = token.end()
            continue
        pieces.append(css[position : token.start()])
        position = token.end()
        text = "".join(pieces).strip()
        pieces = []
        if mark == "{":
            if len(blocks) == MAX_DEPTH:
                return
            blocks.append((text, []))
            continue
        if text and blocks:
            name, colon, value = text.partition(":")
            if colon:
                blocks[-1][1].append((name.strip().lower(), value.strip()))
        elif text:
            yield Rule(text, None)
        if mark == "}" and blocks:
            prelude, declarations = blocks.pop()
            yield Rule(prelude, tuple(declarations))


def last_compounds(selectors: str) -> Iterator[Compound]:
    """The last compound of each selector of a list. What is in brackets and parentheses is ignored."""
    # Twice, because :not(:is(…)) is as deep as style sheets are in practice.
    plain = PARENTHESES.sub("", PARENTHESES.sub("", selectors))
    for selector in plain.split(",")[:MAX_SELECTORS]:
        compound = COMBINATORS.split(PSEUDO.sub("", selector).strip())[-1]
        tag = TAG.match(compound)
        names: dict[str, set[str]] = {".": set(), "#": set()}
        for sign, name in NAMES.findall(compound):
            names[sign].add(name.replace("\\", ""))
        yield Compound(tag[0].lower() if tag else "", next(iter(names["#"]), ""), frozenset(names["."]))


def declarations(style: str) -> tuple[tuple[str, str], ...]:
    """The declarations of a style attribute."""
    found = next(rules(f"*{{{style[:MAX_LENGTH]}}}"), None)
    return (found.declarations or ()) if found else ()


def is_sizing(name: str, value: str) -> bool:
    """Whether a declaration may set the height of an element before its content has come, or keep it from mattering."""
    match name:
        case "height" | "block-size" | "aspect-ratio":
            return FLEXIBLE.match(value) is None
        case "position":
            return value.lower().partition("!")[0].strip() in OUT_OF_FLOW
        case "display":
            return value.lower().startswith("none")
    return False
