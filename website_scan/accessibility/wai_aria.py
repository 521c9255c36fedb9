"""Roles and attributes of ARIA as axe-core 4.12.1 enforces them.

WAI-ARIA 1.2, DPUB-ARIA 1.1 and Graphics-ARIA 1.0. Beyond WAI-ARIA 1.2, the tables contain parts of the drafts of 1.3
(the roles comment, mark and suggestion, the braille attributes, and aria-description) and the role text. The role
generic is missing, as in axe-core, because authors should not use it. The tables accept what WAI-ARIA 1.1 allowed:
aria-expanded nearly everywhere, some global attributes, and the roles none and presentation for a directory's list.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _split_words_by_key(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {key: _split_words(text) for key, text in table.items()}


# Markup may not use abstract roles (WAI-ARIA 1.2, section 5.3.1).
ABSTRACT = _split_words("""
    command composite input landmark range roletype section sectionhead select structure widget window
""")
# Roles in section 5.4 of WAI-ARIA 1.2, without abstract roles.
WAI_ARIA_ROLES = _split_words("""
    alert alertdialog application article banner blockquote button caption cell checkbox code columnheader
    combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed figure
    form grid gridcell group heading img insertion link list listbox listitem log main mark marquee math menu
    menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation
    progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider
    spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term text textbox
    time timer toolbar tooltip tree treegrid treeitem
""")
# Roles in section 4 of DPUB-ARIA 1.1.
DPUB = _split_words("""
    doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography
    doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication
    doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword
    doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagelist
    doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc
""")
# Roles in section 3 of Graphics-ARIA 1.0.
GRAPHICS = _split_words("graphics-document graphics-object graphics-symbol")
ROLES = WAI_ARIA_ROLES | DPUB | GRAPHICS
DEPRECATED = _split_words("directory doc-biblioentry doc-endnote")

# axe-core enforces an accessible name for these roles.
ROLES_THAT_REQUIRE_NAMES = _split_words("""
    alertdialog application button checkbox combobox dialog graphics-document graphics-symbol img link listbox
    menuitem menuitemcheckbox menuitemradio meter option progressbar radio searchbox slider spinbutton switch
    textbox toolbar treeitem
""")
# ARIA prohibits a name from aria-label or aria-labelledby for these roles.
ROLES_THAT_PROHIBIT_NAMES = _split_words("""
    caption code deletion emphasis insertion mark none paragraph presentation strong subscript suggestion
    superscript
""")
NAMING_ATTRIBUTES = ("aria-label", "aria-labelledby")
# Roles with "Name From: contents" in WAI-ARIA 1.2, WAI-ARIA 1.1 and DPUB-ARIA.
ROLES_NAMED_BY_CONTENT = _split_words("""
    button cell checkbox columnheader directory doc-backlink doc-biblioref doc-glossref doc-noteref figure
    graphics-object gridcell heading link listitem menuitem menuitemcheckbox menuitemradio option radio row
    rowgroup rowheader switch tab table term text tooltip treeitem
""")
# Roles of widgets whose content is their value, not their name.
VALUE_ROLES = _split_words("combobox listbox progressbar scrollbar slider spinbutton textbox")
# Widget roles (WAI-ARIA 1.2, section 5.3.2), without composite widgets.
WIDGETS = _split_words("""
    button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option progressbar
    radio scrollbar searchbox slider spinbutton switch tab textbox treeitem
""")

# Required parent roles by role (WAI-ARIA 1.2, section 5.2.7).
REQUIRED_PARENT_ROLES = _split_words_by_key(
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
# Allowed child roles by role (WAI-ARIA 1.2, section 5.2.6).
REQUIRED_CHILD_ROLES = _split_words_by_key(
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
# Roles that require children with other roles than listitem.
ROLES_WITH_OTHER_ITEMS = REQUIRED_CHILD_ROLES.keys() - {"list"}
# Required ARIA attributes by role (WAI-ARIA 1.2, section 5.2.2).
REQUIRED_ATTRIBUTES = _split_words_by_key(
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
# Roles that support an ARIA attribute (WAI-ARIA 1.2, section 6.6).
ROLES_BY_ATTRIBUTE = _split_words_by_key(
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
# aria-expanded was global in WAI-ARIA 1.1, and is accepted on most roles.
ROLES_BY_ATTRIBUTE["aria-expanded"] = ROLES - _split_words("""
    blockquote caption code comment deletion doc-pullquote emphasis graphics-document graphics-object
    graphics-symbol insertion mark meter none option paragraph presentation radio rowgroup scrollbar searchbox
    separator slider spinbutton strong subscript suggestion superscript text textbox time
