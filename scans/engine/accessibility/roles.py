"""Roles: the tables of WAI-ARIA 1.2, DPUB-ARIA 1.1 and Graphics-ARIA 1.0, and which role markup asks for."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from scans.engine.markup import attribute


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# WAI-ARIA 1.2, section 5.4. Abstract roles are none that markup may use.
WAI_ARIA = _words("""
    alert alertdialog application article banner blockquote button caption cell checkbox code columnheader
    combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form
    generic grid gridcell group heading img insertion link list listbox listitem log main marquee math menu
    menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation
    progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider
    spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer
    toolbar tooltip tree treegrid treeitem
""")
# DPUB-ARIA 1.1, section 4.
DPUB = _words("""
    doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography
    doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication
    doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword
    doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter
    doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip
    doc-toc
""")
# Graphics-ARIA 1.0, section 3.
GRAPHICS = _words("graphics-document graphics-object graphics-symbol")
ROLES = WAI_ARIA | DPUB | GRAPHICS

# "Accessible Name Required: True" in the characteristics of WAI-ARIA 1.2, in so far as axe-core asks for it.
NAME_REQUIRED = _words("""
    alertdialog application button checkbox columnheader combobox dialog form grid heading img link listbox
    menuitem menuitemcheckbox menuitemradio meter option progressbar radio radiogroup region rowheader
    searchbox slider spinbutton switch tab table textbox tooltip tree treegrid treeitem
""")
# "Name From: contents".
NAMED_BY_CONTENT = _words("""
    button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option
    radio row rowheader switch tab tooltip treeitem
""")
# Section 6.4, without aria-hidden, which says nothing about how an element is presented.
GLOBAL_ATTRIBUTES = _words("""
    aria-atomic aria-busy aria-controls aria-current aria-describedby aria-description aria-details
    aria-dropeffect aria-flowto aria-grabbed aria-keyshortcuts aria-label aria-labelledby aria-live aria-owns
    aria-relevant aria-roledescription
""")
PRESENTATIONAL = frozenset({"none", "presentation"})
# Elements that take the focus by themselves unless they are disabled.
CONTROLS = frozenset({"button", "select", "textarea", "iframe"})


def explicit_role(node: LexborNode) -> str | None:
    """The first valid token of the role attribute, `presentation` written as `none`."""
    for token in (attribute(node, "role") or "").lower().split():
        if token in ROLES:
            return "none" if token in PRESENTATIONAL else token
    return None


def is_presentational(node: LexborNode) -> bool:
    """Whether role none holds: it is ignored where the element takes the focus or says more by aria-*."""
    return explicit_role(node) == "none" and not is_focusable(node) and not _says_more(node)


def is_focusable(node: LexborNode) -> bool:
    """Whether the element takes the focus, by itself or by a tabindex; visibility is another question."""
    tag = node.tag or ""
    if tag in ("button", "input", "select", "textarea") and attribute(node, "disabled") is not None:
        return False
    if re.match(r"\s*[+-]?\d", attribute(node, "tabindex") or ""):
        return True
    if tag in ("a", "area"):
        return attribute(node, "href") is not None
    if tag == "input":
        return (attribute(node, "type") or "").strip().lower() != "hidden"
    if tag in ("audio", "video"):
        return attribute(node, "controls") is not None
    if tag == "summary":
        return node.parent is not None and node.parent.tag == "details"
    editable = attribute(node, "contenteditable")
    return tag in CONTROLS or (editable is not None and editable.strip().lower() in ("", "true"))


def _says_more(node: LexborNode) -> bool:
    return any((attribute(node, name) or "").strip() for name in node.attributes if name in GLOBAL_ATTRIBUTES)
