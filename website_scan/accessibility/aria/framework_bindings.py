"""Bindings of JavaScript frameworks: attributes and names that scripts may set after the page has loaded."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.markup import elements, live

# Syntax of attribute bindings in Vue, Alpine, AngularJS, Angular, Aurelia, Lit and Polymer.
BINDING = re.compile(
    r"(?:(?:[xv]-bind)?:|(?:data-)?ng-attr-|\[(?:attr\.)?|[.?])?(?P<name>[a-z]+(?:-[a-z]+)*)"
    r"(?:\]|\$|\.(?:bind|one-way|two-way|to-view|attr|camel|prop))?"
)
# Attributes that bind any set of attributes, which a script returns.
ANY_ATTRIBUTE_BINDINGS = frozenset({"x-bind", "v-bind", "data-bind"})
PLAIN_NAME = re.compile(r"[a-z-]+")
# Attributes by which Alpine, Vue, AngularJS, Knockout and i18next bind a text, or an attribute that gives a name.
NAME_BINDING = re.compile(
    r"[xv]-(?:text|html)|(?:data-)?ng-(?:bind(?:-html)?|attr-(?:aria-label|title))|data-bind|data-i18n(?:-[a-z-]+)?"
    r"|(?:[xv]-bind)?:(?:aria-label|aria-labelledby|title|placeholder|value)"
)
MAX_NODES = 200
# Template placeholder that a script replaces by a value.
PLACEHOLDER = re.compile(r"\{\{|\$\{|\[\[")
# Types of `<script>` that browsers run. Scripts of other types contain data.
SCRIPT_TYPE = re.compile(r"(?:|module|(?:text|application)/(?:x-)?(?:java|ecma)script)(?:\s*;.*)?", re.IGNORECASE)


def may_be_written(node: LexborNode, *names: str) -> bool:
    """Return True if a script may write one of the named attributes, by a binding or in a custom element."""
    if "-" in (node.tag or ""):
        return True
    for attribute, value in node.attributes.items():
        if attribute in ANY_ATTRIBUTE_BINDINGS:
            return True
        if attribute in names:
            if PLACEHOLDER.search(value or ""):
                return True
            continue
        match = BINDING.fullmatch(attribute)
        if match is not None and match["name"] in names:
            return True
    return False


def may_be_named(node: LexborNode) -> bool:
    """Return True if a script may give the element a name.

    The element or a descendant is then a custom element, whose content is unknown, or has a binding of a name.
    """
    pending = [node]
    for _ in range(MAX_NODES):
        if not pending:
            return False
        element = pending.pop()
        if "-" in (element.tag or "") or any(NAME_BINDING.fullmatch(name) for name in element.attributes):
            return True
        pending.extend(elements(element))
    return True


def is_plain_name(name: str) -> bool:
    """Return True if an attribute's name has only letters and hyphens, unlike the syntax of frameworks."""
    return PLAIN_NAME.fullmatch(name) is not None


def has_scripts(document: AccessibleDocument) -> bool:
    """Return True if the page runs scripts, which may add elements to the page."""
    return any(
        SCRIPT_TYPE.fullmatch((node.attributes.get("type") or "").strip()) is not None
        for node in live(document.document, "script")
    )
