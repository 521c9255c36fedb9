"""Parts of a fix for HTML pages.

They are text, inline code, and code snippets with a copy button.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from website_scan.report_json import StoredFix


class Part(Struct, frozen=True):
    """Part of a fix.

    `label` is the server or language of a snippet.
    """

    kind: Literal["text", "code", "snippet"]
    text: str
    label: str = ""


def parts(fix: StoredFix) -> tuple[Part, ...]:
    """Split a fix into text, inline code between backticks, and code snippets."""
    pieces = enumerate(fix["text"].split("`"))
    words = [Part("code" if number % 2 else "text", text) for number, text in pieces if text]
    return (*words, *(Part("snippet", snippet["code"], snippet["label"]) for snippet in fix["snippets"]))


def snippet_codes(fix: StoredFix) -> tuple[str, ...]:
    """Return the code of a fix's snippets."""
    return tuple(snippet["code"] for snippet in fix["snippets"])
