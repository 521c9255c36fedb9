"""Tags and notes of a list's entries: their form and their limits. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from infrastructure.api.errors import InvalidParams

MAX_TAGS = 20  # of an entry
MAX_TAGS_OF_LIST = 200  # each run counts the sites of each tag
TAG_LENGTH = 60
NOTE_LENGTH = 500
# Separates tags in a cell of a table.
SEPARATOR = ";"


def tidy_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Return tags in their order, each once and without surplus blanks. Raises InvalidParams."""
    tags = tuple(dict.fromkeys(filter(None, (" ".join(each.split()) for each in values))))
    for tag in tags:
        _refuse_unprintable("A tag", tag, TAG_LENGTH)
        if SEPARATOR in tag:
            raise InvalidParams("A tag must not contain a semicolon, which separates tags.")
    if len(tags) > MAX_TAGS:
        raise InvalidParams(f"A site may have {MAX_TAGS} tags, not {len(tags)}.")
    return tags


def tidy_note(value: str) -> str:
    """Return a note without surplus blanks. Raises InvalidParams."""
    note = " ".join(value.split())
    _refuse_unprintable("A note", note, NOTE_LENGTH)
    return note


def refuse_too_many_tags(tags: Collection[str]) -> None:
    """Raise InvalidParams if a list would have more different tags than the maximum."""
    if len(tags) > MAX_TAGS_OF_LIST:
        raise InvalidParams(f"A list may have {MAX_TAGS_OF_LIST} different tags, not {len(tags):,}.")


def _refuse_unprintable(noun: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidParams(f"{noun} may have {most} characters, not {len(text):,}.")
    if not text.isprintable():
        raise InvalidParams(f"{noun} must have printable characters only.")
    # A spreadsheet would run it.
    if text.startswith("="):
        raise InvalidParams(f"{noun} must not begin with an equals sign, like a formula.")
