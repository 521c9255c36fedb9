"""Doubt about what an element says of itself: scripts may write its attributes when the page has loaded."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.page.markup import live

# By which Vue, Alpine, AngularJS, Angular, Aurelia, Lit and Polymer are told to write an attribute.
BINDING = re.compile(
    r"(?:(?:[xv]-bind)?:|(?:data-)?ng-attr-|\[(?:attr\.)?|[.?])?(?P<name>[a-z]+(?:-[a-z]+)*)"
    r"(?:\]|\$|\.(?:bind|one-way|two-way|to-view|attr|camel|prop))?"
)
# By which they write whatever a script says.
BINDING_ANY = frozenset({"x-bind", "v-bind", "data-bind"})
PLAIN = re.compile(r"[a-z-]+")
# A place for a value in a template that a script fills in.
PLACEHOLDER = re.compile(r"\{\{|\$\{|\[\[")
# Types of `<script>` that run; others hold data.
RUNNING = re.compile(r"(?:|module|(?:text|application)/(?:x-)?(?:java|ecma)script)(?:\s*;.*)?", re.IGNORECASE)


def may_be_written(node: LexborNode, *names: str) -> bool:
    """Whether a script will write one of these attributes: by a binding, or because the element is a custom one."""
    if "-" in (node.tag or ""):
        return True
    for attribute, value in node.attributes.items():
        if attribute in BINDING_ANY:
            return True
        if attribute in names:
            if PLACEHOLDER.search(value or ""):
                return True
            continue
        found = BINDING.fullmatch(attribute)
        if found is not None and found["name"] in names:
            return True
    return False


def is_plain(name: str) -> bool:
    """Whether an attribute's name is of letters and hyphens alone, so that it is no framework's word."""
    return PLAIN.fullmatch(name) is not None


def has_scripts(document: AccessibleDocument) -> bool:
    """Whether the page runs scripts, which may add elements to it."""
    return any(
        RUNNING.fullmatch((node.attributes.get("type") or "").strip()) is not None
        for node in live(document.document, "script")
    )
