"""What stands directly in an element."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode


def elements(node: LexborNode) -> Iterator[LexborNode]:
    """The child elements, in order."""
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


def texts(node: LexborNode) -> Iterator[str]:
    """The pieces of text that are not blank, in order. A byte order mark is blank, as in JavaScript."""
    child = node.first_child
    while child is not None:
        if child.is_text_node:
            text = (child.text_content or "").replace("\ufeff", " ").strip()
            if text:
                yield text
        child = child.next
