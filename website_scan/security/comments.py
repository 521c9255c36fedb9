"""Comments in markup: detection of credentials in them, and of notes about unfinished security work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from website_scan.messages import SHAPED, USERINFO
from website_scan.page.evidence import Document

MAX_COMMENTS = 5_000
MAX_LENGTH = 4_000
MAX_PLACES = 20
FIRST_WORDS = 200  # characters

SECRET = re.compile(
    r"(?<![a-z])(?:(?P<password>passw(?:or)?d|passphrase|pwd)"
    r"|secret(?:[-_ ]key)?|api[-_ ]?key|access[-_ ]?(?:key|token)|auth[-_ ]?token|private[-_ ]?key|client[-_ ]?secret)"
    r"[\"']?(?P<sign>\s?(?:=|:|\bis:|=>)\s{0,3})[\"']?(?P<value>[^\s\"'<>,;]{3,200})",
    re.IGNORECASE,
)
LOGIN = re.compile(
    r"\b(?:log ?in|user(?:name)?|credentials?)\s?[:=]\s{0,3}[\w.@-]{2,60}\s?(?:/\s?(?P<after_slash>[^\s<>,;/]{4,60})"
    r"|[,;|]?\s?pass\w{0,5}\s?[:=]\s{0,3}(?P<password>[^\s<>,;]{3,60}))",
    re.IGNORECASE,
)
KEY_LENGTH = 12
# Text that is no real value: words, template placeholders, types.
ORDINARY = re.compile(
    r"[{$<%\[(#].*|.*[)({}].*|required|optional|fields?|labels?|inputs?|forms?|reset|none|null|true|false|string|text|hidden"
    r"|type|value|name|here|must|should|missing|invalid|wrong|see|ask|the|your.*|enter.*|change|forgot.*|new|old|current"
    r"|[a-z_]\w*(?:\.\w+)+|confirm.*|repeat.*|min.*|max.*|show|hide|toggle|end|begin|start|todo|tbd|n/a|\W+|x+|\d{1,2}|\d{4}-\d\d-\d\d|https?:.*",
    re.IGNORECASE,
)
HEXADECIMAL = re.compile(r"[0-9a-f]+")
# Notes about a page's words and looks are not about security. Neither are notes about a part of a page or a field that
# is named after it, such as a password field.
EDITORIAL = r"(?:translat|locali[sz]|styl|restyl|redesign|align|cent(?:er|re)|reword|proofread|typo)\w*"
PART_OF_A_PAGE = (
    r"(?:pages?|sections?|tabs?|links?|texts?|icons?|menus?|headings?|headlines?|titles?|labels?|copy|badges?|banners?"
    r"|images?|logos?|teams?|columns?|cards?|articles?|posts?|docs?|documentation|placeholders?|fields?|inputs?|forms?"
    r"|settings)\b"
)
UNDONE = re.compile(
    r"\b(?:todo|fixme|hack|xxx)\b[^\n]{0,120}?\b(?:insecure|vulnerab\w*|xss|csrf|sql ?injection|sanitiz\w*|sanitis\w*"
    r"|bypass\w*|backdoor|admin login)\b"
    rf"|\b(?:todo|fixme|hack|xxx)\b(?!\W{{0,5}}{EDITORIAL})[^\n]{{0,120}}?\b(?:passwords?|credentials?|authenticat\w*"
    rf"|authoriz\w*|security|secrets?|api ?keys?)\b(?!\W{{1,3}}{PART_OF_A_PAGE})",
    re.IGNORECASE,
)


def comments(document: Document) -> Iterator[str]:
    """Yield the text of the markup's comments in document order, each cut. Comments in scripts are not included."""
    root = document.tree.root
    if root is None:
        return
    count = 0
    for node in (root.parent or root).traverse(include_text=True):  # some stand before the root element
        if node.is_comment_node:
            yield (node.comment_content or "")[:MAX_LENGTH]
            count += 1
            if count >= MAX_COMMENTS:
                return


def places(found: Sequence[str], source: str) -> list[int | None]:
    """Return the line in the page's source on which each comment begins, counted from 1. None if it isn't found.

    `found` is in document order. Only the first 20 comments are looked for, by their first words, because the parser
    changes line endings.
    """
    lines: list[int | None] = []
    end = 0
    for comment in found[:MAX_PLACES]:
        words = re.escape(comment.strip().partition("\n")[0][:FIRST_WORDS])
        place = re.compile(rf"<!--\s*+{words}").search(source, end)
        end = place.end() if place else end
        lines.append(source.count("\n", 0, place.start()) + 1 if place else None)
    return lines + [None] * (len(found) - len(lines))


def has_credentials(comment: str) -> bool:
    """Return True if the comment holds a password, key or token, and not only the word for it."""
    # A long hexadecimal number alone is more likely the number of a build.
    if any(not HEXADECIMAL.fullmatch(found[0]) for found in SHAPED.finditer(comment)) or USERINFO.search(comment):
        return True
    return any(map(_is_secret, SECRET.finditer(comment))) or any(map(_is_login, LOGIN.finditer(comment)))


def is_undone(comment: str) -> bool:
    """Return True if the comment mentions security work that is still to be done."""
    return UNDONE.search(comment) is not None


def _is_secret(found: re.Match[str]) -> bool:
    value = found["value"].rstrip(".!?")
    if len(value) < 3 or ORDINARY.fullmatch(value):
        return False
    if found["password"] is None:
        return len(value) >= KEY_LENGTH and re.search(r"\d", value) is not None
    if re.search(r"[\d!@$%^&*_+~-]", value):
        return True
    # A plain word is a password after an equals sign or at the end of a line. Otherwise it is part of a sentence.
    behind = found.string[found.end() : found.end() + 40].partition("\n")[0].strip()
    return "=" in found["sign"] or not behind


def _is_login(found: re.Match[str]) -> bool:
    if found["password"] is not None:
        return ORDINARY.fullmatch(found["password"]) is None
    return re.search(r"\d", found["after_slash"]) is not None and ORDINARY.fullmatch(found["after_slash"]) is None
