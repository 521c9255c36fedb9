"""Tokenizer that separates white space, comments and literals of a script from its code (ECMAScript, section 12).

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

# Only ASCII white space, because the text is decoded as latin-1 (so that lengths are bytes).
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
LAST_WORD = re.compile(r"(?<![\w$.])[a-z]{2,10}\Z")
BEFORE_REGEX = frozenset(
    {"return", "typeof", "case", "in", "do", "else", "void", "delete", "instanceof", "new", "throw"}
)
AMBIGUOUS = frozenset({"of", "await", "yield"})  # keywords that are names in some scripts
OPERATORS = "(,=:[!&|?{;+-*%~^<>"
MAX_NESTED = 50
MAX_CODE_BEFORE = 12
# Characters that represent a literal, and unknown code, as the code before a slash.
AFTER_LITERAL, AFTER_UNKNOWN = '"', ")"


class Kind(Enum):
    """Kind of a piece of a script. Text between two pieces is code."""

    SPACE = auto()
    COMMENT = auto()
    LITERAL = auto()
    UNKNOWN = auto()


def pieces(script: str) -> Iterator[tuple[Kind, int, int]]:  # noqa: C901 -- the branches are the grammar
    """Yield kind, start and end of each piece, in order. If the tokenizer loses track, the last piece is UNKNOWN."""
    position = 0
    before = ""  # end of the code before the next token
    braces: list[int] = []  # number of open braces in each open template substitution
    while True:
        token = (TOKENS_AND_BRACES if braces else TOKENS).search(script, position)
        if token is None:
            return
        start, end = token.span()
        if start > position:
            before = script[max(position, start - MAX_CODE_BEFORE) : start]
        position = end
        kind = token.lastgroup
        if kind == "space":
            yield Kind.SPACE, start, end
            continue
        if kind == "comment":
            if token[0].startswith("/*") and (len(token[0]) < 4 or not token[0].endswith("*/")):
                yield Kind.UNKNOWN, start, len(script)
                return
            yield Kind.COMMENT, start, end
            continue
        is_template = token[0] == "`"
        if kind == "brace":
            before = token[0]
            if token[0] == "{":
                braces[-1] += 1
                continue
            if braces[-1]:
                braces[-1] -= 1
                continue
            braces.pop()
            is_template = True  # after a substitution, the text of the template continues
        if kind == "string" and (token["double"] or token["single"]):
            yield Kind.LITERAL, start, end
            before = AFTER_LITERAL
        elif is_template:
            text = TEMPLATE.match(script, end)
            if text is None or not text[1] or len(braces) == MAX_NESTED:
                yield Kind.UNKNOWN, start, len(script)
                return
            position = text.end()
            yield Kind.LITERAL, start, position
            before = AFTER_LITERAL
            if text[1] == "${":
                braces.append(0)
                before = "{"
        elif token[0] == "/" and (is_regex := _begins_regex(before)) is not None:
            expression = REGEX.match(script, start) if is_regex else None
            if expression is not None:
                position = expression.end()
                yield Kind.LITERAL, start, position
                before = AFTER_LITERAL
            elif is_regex:
                position = _end_of_unknown(script, start)
                yield Kind.UNKNOWN, start, position
                before = AFTER_UNKNOWN
            else:
                before = "/"
        else:  # a string that does not end in its line, or an ambiguous slash
            position = _end_of_unknown(script, start)
            yield Kind.UNKNOWN, start, position
            before = AFTER_UNKNOWN


def _end_of_unknown(script: str, start: int) -> int:
    """Return the end of the line; the end of the script if a literal or comment could continue in the next line."""
    line = LINE.match(script, start)
    end = line.end() if line else start
    rest = script[start:end]
    return len(script) if "`" in rest or "/*" in rest or rest.endswith("\\") else end


def _begins_regex(before: str) -> bool | None:
    """Return True if a slash after this code begins a regular expression; None if that depends on the grammar."""
    if not before:
        return True
    if before[-1] in ")}" or before.endswith(("++", "--")):
        return None
    if before[-1] in OPERATORS or before[-1] == "/":
        return True
    word = LAST_WORD.search(before)
    if word is not None and word[0] in AMBIGUOUS:
        return None
    return word is not None and word[0] in BEFORE_REGEX