""")


class ValueType(Enum):
    """Value type of an ARIA attribute (WAI-ARIA 1.2, section 6.2)."""

    BOOLEAN = auto()
    TOKEN = auto()
    TOKENS = auto()
    ID = auto()
    IDS = auto()
    STRING = auto()
    INTEGER = auto()
    NUMBER = auto()


class AttributeDefinition(Struct, frozen=True):
    """Allowed values of an ARIA attribute.

    `least`: the smallest integer allowed. `may_be_empty`: an empty value is allowed and has no effect.
    """

    type: ValueType
    tokens: frozenset[str] = frozenset()
    least: int = 0
    may_be_empty: bool = False
    is_global: bool = False


_BOOLEAN = AttributeDefinition(ValueType.BOOLEAN)
_STATE = AttributeDefinition(ValueType.TOKEN, _split_words("true false undefined"))
_TRISTATE = AttributeDefinition(ValueType.TOKEN, _split_words("true false mixed undefined"))
_COUNT = AttributeDefinition(ValueType.INTEGER, least=-1)
_INDEX = AttributeDefinition(ValueType.INTEGER, least=1)
_NUMBER = AttributeDefinition(ValueType.NUMBER)
_TEXT = AttributeDefinition(ValueType.STRING, may_be_empty=True)
_GLOBAL_BOOLEAN = AttributeDefinition(ValueType.BOOLEAN, is_global=True)
_GLOBAL_TRISTATE = AttributeDefinition(ValueType.TOKEN, _split_words("true false undefined"), is_global=True)
_GLOBAL_TEXT = AttributeDefinition(ValueType.STRING, may_be_empty=True, is_global=True)
_GLOBAL_ID = AttributeDefinition(ValueType.ID, may_be_empty=True, is_global=True)
_GLOBAL_IDS = AttributeDefinition(ValueType.IDS, may_be_empty=True, is_global=True)
# ARIA attributes and their allowed values (WAI-ARIA 1.2, section 6.6).
ATTRIBUTES = {
    "aria-activedescendant": AttributeDefinition(ValueType.ID, may_be_empty=True),
    "aria-atomic": _GLOBAL_BOOLEAN,
    "aria-autocomplete": AttributeDefinition(ValueType.TOKEN, _split_words("inline list both none")),
    "aria-braillelabel": _GLOBAL_TEXT,
    "aria-brailleroledescription": _GLOBAL_TEXT,
    "aria-busy": _GLOBAL_BOOLEAN,
    "aria-checked": _TRISTATE,
    "aria-colcount": _COUNT,
    "aria-colindex": _INDEX,
    "aria-colspan": _INDEX,
    "aria-controls": _GLOBAL_IDS,
    "aria-current": AttributeDefinition(
        ValueType.TOKEN, _split_words("page step location date time true false"), may_be_empty=True, is_global=True
    ),
    "aria-describedby": _GLOBAL_IDS,
    "aria-description": _GLOBAL_TEXT,
    "aria-details": _GLOBAL_ID,
    "aria-disabled": _GLOBAL_BOOLEAN,
    "aria-dropeffect": AttributeDefinition(
        ValueType.TOKENS, _split_words("copy execute link move none popup"), is_global=True
    ),
    "aria-errormessage": _GLOBAL_ID,
    "aria-expanded": _STATE,
    "aria-flowto": _GLOBAL_IDS,
    "aria-grabbed": _GLOBAL_TRISTATE,
    "aria-haspopup": AttributeDefinition(
        ValueType.TOKEN, _split_words("true false menu listbox tree grid dialog"), may_be_empty=True, is_global=True
    ),
    "aria-hidden": _GLOBAL_TRISTATE,
    "aria-invalid": AttributeDefinition(ValueType.TOKEN, _split_words("grammar false spelling true"), is_global=True),
    "aria-keyshortcuts": _GLOBAL_TEXT,
    "aria-label": _GLOBAL_TEXT,
    "aria-labelledby": _GLOBAL_IDS,
    "aria-level": _INDEX,
    "aria-live": AttributeDefinition(ValueType.TOKEN, _split_words("assertive off polite"), is_global=True),
    "aria-modal": _BOOLEAN,
    "aria-multiline": _BOOLEAN,
    "aria-multiselectable": _BOOLEAN,
    "aria-orientation": AttributeDefinition(ValueType.TOKEN, _split_words("horizontal undefined vertical")),
    "aria-owns": _GLOBAL_IDS,
    "aria-placeholder": _TEXT,
    "aria-posinset": _INDEX,
    "aria-pressed": _TRISTATE,
    "aria-readonly": _BOOLEAN,
    "aria-relevant": AttributeDefinition(ValueType.TOKENS, _split_words("additions all removals text"), is_global=True),
    "aria-required": _BOOLEAN,
    "aria-roledescription": _GLOBAL_TEXT,
    "aria-rowcount": _COUNT,
    "aria-rowindex": _INDEX,
    "aria-rowspan": AttributeDefinition(ValueType.INTEGER, least=0),
    "aria-selected": _STATE,
    "aria-setsize": _COUNT,
    "aria-sort": AttributeDefinition(ValueType.TOKEN, _split_words("ascending descending none other")),
    "aria-valuemax": _NUMBER,
    "aria-valuemin": _NUMBER,
    "aria-valuenow": _NUMBER,
    "aria-valuetext": _TEXT,
}
GLOBAL_ATTRIBUTES = frozenset(name for name, definition in ATTRIBUTES.items() if definition.is_global)
