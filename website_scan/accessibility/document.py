"""Document as assistive technology sees it: the evidence of most accessibility checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import Inherited
from website_scan.accessibility.styles.cascade import Cascade
from website_scan.accessibility.styles.rules import page_rules
from website_scan.accessibility.visibility import Visibility
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, live

MAX_NAME_STEPS = 100_000  # limit for all names of a page: a second or two; an ordinary page needs some thousand steps
MAX_LABELS = 20  # per form control
SECTIONING = frozenset({"article", "aside", "nav", "section"})
SECTIONING_ROLES = frozenset({"article", "complementary", "navigation", "region"})


class AccessibleDocument:
    """Document with the visibility of its elements, and its IDs resolved.

    Checks share one instance: they cannot change the document, and caches only save time.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._visibility = Visibility(Cascade(document.tree, page_rules(document)))
        self._by_id: dict[str, LexborNode] = {}
        for node in live(document, "[id]"):
            self._by_id.setdefault(attribute(node, "id") or "", node)  # a duplicate ID means its first element
        self._labels: dict[str, list[LexborNode]] = {}
        for node in live(document, "label[for]"):
            of_control = self._labels.setdefault(attribute(node, "for") or "", [])
            if len(of_control) < MAX_LABELS:
                of_control.append(node)
        self._in_sections = Inherited(False, lambda node, is_parent_in: is_parent_in or _is_sectioning(node))
        self._in_main = Inherited(False, lambda node, is_parent_in: is_parent_in or _is_main(node))
        self._roles: dict[int, str | None] = {}
        self._name_steps_left = MAX_NAME_STEPS

    @property
    def document(self) -> Document:
        return self._document

    @property
    def visibility(self) -> Visibility:
        return self._visibility

    def exposed(self, selector: str) -> Iterator[LexborNode]:
        """Yield the elements that match a selector and are exposed to assistive technology, in document order."""
        for node in live(self.document, selector):
            if not self.visibility.is_hidden_from_at(node):
                yield node

    def referenced(self, node: LexborNode, name: str) -> list[LexborNode]:
        """Return the elements whose IDs an attribute such as aria-labelledby lists. Missing IDs are left out."""
        ids = (attribute(node, name) or "").split()
        return [self._by_id[id] for id in ids if id in self._by_id]

    def labels(self, node: LexborNode) -> list[LexborNode]:
        """Return the label elements of a form control: labels whose `for` is its ID, and the nearest enclosing label.

        As in axe-core, the enclosing label counts even if its `for` is the ID of another control.
        """
        labels = self.explicit_labels(node)
        enclosing_label = enclosing(node, "label")
        if enclosing_label is not None and all(enclosing_label.mem_id != label.mem_id for label in labels):
            labels.append(enclosing_label)
        return labels

    def explicit_labels(self, node: LexborNode) -> list[LexborNode]:
        """Return the label elements whose `for` is the control's ID, in document order."""
        own_id = attribute(node, "id")
        return list(self._labels.get(own_id, [])) if own_id else []

    def is_in_section(self, node: LexborNode | None, *, or_main: bool = False) -> bool:
        """Return True if the node is, or is inside, an article, aside, nav or section, by element or role.

        With `or_main`, the element main counts, too.
        """
        return self._in_sections.value_of(node) or (or_main and self._in_main.value_of(node))

    def native_role(
        self, node: LexborNode, compute: Callable[[AccessibleDocument, LexborNode], str | None]
    ) -> str | None:
        """Return `compute(self, node)`, cached per node."""
        if node.mem_id not in self._roles:
            self._roles[node.mem_id] = compute(self, node)
        return self._roles[node.mem_id]

    @property
    def has_name_steps(self) -> bool:
        """Return True until the page's limit of steps for names is reached, which happens on malicious pages only."""
        return self._name_steps_left > 0

    def use_name_step(self) -> bool:
        """Count one step towards the limit. Return False if the limit was reached before."""
        self._name_steps_left -= 1
        return self._name_steps_left >= 0


def _is_sectioning(node: LexborNode) -> bool:
    written_role = attribute(node, "role")
    return node.tag in SECTIONING if written_role is None else written_role in SECTIONING_ROLES


def _is_main(node: LexborNode) -> bool:
    written_role = attribute(node, "role")
    return node.tag == "main" if written_role is None else written_role == "main"
