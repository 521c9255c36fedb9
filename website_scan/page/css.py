"""CSS parser: rules with their declarations, selectors, and references to other files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MAX_LENGTH = 1024 * 1024  # characters; the rest is not read
MAX_MARKS = 150_000  # braces and semicolons; a MiB of ordinary rules has 60,000
MAX_DEPTH = 30
MAX_SELECTORS = 200  # per rule
MAX_SELECTORS_IN_ALL = 40_000  # a MiB of ordinary rules has 15,000

ADDRESS = r"""[uU][rR][lL]\(\s*+(?:"(?P<double>[^"\n]*+)"|'(?P<single>[^'\n]*+)'|(?P<bare>[^\s"'()]*+))\s*+\)"""
# Tokens that distinguish structure and URLs from text (CSS Syntax 3, section 4). A string that the end of its line cuts
# off is bad, and is skipped as a whole. Possessive and bounded, so that no hostile style sheet makes matching slow. The
# pattern contains both cases of letters, because that is faster than the flag.
TOKEN = (
    r"(?P<dropped>/\*.*?(?:\*/|\Z)|<!--)"
    rf"|{ADDRESS}|[uU][rR][lL]\([^\"'()]*+\)|[uU][rR][lL]\(\s*+[^\s\"'()]*+"
    r"""|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\."""
    r"""|\b[fF][oO][rR][mM][aA][tT]\(\s{0,9}["']?(?P<format>[\w-]{1,40})["']?[^)]{0,100}\)"""
)
# The set of first characters makes the search five times as fast.
TOKENS = re.compile(rf"(?=[/<\"'\\uUfF])(?:{TOKEN})", re.DOTALL)
# Everything up to the next brace or semicolon.
TEXT = rf"(?:[^{{}};/<\"'\\uUfF]++|{re.sub(r'[?]P<[a-z]+>', '?:', TOKEN)}|[^{{}};])*+"
# A whole rule without nested rules, as most are; else the text before the next brace or semicolon.
RULES = re.compile(rf"({TEXT})(?:\{{({TEXT}(?:;{TEXT})*+)\}}|([{{}};]|\Z))", re.DOTALL)
DECLARATIONS = re.compile(rf"({TEXT})(?:;|\Z)", re.DOTALL)
# Beginnings of tokens that may contain a semicolon or a comment. Alternatives that begin with a character are fast.
HIDING = re.compile(r"\"|'|\\|<|/\*|\((?<=[lLtT]\()")
URL = re.compile(r"\((?<=[uU][rR][lL]\()")
IMPORT = re.compile(
    rf"""@import\s{{0,99}}(?:{ADDRESS}|["'](?P<text>[^"'\n]++)(?:["']|\Z))(?P<conditions>.*)""",
    re.IGNORECASE | re.DOTALL,
)
# Formats that current browsers support; sources may also list older formats.
FONT_FORMATS = frozenset(
    {"woff2", "woff", "truetype", "opentype", "collection", "woff2-variations", "woff-variations"}
    | {"truetype-variations", "opentype-variations"}
)
FONT_ENDINGS = re.compile(r"\.(?:woff2?|ttf|otf|ttc)(?:[?#]|\Z)", re.IGNORECASE)
PARENTHESES = re.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
PSEUDO = re.compile(r"(?<!\\)::?[\w-]++")
COMBINATORS = re.compile(r"(?<!\\)[\s>+~]++")
NAMES = re.compile(r"([.#])((?:[\w-]|\\.)++)")
TAG = re.compile(r"[\w-]++")
SIMPLE = re.compile(r"(?:[a-zA-Z][\w-]*|\*)?(?:[.#][a-zA-Z_-][\w-]*)*")
FLEXIBLE = re.compile(r"auto|inherit|initial|unset|revert|revert-layer|(?:fit|min|max)-content", re.IGNORECASE)
OUT_OF_FLOW = frozenset({"absolute", "fixed"})


class Rule(NamedTuple):
    """CSS rule: the prelude before the braces, and the text inside, without nested rules.

    For a statement without braces, such as @import, `block` is None. `within` has the preludes of the enclosing rules,
    the outermost first.
    """

    prelude: str
    block: str | None
    within: tuple[str, ...] = ()

    @property
    def declarations(self) -> tuple[tuple[str, str], ...]:
        """Return (name in lower case, value as written) of each declaration. Parsed on every call."""
        block = self.block or ""
        pieces = map(_without_comments, DECLARATIONS.findall(block)) if HIDING.search(block) else block.split(";")
        parts = (piece.partition(":") for piece in pieces)
        return tuple((name.strip().lower(), value.strip()) for name, colon, value in parts if colon)


@dataclass(frozen=True, slots=True)
class Compound:
    """Compound selector: the conditions on an element itself, without ancestors and states."""

    tag: str = ""
    id: str = ""
    classes: frozenset[str] = frozenset()

    def may_match(self, tag: str, id: str, classes: frozenset[str]) -> bool:
        """Return True if the element matches this compound, ignoring the rest of the selector."""
        return (not self.tag or self.tag == tag) and (not self.id or self.id == id) and self.classes <= classes


@dataclass(frozen=True, slots=True)
class StyleReferences:
    """URLs in a style sheet as written. `fonts` has, for each @font-face, the source that a browser would choose."""

    imports: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


@dataclass(slots=True)
class Allowance:
    """Budget for style sheets that are parsed together, because many small ones are as slow as a long one."""

    marks: int = MAX_MARKS
    selectors: int = MAX_SELECTORS_IN_ALL

    @property
    def is_spent(self) -> bool:
        return self.marks < 0 or self.selectors < 0


