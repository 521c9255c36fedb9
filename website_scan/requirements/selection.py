"""Find the elements that the selector of an own requirement selects, in time linear in the size of the page."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.page import markup
from website_scan.requirements.selectors import Step


def select(tree: LexborHTMLParser, selectors: tuple[tuple[Step, ...], ...]) -> list[LexborNode]:
    """Return the elements that one of the selectors selects, in document order by selector, each once."""
    elements: dict[int, LexborNode] = {}
    for steps in selectors:
        for node in _select(tree, steps):
            elements.setdefault(node.mem_id, node)
    return list(elements.values())


def _select(tree: LexborHTMLParser, steps: tuple[Step, ...]) -> list[LexborNode]:
    nodes: list[LexborNode] = []
    for step in steps:
        candidates = markup.select(tree, step.compound)
        if step.combinator:
            matches = _Relation(step.combinator, {node.mem_id for node in nodes})
            candidates = [node for node in candidates if matches.holds(node)]
        if not candidates:
            return []
        nodes = candidates
    return nodes


class _Relation:
    """Relation of elements to those that the selector before the combinator selects.

    Results for ancestors and for preceding siblings are stored, so that each element of a page is visited once.
    """

    def __init__(self, combinator: str, selected: set[int]) -> None:
        self._combinator = combinator
        self._selected = selected
        self._results: dict[int, bool] = {}

    def holds(self, node: LexborNode) -> bool:
        if self._combinator in (">", "+"):
            neighbour = self._next(node)
            return neighbour is not None and neighbour.mem_id in self._selected
        return self._any_beyond(node)

    def _any_beyond(self, node: LexborNode) -> bool:
        """Return True if an ancestor or a preceding sibling is selected."""
        path: list[int] = []
        current: LexborNode | None = node
        result = False
        while current is not None:
            if (stored := self._results.get(current.mem_id)) is not None:
                result = stored
                break
            path.append(current.mem_id)
            current = self._next(current)
            if current is not None and current.mem_id in self._selected:
                result = True
                break
        # Elements between the node and the end of the walk have the same result.
        self._results.update(dict.fromkeys(path, result))
        return result

    def _next(self, node: LexborNode) -> LexborNode | None:
        if self._combinator in (">", " "):
            return node.parent
        sibling = node.prev
        while sibling is not None and not sibling.is_element_node:
            sibling = sibling.prev
        return sibling
