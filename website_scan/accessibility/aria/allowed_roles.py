"""Roles that HTML allows on an element, and native values of elements (ARIA in HTML), as in axe-core 4.12.1."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import implicit_role, input_type
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.wai_aria import ROLES
from website_scan.page.markup import attribute


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANY_ROLE = ROLES
NO_ROLE: frozenset[str] = frozenset()
IN_LISTS = _words("directory group listbox menu menubar none presentation radiogroup tablist toolbar tree")
IN_HEADINGS = _words("none presentation tab doc-subtitle")
OF_LINK = _words("""
    button checkbox menuitem menuitemcheckbox menuitemradio option radio switch tab treeitem doc-backlink
    doc-biblioref doc-glossref doc-noteref
""")
OF_NAMED_IMAGE = _words("""
    button checkbox link math menuitem menuitemcheckbox menuitemradio meter option progressbar radio scrollbar
    separator slider switch tab treeitem doc-cover
""")
OF_NAMELESS_IMAGE = _words("none presentation")
OF_TEXT_FIELD = _words("combobox searchbox spinbutton")
OF_INPUT = {
    "button": _words("checkbox combobox link menuitem menuitemcheckbox menuitemradio option radio switch tab"),
    "checkbox": _words("menuitemcheckbox option switch"),
    "email": OF_TEXT_FIELD,
    "image": _words("link menuitem menuitemcheckbox menuitemradio radio switch"),
    "radio": _words("menuitemradio"),
    "search": OF_TEXT_FIELD,
    "tel": OF_TEXT_FIELD,
    "text": OF_TEXT_FIELD,
    "url": OF_TEXT_FIELD,
}
# Allowed roles by tag.
OF_ELEMENT = {
    **dict.fromkeys(
        _words("""
            abbr address b bdi bdo blockquote canvas cite code data del dfn div em figure hgroup i ins kbd mark output
            p pre q rp rt ruby s samp small span strong sub sup svg table tbody td tfoot th thead time tr u var
        """),
        ANY_ROLE,
    ),
    **dict.fromkeys(
        _words("""
            base body caption col colgroup datalist dd details head html label legend link main map math meta
            meter noscript optgroup option param picture progress script slot source style summary template textarea
            title track
        """),
        NO_ROLE,
    ),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), IN_HEADINGS),
    **dict.fromkeys(("menu", "ol", "ul"), IN_LISTS),
    **dict.fromkeys(("audio", "video"), _words("application")),
    **dict.fromkeys(("br", "wbr"), _words("none presentation")),
    **dict.fromkeys(("footer", "header"), _words("group none presentation doc-footnote")),
    **dict.fromkeys(("embed", "iframe"), _words("application document img none presentation")),
    "article": _words("application document feed main none presentation region"),
    "aside": _words("""
        feed none note presentation region search doc-dedication doc-example doc-footnote doc-glossary
        doc-pullquote doc-tip
    """),
    "button": _words("""
        checkbox combobox gridcell link menuitem menuitemcheckbox menuitemradio option radio separator slider switch
        tab treeitem
    """),
    "dialog": _words("alertdialog"),
    "dl": _words("group list none presentation"),
    "dt": _words("listitem"),
    "fieldset": _words("none presentation radiogroup"),
    "figcaption": _words("group none presentation"),
    "form": _words("form none presentation search"),
    "hr": _words("none presentation doc-pagebreak"),
    "li": _words("""
        menuitem menuitemcheckbox menuitemradio none option presentation radio separator tab treeitem
        doc-biblioentry doc-endnote
    """),
    "nav": _words("menu menubar none presentation tablist doc-index doc-pagelist doc-toc"),
    "object": _words("application document img"),
    "search": _words("form group none presentation region search"),
    "section": _words("""
        alert alertdialog application banner complementary contentinfo dialog document feed group log main marquee
        navigation none note presentation search status tabpanel doc-abstract doc-acknowledgments doc-afterword
        doc-appendix doc-bibliography doc-chapter doc-colophon doc-conclusion doc-credit doc-credits doc-dedication
        doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-foreword doc-glossary doc-index
        doc-introduction doc-notice doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-toc
    """),
}
# HTML elements with restricted roles in axe-core. For the last four, the roles depend on attributes.
HTML = frozenset(OF_ELEMENT) | _words("a area img input select")
# Implicit role that an element must have to allow a DPUB-ARIA role.
ALLOWED_ONLY_ON = {
    **dict.fromkeys(("doc-backlink", "doc-biblioref", "doc-glossref", "doc-noteref"), "link"),
    **dict.fromkeys(("doc-biblioentry", "doc-endnote"), "listitem"),
    "doc-cover": "img",
}
LANDMARKS = {"header": "banner", "footer": "contentinfo"}
# Attributes whose value an element has natively.
VALUE = frozenset({"aria-valuenow"})
CHECKED = frozenset({"aria-checked"})
NATIVE_VALUES = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), frozenset({"aria-level"})),
    **dict.fromkeys(("progress", "select", "textarea"), VALUE),
}


def disallowed_roles_of(document: AccessibleDocument, node: LexborNode) -> list[str]:
    """Return the valid roles of the role attribute, in lower case, that HTML does not allow on the element."""
    if node.tag not in HTML:
        return []
    implicit = implicit_role(document, node) or LANDMARKS.get(node.tag or "")
    return [
        role
        for role in (attribute(node, "role") or "").lower().split()
        if role in ROLES and not _is_allowed(document, node, role, implicit)
    ]


def has_native_value(node: LexborNode, name: str) -> bool:
    """Return True if the element natively has the value of a required ARIA attribute."""
    if node.tag != "input":
        return name in NATIVE_VALUES.get(node.tag or "", ())
    return name in (CHECKED if input_type(node) in ("checkbox", "radio") else VALUE)


def _is_allowed(document: AccessibleDocument, node: LexborNode, role: str, implicit: str | None) -> bool:
    explicit = "none" if role == "presentation" else role
    if explicit == implicit:
        return True
    if ALLOWED_ONLY_ON.get(role, implicit) != implicit:
        return False
    return role in _allowed_roles(document, node)


def _allowed_roles(document: AccessibleDocument, node: LexborNode) -> frozenset[str]:
    tag = node.tag or ""
    if tag == "a":
        return OF_LINK if attribute(node, "href") is not None else ANY_ROLE
    if tag == "area":
        return NO_ROLE if attribute(node, "href") is not None else _words("button link")
    if tag == "img":
        is_named = bool(attribute(node, "alt") or accessible_name(document, node))
        return OF_NAMED_IMAGE if is_named else OF_NAMELESS_IMAGE
    if tag == "select":
        is_popup = attribute(node, "multiple") is None and attribute(node, "size") in (None, "1")
        return _words("menu") if is_popup else NO_ROLE
    if tag == "input":
        return _allowed_roles_of_input(node)
    return OF_ELEMENT[tag]


def _allowed_roles_of_input(node: LexborNode) -> frozenset[str]:
    kind = input_type(node)
    if kind == "text" and attribute(node, "list") is not None:
        return NO_ROLE
    if kind == "checkbox" and attribute(node, "aria-pressed") is not None:
        return OF_INPUT[kind] | {"button"}
    return OF_INPUT.get(kind, NO_ROLE)
