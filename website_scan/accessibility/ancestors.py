"""Properties that elements inherit, such as being hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

T = TypeVar("T")


class InheritedProperty(Generic[T]):
    """Cache of one inherited value per element of a document.

    Values are computed from the outermost element inwards without recursion, so the tree may have any depth.
    """

    def __init__(self, root_value: T, compute_value: Callable[[LexborNode, T], T]) -> None:
        """Create a cache of an inherited value.

        `compute_value(node, parent_value)` returns a node's value; `root_value` is the root's parent value.
        """
        self._root_value = root_value
        self._compute_value = compute_value
        self._values: dict[int, T] = {}

    def inherited_value(self, node: LexborNode | None) -> T:
        """Return the inherited value of a node, or `root_value` for None."""
        uncached: list[LexborNode] = []
        while node is not None and node.mem_id not in self._values:
            uncached.append(node)
            node = node.parent
        value = self._root_value if node is None else self._values[node.mem_id]
        for element in reversed(uncached):
            value = self._values[element.mem_id] = (
                self._compute_value(element, value) if element.is_element_node else value
            )
        return value
