"""Look up the primary subtags of language tags in the IANA registry.

RFC 5646, section 3.1.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.roles import explicit_role
from website_scan.page.markup import attribute

# This table avoids the import of `langcodes`, which takes 30 ms.
TWO_LETTER_CODES = frozenset(
    (  # noqa: SIM905  # a list would take 190 lines
        "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz "
        "ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik "
        "in io is it iu iw ja ji jv jw ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg "
        "mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro "
        "ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty "
        "ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
    ).split()
)
PRIMARY = re.compile(r"[a-z]{3}")
# The IANA registry has private-use codes `qaa..qtz`. axe-core accepts only `qaa`.
PRIVATE_USE_CODE = re.compile(r"q(?!aa)[a-t][a-z]")
# `langcodes` wrongly replaces these two registered codes by two-letter codes.
REGISTERED_ALTHOUGH_REPLACED = frozenset({"adp", "drh"})
# `langcodes` does not replace these unregistered three-letter codes.
UNREGISTERED_CODES = frozenset({"hbs", "tgl"})
# These language codes are newer than the registry in `langcodes`.
RECENTLY_REGISTERED_CODES = frozenset(
    {"ajs", "bpc", "cls", "cnq", "cxh", "dsk", "dsz", "dyr", "egm", "eud", "gov", "hnm", "ikh", "imt", "isv", "izm"}
    | {"lgo", "lgs", "lqr", "lsc", "lsw", "luh", "lvl", "nww", "nzr", "oak", "oie", "phj", "pze", "pzh", "rib", "rnb"}
    | {"rrm", "rsk", "rsn", "rsw", "sjc", "tok", "tvi", "ugh", "uly", "uon", "vjk", "vsn", "wdt", "wtb", "wyn", "xdq"}
    | {"xhm", "ycr", "ykh", "ynb", "zcd", "zem", "zlu"}
)
# As in axe-core, these can have an accessible name without text inside.
TAGS_WITH_VISUAL_CONTENT = frozenset(
    {"audio", "button", "canvas", "iframe", "img", "input", "math", "meter", "object", "progress", "select", "svg"}
    | {"textarea", "video"}
)
VISUAL_ROLES = frozenset(
    {"checkbox", "img", "meter", "progressbar", "radio", "scrollbar", "slider", "spinbutton", "textbox"}
)
TAGS_WITHOUT_TEXT = frozenset({"audio", "iframe", "object", "script", "style", "video"})
MAX_NODES = 2_000
LANGUAGE_ATTRIBUTES = ("lang", "xml:lang")


def primary_subtag(tag: str) -> str:
    """Return a language tag's first part in lower case.

    It ends before the first hyphen. Empty for a blank tag.
    """
    return tag.strip().partition("-")[0].lower()


def is_registered_subtag(subtag: str) -> bool:
    """Return True if the IANA registry has the primary language.

    The subtag is in lower case. Private-use codes count as unregistered.
    """
    if len(subtag) == 2:
        return subtag in TWO_LETTER_CODES
    if not PRIMARY.fullmatch(subtag) or PRIVATE_USE_CODE.fullmatch(subtag) or subtag in UNREGISTERED_CODES:
        return False
    if subtag in REGISTERED_ALTHOUGH_REPLACED | RECENTLY_REGISTERED_CODES:
        return True
    import langcodes
    from langcodes.data_dicts import LANGUAGE_REPLACEMENTS

    has_two_letter_code = len(LANGUAGE_REPLACEMENTS.get(subtag, "")) == 2
    return not has_two_letter_code and langcodes.tag_is_valid(subtag)


def invalid_languages(node: LexborNode) -> list[str]:
    """Return the language attributes that are blank or unregistered.

    They are lang and xml:lang, in the form `name="value"`.
    """
    attributes = ((name, attribute(node, name)) for name in LANGUAGE_ATTRIBUTES)
    return [
        f'{name}="{value[:100]}"'
        for name, value in attributes
        if value and not is_registered_subtag(primary_subtag(value))
    ]


def has_text_in_own_language(document: AccessibleDocument, node: LexborNode) -> bool:
    """Return True if any text is read in the element's language.

    Screen readers take the language from the lang attribute. Text or an accessible name counts, unless a descendant
    with its own lang contains the text or name.
    """
    pending = [node]
    for _ in range(MAX_NODES):
        if not pending:
            return False
        element = pending.pop()
        role = explicit_role(element)
        children = []
        child = element.first_child
        while child is not None:
            if child.is_text_node and element.tag not in TAGS_WITHOUT_TEXT and (child.text_content or "").strip():
                return True
            if child.is_element_node and not attribute(child, "lang") and not document.visibility.is_hidden(child):
                children.append(child)
            child = child.next
        if role in VISUAL_ROLES if role else element.tag in TAGS_WITH_VISUAL_CONTENT:
            if accessible_name(document, element):
                return True
        else:
            pending.extend(children)
    return False
