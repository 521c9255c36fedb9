"""Signs in a page's markup that it was made for a user who is logged in, or for one who is not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.page.bounded_parser import limit_markup
from website_scan.page.log_in import LOG_IN_WORDS, LOG_OUT_NAMES, LOG_OUT_WORDS, shows_log_in_field
from website_scan.page.markup import attribute, select
from website_scan.urls import Url

CONTROLS = (
    "a[href], button, input[type=submit i], input[type=button i], input[type=image i], summary, "
    "[role=button i], [role=link i], [role=menuitem i]"
)
NAMING_ATTRIBUTES = ("aria-label", "title", "value", "alt")
MAX_CONTROLS = 2_000
# Longer texts are sentences, such as a card that is a link as a whole.
MAX_NAME_WORDS = 6
MAX_NAME_CHARS = 200
MAX_PHRASE_WORDS = 4
WORD = re.compile(r"[^\W_]+")


class SessionSigns(Struct, frozen=True):
    """Controls of a page that show whether its user is logged in."""

    has_log_out: bool
    has_log_in: bool
    has_log_in_field: bool


def session_signs(markup: str, base_url: str) -> SessionSigns:
    """Return what a page's markup shows about the log-in of its user. Controls in closed menus count, too."""
    tree = LexborHTMLParser(limit_markup(markup), scripting=True)
    names = [name for control in select(tree, CONTROLS)[:MAX_CONTROLS] for name in _names_of(control)]
    return SessionSigns(
        has_log_out=any(map(names_log_out, names)) or any(map(has_log_out_address, _addresses(tree, base_url))),
        has_log_in=any(map(names_log_in, names)),
        has_log_in_field=shows_log_in_field(tree),
    )


def names_log_out(name: str) -> bool:
    """Return True if a control with this name logs out, such as “Sign out” or “Log out of all devices”."""
    words = _words(name)
    return _is_about(words, LOG_OUT_WORDS) or "".join(words) in LOG_OUT_NAMES


def names_log_in(name: str) -> bool:
    """Return True if a control with this name logs in, such as “Sign in”."""
    return _is_about(_words(name), LOG_IN_WORDS)


def has_log_out_address(url: Url) -> bool:
    """Return True if opening an address logs out by its name, such as `/users/sign_out` or `?action=logout`."""
    parts = [segment.partition(".")[0] for segment in url.path.split("/")]
    parts += [value for _, value in parse_qsl(url.query)]
    return any(_is_about(_words(part), LOG_OUT_WORDS) for part in parts)


def _is_about(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Return True if a name begins or ends with a phrase. Phrases are written as one word, such as “logout”."""
    if len(words) > MAX_NAME_WORDS:
        return False
    lengths = range(1, min(len(words), MAX_PHRASE_WORDS) + 1)
    return any("".join(words[:count]) in phrases or "".join(words[-count:]) in phrases for count in lengths)


def _words(text: str) -> list[str]:
    """Return the words of a short text in lower case and without accents. Empty for a longer text."""
    if len(text) > MAX_NAME_CHARS:
        return []
    letters = unicodedata.normalize("NFKD", text.casefold())
    return WORD.findall("".join(letter for letter in letters if not unicodedata.combining(letter)))


def _names_of(control: LexborNode) -> Iterator[str]:
    """Yield the texts from which browsers calculate the name of a control."""
    yield control.text(deep=True, separator=" ")
    yield from (attribute(control, name) or "" for name in NAMING_ATTRIBUTES)
    if control.tag == "a":
        yield from (attribute(image, "alt") or "" for image in select(control, "img[alt]")[:1])


def _addresses(tree: LexborHTMLParser, base_url: str) -> Iterator[Url]:
    """Yield the addresses of links, and of forms that a click sends."""
    for node in select(tree, "a[href], form[action]")[:MAX_CONTROLS]:
        if url := Url.parse(attribute(node, "href") or attribute(node, "action") or "", base_url):
            yield url
