"""CSS parser for rules, declarations, selectors and URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

MAX_CSS_LENGTH = 1024 * 1024  # Longer style sheets are truncated to this number of characters.
MAX_BRACES_AND_SEMICOLONS = 150_000  # One MiB of ordinary CSS has 60,000 braces and semicolons.
MAX_NESTING_DEPTH = 30
MAX_SELECTORS = 200  # Further selectors of a rule are ignored.
MAX_TOTAL_SELECTORS = 40_000  # One MiB of ordinary CSS has 15,000 selectors.

ADDRESS = r"""[uU][rR][lL]\(\s*+(?:"(?P<double>[^"\n]*+)"|'(?P<single>[^'\n]*+)'|(?P<bare>[^\s"'()]*+))\s*+\)"""
# Tokens that separate structure and URLs from text (CSS Syntax 3, section 4). A bad string, which ends with its line,
# is skipped as a whole. Quantifiers are possessive and bounded, so that no hostile style sheet makes matching slow. The
# pattern contains both cases of letters, because that is faster than re.IGNORECASE.
TOKEN = (
    r"(?P<dropped>/\*.*?(?:\*/|\Z)|<!--)"
    rf"|{ADDRESS}|[uU][rR][lL]\([^\"'()]*+\)|[uU][rR][lL]\(\s*+[^\s\"'()]*+"
    r"""|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\."""
    r"""|\b[fF][oO][rR][mM][aA][tT]\(\s{0,9}["']?(?P<format>[\w-]{1,40})["']?[^)]{0,100}\)"""
)
# The lookahead for the first character makes the search five times as fast.
TOKENS = re.compile(rf"(?=[/<\"'\\uUfF])(?:{TOKEN})", re.DOTALL)
# TEXT matches everything up to the next brace or semicolon.
TEXT = rf"(?:[^{{}};/<\"'\\uUfF]++|{re.sub(r'[?]P<[a-z]+>', '?:', TOKEN)}|[^{{}};])*+"
# RULES matches a whole rule without nested rules, or else the text before the next brace or semicolon.
RULES = re.compile(rf"({TEXT})(?:\{{({TEXT}(?:;{TEXT})*+)\}}|([{{}};]|\Z))", re.DOTALL)
DECLARATIONS = re.compile(rf"({TEXT})(?:;|\Z)", re.DOTALL)
# Beginnings of tokens that may contain a semicolon or a comment. Alternatives that begin with a literal are fast.
HIDING = re.compile(r"\"|'|\\|<|/\*|\((?<=[lLtT]\()")
URL = re.compile(r"\((?<=[uU][rR][lL]\()")
IMPORT = re.compile(
    rf"""@import\s{{0,99}}(?:{ADDRESS}|["'](?P<text>[^"'\n]++)(?:["']|\Z))(?P<conditions>.*)""",
    re.IGNORECASE | re.DOTALL,
)
# The `src` of a font may also list formats that current browsers do not need.
FONT_FORMATS = frozenset(
    {"woff2", "woff", "truetype", "opentype", "collection", "woff2-variations", "woff-variations"}
    | {"truetype-variations", "opentype-variations"}
)
FONT_EXTENSIONS = re.compile(r"\.(?:woff2?|ttf|otf|ttc)(?:[?#]|\Z)", re.IGNORECASE)
PARENTHESES = re.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
PSEUDO = re.compile(r"(?<!\\)::?[\w-]++")
COMBINATORS = re.compile(r"(?<!\\)[\s>+~]++")
NAMES = re.compile(r"([.#])((?:[\w-]|\\.)++)")
TAG = re.compile(r"[\w-]++")
SIMPLE = re.compile(r"(?:[a-zA-Z][\w-]*|\*)?(?:[.#][a-zA-Z_-][\w-]*)*")
FLEXIBLE = re.compile(r"auto|inherit|initial|unset|revert|revert-layer|(?:fit|min|max)-content", re.IGNORECASE)
OUT_OF_FLOW = frozenset({"absolute", "fixed"})


class Rule(NamedTuple):
    """CSS rule.

    The prelude is the text before the braces, the block is the text inside, without nested rules.

    For a statement without braces, such as @import, `block` is None. `within` has the preludes of the enclosing rules,
    the outermost first.
    """

    prelude: str
    block: str | None
    within: tuple[str, ...] = ()

    @property
    def declarations(self) -> tuple[tuple[str, str], ...]:
        """Return the declarations, which are parsed on every call.

        Property names are in lower case, values are as written.
        """
        block = self.block or ""
        pieces = map(_without_comments, DECLARATIONS.findall(block)) if HIDING.search(block) else block.split(";")
        parts = (piece.partition(":") for piece in pieces)
        return tuple((name.strip().lower(), value.strip()) for name, colon, value in parts if colon)


class Compound(Struct, frozen=True):
    """Tag, ID and classes of a compound selector.

    Ancestors and pseudo-classes are left out.
    """

    tag: str = ""
    id: str = ""
    classes: frozenset[str] = frozenset()

    def may_match(self, tag: str, id: str, classes: frozenset[str]) -> bool:
        """Return True if an element matches this compound selector."""
        return (not self.tag or self.tag == tag) and (not self.id or self.id == id) and self.classes <= classes


