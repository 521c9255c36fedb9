"""Template filters of e-mails: text from strangers, colours and dates."""

from __future__ import annotations

import re

from infrastructure.web.colours import Colours, of_grade

# Characters by which mail programs recognize an address in plain text and turn it into a link: "evil.example",
# "http://evil", "a@evil".
ADDRESS_MARK = re.compile(r"(?<=\S)([.:@])(?=\S)")
SEVERITY_COLORS = {"critical": "#b91c34", "high": "#b04a06", "medium": "#8f5a00", "low": "#545d72"}
WORD_JOINER = "\N{WORD JOINER}"


def unlinked(text: object) -> str:
    """Insert word joiners into addresses, so that no mail program turns them into links.

    Names and findings quote text from strangers, and our mails must not contain links of theirs.
    """
    return ADDRESS_MARK.sub(rf"\1{WORD_JOINER}", str(text))


def grade_colours(grade: str) -> Colours:
    """Return the colours `fill` and `text` of a grade, readable in both themes."""
    return of_grade(grade)


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
