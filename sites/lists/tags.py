"""Validation of the tags and notes of list entries. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from infrastructure.api.errors import InvalidParams

MAX_TAGS = 20
# The number of tags is limited, because each run stores counts for each tag.
MAX_TAGS_OF_LIST = 200
MAX_TAG_LENGTH = 60
MAX_NOTE_LENGTH = 500
# Separator of tags in one cell of a CSV file.
SEPARATOR = ";"


def tidy_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Return the tags without duplicates and superfluous white space, in the given order.

    Raises InvalidParams.
    """
    tags = tuple(dict.fromkeys(filter(None, (" ".join(value.split()) for value in values))))
    for tag in tags:
        _refuse_unprintable("A tag", tag, MAX_TAG_LENGTH)
        if SEPARATOR in tag:
            raise InvalidParams("A tag must not contain a semicolon, which separates tags.")
    if len(tags) > MAX_TAGS:
        raise InvalidParams(f"A site may have {MAX_TAGS} tags, not {len(tags)}.")
    return tags


def tidy_note(value: str) -> str:
    """Return the note without superfluous white space. Raises InvalidParams."""
    note = " ".join(value.split())
    _refuse_unprintable("A note", note, MAX_NOTE_LENGTH)
    return note


def refuse_too_many_tags(tags: Collection[str]) -> None:
    """Raise InvalidParams if a list has more than MAX_TAGS_OF_LIST different tags."""
    if len(tags) > MAX_TAGS_OF_LIST:
        raise InvalidParams(f"A list may have {MAX_TAGS_OF_LIST} different tags, not {len(tags):,}.")


def _refuse_unprintable(noun: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidParams(f"{noun} may have {most} characters, not {len(text):,}.")
    if not text.isprintable():
        raise InvalidParams(f"{noun} must have printable characters only.")
    # Spreadsheets execute texts that begin with an equals sign as formulas.
    if text.startswith("="):
        raise InvalidParams(f"{noun} must not begin with an equals sign, like a formula.")
