"""Headline of a finding: its message without the list of places, which the table below it shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# The number of characters in which a place in the message must equal a value of the evidence. Messages cut values
# shorter than the evidence does.
SAME = 12
# A sentence with information has a number or a verb; one that only introduces a list has neither.
LEADS = re.compile(r"\d| (?:is|are|has|have|was|were|do|does|break|fail)s? ")
LEAST = 2


def headline(message: str, evidence: Iterable[Mapping[str, object]]) -> str:
    """Return the message without its list of places, after a colon or in brackets, if the evidence has them.

    Brackets after a place describe that place and are no list: "/.git/HEAD (ref: main; 21 B) is public". Text after
    the list stays. If the evidence has less than two items, the message is short and stays whole.
    """
    items = list(evidence)
    if len(items) < LEAST:
        return message
    known = tuple(
        {value[:SAME] for item in items for value in item.values() if isinstance(value, str) and len(value) > 1}
    )
    whole = tuple({value for item in items for value in item.values() if isinstance(value, str) and len(value) > 1})
    if not known:
        return message
    for opening in (": ", " ("):
        at = message.find(opening)
        while at >= 0:
            if message.startswith(known, at + 2) and not message[:at].endswith(whole):
                return _told(message[:at]) + (_after_colon if opening == ": " else _after_bracket)(
                    message[at + 2 :], known
                )
            at = message.find(opening, at + 1)
    return message


def _told(before: str) -> str:
    """Return the text before a list, without a sentence that only introduces it, such as "Shifted most"."""
    whole, dot, last = before.rpartition(". ")
    return whole if dot and not LEADS.search(last) else before


def _after_colon(listed: str, known: tuple[str, ...]) -> str:
    """Return the text after the last place of a list, such as "; each costs a request."."""
    _, separator, tail = listed.rpartition("; ")
    return f"; {tail}" if separator and not any(each in tail for each in known) else "."


def _after_bracket(listed: str, known: tuple[str, ...]) -> str:
    end = listed.find(")", max(listed.rfind(each) for each in known))
    return listed[end + 1 :] if end >= 0 else "."
