"""What a rule has found: the elements it is about, and which of them are wrong, with what certainty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.tree import AccessibleDocument
from scans.engine.masking import excerpt

SHOWN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Faults:
    """Elements in document order; `doubtful`: unless a script mends them; `review`: somebody has to look.

    `words` are what is wrong in them: names of roles or attributes.
    """

    document: AccessibleDocument
    judged: Sequence[LexborNode]
    certain: Sequence[LexborNode] = ()
    doubtful: Sequence[LexborNode] = ()
    review: Sequence[LexborNode] = ()
    words: tuple[str, ...] = ()


def sorted_out(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    wrong: Sequence[LexborNode],
    may_change: Callable[[LexborNode], bool],
    *,
    review: Sequence[LexborNode] = (),
    words: Iterable[str] = (),
) -> Faults:
    """Faults of which those are doubtful that may change."""
    doubtful = [each for each in wrong if may_change(each)]
    known = {each.mem_id for each in doubtful}
    certain = [each for each in wrong if each.mem_id not in known]
    return Faults(document, judged, certain, doubtful, review, tuple(dict.fromkeys(words)))


def some(words: Sequence[str]) -> str:
    """The first of them, in parentheses; nothing if there are none."""
    if not words:
        return ""
    shown = ", ".join(excerpt(each, 40) for each in words[:SHOWN_WORDS])
    return f" ({shown}{', …' if len(words) > SHOWN_WORDS else ''})"
