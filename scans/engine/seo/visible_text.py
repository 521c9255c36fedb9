"""How much text a page shows, in words of any script."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import shown_text

# Nobody needs to know how many thousand words a book has. Spaces between the elements count, too.
ENOUGH_CHARACTERS = 40_000
# Scripts that are written without spaces; about two characters make a word.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class VisibleText:
    """The words that people see; of a text that `is_long` only those of its beginning are counted."""

    words: int = 0
    is_long: bool = False


def read_visible_text(document: AccessibleDocument) -> VisibleText:
    body = document.document.tree.body
    text = shown_text(document, body, ENOUGH_CHARACTERS) if body is not None else ""
    return VisibleText(_count_words(text), len(text) > ENOUGH_CHARACTERS // 2)


def _count_words(text: str) -> int:
    unspaced = len(UNSPACED.findall(text))
    spaced = sum(1 for each in UNSPACED.sub(" ", text).split() if any(letter.isalnum() for letter in each))
    return spaced + unspaced // 2
