"""Roles and native ARIA values that HTML elements allow.

ARIA in HTML, as in axe-core 4.12.1.
"""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import implicit_role, input_type
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.wai_aria import ROLES
from website_scan.page.markup import attribute


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANY_ROLE = ROLES
NO_ROLE: frozenset[str] = frozenset()
ALLOWED_ON_LISTS = _split_words(
    "directory group listbox menu menubar none presentation radiogroup tablist toolbar tree"
)
ALLOWED_ON_HEADINGS = _split_words("none presentation tab doc-subtitle")
ALLOWED_ON_LINKS = _split_words("""
    button checkbox menuitem menuitemcheckbox menuitemradio option radio switch tab treeitem doc-backlink
    doc-biblioref doc-glossref doc-noteref
""")
ALLOWED_ON_NAMED_IMAGES = _split_words("""
    button checkbox link math menuitem menuitemcheckbox menuitemradio meter option progressbar radio scrollbar
    separator slider switch tab treeitem doc-cover
""")
ALLOWED_ON_UNNAMED_IMAGES = _split_words("none presentation")
ALLOWED_ON_TEXT_FIELDS = _split_words("combobox searchbox spinbutton")
ALLOWED_BY_INPUT_TYPE = {
    "button": _split_words("checkbox combobox link menuitem menuitemcheckbox menuitemradio option radio switch tab"),
    "checkbox": _split_words("menuitemcheckbox option switch"),
    "email": ALLOWED_ON_TEXT_FIELDS,
    "image": _split_words("link menuitem menuitemcheckbox menuitemradio radio switch"),
    "radio": _split_words("menuitemradio"),
    "search": ALLOWED_ON_TEXT_FIELDS,
    "tel": ALLOWED_ON_TEXT_FIELDS,
    "text": ALLOWED_ON_TEXT_FIELDS,
    "url": ALLOWED_ON_TEXT_FIELDS,
}
ALLOWED_BY_TAG = {
    **dict.fromkeys(
        _split_words("""
            abbr address b bdi bdo blockquote canvas cite code data del dfn div em figure hgroup i ins kbd mark output
            p pre q rp rt ruby s samp small span strong sub sup svg table tbody td tfoot th thead time tr u var
        """),
        ANY_ROLE,
    ),
    **dict.fromkeys(
        _split_words("""
            base body caption col colgroup datalist dd details head html label legend link main map math meta
            meter noscript optgroup option param picture progress script slot source style summary template textarea
            title track
        """),
        NO_ROLE,
    ),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), ALLOWED_ON_HEADINGS),
    **dict.fromkeys(("menu", "ol", "ul"), ALLOWED_ON_LISTS),
    **dict.fromkeys(("audio", "video"), _split_words("application")),
    **dict.fromkeys(("br", "wbr"), _split_words("none presentation")),
    **dict.fromkeys(("footer", "header"), _split_words("group none presentation doc-footnote")),
    **dict.fromkeys(("embed", "iframe"), _split_words("application document img none presentation")),
    "article": _split_words("application document feed main none presentation region"),
    "aside": _split_words("""
        feed none note presentation region search doc-dedication doc-example doc-footnote doc-glossary
        doc-pullquote doc-tip
    """),
    "button": _split_words("""
        checkbox combobox gridcell link menuitem menuitemcheckbox menuitemradio option radio separator slider switch
        tab treeitem
    """),
    "dialog": _split_words("alertdialog"),
    "dl": _split_words("group list none presentation"),
    "dt": _split_words("listitem"),
    "fieldset": _split_words("none presentation radiogroup"),
    "figcaption": _split_words("group none presentation"),
    "form": _split_words("form none presentation search"),
    "hr": _split_words("none presentation doc-pagebreak"),
    "li": _split_words("""
        menuitem menuitemcheckbox menuitemradio none option presentation radio separator tab treeitem
        doc-biblioentry doc-endnote
    """),
    "nav": _split_words("menu menubar none presentation tablist doc-index doc-pagelist doc-toc"),
    "object": _split_words("application document img"),
    "search": _split_words("form group none presentation region search"),
    "section": _split_words("""
        alert alertdialog application banner complementary contentinfo dialog document feed group log main marquee
        navigation none note presentation search status tabpanel doc-abstract doc-acknowledgments doc-afterword
        doc-appendix doc-bibliography doc-chapter doc-colophon doc-conclusion doc-credit doc-credits doc-dedication
        doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-foreword doc-glossary doc-index
        doc-introduction doc-notice doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-toc
    """),
}
# axe-core restricts the role attribute on these HTML elements.
HTML = frozenset(ALLOWED_BY_TAG) | _split_words("a area img input select")
# Implicit role that an element needs for a DPUB-ARIA role.
REQUIRED_NATIVE_ROLE = {
    **dict.fromkeys(("doc-backlink", "doc-biblioref", "doc-glossref", "doc-noteref"), "link"),
    **dict.fromkeys(("doc-biblioentry", "doc-endnote"), "listitem"),
    "doc-cover": "img",
}
LANDMARKS = {"header": "banner", "footer": "contentinfo"}
# HTML elements already have these values natively, such as the level of an h1.
VALUE = frozenset({"aria-valuenow"})
CHECKED = frozenset({"aria-checked"})
NATIVE_ARIA_ATTRIBUTES = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), frozenset({"aria-level"})),
    **dict.fromkeys(("progress", "select", "textarea"), VALUE),
}


