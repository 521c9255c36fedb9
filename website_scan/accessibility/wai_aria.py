"""Roles and attributes of WAI-ARIA 1.2, DPUB-ARIA 1.1 and Graphics-ARIA 1.0, as axe-core 4.12.1 enforces them.

Beyond WAI-ARIA 1.2, the tables contain parts of the drafts of 1.3 (the roles comment, mark and suggestion, the braille
attributes, and aria-description) and the role text. The role generic is missing, as in axe-core, because authors
should not use it. The tables accept what WAI-ARIA 1.1 allowed: aria-expanded nearly everywhere, some global
attributes, and the roles none and presentation for a directory's list.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _words_by_key(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {key: _words(text) for key, text in table.items()}


# WAI-ARIA 1.2, section 5.3.1. Abstract roles are superclasses of other roles; markup may not use them.
ABSTRACT = _words("""
    command composite input landmark range roletype section sectionhead select structure widget window
""")
# Section 5.4.
WAI_ARIA = _words("""
    alert alertdialog application article banner blockquote button caption cell checkbox code columnheader
    combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed figure
    form grid gridcell group heading img insertion link list listbox listitem log main mark marquee math menu
    menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation
    progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider
    spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term text textbox
    time timer toolbar tooltip tree treegrid treeitem
""")
# DPUB-ARIA 1.1, section 4.
DPUB = _words("""
    doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography
    doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication
    doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword
    doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagelist
    doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc
""")
# Graphics-ARIA 1.0, section 3.
GRAPHICS = _words("graphics-document graphics-object graphics-symbol")
ROLES = WAI_ARIA | DPUB | GRAPHICS
DEPRECATED = _words("directory doc-biblioentry doc-endnote")

# "Accessible Name Required: True" in the characteristics of WAI-ARIA 1.2, as far as axe-core enforces it.
NAME_REQUIRED = _words("""
    alertdialog application button checkbox combobox dialog graphics-document graphics-symbol img link listbox
    menuitem menuitemcheckbox menuitemradio meter option progressbar radio searchbox slider spinbutton switch
    textbox toolbar treeitem
""")
# "Name From: prohibited": neither aria-label nor aria-labelledby may name these roles.
NAME_PROHIBITED = _words("""
    caption code deletion emphasis insertion mark none paragraph presentation strong subscript suggestion
    superscript
""")
NAMING_ATTRIBUTES = ("aria-label", "aria-labelledby")
# "Name From: contents", in WAI-ARIA 1.2, 1.1 (directory, figure, listitem, table, term) and DPUB-ARIA.
NAMED_BY_CONTENT = _words("""
    button cell checkbox columnheader directory doc-backlink doc-biblioref doc-glossref doc-noteref figure
    graphics-object gridcell heading link listitem menuitem menuitemcheckbox menuitemradio option radio row
    rowgroup rowheader switch tab table term text tooltip treeitem
""")
# Roles of widgets whose content is their value, not their name.
VALUE_ROLES = _words("combobox listbox progressbar scrollbar slider spinbutton textbox")
# WAI-ARIA 1.2, section 5.3.2, without composite widgets.
WIDGETS = _words("""
    button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option progressbar
    radio scrollbar searchbox slider spinbutton switch tab textbox treeitem