def rules(css: str, allowance: Allowance | None = None, *, is_closed: bool = False) -> Iterator[Rule]:
    """Yield the rules and statements in the order in which they end, nested rules individually, without comments.

    An unfinished rule at the end of the text is omitted, unless the end of the text closes it (`is_closed`; CSS Syntax
    3, section 5.4). Stops when the allowance is spent.
    """
    allowance = allowance or Allowance()
    # Open rules with nested rules: prelude, declarations read so far, and the preludes of the enclosing rules.
    blocks: list[tuple[str, list[str], tuple[str, ...]]] = []
    within: tuple[str, ...] = ()  # preludes of `blocks`
    for match in RULES.finditer(css[:MAX_LENGTH]):
        text, block, mark = match.groups()
        allowance.marks -= 1 if block is None else block.count(";") + 2
        if allowance.is_spent:
            return
        if block is not None or mark == "{":
            if len(blocks) == MAX_DEPTH:
                return
            prelude = _without_comments(text).strip()
            if block is not None:
                yield Rule(prelude, block, within)
            else:
                blocks.append((prelude, [], within))
                within = (*within, prelude)
            continue
        if blocks:
            blocks[-1][1].append(text)
        elif (statement := _without_comments(text)) and not statement.isspace():
            yield Rule(statement.lstrip(), None)
        for _ in range(len(blocks) if mark == "" and is_closed else mark == "}" and len(blocks) > 0):
            prelude, declarations_so_far, within = blocks.pop()
            yield Rule(prelude, ";".join(declarations_so_far), within)
        if mark == "":
            return


def _without_comments(text: str) -> str:
    return TOKENS.sub(_undropped, text) if "/*" in text or "<!--" in text else text


def _undropped(token: re.Match[str]) -> str:
    return "" if token["dropped"] else token[0]


def declarations(style: str) -> tuple[tuple[str, str], ...]:
    """Return the declarations of a style attribute."""
    rule = next(rules(f"*{{{style}", is_closed=True), None)
    return rule.declarations if rule else ()


def last_compounds(selectors: str, allowance: Allowance | None = None) -> Iterator[Compound]:
    """Yield the last compound of each selector of a list. Ignores everything in brackets and parentheses."""
    allowance = allowance or Allowance()
    # Remove two levels, because style sheets in practice nest no deeper than :not(:is(…)).
    plain = PARENTHESES.sub("", PARENTHESES.sub("", selectors))
    for selector in plain.split(",")[:MAX_SELECTORS]:
        allowance.selectors -= 1
        if allowance.is_spent:
            return
        compound = COMBINATORS.split(PSEUDO.sub("", selector).strip())[-1]
        tag = TAG.match(compound)
        names: dict[str, list[str]] = {".": [], "#": [""]}
        for sign, name in NAMES.findall(compound):
            names[sign].append(name.replace("\\", ""))
        yield Compound(tag[0].lower() if tag else "", names["#"][:2][-1], frozenset(names["."]))


def style_references(css: str, allowance: Allowance | None = None) -> StyleReferences:
    """Return the URLs in a style sheet, without `data:` URLs and fragments."""
    imports: list[str] = []
    fonts: list[str] = []
    images: list[str] = []
    for rule in rules(css, allowance, is_closed=True):
        if rule.block is None:
            imports += [target[0]] if (target := imported(rule.prelude)) else []
        elif is_font_face(rule):
            fonts += [font_source(value) or "" for name, value in rule.declarations if name == "src"][-1:]
        else:
            images += _addresses(rule.declarations) if URL.search(rule.block) else ()
    return StyleReferences(_fetched(imports), _fetched(fonts), _fetched(images))


def style_images(style: str) -> tuple[str, ...]:
    """Return the URLs in a style attribute, without `data:` URLs and fragments."""
    return _fetched(_addresses(declarations(style)))


def imported(statement: str) -> tuple[str, str] | None:
    """Return the URL of an @import and the conditions after it; None for other statements."""
    match = IMPORT.match(statement)
    return (match["text"] or _address(match) or "", match["conditions"]) if match else None


def is_font_face(rule: Rule) -> bool:
    return rule.prelude[:10].lower() == "@font-face"


def font_source(sources: str) -> str | None:
    """Return the first URL in the `src` of an @font-face with a format or file extension that browsers support."""
    sources_with_formats: list[tuple[str, str]] = []
    for token in TOKENS.finditer(sources):
        if (address := _address(token)) is not None:
            sources_with_formats.append((address, ""))
        elif token["format"] and sources_with_formats:
            sources_with_formats[-1] = (sources_with_formats[-1][0], token["format"].lower())
    for address, name in sources_with_formats:
        if name in FONT_FORMATS or (not name and (FONT_ENDINGS.search(address) or "." not in address[-6:])):
            return address
    return None


def is_sizing(name: str, value: str) -> bool:
    """Return True if a declaration may fix an element's height before its content loads, or take it out of the flow."""
    match name:
        case "height" | "block-size" | "aspect-ratio":
            return FLEXIBLE.match(value) is None
        case "position":
            return value.lower().partition("!")[0].strip() in OUT_OF_FLOW
        case "display":
            return value.lower().startswith("none")
    return False


def _addresses(declared: tuple[tuple[str, str], ...]) -> list[str]:
    tokens = (token for _, value in declared if "(" in value for token in TOKENS.finditer(value))
    return [address for token in tokens if (address := _address(token)) is not None]


def _address(token: re.Match[str]) -> str | None:
    return next((token[name] for name in ("double", "single", "bare") if token[name] is not None), None)


def _fetched(addresses: list[str]) -> tuple[str, ...]:
    stripped = (address.strip() for address in addresses)
    return tuple(
        address for address in stripped if address and not address.startswith("#") and address[:5].lower() != "data:"
    )