class StyleReferences(Struct, frozen=True):
    """URLs in a style sheet as written.

    `fonts` has the source of each @font-face that a browser would choose.
    """

    imports: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


class Allowance(Struct):
    """Budget for parsing all style sheets of a page.

    Many small style sheets are as slow as a long one.
    """

    marks: int = MAX_BRACES_AND_SEMICOLONS
    selectors: int = MAX_TOTAL_SELECTORS

    @property
    def is_used_up(self) -> bool:
        return self.marks < 0 or self.selectors < 0


def rules(css: str, allowance: Allowance | None = None, *, is_closed: bool = False) -> Iterator[Rule]:
    """Yield a style sheet's rules and statements in the order in which they end.

    Nested rules are yielded separately. An unfinished rule at the end of the text is omitted, unless the end of the
    text closes it (`is_closed`; CSS Syntax 3, section 5.4). Stops when the allowance is spent.
    """
    allowance = allowance or Allowance()
    # Stack of open rules with nested rules. An entry has the rule's prelude, its declarations so far, and the preludes
    # of the enclosing rules.
    blocks: list[tuple[str, list[str], tuple[str, ...]]] = []
    within: tuple[str, ...] = ()  # Preludes of the rules that are still open.
    for match in RULES.finditer(css[:MAX_CSS_LENGTH]):
        text, block, mark = match.groups()
        allowance.marks -= 1 if block is None else block.count(";") + 2
        if allowance.is_used_up:
            return
        if block is not None or mark == "{":
            if len(blocks) == MAX_NESTING_DEPTH:
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
    return TOKENS.sub(_remove_comment, text) if "/*" in text or "<!--" in text else text


def _remove_comment(token: re.Match[str]) -> str:
    return "" if token["dropped"] else token[0]


def declarations(style: str) -> tuple[tuple[str, str], ...]:
    """Return the declarations of a style attribute as pairs of name and value."""
    rule = next(rules(f"*{{{style}", is_closed=True), None)
    return rule.declarations if rule else ()


def last_compounds(selectors: str, allowance: Allowance | None = None) -> Iterator[Compound]:
    """Yield the last compound selector of each selector in a list.

    Brackets and parentheses are dropped with their content.
    """
    allowance = allowance or Allowance()
    # Selectors rarely nest deeper than :not(:is(…)).
    plain = PARENTHESES.sub("", PARENTHESES.sub("", selectors))
    for selector in plain.split(",")[:MAX_SELECTORS]:
        allowance.selectors -= 1
        if allowance.is_used_up:
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
            images += _find_urls(rule.declarations) if URL.search(rule.block) else ()
    return StyleReferences(_select_fetched_urls(imports), _select_fetched_urls(fonts), _select_fetched_urls(images))


def style_images(style: str) -> tuple[str, ...]:
    """Return the URLs in a style attribute, without `data:` URLs and fragments."""
    return _select_fetched_urls(_find_urls(declarations(style)))


def imported(statement: str) -> tuple[str, str] | None:
    """Return the URL of an @import and the conditions after it.

    None for other statements.
    """
    match = IMPORT.match(statement)
    return (match["text"] or _token_url(match) or "", match["conditions"]) if match else None


def is_font_face(rule: Rule) -> bool:
    return rule.prelude[:10].lower() == "@font-face"


def font_source(sources: str) -> str | None:
    """Return the first URL of an @font-face rule that browsers support.

    The format or the file extension decides.
    """
    sources_with_formats: list[tuple[str, str]] = []
    for token in TOKENS.finditer(sources):
        if (address := _token_url(token)) is not None:
            sources_with_formats.append((address, ""))
        elif token["format"] and sources_with_formats:
            sources_with_formats[-1] = (sources_with_formats[-1][0], token["format"].lower())
    for address, name in sources_with_formats:
        if name in FONT_FORMATS or (not name and (FONT_EXTENSIONS.search(address) or "." not in address[-6:])):
            return address
    return None


def may_fix_height(name: str, value: str) -> bool:
    """Return True if a declaration may prevent a layout shift.

    It may fix an element's height before it loads, or take it out of the flow.
    """
    match name:
        case "height" | "block-size" | "aspect-ratio":
            return FLEXIBLE.match(value) is None
        case "position":
            return value.lower().partition("!")[0].strip() in OUT_OF_FLOW
        case "display":
            return value.lower().startswith("none")
    return False


def _find_urls(declared: tuple[tuple[str, str], ...]) -> list[str]:
    tokens = (token for _, value in declared if "(" in value for token in TOKENS.finditer(value))
    return [address for token in tokens if (address := _token_url(token)) is not None]


def _token_url(token: re.Match[str]) -> str | None:
    return next((token[name] for name in ("double", "single", "bare") if token[name] is not None), None)


def _select_fetched_urls(addresses: list[str]) -> tuple[str, ...]:
    stripped = (address.strip() for address in addresses)
    return tuple(
        address for address in stripped if address and not address.startswith("#") and address[:5].lower() != "data:"
    )
