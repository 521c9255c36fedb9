"""What elements take from those around them, such as being hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

T = TypeVar("T")


class Inherited(Generic[T]):
    """Worked out once for each element of one document, from the outermost inwards, however deep it is."""

    def __init__(self, at_root: T, step: Callable[[LexborNode, T], T]) -> None:
        """`step`: an element's own, from that of its parent."""
        self._at_root = at_root
        self._step = step
        self._known: dict[int, T] = {}

    def of(self, node: LexborNode | None) -> T:
        """The node's own; `at_root` for None."""
        unknown: list[LexborNode] = []
        while node is not None and node.mem_id not in self._known:
            unknown.append(node)
            node = node.parent
        value = self._at_root if node is None else self._known[node.mem_id]
        for each in reversed(unknown):
            value = self._known[each.mem_id] = self._step(each, value) if each.is_element_node else value
        return value
