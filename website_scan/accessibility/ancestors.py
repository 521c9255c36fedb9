"""Properties that elements inherit from their ancestors, such as being hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

T = TypeVar("T")


class Inherited(Generic[T]):
    """Cache of one inherited value per element of a document.

    Values are computed from the outermost element inwards without recursion, so the tree may have any depth.
    """

    def __init__(self, at_root: T, step: Callable[[LexborNode, T], T]) -> None:
        """Store `at_root`, the value above the root, and `step(node, parent's value)`, which returns a node's value."""
        self._at_root = at_root
        self._step = step
        self._values: dict[int, T] = {}

    def value_of(self, node: LexborNode | None) -> T:
        """Return the value of a node, or `at_root` for None."""
        uncached: list[LexborNode] = []
        while node is not None and node.mem_id not in self._values:
            uncached.append(node)
            node = node.parent
        value = self._at_root if node is None else self._values[node.mem_id]
        for element in reversed(uncached):
            value = self._values[element.mem_id] = self._step(element, value) if element.is_element_node else value
        return value
