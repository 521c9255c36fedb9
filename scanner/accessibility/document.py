"""The document as assistive technology meets it: the one thing that accessibility checks read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborNode

from scanner.accessibility.ancestors import Inherited
from scanner.accessibility.styles.cascade import Cascade
from scanner.accessibility.styles.rules import page_rules
from scanner.accessibility.visibility import Visibility
from scanner.page.evidence import Document
from scanner.page.markup import attribute, enclosing, live

MAX_NAME_STEPS = 100_000  # a second or two; an ordinary page takes some thousand
MAX_LABELS = 20  # of one control
SECTIONING = frozenset({"article", "aside", "nav", "section"})
SECTIONING_ROLES = frozenset({"article", "complementary", "navigation", "region"})


class AccessibleDocument:
    """A document with its hidden elements and its IDs worked out.

    Nothing of it can be set. What it remembers only saves time, so any number of checks may share it.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._visibility = Visibility(Cascade(document.tree, page_rules(document)))
        self._by_id: dict[str, LexborNode] = {}
        for node in live(document, "[id]"):
            self._by_id.setdefault(attribute(node, "id") or "", node)  # the first of each ID counts
        self._labels: dict[str, list[LexborNode]] = {}
        for node in live(document, "label[for]"):
            of_control = self._labels.setdefault(attribute(node, "for") or "", [])
            if len(of_control) < MAX_LABELS:
                of_control.append(node)
        self._in_sections = Inherited(False, lambda node, above: above or _is_sectioning(node))
        self._in_main = Inherited(False, lambda node, above: above or _is_main(node))
        self._roles: dict[int, str | None] = {}
        self._name_steps_left = MAX_NAME_STEPS

    @property
    def document(self) -> Document:
        return self._document

    @property
    def visibility(self) -> Visibility:
        return self._visibility

    def exposed(self, selector: str) -> Iterator[LexborNode]:
        """The elements that match and that assistive technology meets, in document order."""
        for node in live(self.document, selector):
            if not self.visibility.is_hidden_from_at(node):
                yield node

    def referenced(self, node: LexborNode, name: str) -> list[LexborNode]:
        """The elements that an attribute names by their IDs; IDs that do not exist are left out."""
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

    def is_in_section(self, node: LexborNode | None, *, or_main: bool = False) -> bool:
        """Whether the node is or stands in an article, aside, nav or section, by element or role."""
        return self._in_sections.of(node) or (or_main and self._in_main.of(node))

    def native_role(
        self, node: LexborNode, work_out: Callable[[AccessibleDocument, LexborNode], str | None]
    ) -> str | None:
        """What `work_out` finds for the node, once."""
        if node.mem_id not in self._roles:
            self._roles[node.mem_id] = work_out(self, node)
        return self._roles[node.mem_id]

    @property
    def has_name_steps(self) -> bool:
        """Whether names may be read on; only pages that are made to be slow use up what all names together may take."""
        return self._name_steps_left > 0

    def take_name_step(self) -> bool:
        """Whether there was one more step to take."""
        self._name_steps_left -= 1
        return self._name_steps_left >= 0


def _is_sectioning(node: LexborNode) -> bool:
    named = attribute(node, "role")
    return node.tag in SECTIONING if named is None else named in SECTIONING_ROLES


def _is_main(node: LexborNode) -> bool:
    named = attribute(node, "role")
    return node.tag == "main" if named is None else named == "main"