""")

# "Required Accessibility Parent Role", section 5.2.7.
REQUIRED_PARENTS = _words_by_key(
    {
        "caption": "figure grid table treegrid",
        "cell": "row",
        "columnheader": "row",
        "gridcell": "row",
        "listitem": "list",
        "menuitem": "group menu menubar",
        "menuitemcheckbox": "group menu menubar",
        "menuitemradio": "group menu menubar",
        "option": "group listbox",
        "row": "grid rowgroup table treegrid",
        "rowgroup": "grid table treegrid",
        "rowheader": "row",
        "tab": "tablist",
        "treeitem": "group tree",
    }
)
# "Allowed Accessibility Child Roles", section 5.2.6.
REQUIRED_CHILDREN = _words_by_key(
    {
        "feed": "article",
        "grid": "row rowgroup",
        "list": "listitem",
        "listbox": "group option",
        "menu": "group menu menuitem menuitemcheckbox menuitemradio separator",
        "menubar": "group menu menuitem menuitemcheckbox menuitemradio separator",
        "row": "cell columnheader gridcell rowheader",
        "rowgroup": "row",
        "suggestion": "deletion insertion",
        "table": "row rowgroup",
        "tablist": "tab",
        "tree": "group treeitem",
        "treegrid": "row rowgroup",
    }
)
# Roles whose children need other roles than listitem.
WITH_PARTS = REQUIRED_CHILDREN.keys() - {"list"}
# "Required States and Properties", section 5.2.2.
REQUIRED_ATTRIBUTES = _words_by_key(
    {
        "checkbox": "aria-checked",
        "combobox": "aria-controls aria-expanded",
        "heading": "aria-level",
        "menuitemcheckbox": "aria-checked",
        "menuitemradio": "aria-checked",
        "meter": "aria-valuenow",
        "radio": "aria-checked",
        "scrollbar": "aria-valuenow",
        "separator": "aria-valuenow",
        "slider": "aria-valuenow",
        "switch": "aria-checked",
    }
)
# "Used in Roles" of the attributes that are not global, section 6.6.
USED_IN_ROLES = _words_by_key(
    {
        "aria-activedescendant": """
            application combobox grid group listbox menu menubar radiogroup row searchbox spinbutton tablist textbox
            toolbar tree treegrid
        """,
        "aria-autocomplete": "combobox searchbox textbox",
        "aria-checked": "checkbox menuitemcheckbox menuitemradio option radio switch treeitem",
        "aria-colcount": "grid table treegrid",
        "aria-colindex": "cell columnheader gridcell row rowheader",
        "aria-colspan": "cell columnheader gridcell rowheader",
        "aria-level": "comment doc-biblioentry doc-endnote grid heading listitem row tablist treegrid treeitem",
        "aria-modal": "alertdialog dialog",
        "aria-multiline": "searchbox textbox",
        "aria-multiselectable": "grid listbox tablist tree treegrid",
        "aria-orientation": """
            combobox doc-pagebreak listbox menu menubar radiogroup scrollbar separator slider tablist toolbar tree
            treegrid
        """,
        "aria-placeholder": "searchbox textbox",
        "aria-posinset": """
            article comment doc-biblioentry doc-endnote listitem menuitem menuitemcheckbox menuitemradio option
            radio row tab treeitem
        """,
        "aria-pressed": "button",
        "aria-readonly": """
            checkbox columnheader combobox grid gridcell listbox menuitemcheckbox menuitemradio radiogroup rowheader
            searchbox slider spinbutton switch textbox treegrid
        """,
        "aria-required": """
            checkbox columnheader combobox gridcell listbox radio radiogroup rowheader searchbox slider spinbutton
            switch textbox tree treegrid
        """,
        "aria-rowcount": "grid table treegrid",
        "aria-rowindex": "cell columnheader gridcell row rowheader",
        "aria-rowspan": "cell columnheader gridcell rowheader",
        "aria-selected": "columnheader gridcell option row rowheader tab treeitem",
        "aria-setsize": """
            article comment doc-biblioentry doc-endnote listitem menuitem menuitemcheckbox menuitemradio option
            radio row tab treeitem
        """,
        "aria-sort": "columnheader rowheader",
        "aria-valuemax": "meter progressbar scrollbar separator slider spinbutton",
        "aria-valuemin": "meter progressbar scrollbar separator slider spinbutton",
        "aria-valuenow": "meter progressbar scrollbar separator slider spinbutton",
        "aria-valuetext": "meter progressbar scrollbar separator slider spinbutton",
    }
)
# aria-expanded was global in WAI-ARIA 1.1, and is still accepted, except on some roles.
USED_IN_ROLES["aria-expanded"] = ROLES - _words("""
    blockquote caption code comment deletion doc-pullquote emphasis graphics-document graphics-object
    graphics-symbol insertion mark meter none option paragraph presentation radio rowgroup scrollbar searchbox
    separator slider spinbutton strong subscript suggestion superscript text textbox time
