"""Detection of credentials and unfinished security work in comments.

The comments are those of the HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from website_scan.messages import SHAPED, USERINFO
from website_scan.page.evidence import Document

MAX_COMMENTS = 5_000
MAX_COMMENT_CHARACTERS = 4_000
MAX_SEARCHED_LINES = 20
MAX_PREFIX_CHARACTERS = 200

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
MIN_KEY_CHARACTERS = 12
# Values that are not real secrets, such as ordinary words, template placeholders and types.
HARMLESS_VALUE = re.compile(
    r"[{$<%\[(#].*|.*[)({}].*|required|optional|fields?|labels?|inputs?|forms?|reset|none|null|true|false|string|text|hidden"
    r"|type|value|name|here|must|should|missing|invalid|wrong|see|ask|the|your.*|enter.*|change|forgot.*|new|old|current"
    r"|[a-z_]\w*(?:\.\w+)+|confirm.*|repeat.*|min.*|max.*|show|hide|toggle|end|begin|start|todo|tbd|n/a|\W+|x+|\d{1,2}|\d{4}-\d\d-\d\d|https?:.*",
    re.IGNORECASE,
)
HEXADECIMAL = re.compile(r"[0-9a-f]+")
# Notes about wording, design or a part of the page, such as a password field, are not about security.
EDITORIAL_WORK = r"(?:translat|locali[sz]|styl|restyl|redesign|align|cent(?:er|re)|reword|proofread|typo)\w*"
PAGE_PART = (
    r"(?:pages?|sections?|tabs?|links?|texts?|icons?|menus?|headings?|headlines?|titles?|labels?|copy|badges?|banners?"
    r"|images?|logos?|teams?|columns?|cards?|articles?|posts?|docs?|documentation|placeholders?|fields?|inputs?|forms?"
    r"|settings)\b"
)
UNFINISHED_WORK = re.compile(
    r"\b(?:todo|fixme|hack|xxx)\b[^\n]{0,120}?\b(?:insecure|vulnerab\w*|xss|csrf|sql ?injection|sanitiz\w*|sanitis\w*"
    r"|bypass\w*|backdoor|admin login)\b"
    rf"|\b(?:todo|fixme|hack|xxx)\b(?!\W{{0,5}}{EDITORIAL_WORK})[^\n]{{0,120}}?\b(?:passwords?|credentials?|authenticat\w*"
    rf"|authoriz\w*|security|secrets?|api ?keys?)\b(?!\W{{1,3}}{PAGE_PART})",
    re.IGNORECASE,
)


def html_comments(document: Document) -> Iterator[str]:
    """Yield the HTML comments in document order.

    Their texts are truncated to 4,000 characters. Scripts are left out.
    """
    root = document.tree.root
    if root is None:
        return
    count = 0
    for node in (root.parent or root).traverse(include_text=True):  # Comments may precede the root element.
        if node.is_comment_node:
            yield (node.comment_content or "")[:MAX_COMMENT_CHARACTERS]
            count += 1
            if count >= MAX_COMMENTS:
                return


def line_numbers(texts: Sequence[str], source: str) -> list[int | None]:
    """Return the source line, from 1, of each comment.

    None if unknown.

    `texts` are comments in document order. Only the first 20 are searched, by their first line, because the parser
    changes line endings.
    """
    lines: list[int | None] = []
    end = 0
    for text in texts[:MAX_SEARCHED_LINES]:
        beginning = re.escape(text.strip().partition("\n")[0][:MAX_PREFIX_CHARACTERS])
        match = re.compile(rf"<!--\s*+{beginning}").search(source, end)
        end = match.end() if match else end
        lines.append(source.count("\n", 0, match.start()) + 1 if match else None)
    return lines + [None] * (len(texts) - len(lines))


def has_credentials(comment: str) -> bool:
    """Return True if the comment contains an actual secret.

    This is a password, key or token, not only the word "password".
    """
    # A long hexadecimal number is more likely a build number than a key.
    if any(not HEXADECIMAL.fullmatch(match[0]) for match in SHAPED.finditer(comment)) or USERINFO.search(comment):
        return True
    return any(map(_is_real_secret, SECRET.finditer(comment))) or any(map(_contains_login, LOGIN.finditer(comment)))


def mentions_unfinished_work(comment: str) -> bool:
    """Return True if a comment mentions unfinished security work.

    An example is "TODO: sanitize".
    """
    return UNFINISHED_WORK.search(comment) is not None


def _is_real_secret(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".!?")
    if len(value) < 3 or HARMLESS_VALUE.fullmatch(value):
        return False
    if match["password"] is None:
        return len(value) >= MIN_KEY_CHARACTERS and re.search(r"\d", value) is not None
    if re.search(r"[\d!@$%^&*_+~-]", value):
        return True
    # Outside of assignments and line ends, a word of letters is prose instead of a password.
    rest = match.string[match.end() : match.end() + 40].partition("\n")[0].strip()
    return "=" in match["sign"] or not rest


def _contains_login(match: re.Match[str]) -> bool:
    if match["password"] is not None:
        return HARMLESS_VALUE.fullmatch(match["password"]) is None
    return re.search(r"\d", match["after_slash"]) is not None and HARMLESS_VALUE.fullmatch(match["after_slash"]) is None
