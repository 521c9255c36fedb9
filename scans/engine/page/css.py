"""What a style sheet refers to: imports, fonts, images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Comments, imports, addresses, strings and braces: enough to read references without parsing all of CSS.
# Possessive and bounded, so that a style sheet that is made to be slow is not.
TOKENS = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    r"|(?P<import>@import\b)"
    r"|(?P<face>@font-face\b)"
    r"""|url\(\s*+(?:"(?P<double>[^"\n]*+)"|'(?P<single>[^'\n]*+)'|(?P<bare>[^\s"'()]*+))\s*+\)"""
    # A string that its line ends is none, and is passed over whole (CSS Syntax, "consume a string token").
    r"""|"(?P<dstring>[^"\\\n]*+(?:\\.[^"\\\n]*+)*+)(?:"|\Z)|'(?P<sstring>[^'\\\n]*+(?:\\.[^'\\\n]*+)*+)(?:'|\Z)"""
    r"""|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+"""
    r"""|(?P<format>\bformat\(\s{0,9}["']?(?P<name>[\w-]{1,40})["']?[^)]{0,100}\))"""
    r"|(?P<mark>[{};])",
    re.IGNORECASE | re.DOTALL,
)
MAX_LENGTH = 1024 * 1024  # characters; what is beyond is not read
# What browsers of today take, whatever older formats stand beside it.
FONT_FORMATS = frozenset(
    {"woff2", "woff", "truetype", "opentype", "collection", "woff2-variations", "woff-variations"}
    | {"truetype-variations", "opentype-variations"}
)
FONT_ENDINGS = re.compile(r"\.(?:woff2?|ttf|otf|ttc)(?:[?#]|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StyleReferences:
    """Addresses as written. `fonts` holds of each @font-face what a browser would choose."""

    imports: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


def style_references(css: str) -> StyleReferences:
    """Read the references of a style sheet or a style attribute; `data:` and fragments are left out."""
    imports: list[str] = []
    fonts: list[str] = []
    images: list[str] = []
    sources: list[tuple[str, str]] | None = None  # of the @font-face that is being read
    in_import = False
    for token in TOKENS.finditer(css[:MAX_LENGTH]):
        address = next((token[name] for name in ("double", "single", "bare") if token[name] is not None), None)
        text = next((token[name] for name in ("dstring", "sstring") if token[name] is not None), None)
        if token["import"]:
            in_import = True
        elif token["face"]:
            sources = []
        elif in_import and (address is not None or text is not None):
            imports.append(address if address is not None else text or "")
            in_import = False
        elif address is not None and sources is not None:
            sources.append((address, ""))
        elif address is not None:
            images.append(address)
        elif token["format"] and sources:
            sources[-1] = (sources[-1][0], token["name"].lower())
        elif token["mark"]:
            in_import = in_import and token["mark"] != ";"
            if token["mark"] == "}" and sources is not None:
                if (chosen := _chosen(sources)) is not None:
                    fonts.append(chosen)
                sources = None
    return StyleReferences(_fetched(imports), _fetched(fonts), _fetched(images))


def _chosen(sources: list[tuple[str, str]]) -> str | None:
    """The first source in a format that browsers take; without a format the ending speaks."""
    for address, name in sources:
        if name in FONT_FORMATS or (not name and (FONT_ENDINGS.search(address) or "." not in address[-6:])):
            return address
    return None


def _fetched(addresses: list[str]) -> tuple[str, ...]:
    kept = (address.strip() for address in addresses)
    return tuple(
        address for address in kept if address and not address.startswith("#") and address[:5].lower() != "data:"
    )


MAX_RULES_LENGTH = 512 * 1024  # characters; what is beyond is not read
MAX_DEPTH = 30
MAX_SELECTORS = 200  # of one rule

# Possessive, so that a style sheet that is made to be slow is not.
RULE_TOKENS = re.compile(
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
    css = css[:MAX_RULES_LENGTH]
    pieces: list[str] = []
    blocks: list[tuple[str, list[tuple[str, str]]]] = []
    position = 0
    for token in RULE_TOKENS.finditer(css):
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
    found = next(rules(f"*{{{style[:MAX_RULES_LENGTH]}}}"), None)
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
