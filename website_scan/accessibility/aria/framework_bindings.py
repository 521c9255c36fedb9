"""Recognize bindings of JavaScript frameworks.

They may set attributes or names after the page has loaded.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.markup import elements, live

# Attribute bindings in Vue, Alpine, AngularJS, Angular, Aurelia, Lit and Polymer.
BINDING = re.compile(
    r"(?:(?:[xv]-bind)?:|(?:data-)?ng-attr-|\[(?:attr\.)?|[.?])?(?P<name>[a-z]+(?:-[a-z]+)*)"
    r"(?:\]|\$|\.(?:bind|one-way|two-way|to-view|attr|camel|prop))?"
)
# Alpine, Vue and Knockout attributes that can bind any other attribute.
ANY_ATTRIBUTE_BINDINGS = frozenset({"x-bind", "v-bind", "data-bind"})
PLAIN_ATTRIBUTE_NAME = re.compile(r"[a-z-]+")
# Frameworks set an element's text or name with these attributes.
NAME_BINDING = re.compile(
    r"[xv]-(?:text|html)|(?:data-)?ng-(?:bind(?:-html)?|attr-(?:aria-label|title))|data-bind|data-i18n(?:-[a-z-]+)?"
    r"|(?:[xv]-bind)?:(?:aria-label|aria-labelledby|title|placeholder|value)"
)
MAX_NODES = 200
# Scripts replace a template placeholder, such as `{{ label }}`.
PLACEHOLDER = re.compile(r"\{\{|\$\{|\[\[")
# Browsers run these types of `<script>`. Other types contain data.
SCRIPT_TYPE = re.compile(r"(?:|module|(?:text|application)/(?:x-)?(?:java|ecma)script)(?:\s*;.*)?", re.IGNORECASE)


def may_be_set_by_script(node: LexborNode, *names: str) -> bool:
    """Return True if a script may set one of the attributes.

    The element has a framework binding or is a custom element.
    """
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


def may_be_named_by_script(node: LexborNode) -> bool:
    """Return True if a script may give the element an accessible name.

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
    """Return True if a name has only letters and hyphens.

    Bindings such as `@click` or `:title` have other characters.
    """
    return PLAIN_ATTRIBUTE_NAME.fullmatch(name) is not None


def has_scripts(document: AccessibleDocument) -> bool:
    """Return True if a script of the page may add elements.

    Only scripts that browsers run count.
    """
    return any(
        SCRIPT_TYPE.fullmatch((node.attributes.get("type") or "").strip()) is not None
        for node in live(document.document, "script")
    )
