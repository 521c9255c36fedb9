"""Tokenizer for JavaScript.

It separates white space, comments and literals from code (ECMAScript, section 12).

The tokenizer does not parse. Whether a slash divides or begins a regular expression depends on the grammar. A slash
divides after a name, a number, a literal and a closing bracket, and begins a regular expression after an operator and
words such as `return`. After `)`, `}`, `++` and `--` both are possible: the rest of that line is UNKNOWN, and so is the
rest of the script if a literal or comment that continues in the next line could begin in the unknown part. So every
reported token is correct, but some are missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

# The text is decoded as latin-1, so that lengths are bytes and only ASCII white space counts.
TOKENS = re.compile(
    r"""(?P<space>[ \t\n\r\f\v]++)|(?P<comment>//[^\n\r]*+|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<string>"(?:[^"\\\n\r]|\\(?:\r\n|.))*+(?P<double>")?"""
    r"""|'(?:[^'\\\n\r]|\\(?:\r\n|.))*+(?P<single>')?)|(?P<mark>[`/])""",
    re.DOTALL,
)
TOKENS_AND_BRACES = re.compile(TOKENS.pattern + r"|(?P<brace>[{}])", re.DOTALL)
REGEX = re.compile(r"/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*+\])++/[A-Za-z]*+")
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*+(`|\$\{|\Z)", re.DOTALL)
LINE = re.compile(r"[^\n\r]*+")
LAST_KEYWORD = re.compile(r"(?<![\w$.])[a-z]{2,10}\Z")
KEYWORDS_BEFORE_REGEX = frozenset(
    {"return", "typeof", "case", "in", "do", "else", "void", "delete", "instanceof", "new", "throw"}
)
AMBIGUOUS = frozenset({"of", "await", "yield"})  # Keywords that are variable names in some scripts.
OPERATORS = "(,=:[!&|?{;+-*%~^<>"
MAX_NESTED_TEMPLATES = 50
MAX_PRECEDING_CHARACTERS = 12
# Characters for a literal and for unknown code before a slash.
LITERAL_MARKER, UNKNOWN_CODE_MARKER = '"', ")"


class TokenKind(Enum):
    """Kind of a token in a script.

    Text between two tokens is code.
    """

    SPACE = auto()
    COMMENT = auto()
    LITERAL = auto()
    UNKNOWN = auto()


def tokenize_script(script: str) -> Iterator[tuple[TokenKind, int, int]]:  # noqa: C901 -- the branches are the grammar
    """Yield kind, start and end of each token of a script.

    If the tokenizer loses track, the last token is UNKNOWN.
    """
    position = 0
    before = ""  # Code before the token that is read next.
    braces: list[int] = []  # Number of open braces in each open template substitution.
    while True:
        token = (TOKENS_AND_BRACES if braces else TOKENS).search(script, position)
        if token is None:
            return
        start, end = token.span()
        if start > position:
            before = script[max(position, start - MAX_PRECEDING_CHARACTERS) : start]
        position = end
        kind = token.lastgroup
        if kind == "space":
            yield TokenKind.SPACE, start, end
            continue
        if kind == "comment":
            if token[0].startswith("/*") and (len(token[0]) < 4 or not token[0].endswith("*/")):
                yield TokenKind.UNKNOWN, start, len(script)
                return
            yield TokenKind.COMMENT, start, end
            continue
        is_template_text = token[0] == "`"
        if kind == "brace":
            before = token[0]
            if token[0] == "{":
                braces[-1] += 1
                continue
            if braces[-1]:
                braces[-1] -= 1
                continue
            braces.pop()
            is_template_text = True  # A template literal continues after a substitution.
        if kind == "string" and (token["double"] or token["single"]):
            yield TokenKind.LITERAL, start, end
            before = LITERAL_MARKER
        elif is_template_text:
            text = TEMPLATE.match(script, end)
            if text is None or not text[1] or len(braces) == MAX_NESTED_TEMPLATES:
                yield TokenKind.UNKNOWN, start, len(script)
                return
            position = text.end()
            yield TokenKind.LITERAL, start, position
            before = LITERAL_MARKER
            if text[1] == "${":
                braces.append(0)
                before = "{"
        elif token[0] == "/" and (begins_regex := _begins_regex(before)) is not None:
            expression = REGEX.match(script, start) if begins_regex else None
            if expression is not None:
                position = expression.end()
                yield TokenKind.LITERAL, start, position
                before = LITERAL_MARKER
            elif begins_regex:
                position = _find_end_of_unknown_code(script, start)
                yield TokenKind.UNKNOWN, start, position
                before = UNKNOWN_CODE_MARKER
            else:
                before = "/"
        else:  # The token is an unterminated string or an ambiguous slash.
            position = _find_end_of_unknown_code(script, start)
            yield TokenKind.UNKNOWN, start, position
            before = UNKNOWN_CODE_MARKER


def _find_end_of_unknown_code(script: str, start: int) -> int:
    """Return the end of the line.

    If a literal or comment may continue in the next line, this is the end of the script.
    """
    line = LINE.match(script, start)
    end = line.end() if line else start
    rest = script[start:end]
    return len(script) if "`" in rest or "/*" in rest or rest.endswith("\\") else end


def _begins_regex(before: str) -> bool | None:
    """Return True if a slash after the code begins a regular expression.

    None if the grammar decides.
    """
    if not before:
        return True
    if before[-1] in ")}" or before.endswith(("++", "--")):
        return None
    if before[-1] in OPERATORS or before[-1] == "/":
        return True
    word = LAST_KEYWORD.search(before)
    if word is not None and word[0] in AMBIGUOUS:
        return None
    return word is not None and word[0] in KEYWORDS_BEFORE_REGEX
