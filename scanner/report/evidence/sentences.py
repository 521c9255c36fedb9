"""A finding in one short sentence: the places that its message lists stand in the table below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# So much of a value has to be the same, for messages cut them shorter than evidence does.
SAME = 12
# A sentence that tells something itself names a number or has a verb; what only introduces a list has neither.
LEADS = re.compile(r"\d| (?:is|are|has|have|was|were|do|does|break|fail)s? ")
LEAST = 2


def headline(message: str, evidence: Iterable[Mapping[str, object]]) -> str:
    """The message without a list of places, after a colon or in brackets, that the evidence has.

    Brackets behind a place tell of that place, and are no list: "/.git/HEAD (ref: main; 21 B) is public". What
    follows the list stays. Where the evidence has less than two places, the message is short and stays whole.
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
    """What stands before a list, without a sentence that only introduced it, such as "Shifted most"."""
    whole, dot, last = before.rpartition(". ")
    return whole if dot and not LEADS.search(last) else before


def _after_colon(listed: str, known: tuple[str, ...]) -> str:
    """What stands behind the last place of a list, such as "; each costs a request."."""
    _, separator, tail = listed.rpartition("; ")
    return f"; {tail}" if separator and not any(each in tail for each in known) else "."


def _after_bracket(listed: str, known: tuple[str, ...]) -> str:
    end = listed.find(")", max(listed.rfind(each) for each in known))
    return listed[end + 1 :] if end >= 0 else "."
