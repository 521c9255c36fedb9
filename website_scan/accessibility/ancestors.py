"""Properties that elements inherit from their ancestors, such as being hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from selectolax.lexbor import LexborNode

T = TypeVar("T")


class Inherited(Generic[T]):
    """Cache of one inherited value per element of a document.

    It works from the outermost element inwards without recursion, so the tree may be of any depth.
    """

    def __init__(self, at_root: T, step: Callable[[LexborNode, T], T]) -> None:
        """`at_root`: the value above the root. `step(node, value of the parent)` returns an element's own value."""
        self._at_root = at_root
        self._step = step
        self._known: dict[int, T] = {}

    def of(self, node: LexborNode | None) -> T:
        """Return the node's value, or `at_root` for None."""
        unknown: list[LexborNode] = []
        while node is not None and node.mem_id not in self._known:
            unknown.append(node)
            node = node.parent
        value = self._at_root if node is None else self._known[node.mem_id]
        for element in reversed(unknown):
            value = self._known[element.mem_id] = self._step(element, value) if element.is_element_node else value
        return value
