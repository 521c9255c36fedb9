"""Reader of environment files in the grammar of dotenv.

It finds names and values, and lines that are neither.

The rules are those of dotenv for Node.js (`LINE` in its lib/main.js), which other readers share: an optional `export`,
a name of letters, digits, `_`, `.` and `-`, then `=`, or a colon with white space. A value in quotes may have several
lines and be followed by a comment. Names in quotes are read as by python-dotenv.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

MAX_STATEMENTS = 400
MAX_VALUE_CHARACTERS = 2000

_NAME = re.compile(
    r"[ \t]{0,40}(?:export[ \t]{1,9})?(?P<quote>['\"]?)(?P<name>[A-Za-z0-9_.-]{1,100})(?P=quote)"
    r"(?:[ \t]{0,40}(?P<sign>=)|(?P<colon>:)(?=\s|\Z))[ \t]{0,40}"
)
# Ruby's dotenv and shells support lines that only export variables, such as `export NAME`.
_EXPORT = re.compile(r"[ \t]{0,40}export(?:[ \t]{1,9}[A-Za-z_][A-Za-z0-9_]{0,100})+[ \t]{0,40}")
# Quoted text up to its closing quote; a backslash escapes the next character.
_QUOTED = re.compile(
    r"(?:'([^'\\]*+(?:\\.[^'\\]*+)*+)'|\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|`([^`\\]*+(?:\\.[^`\\]*+)*+)`)"
    r"[ \t]{0,40}(?=\n|\Z|#)",
    re.DOTALL,
)
# People write unquoted PEM blocks, although no dotenv parser accepts them.
_PEM_BEGIN = "-----BEGIN "
_PEM_END = re.compile(r"-----END [^\n]*")


class Assignment(Struct, frozen=True):
    """Name and value of a line.

    The value has no quotes and no comment, and at most 2,000 characters.
    """

    name: str
    value: str
    has_colon: bool = False
    is_quoted: bool = False


class EnvironmentFile(Struct, frozen=True):
    """Assignments of a file.

    The number of statements that are not assignments is included.
    """

    assignments: list[Assignment] = field(default_factory=list)
    others: int = 0
    begins_with_assignment: bool = False


def parse_environment_file(text: str) -> EnvironmentFile:
    """Parse the first 400 statements of a text.

    A value of several lines is one statement.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    assignments: list[Assignment] = []
    others = 0
    begins_with_assignment = False
    unclosed: set[str] = set()
    position = 0
    while position < len(text) and len(assignments) + others < MAX_STATEMENTS:
        end = _find_line_end(text, position)
        line = text[position:end]
        if not line.strip() or line.lstrip().startswith("#") or _EXPORT.fullmatch(line):
            position = end + 1
            continue
        match = _NAME.match(text, position)
        if match is None or match.end() > end:
            others += 1
        else:
            assignment, end = _read_value(text, match, end, unclosed)
            assignments.append(assignment)
            begins_with_assignment |= len(assignments) == 1 and not others
        position = end + 1
    return EnvironmentFile(assignments, others, begins_with_assignment)


def _read_value(text: str, match: re.Match[str], end: int, unclosed: set[str]) -> tuple[Assignment, int]:
    """Return the assignment and the end of its last line.

    `unclosed` collects the quotes that no later quote closes, so that the rest of the text is searched only once.
    """
    start = match.end()
    quote = text[start : start + 1]
    has_colon = match["colon"] is not None
    if quote and quote in "'\"`" and quote not in unclosed:
        if quoted := _QUOTED.match(text, start):
            value = quoted[quoted.lastindex or 0][:MAX_VALUE_CHARACTERS]
            return Assignment(match["name"], value, has_colon, is_quoted=True), _find_line_end(text, quoted.end())
        if text.find(quote, start + 1) < 0:
            unclosed.add(quote)
    if text.startswith(_PEM_BEGIN, start) and "pem" not in unclosed:
        if block_end := _PEM_END.search(text, start):
            return Assignment(match["name"], text[start:end], has_colon), block_end.end()
        unclosed.add("pem")
    value = text[start:end].partition(" #")[0].strip()[:MAX_VALUE_CHARACTERS]
    return Assignment(match["name"], "" if value.startswith("#") else value, has_colon), end


def _find_line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
