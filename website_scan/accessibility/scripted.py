"""Find empty links and empty app containers, which scripts may fill."""

from __future__ import annotations

import re
from functools import cached_property

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.framework_bindings import has_scripts
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.page.markup import attribute, elements, live
from website_scan.page.stand_ins import is_placeholder

# screen.js uses the same selectors to detect empty pages.
ROOTS = "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #main, #content, app-root"
CONTENT_TAGS = frozenset(
    {"a", "article", "form", "h1", "h2", "h3", "h4", "h5", "h6", "iframe", "img", "input", "main", "p", "table", "ul"}
)
MAX_ROOT_ELEMENTS = 50  # A placeholder, such as a spinner, has fewer descendants than content.
MAX_PLACEHOLDER_CHARACTERS = 60
MAX_SCRIPT_CHARACTERS = 1_000_000
MAX_LINK_ELEMENTS = 20
# Scripts find elements by these IDs and classes, such as "#cart".
QUOTED_NAME = re.compile(r"""["'`]([#.]?[\w-]{1,100})["'`\s]""")


def has_empty_root(document: AccessibleDocument) -> bool:
    """Return True if scripts probably render the page's content.

    The page has an empty element for it. A target of a link within the page is no such element, because skip links jump
    to empty elements, too.
    """
    roots = [node for node in live(document.document, ROOTS) if _is_empty_root(document, node)]
    if not roots or not has_scripts(document):
        return False
    targets = {(attribute(link, "href") or "")[1:] for link in live(document.document, 'a[href^="#"]')}
    return any(attribute(node, "id") not in targets for node in roots)


def _is_empty_root(document: AccessibleDocument, node: LexborNode) -> bool:
    pending = [node]
    for _ in range(MAX_ROOT_ELEMENTS):
        if not pending:
            text = shown_text(document, node, MAX_PLACEHOLDER_CHARACTERS + 1)
            return not text or (len(text) <= MAX_PLACEHOLDER_CHARACTERS and is_placeholder(text))
        children = elements(pending.pop())
        for child in children:
            if child.tag in CONTENT_TAGS:
                return False
            pending.append(child)
    return False


class FilledLinks:
    """Links that may get a name from scripts.

    They or elements in them are empty.
    """

    def __init__(self, document: AccessibleDocument) -> None:
        self._document = document

    def is_named_in_script(self, link: LexborNode) -> bool:
        """Return True if a script mentions an empty element of the link.

        Scripts mention an element by its ID or class.
        """
        return any(self._names_in_scripts.intersection(_names_of(node)) for node in _empty_elements(link))

    def may_be_filled(self, link: LexborNode) -> bool:
        """Return True if scripts probably fill an empty part of the link."""
        own_target = f"#{attribute(link, 'id')}"  # The link points to its own ID, as permalinks in headings do.
        is_marked = attribute(link, "href") != own_target and any(map(_is_marked_for_scripts, _empty_elements(link)))
        return is_marked and has_scripts(self._document)

    @cached_property
    def _names_in_scripts(self) -> frozenset[str]:
        names: set[str] = set()
        remaining = MAX_SCRIPT_CHARACTERS
        for node in live(self._document.document, "script"):
            text = (node.text() or "")[:remaining] if attribute(node, "src") is None else ""
            remaining -= len(text)
            names.update(QUOTED_NAME.findall(text))
        return frozenset(names)


def _empty_elements(link: LexborNode) -> list[LexborNode]:
    """Return the empty elements of a link, such as an empty span.

    An empty element has neither child elements nor text. The link itself may be empty.
    """
    found: list[LexborNode] = []
    pending = [link]
    for _ in range(MAX_LINK_ELEMENTS):
        if not pending:
            break
        node = pending.pop()
        children = list(elements(node))
        pending += children
        if not children and not (node.text() or "").strip():
            found.append(node)
    return [node for node in found if node.tag not in ("img", "svg", "use", "path")]


def _names_of(node: LexborNode) -> set[str]:
    id = attribute(node, "id")
    classes = {f".{name}" for name in (attribute(node, "class") or "").split()}
    return classes | ({id, f"#{id}"} if id else set())


def _is_marked_for_scripts(node: LexborNode) -> bool:
    return bool(attribute(node, "id")) or any(name.startswith("data-") for name in node.attributes)