def list_disallowed_roles(document: AccessibleDocument, node: LexborNode) -> list[str]:
    """Return the valid roles that HTML does not allow on the element.

    The roles are from the role attribute, in lower case.
    """
    if node.tag not in HTML:
        return []
    implicit = implicit_role(document, node) or LANDMARKS.get(node.tag or "")
    return [
        role
        for role in (attribute(node, "role") or "").lower().split()
        if role in ROLES and not _is_role_allowed(document, node, role, implicit)
    ]


def has_native_value(node: LexborNode, name: str) -> bool:
    """Return True if the element natively has a required ARIA value."""
    if node.tag != "input":
        return name in NATIVE_ARIA_ATTRIBUTES.get(node.tag or "", ())
    return name in (CHECKED if input_type(node) in ("checkbox", "radio") else VALUE)


def _is_role_allowed(document: AccessibleDocument, node: LexborNode, role: str, implicit: str | None) -> bool:
    explicit = "none" if role == "presentation" else role
    if explicit == implicit:
        return True
    if REQUIRED_NATIVE_ROLE.get(role, implicit) != implicit:
        return False
    return role in _allowed_roles(document, node)


def _allowed_roles(document: AccessibleDocument, node: LexborNode) -> frozenset[str]:
    tag = node.tag or ""
    if tag == "a":
        return ALLOWED_ON_LINKS if attribute(node, "href") is not None else ANY_ROLE
    if tag == "area":
        return NO_ROLE if attribute(node, "href") is not None else _split_words("button link")
    if tag == "img":
        is_named_image = bool(attribute(node, "alt") or accessible_name(document, node))
        return ALLOWED_ON_NAMED_IMAGES if is_named_image else ALLOWED_ON_UNNAMED_IMAGES
    if tag == "select":
        is_dropdown = attribute(node, "multiple") is None and attribute(node, "size") in (None, "1")
        return _split_words("menu") if is_dropdown else NO_ROLE
    if tag == "input":
        return _allowed_roles_of_input(node)
    return ALLOWED_BY_TAG[tag]


def _allowed_roles_of_input(node: LexborNode) -> frozenset[str]:
    kind = input_type(node)
    if kind == "text" and attribute(node, "list") is not None:
        return NO_ROLE
    if kind == "checkbox" and attribute(node, "aria-pressed") is not None:
        return ALLOWED_BY_INPUT_TYPE[kind] | {"button"}
    return ALLOWED_BY_INPUT_TYPE.get(kind, NO_ROLE)
