"""Document as assistive technology sees it.

Most accessibility checks judge this evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import InheritedProperty
from website_scan.accessibility.styles.cascade import Cascade
from website_scan.accessibility.styles.rules import page_rules
from website_scan.accessibility.visibility import Visibility
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, live

# Limit for the names of a page, reached after a second or two.
MAX_NAME_STEPS = 100_000
MAX_LABELS_PER_CONTROL = 20
# Markup does not distinguish form-associated custom elements from others.
LABELABLE_TAGS = frozenset({"button", "input", "meter", "output", "progress", "select", "textarea"})
SECTIONING = frozenset({"article", "aside", "nav", "section"})
SECTIONING_ROLES = frozenset({"article", "complementary", "navigation", "region"})


class AccessibleDocument:
    """Document with the visibility, IDs and labels of its elements.

    Checks share one instance: they cannot change the document, and caches only save time.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._visibility = Visibility(Cascade(document.tree, page_rules(document)))
        self._by_id: dict[str, LexborNode] = {}
        for node in live(document, "[id]"):
            # Browsers resolve a duplicate ID to its first element.
            self._by_id.setdefault(attribute(node, "id") or "", node)
        self._labels: dict[str, list[LexborNode]] = {}
        for node in live(document, "label[for]"):
            control_labels = self._labels.setdefault(attribute(node, "for") or "", [])
            if len(control_labels) < MAX_LABELS_PER_CONTROL:
                control_labels.append(node)
        self._in_sections = InheritedProperty(
            False, lambda node, is_parent_in: is_parent_in or _is_sectioning_element(node)
        )
        self._in_main = InheritedProperty(False, lambda node, is_parent_in: is_parent_in or _is_main_element(node))
        self._roles: dict[int, str | None] = {}
        self._name_steps_left = MAX_NAME_STEPS

    @property
    def document(self) -> Document:
        return self._document

    @property
    def visibility(self) -> Visibility:
        return self._visibility

    def exposed(self, selector: str) -> Iterator[LexborNode]:
        """Yield the exposed elements that match a selector.

        They are exposed to assistive technology, and in document order.
        """
        for node in live(self.document, selector):
            if not self.visibility.is_hidden_from_at(node):
                yield node

    def referenced(self, node: LexborNode, name: str) -> list[LexborNode]:
        """Return the elements that an ID list refers to.

        An example is aria-labelledby. Missing IDs are left out.
        """
        ids = (attribute(node, name) or "").split()
        return [self._by_id[id] for id in ids if id in self._by_id]

    def labels(self, node: LexborNode) -> list[LexborNode]:
        """Return the label elements of a form control.

        They refer to it with the `for` attribute, or are its nearest enclosing label. The enclosing label counts only
        if the control is its first labelable descendant, and if it has no `for` (HTML, "labeled control").
        """
        labels = self.explicit_labels(node)
        enclosing_label = enclosing(node, "label")
        if enclosing_label is not None and self._is_labelled_control(enclosing_label, node):
            labels.append(enclosing_label)
        return labels

    def _is_labelled_control(self, label: LexborNode, node: LexborNode) -> bool:
        """Return True if a label without `for` labels the element.

        The element may be a custom widget.
        """
        if attribute(label, "for") is not None:
            return False
        if node.tag not in LABELABLE_TAGS:
            return True
        return self._first_controls.get(label.mem_id) == node.mem_id

    @cached_property
    def _first_controls(self) -> dict[int, int]:
        """Map every label to its first control.

        Keys and values are node IDs (`mem_id`). A control belongs to the nearest label around it.
        """
        nearest = InheritedProperty[LexborNode | None](
            None, lambda node, parent_label: node if node.tag == "label" else parent_label
        )
        first: dict[int, int] = {}
        for node in live(self._document, ", ".join(sorted(LABELABLE_TAGS))):
            label = nearest.inherited_value(node)
            if label is not None and not _is_hidden_input(node):
                first.setdefault(label.mem_id, node.mem_id)
        return first

    def explicit_labels(self, node: LexborNode) -> list[LexborNode]:
        """Return the labels whose `for` attribute is the control's ID.

        They are in document order. A label is for the first element with the ID only (HTML, "the label element").
        """
        element_id = attribute(node, "id")
        first = self._by_id.get(element_id or "")
        if not element_id or (first is not None and first.mem_id != node.mem_id):
            return []
        return list(self._labels.get(element_id, []))

    def is_in_section(self, node: LexborNode | None, *, or_main: bool = False) -> bool:
        """Return True for nodes in an article, aside, nav or section.

        The element or its role counts, also of the node itself. With `or_main`, the element main counts, too.
        """
        return self._in_sections.inherited_value(node) or (or_main and self._in_main.inherited_value(node))

    def native_role(
        self, node: LexborNode, compute: Callable[[AccessibleDocument, LexborNode], str | None]
    ) -> str | None:
        """Return the element's native role.

        It is from a cache, or else from `compute(self, node)`.
        """
        if node.mem_id not in self._roles:
            self._roles[node.mem_id] = compute(self, node)
        return self._roles[node.mem_id]

    @property
    def has_name_steps_left(self) -> bool:
        """Return True while the page has steps for names left.

        Their number is limited. Only malicious pages reach the limit.
        """
        return self._name_steps_left > 0

    def use_name_step(self) -> bool:
        """Count one step towards the page's limit for accessible names.

        Return False if the limit is exceeded.
        """
        self._name_steps_left -= 1
        return self._name_steps_left >= 0


def _is_hidden_input(node: LexborNode) -> bool:
    return node.tag == "input" and (attribute(node, "type") or "").lower() == "hidden"


def _is_sectioning_element(node: LexborNode) -> bool:
    role_attribute = attribute(node, "role")
    return node.tag in SECTIONING if role_attribute is None else role_attribute in SECTIONING_ROLES


def _is_main_element(node: LexborNode) -> bool:
    role_attribute = attribute(node, "role")
    return node.tag == "main" if role_attribute is None else role_attribute == "main"
