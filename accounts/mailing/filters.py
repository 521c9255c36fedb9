"""Template filters for e-mails.

They prevent automatic links and format colours and dates.
"""

from __future__ import annotations

import re
from datetime import datetime

from infrastructure.web.colours import Colours, colours_of_grade
from infrastructure.web.time_zones import with_zone
from website_scan.page.registrable_domain import is_public_name
from website_scan.written_urls import split_url

# Mail programs recognize an address in plain text by these punctuation characters.
ADDRESS_PUNCTUATION = re.compile(r"(?<=\S)([.:@])(?=\S)")
WORD = re.compile(r"\S+")
# Regular expression for words that mail programs turn into links, such as "http://evil", "www.evil" and "a@evil".
LINK = re.compile(r"://|\bwww\.|\b(?:mailto|sms|tel):|\w@[^\W\d_]", re.IGNORECASE)
# Regular expression for names that may be hosts, because mail programs turn names with a top-level domain into links.
NAME = re.compile(r"(?<![\w-])(?<![\w-]\.)(?:[\w-]++\.)+[^\W\d_]{2,}")
# Regular expression for an address's path, query and fragment, if they contain no other address.
ADDRESS_PATH = re.compile(r"(?:[/?#][\w./~%+=&?#-]*)?")
SEVERITY_COLORS = {"critical": "#b91c34", "high": "#b04a06", "medium": "#8f5a00", "low": "#545d72"}
WORD_JOINER = "\N{WORD JOINER}"


def unlinked(text: object, own: str = "") -> str:
    """Insert word joiners (U+2060) into addresses from strangers, so that mail programs create no links.

    Names and findings quote text from strangers, whose links must not be in the service's mails. Text to copy is
    unchanged: selectors, file names, and addresses of the host of `own`, which is a URL or a host.
    """
    host = split_url(own).netloc or own
    return WORD.sub(lambda word: _unlink_word(word[0], host), str(text))


def _unlink_word(word: str, own_host: str) -> str:
    contains_link = LINK.search(word) or any(is_public_name(name) for name in NAME.findall(word))
    if not contains_link or (own_host and _is_address_of(word, own_host)):
        return word
    return ADDRESS_PUNCTUATION.sub(rf"\1{WORD_JOINER}", word)


def _is_address_of(word: str, host: str) -> bool:
    """Return True if a word is an address of this host only, ignoring quotes and punctuation around the word."""
    bare = word.lower().lstrip("\"'“([").rstrip("\"'”)],;:!?.…")
    address = bare.removeprefix("https://").removeprefix("http://")
    return address.startswith(host.lower()) and ADDRESS_PATH.fullmatch(address, len(host)) is not None


def grade_colours(grade: str) -> Colours:
    """Return a grade's colours `fill` and `text`, which are readable in light and dark themes."""
    return colours_of_grade(grade)


def severity_color(severity: str) -> str:
    """Return a severity's background colour.

    White text on it has a contrast of at least 4.5:1.
    """
    return SEVERITY_COLORS.get(severity, SEVERITY_COLORS["low"])


def type_name(scan_type: str) -> str:
    return "SEO" if scan_type == "seo" else scan_type.capitalize()


def minute(moment: datetime | str) -> str:
    """Return a time or a timestamp in the recipient's time zone, such as `2026-11-21 08:15 CET`."""
    return with_zone(datetime.fromisoformat(moment) if isinstance(moment, str) else moment)


def day(timestamp: str) -> str:
    return timestamp[:10]
