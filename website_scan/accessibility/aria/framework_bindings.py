"""Bindings of JavaScript frameworks: attributes and names that scripts may still write when the page has loaded."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.markup import elements, live

# Syntax by which Vue, Alpine, AngularJS, Angular, Aurelia, Lit and Polymer bind an attribute.
BINDING = re.compile(
    r"(?:(?:[xv]-bind)?:|(?:data-)?ng-attr-|\[(?:attr\.)?|[.?])?(?P<name>[a-z]+(?:-[a-z]+)*)"
    r"(?:\]|\$|\.(?:bind|one-way|two-way|to-view|attr|camel|prop))?"
)
# Attributes by which they bind any set of attributes that a script returns.
ANY_ATTRIBUTE_BINDINGS = frozenset({"x-bind", "v-bind", "data-bind"})
PLAIN_NAME = re.compile(r"[a-z-]+")
# Attributes by which Alpine, Vue, AngularJS, Knockout and i18next bind a text or an attribute that names.
NAME_BINDING = re.compile(
    r"[xv]-(?:text|html)|(?:data-)?ng-(?:bind(?:-html)?|attr-(?:aria-label|title))|data-bind|data-i18n(?:-[a-z-]+)?"
    r"|(?:[xv]-bind)?:(?:aria-label|aria-labelledby|title|placeholder|value)"
)
MAX_NODES = 200
# A template's placeholder for a value that a script fills in.
PLACEHOLDER = re.compile(r"\{\{|\$\{|\[\[")
# Types of `<script>` that run. Others hold data.
SCRIPT_TYPE = re.compile(r"(?:|module|(?:text|application)/(?:x-)?(?:java|ecma)script)(?:\s*;.*)?", re.IGNORECASE)


def may_be_written(node: LexborNode, *names: str) -> bool:
    """Return True if a script may write one of these attributes, by a binding or in a custom element."""
    if "-" in (node.tag or ""):
        return True
    for attribute, value in node.attributes.items():
        if attribute in ANY_ATTRIBUTE_BINDINGS:
            return True
        if attribute in names:
            if PLACEHOLDER.search(value or ""):
                return True
            continue
        found = BINDING.fullmatch(attribute)
        if found is not None and found["name"] in names:
            return True
    return False


def may_be_named(node: LexborNode) -> bool:
    """Return True if a script may name the element.

    It does if the element or a descendant is a custom element, whose content is unknown, or has a binding of a name.
    """
    pending = [node]
    for _ in range(MAX_NODES):
        if not pending:
            return False
        each = pending.pop()
        if "-" in (each.tag or "") or any(NAME_BINDING.fullmatch(name) for name in each.attributes):
            return True
        pending.extend(elements(each))
    return True


def is_plain_name(name: str) -> bool:
    """Return True if an attribute's name has only letters and hyphens, so that it is not a framework's syntax."""
    return PLAIN_NAME.fullmatch(name) is not None


def has_scripts(document: AccessibleDocument) -> bool:
    """Return True if the page runs scripts, which may add elements to it."""
    return any(
        SCRIPT_TYPE.fullmatch((node.attributes.get("type") or "").strip()) is not None
        for node in live(document.document, "script")
    )
