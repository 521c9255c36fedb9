from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.page.evidence import Document
from website_scan.page.markup import select
from website_scan.performance.evidence import DomSize


@probe()
def dom_size(document: Document) -> DomSize:
    """Count the elements of the document and find the deepest element.

    The content of templates does not count.
    """
    body = document.tree.body
    elements = sum(1 for _ in select(document.tree, "*"))
    node, depth = body, 0
    deepest, deepest_depth = body, 0
    while node is not None:
        if depth > deepest_depth:
            deepest, deepest_depth = node, depth
        first_child = next(iter(node.iter()), None)
        if first_child is not None:
            node, depth = first_child, depth + 1
            continue
        while node is not None and (body is None or node.mem_id != body.mem_id):
            sibling = node.next
            while sibling is not None and not sibling.is_element_node:
                sibling = sibling.next
            if sibling is not None:
                node = sibling
                break
            node, depth = node.parent, depth - 1
        else:
            break
    path: list[str] = []
    while deepest is not None and deepest.is_element_node and deepest.tag != "html":
        path.append(deepest.tag or "")
        deepest = deepest.parent
    path.reverse()
    parts = path if len(path) <= 8 else [*path[:3], "…", *path[-4:]]
    return DomSize(elements, deepest_depth, " > ".join(parts))
