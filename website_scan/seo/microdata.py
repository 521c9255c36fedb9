"""Parser of microdata (HTML Standard, section 5).

Its items become nodes like those of JSON-LD.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from selectolax.lexbor import LexborNode

from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, live, select
from website_scan.seo.structured_data import (
    MAX_DEPTH,
    MAX_NODES,
    Node,
    SchemaOrgGraph,
    collect_nodes,
    remove_schema_org_prefix,
)

# `itemref` may add the same elements to any number of items.
MAX_ELEMENTS = 100_000
MAX_TEXT_CHARACTERS = 1_000
MAX_REFERENCES = 50
# Attribute with the value of a property, by element (HTML Standard, section 5.2.4).
VALUE_ATTRIBUTE = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "data": "value",
    "meter": "value",
    "object": "data",
}


class Microdata(Struct, frozen=True):
    """Schema.org items of the page as a graph.

    Properties of another item are left out.
    """

    graph: SchemaOrgGraph = field(default_factory=SchemaOrgGraph)


def read_microdata(document: Document) -> Microdata:
    """Read the microdata of a page.

    Without limits, hostile pages could nest and repeat items endlessly.
    """
    reader = _Reader(document)
    graph = SchemaOrgGraph()
    for element in live(document, "[itemscope]"):
        if attribute(element, "itemprop") is None and len(graph.nodes) < MAX_NODES:
            node = reader.read_item(element, 0)
            if node.get("@type"):
                graph.top_nodes.append(node)
                collect_nodes(node, graph, 0)
    return Microdata(graph)


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._remaining = MAX_ELEMENTS
        self._ids: dict[str, LexborNode] | None = None

    def read_item(self, item: LexborNode, depth: int) -> Node:
        """Return an item as a node.

        Types of other vocabularies are left out.
        """
        values: dict[str, list[Any]] = {}
        for element in self._property_elements(item):
            names = (attribute(element, "itemprop") or "").split()
            value = self._read_value(element, depth) if names else None
            for name in names:
                values.setdefault(remove_schema_org_prefix(name), []).append(value)
        node = {name: members[0] if len(members) == 1 else members for name, members in values.items()}
        if types := (attribute(item, "itemtype") or "").split():
            node["@type"] = types
        if (id := (attribute(item, "itemid") or "").strip()) and types:
            node["@id"] = id
        return node

    def _property_elements(self, item: LexborNode) -> Iterator[LexborNode]:
        """Yield the elements with properties of an item.

        They are its descendants and those of `itemref`, not of inner items.
        """
        roots = [item, *self._referenced_elements(item)]
        seen = {item.mem_id}
        pending = [*roots[:0:-1], item.child]
        while pending and self._remaining > 0:
            element = pending.pop()
            if element is None:
                continue
            if all(element.mem_id != root.mem_id for root in roots):
                pending.append(element.next)
            if (element.tag or "-").startswith("-") or element.mem_id in seen:
                continue
            self._remaining -= 1
            seen.add(element.mem_id)
            if attribute(element, "itemprop") is not None:
                yield element
            if attribute(element, "itemscope") is None:
                pending.append(element.child)

    def _referenced_elements(self, item: LexborNode) -> list[LexborNode]:
        references = (attribute(item, "itemref") or "").split()[:MAX_REFERENCES]
        if references and self._ids is None:
            elements = select(self._document.tree, "[id]")
            self._ids = {attribute(element, "id") or "": element for element in reversed(elements)}
        return [self._ids[id] for id in dict.fromkeys(references) if self._ids and id in self._ids]

    def _read_value(self, element: LexborNode, depth: int) -> Any:
        if attribute(element, "itemscope") is not None:
            return self.read_item(element, depth + 1) if depth < MAX_DEPTH else {}
        # Search engines accept `content` on every element; the standard, on `meta` only.
        if (content := attribute(element, "content")) is not None:
            return content
        tag = element.tag or ""
        if tag == "meta":
            return ""
        if tag in VALUE_ATTRIBUTE:
            return attribute(element, VALUE_ATTRIBUTE[tag]) or ""
        datetime = attribute(element, "datetime") if tag == "time" else None
        return self._read_text(element) if datetime is None else datetime

    def _read_text(self, element: LexborNode) -> str:
        """Return the beginning of an element's text.

        Properties inside one another share long texts.
        """
        text = ""
        pending = [element.child]
        while pending and self._remaining > 0 and len(text) < MAX_TEXT_CHARACTERS:
            node = pending.pop()
            if node is not None:
                self._remaining -= 1
                text += (node.text(deep=False) or "").strip() if node.tag == "-text" else ""
                pending += [node.next, node.child]
        return text
