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
    alertdialog application button checkbox combobox dialog graphics-document graphics-symbol img link listbox
    menuitem menuitemcheckbox menuitemradio meter option progressbar radio searchbox slider spinbutton switch
    textbox toolbar treeitem
""")
# "Name From: contents", in WAI-ARIA 1.2, 1.1 (directory, figure, listitem, table, term) and DPUB-ARIA; as axe-core.
NAMED_BY_CONTENT = _words("""
    button cell checkbox columnheader directory doc-backlink doc-biblioref doc-glossref doc-noteref figure
    graphics-object gridcell heading link listitem menuitem menuitemcheckbox menuitemradio option radio row
    rowgroup rowheader switch tab table term tooltip treeitem
""")
# Widgets that hold a value: what is in them is that value, and not their name.
HOLDING_A_VALUE = _words("combobox listbox progressbar scrollbar slider spinbutton textbox")
# WAI-ARIA 1.2, section 5.3.2, those that are no composites.
WIDGETS = _words("""
    button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option progressbar
    radio scrollbar searchbox slider spinbutton switch tab textbox treeitem
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
    return explicit_role(node) == "none" and not is_focusable(node) and not says_more(node)


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


def says_more(node: LexborNode) -> bool:
    """Whether it has an attribute of ARIA that every element may have, even an empty one; as axe-core."""
    return any(name in GLOBAL_ATTRIBUTES for name in node.attributes)
