"""Texts by people, made ready for documents."""

from __future__ import annotations

from website_scan.messages import counted, cut, single_line


def one_line(text: str, limit: int | None = None) -> str:
    """Return a text without line breaks and control characters, cut to the limit in characters."""
    line = " ".join(single_line(text).split())
    return line if limit is None else cut(line, limit)


def paragraphs(text: str) -> list[str]:
    """Return the lines of a text that are not empty, without control characters."""
    return [line for line in map(one_line, text.splitlines()) if line]


def sentence(text: str, limit: int | None = None) -> str:
    """Return a text in one line that ends with a full stop or another final mark."""
    line = one_line(text, limit)
    return line if not line or line.endswith((".", "!", "?", "…", ":")) else f"{line}."


def further_notes(pages: int) -> str:
    """Return a sentence about the number of pages with notes or findings that a document leaves out."""
    return f"There are notes or automatic findings about {counted(pages, 'more page')} in the assessment."
