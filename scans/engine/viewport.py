"""What `<meta name=viewport>` says (CSS Device Adaptation, "translation into @viewport")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from scans.engine.evidence import Document
from scans.engine.markup import attribute, live

LEADING_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)


def viewport_metas(document: Document) -> Iterator[tuple[LexborNode, dict[str, str]]]:
    """Each viewport element with its properties in lower case; of one that is named twice the last counts."""
    for node in live(document, "meta[name][content]"):
        if (attribute(node, "name") or "").strip().lower() == "viewport":
            yield node, _properties((attribute(node, "content") or "").lower())


def _properties(content: str) -> dict[str, str]:
    """White space separates as a comma does, and may stand around the equals sign."""
    parts = (part.replace("=", " = ").split() for part in re.split(r"[,;]", content))
    threes = (three for words in parts for three in zip(words, words[1:], words[2:], strict=False))
    return {name: value for name, sign, value in threes if sign == "=" and value != "="}


def scale(value: str) -> float | None:
    """The number at the beginning of a value, which is all that browsers read; None without one."""
    found = LEADING_NUMBER.match(value)
    return float(found[0]) if found else None
