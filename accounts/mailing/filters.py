"""Template filters for e-mails: word joiners in strangers' addresses, colours and dates."""

from __future__ import annotations

import re

from infrastructure.web.colours import Colours, colours_of_grade
from website_scan.page.registrable_domain import is_public_name
from website_scan.written_urls import split_url

# Characters in a word by which mail programs recognize an address in plain text.
ADDRESS_MARK = re.compile(r"(?<=\S)([.:@])(?=\S)")
WORD = re.compile(r"\S+")
# Words that mail programs turn into links: "http://evil", "www.evil", "mailto:a@evil", "a@evil".
LINK = re.compile(r"://|\bwww\.|\b(?:mailto|sms|tel):|\w@[^\W\d_]", re.IGNORECASE)
# Names that may be hosts. Mail programs turn a name that ends in a top-level domain into a link.
NAME = re.compile(r"(?<![\w-])(?<![\w-]\.)(?:[\w-]++\.)+[^\W\d_]{2,}")
# Path, query and fragment of an address, if they contain no other address.
REST = re.compile(r"(?:[/?#][\w./~%+=&?#-]*)?")
SEVERITY_COLORS = {"critical": "#b91c34", "high": "#b04a06", "medium": "#8f5a00", "low": "#545d72"}
WORD_JOINER = "\N{WORD JOINER}"


def unlinked(text: object, own: str = "") -> str:
    """Insert word joiners into strangers' addresses, so that no mail program turns them into links.

    Names and findings quote text from strangers, whose links must not be in the service's mails. Text to copy is
    unchanged: selectors, file names, and addresses of the host of `own`, which is a URL or a host.
    """
    host = split_url(own).netloc or own
    return WORD.sub(lambda word: _unlinked(word[0], host), str(text))


def _unlinked(word: str, own_host: str) -> str:
    is_link = LINK.search(word) or any(is_public_name(name) for name in NAME.findall(word))
    if not is_link or (own_host and _is_address_of(word, own_host)):
        return word
    return ADDRESS_MARK.sub(rf"\1{WORD_JOINER}", word)


def _is_address_of(word: str, host: str) -> bool:
    """Return True if a word is an address of this host and of no other, ignoring quotes and punctuation around it."""
    bare = word.lower().lstrip("\"'“([").rstrip("\"'”)],;:!?.…")
    address = bare.removeprefix("https://").removeprefix("http://")
    return address.startswith(host.lower()) and REST.fullmatch(address, len(host)) is not None


def grade_colours(grade: str) -> Colours:
    """Return the colours `fill` and `text` of a grade, readable in both themes."""
    return colours_of_grade(grade)


def severity_color(severity: str) -> str:
    """Return the colour of a severity. White text on it has a contrast of at least 4.5:1, in both themes."""
    return SEVERITY_COLORS.get(severity, SEVERITY_COLORS["low"])


def type_name(scan_type: str) -> str:
    return "SEO" if scan_type == "seo" else scan_type.capitalize()


def minute(timestamp: str) -> str:
    """Return a timestamp such as `2026-11-21T07:15:00Z` as `2026-11-21 07:15 UTC`."""
    return f"{timestamp[:16].replace('T', ' ')} UTC"


def day(timestamp: str) -> str:
    return timestamp[:10]
