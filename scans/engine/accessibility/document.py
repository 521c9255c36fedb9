"""The document as assistive technology meets it: the one thing that accessibility checks read."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.css import page_rules
from scans.engine.accessibility.visibility import Visibility
from scans.engine.page.evidence import Document
from scans.engine.page.markup import attribute, enclosing, live

MAX_NAME_STEPS = 200_000  # a few seconds; an ordinary page takes some thousand


class AccessibleDocument:
    """A document with its hidden elements and its IDs worked out."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.visibility = Visibility(page_rules(document))
        self._by_id: dict[str, LexborNode] = {}
        for node in live(document, "[id]"):
            self._by_id.setdefault(attribute(node, "id") or "", node)  # the first of each ID counts
        self._labels: dict[str, list[LexborNode]] = {}
        for node in live(document, "label[for]"):
            self._labels.setdefault(attribute(node, "for") or "", []).append(node)
        # What is left of the work that names may make; `accessibility.names` counts it down.
        self.name_steps_left = MAX_NAME_STEPS
        # What `accessibility.native_roles` has found out.
        self.native_roles: dict[int, str | None] = {}
        self.in_sections: dict[int, bool] = {}
        self.in_sections_or_main: dict[int, bool] = {}

    def exposed(self, selector: str) -> Iterator[LexborNode]:
        """The elements that match and that assistive technology meets, in document order."""
        for node in live(self.document, selector):
            if not self.visibility.is_hidden_from_at(node):
                yield node

    def referenced(self, node: LexborNode, name: str) -> list[LexborNode]:
        """The elements that an attribute names by their IDs; IDs that there are not are left out."""
        ids = (attribute(node, name) or "").split()
        return [self._by_id[each] for each in ids if each in self._by_id]

    def labels(self, node: LexborNode) -> list[LexborNode]:
        """The label elements of a form control: those that name its ID, and the nearest one around it.

        As axe-core has it, the one around counts even if it names the ID of another control.
        """
        found = self.explicit_labels(node)
        around = enclosing(node, "label")
        if around is not None and all(around.mem_id != each.mem_id for each in found):
            found.append(around)
        return found

    def explicit_labels(self, node: LexborNode) -> list[LexborNode]:
        """The label elements that name a control's ID, in document order."""
        own_id = attribute(node, "id")
        return list(self._labels.get(own_id, [])) if own_id else []