""")


class Type(Enum):
    """Value type of an attribute, section 6.2."""

    BOOLEAN = auto()
    TOKEN = auto()
    TOKENS = auto()
    ID = auto()
    IDS = auto()
    STRING = auto()
    INTEGER = auto()
    NUMBER = auto()


@dataclass(frozen=True, slots=True)
class Attribute:
    """Allowed values of an attribute.

    `least`: the smallest integer allowed. `may_be_empty`: an empty value is allowed and has no effect.
    """

    type: Type
    tokens: frozenset[str] = frozenset()
    least: int = 0
    may_be_empty: bool = False
    is_global: bool = False


_TRUE_FALSE = Attribute(Type.BOOLEAN)
_STATE = Attribute(Type.TOKEN, _words("true false undefined"))
_TRISTATE = Attribute(Type.TOKEN, _words("true false mixed undefined"))
_COUNT = Attribute(Type.INTEGER, least=-1)
_INDEX = Attribute(Type.INTEGER, least=1)
_NUMBER = Attribute(Type.NUMBER)
_TEXT = Attribute(Type.STRING, may_be_empty=True)
_GLOBAL_TRUE_FALSE = Attribute(Type.BOOLEAN, is_global=True)
_GLOBAL_STATE = Attribute(Type.TOKEN, _words("true false undefined"), is_global=True)
_GLOBAL_TEXT = Attribute(Type.STRING, may_be_empty=True, is_global=True)
_GLOBAL_ID = Attribute(Type.ID, may_be_empty=True, is_global=True)
_GLOBAL_IDS = Attribute(Type.IDS, may_be_empty=True, is_global=True)
# Section 6.6.
ATTRIBUTES = {
    "aria-activedescendant": Attribute(Type.ID, may_be_empty=True),
    "aria-atomic": _GLOBAL_TRUE_FALSE,
    "aria-autocomplete": Attribute(Type.TOKEN, _words("inline list both none")),
    "aria-braillelabel": _GLOBAL_TEXT,
    "aria-brailleroledescription": _GLOBAL_TEXT,
    "aria-busy": _GLOBAL_TRUE_FALSE,
    "aria-checked": _TRISTATE,
    "aria-colcount": _COUNT,
    "aria-colindex": _INDEX,
    "aria-colspan": _INDEX,
    "aria-controls": _GLOBAL_IDS,
    "aria-current": Attribute(
        Type.TOKEN, _words("page step location date time true false"), may_be_empty=True, is_global=True
    ),
    "aria-describedby": _GLOBAL_IDS,
    "aria-description": _GLOBAL_TEXT,
    "aria-details": _GLOBAL_ID,
    "aria-disabled": _GLOBAL_TRUE_FALSE,
    "aria-dropeffect": Attribute(Type.TOKENS, _words("copy execute link move none popup"), is_global=True),
    "aria-errormessage": _GLOBAL_ID,
    "aria-expanded": _STATE,
    "aria-flowto": _GLOBAL_IDS,
    "aria-grabbed": _GLOBAL_STATE,
    "aria-haspopup": Attribute(
        Type.TOKEN, _words("true false menu listbox tree grid dialog"), may_be_empty=True, is_global=True
    ),
    "aria-hidden": _GLOBAL_STATE,
    "aria-invalid": Attribute(Type.TOKEN, _words("grammar false spelling true"), is_global=True),
    "aria-keyshortcuts": _GLOBAL_TEXT,
    "aria-label": _GLOBAL_TEXT,
    "aria-labelledby": _GLOBAL_IDS,
    "aria-level": _INDEX,
    "aria-live": Attribute(Type.TOKEN, _words("assertive off polite"), is_global=True),
    "aria-modal": _TRUE_FALSE,
    "aria-multiline": _TRUE_FALSE,
    "aria-multiselectable": _TRUE_FALSE,
    "aria-orientation": Attribute(Type.TOKEN, _words("horizontal undefined vertical")),
    "aria-owns": _GLOBAL_IDS,
    "aria-placeholder": _TEXT,
    "aria-posinset": _INDEX,
    "aria-pressed": _TRISTATE,
    "aria-readonly": _TRUE_FALSE,
    "aria-relevant": Attribute(Type.TOKENS, _words("additions all removals text"), is_global=True),
    "aria-required": _TRUE_FALSE,
    "aria-roledescription": _GLOBAL_TEXT,
    "aria-rowcount": _COUNT,
    "aria-rowindex": _INDEX,
    "aria-rowspan": Attribute(Type.INTEGER, least=0),
    "aria-selected": _STATE,
    "aria-setsize": _COUNT,
    "aria-sort": Attribute(Type.TOKEN, _words("ascending descending none other")),
    "aria-valuemax": _NUMBER,
    "aria-valuemin": _NUMBER,
    "aria-valuenow": _NUMBER,
    "aria-valuetext": _TEXT,
}
GLOBAL_ATTRIBUTES = frozenset(name for name, definition in ATTRIBUTES.items() if definition.is_global)
