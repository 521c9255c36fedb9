"""Lines of messages for chats."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class LinePart(Struct, frozen=True):
    """Part of a line in a message.

    A part with a URL links to a page of this service.
    """

    text: str
    url: str = ""


Line = Sequence[LinePart]
# A message's headline, paragraphs, and links (label, URL).
Content = tuple[str, Sequence[Sequence[str | Line]], list[tuple[str, str | None]]]
