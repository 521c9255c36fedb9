"""Rendering mode of an HTML document by its doctype.

HTML Standard, 13.2.6.4.1, "the initial insertion mode".
"""

from __future__ import annotations

import re
from enum import StrEnum

# No real page needs a longer prefix, although browsers read more.
MAX_PREFIX_CHARS = 64 * 1024
WHITE_SPACE = re.compile("[ \t\n\r\f\ufeff]*+")
DOCTYPE = re.compile(
    r"<!doctype[ \t\n\r\f]*+([^ \t\n\r\f>]*+)[ \t\n\r\f]*+"
    r"""(?:(public|system)[ \t\n\r\f]*+("[^">]*+"|'[^'>]*+')?[ \t\n\r\f]*+("[^">]*+"|'[^'>]*+')?)?([^>]*+)>""",
    re.IGNORECASE,
)
QUIRKY_PUBLIC_IDS = frozenset({"-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html"})
QUIRKY_SYSTEM_ID = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"
QUIRKY_PREFIXES = (
    "+//silmaril//dtd html pro v0r11 19970101//",
    "-//as//dtd html 3.0 aswedit + extensions//",
    "-//advasoft ltd//dtd html 3.0 aswedit + extensions//",
    *(
        f"-//ietf//dtd html {version}//"
        for version in (
            *("2.0 level 1", "2.0 level 2", "2.0 strict level 1", "2.0 strict level 2", "2.0 strict", "2.0", "2.1e"),
            *("3.0", "3.2 final", "3.2", "3", "level 0", "level 1", "level 2", "level 3"),
            *("strict level 0", "strict level 1", "strict level 2", "strict level 3", "strict"),
        )
    ),
    "-//ietf//dtd html//",
    "-//metrius//dtd metrius presentational//",
    *(
        f"-//microsoft//dtd internet explorer {version} {part}//"
        for version in ("2.0", "3.0")
        for part in ("html strict", "html", "tables")
    ),
    "-//netscape comm. corp.//dtd html//",
    "-//netscape comm. corp.//dtd strict html//",
    "-//o'reilly and associates//dtd html 2.0//",
    "-//o'reilly and associates//dtd html extended 1.0//",
    "-//o'reilly and associates//dtd html extended relaxed 1.0//",
    "-//sq//dtd html 2.0 hotmetal + extensions//",
    "-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//",
    "-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//",
    "-//spyglass//dtd html 2.0 extended//",
    "-//sun microsystems corp.//dtd hotjava html//",
    "-//sun microsystems corp.//dtd hotjava strict html//",
    "-//w3c//dtd html 3 1995-03-24//",
    *(f"-//w3c//dtd html {version}//" for version in ("3.2 draft", "3.2 final", "3.2", "3.2s draft")),
    "-//w3c//dtd html 4.0 frameset//",
    "-//w3c//dtd html 4.0 transitional//",
    "-//w3c//dtd html experimental 19960712//",
    "-//w3c//dtd html experimental 970421//",
    "-//w3c//dtd w3 html//",
    "-//w3o//dtd w3 html 3.0//",
    "-//webtechs//dtd mozilla html 2.0//",
    "-//webtechs//dtd mozilla html//",
)
# These public identifiers select quirks mode only if there is no system identifier.
QUIRKY_PREFIXES_WITHOUT_SYSTEM_ID = (
    "-//w3c//dtd html 4.01 frameset//",
    "-//w3c//dtd html 4.01 transitional//",
)


class Doctype(StrEnum):
    """Kind of a document's doctype by the rendering mode that it selects."""

    MISSING = "missing"
    QUIRKY = "quirky"  # The doctype selects quirks mode.
    STANDARD = "standard"  # The doctype selects standards mode or limited-quirks mode.


def read_doctype(text: str) -> Doctype:
    """Return the kind of the doctype at the beginning of a document's source.

    White space, comments, and processing instructions (which HTML reads as comments) may precede the doctype. A
    doctype after any other content has no effect.
    """
    text = text[:MAX_PREFIX_CHARS]
    position = 0
    while True:
        position = WHITE_SPACE.match(text, position).end()  # type: ignore[union-attr]  # The pattern matches everywhere.
        end = _comment_end(text, position)
        if end is None:
            break
        position = end
    match = DOCTYPE.match(text, position)
    if match is None:
        return Doctype.MISSING
    name, keyword, first_id, second_id, rest = match.groups()
    is_public = keyword is not None and keyword.lower() == "public"
    has_invalid_rest = bool(rest.strip()) and (keyword is None or (is_public and second_id is None))
    if name.lower() != "html" or has_invalid_rest or (keyword and not first_id):
        return Doctype.QUIRKY
    public_id = _unquote(first_id) if is_public else None
    system_id = _unquote(second_id if is_public else first_id)
    return Doctype.QUIRKY if _is_quirky(public_id, system_id) else Doctype.STANDARD


def _comment_end(text: str, position: int) -> int | None:
    """Return the position after a comment that begins at `position`.

    None if there is no comment.
    """
    if text.startswith("<!--", position):
        if text.startswith(("<!-->", "<!--->"), position):
            return text.index(">", position) + 1
        ends = [end for end in (text.find(mark, position + 4) for mark in ("-->", "--!>")) if end >= 0]
        return text.index(">", min(ends)) + 1 if ends else len(text)
    if text.startswith(("<?", "</", "<!"), position) and text[position : position + 9].lower() != "<!doctype":
        if text.startswith("</", position) and text[position + 2 : position + 3].isalpha():
            return None  # An end tag means that the document begins here.
        end = text.find(">", position)
        return end + 1 if end >= 0 else len(text)
    return None


def _unquote(quoted: str | None) -> str | None:
    return quoted[1:-1].lower() if quoted else None


def _is_quirky(public_id: str | None, system_id: str | None) -> bool:
    if system_id == QUIRKY_SYSTEM_ID:
        return True
    if public_id is None:
        return False
    return (
        public_id in QUIRKY_PUBLIC_IDS
        or public_id.startswith(QUIRKY_PREFIXES)
        or (system_id is None and public_id.startswith(QUIRKY_PREFIXES_WITHOUT_SYSTEM_ID))
    )
