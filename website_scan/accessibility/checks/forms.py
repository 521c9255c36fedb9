"""Checks of field labels and autocomplete attributes.

A check is the axe-core rule with its ID. A fault is only a warning if axe-core would need rendered styles or the page
after its scripts have run, or if axe-core reports incomplete results.
"""

from __future__ import annotations

from enum import Enum, auto
from itertools import islice

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.framework_bindings import may_be_named_by_script
from website_scan.accessibility.axe import INAPPLICABLE
from website_scan.accessibility.controls.widgets import aria_widgets
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import (
    accessible_name,
    has_author_name,
    has_content_name,
    label_text,
    shown_text,
    visible_text,
)
from website_scan.accessibility.roles import explicit_role, has_negative_tabindex, is_presentational
from website_scan.accessibility.verdicts import Faults, judges
from website_scan.accessibility.wai_aria import WIDGETS
from website_scan.accessibility.wcag import BEST_PRACTICE, INPUT_PURPOSE, LABELS, NAME_ROLE_VALUE
from website_scan.accessibility.wording import faulty
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, MEDIUM
from website_scan.outcomes import Fix, Language, Verdict, outcome
from website_scan.page.markup import attribute, enclosing

CATEGORY = Category("Forms", weight=15, html=True, content=True)

# HTML names these input types in another way, or they are invisible.
INPUT_TYPES_WITHOUT_LABEL = frozenset({"hidden", "image", "button", "submit", "reset"})
INPUT_TYPES_WITHOUT_AUTOFILL = frozenset({"hidden", "button", "submit", "reset"})
FIELDS = "input, select, textarea"
MAX_JUDGED_FIELDS = 5_000

# Valid autocomplete values (HTML Standard, section 4.10.18.7.1), and others that axe-core tolerates.
AUTOCOMPLETE_SWITCH_VALUES = frozenset({"on", "off"})
# These invalid values switch autofill on or off in some browsers.
TOLERATED_AUTOCOMPLETE_VALUES = frozenset(
    {"none", "false", "true", "disabled", "enabled", "undefined", "null", "xon", "xoff"}
)
UNCERTAIN_AUTOCOMPLETE_VALUES = frozenset({"text", "pronouns", "gender", "message", "content"})
SECTION = "section-"
ADDRESS_KINDS = frozenset({"shipping", "billing"})
# Kinds of contact in autocomplete, allowed only before a field of CONTACT_FIELDS.
CONTACT_KINDS = frozenset({"home", "work", "mobile", "fax", "pager"})
CONTACT_FIELDS = frozenset(
    {"tel", "tel-country-code", "tel-national", "tel-area-code", "tel-local", "tel-local-prefix", "tel-local-suffix"}
    | {"tel-extension", "email", "impp"}
)
AUTOFILL_FIELDS = frozenset(
    {"name", "honorific-prefix", "given-name", "additional-name", "family-name", "honorific-suffix", "nickname"}
    | {"username", "new-password", "current-password", "one-time-code", "organization-title", "organization"}
    | {"street-address", "address-line1", "address-line2", "address-line3", "address-level4", "address-level3"}
    | {"address-level2", "address-level1", "country", "country-name", "postal-code", "cc-name", "cc-given-name"}
    | {"cc-additional-name", "cc-family-name", "cc-number", "cc-exp", "cc-exp-month", "cc-exp-year", "cc-csc"}
    | {"cc-type", "transaction-currency", "transaction-amount", "language", "bday", "bday-day", "bday-month"}
    | {"bday-year", "sex", "url", "photo"}
)
CREDENTIAL = "webauthn"


class _AutocompleteValidity(Enum):
    """Validity of an autocomplete attribute."""

    VALID = auto()
    UNCERTAIN = auto()  # The invalid value may be meant as a description for people.
    INVALID = auto()


@check(
    "label",
    name="Form fields have a label",
    outcomes={"missing": "Form fields without a label"},
    why="Screen reader users are not told what to enter, and clicking the text does not focus the field.",
    consequence="Blind visitors are not told what to type into a field, and may fill it in wrongly.",
    severity=CRITICAL,
    fix=Fix("Label each field.", {Language.HTML: '<label for="mail">E-mail</label> <input id="mail" type="email">'}),
    references=(f"{NAME_ROLE_VALUE}", "axe-core: label"),
    absence=True,
)
@judges("form field|fields", "has|have no label", "have a label or another name", NAME_ROLE_VALUE)
def label(document: AccessibleDocument) -> Faults:
    return Faults.find(
        _fields_with_labels(document, "input, textarea"),
        lambda field: not _has_field_name(document, field, accepts_placeholder=True),
        may_be_named_by_script,
    )


@check(
    "select-name",
    name="Select elements have a label",
    outcomes={"missing": "Select elements without a label"},
    why="Screen reader users hear the options without knowing what they are choosing.",
    consequence="Blind visitors hear the options of a list, but not what they are choosing.",
    severity=CRITICAL,
    fix=Fix("Label each field.", {Language.HTML: '<label for="size">Size</label> <select id="size">…</select>'}),
    references=(f"{NAME_ROLE_VALUE}", "axe-core: select-name"),
    absence=True,
)
@judges("select element|elements", "has|have no label", "have a label or another name", NAME_ROLE_VALUE)
def select_name(document: AccessibleDocument) -> Faults:
    return Faults.find(
        document.exposed("select"),
        lambda field: not _has_field_name(document, field, accepts_placeholder=False),
        may_be_named_by_script,
    )


@check(
    "aria-input-field-name",
    name="ARIA input fields have a name",
    outcomes={
        "missing": "ARIA input fields without a name",
        "unlike-label": outcome(
            "ARIA input fields named unlike their label",
            consequence="Visitors who control the page by voice may not be able to fill in a field.",
        ),
    },
    why="Screen reader users are not told what to enter, and voice control cannot find the field by its label.",
    consequence="Blind visitors are not told what to enter, and may not be able to use a field.",
    severity=HIGH,
    fix='Say what to fill in: `<div role="textbox" aria-label="Comment" contenteditable>`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-input-field-name"),
    absence=True,
)
@judges("ARIA input field|fields", "has|have no name", "have a name", NAME_ROLE_VALUE)
def aria_input_field_name(document: AccessibleDocument) -> Faults:
    fields = aria_widgets(document, "combobox", "listbox", "searchbox", "slider", "spinbutton", "textbox")
    nameless = Faults.find(fields, lambda field: not has_author_name(document, field), may_be_named_by_script)
    return _judge_aria_names(document, nameless)


@check(
    "aria-toggle-field-name",
    name="ARIA toggle fields have a name",
    outcomes={
        "missing": "ARIA toggle fields without a name",
        "unlike-label": outcome(
            "ARIA toggle fields named unlike their label",
            consequence="Visitors who control the page by voice may not be able to switch something on or off.",
        ),
    },
    why="Screen readers announce “on” or “off” without saying of what, and voice control cannot find the control.",
    consequence="Blind visitors hear “on” or “off”, but not what they are switching.",
    severity=HIGH,
    fix='Say what is chosen: `<span role="checkbox" aria-checked="false" tabindex="0">Gift wrap</span>`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-toggle-field-name"),
    absence=True,
)
@judges("ARIA toggle field|fields", "has|have no name", "have a name", NAME_ROLE_VALUE)
def aria_toggle_field_name(document: AccessibleDocument) -> Faults:
    nameless = Faults.find(
        aria_widgets(document, "checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch", "option"),
        lambda field: not (has_author_name(document, field) or has_content_name(document, field)),
        may_be_named_by_script,
    )
    return _judge_aria_names(document, nameless)


@check(
    "autocomplete-valid",
    name="Autocomplete attributes are valid",
    outcomes={
        "invalid": "Invalid autocomplete attributes",
        "not-standard": "Autocomplete values that HTML does not define",
    },
    why="Browsers cannot fill in the field, which people with motor or cognitive disabilities rely on.",
    consequence="Visitors may have to type what browsers could fill in, which is hard for some disabled people.",
    severity=HIGH,
    fix='Use tokens from the HTML standard, such as `autocomplete="email"`, `autocomplete="given-name"` or '
    '`autocomplete="shipping street-address"`.',
    references=(f"{INPUT_PURPOSE}", "axe-core: autocomplete-valid"),
)
@judges(
    "autocomplete attribute|attributes",
    "has|have an invalid value",
    "have a value that browsers support",
    INPUT_PURPOSE,
)
def autocomplete_valid(document: AccessibleDocument) -> Faults:
    fields = [field for field in document.exposed(FIELDS) if _allows_autofill(field)]
    verdicts = [(field, _judge_autocomplete(attribute(field, "autocomplete") or "")) for field in fields]
    if invalid := [field for field, verdict in verdicts if verdict is _AutocompleteValidity.INVALID]:
        return Faults(fields, invalid)
    return Faults(
        fields,
        uncertain=[field for field, verdict in verdicts if verdict is _AutocompleteValidity.UNCERTAIN],
        unless="",
        outcome="not-standard",
        predicate="has|have a value that HTML does not define",
    )


@check(
    "form-field-multiple-labels",
    name="Form fields have at most one label",
    outcomes={"several": "Form fields with several labels"},
    why="Screen readers announce some of the labels, and which ones depends on the browser.",
    severity=MEDIUM,
    fix="Keep one `<label>` for each field, and put the rest into an element referenced by `aria-describedby`.",
    references=(f"{LABELS}", "axe-core: form-field-multiple-labels"),
)
@judges("form field|fields", "has|have several labels", "have at most one label", LABELS)
def form_field_multiple_labels(document: AccessibleDocument) -> Faults:
    fields = _fields_with_labels(document, FIELDS)
    return Faults(fields, review=[field for field in fields if _has_multiple_labels(document, field)])


@check(
    "label-title-only",
    name="Form fields have a visible label",
    outcomes={"title-only": "Form fields without a visible label"},
    why="A title shows only to people who use a mouse, and some screen readers skip it.",
    judged="Fields with a placeholder, which everybody sees, pass.",
    severity=MEDIUM,
    fix='Write a visible label: `<label for="mail">E-mail</label>`; `title` and `aria-describedby` only add to it.',
    references=("axe-core: label-title-only (best practice)",),
)
@judges(
    "form field|fields",
    "is|are labelled by title or description only",
    "have more than a title or aria-describedby",
    BEST_PRACTICE,
)
def label_title_only(document: AccessibleDocument) -> Faults:
    fields = _fields_with_labels(document, FIELDS)
    return Faults(
        fields, uncertain=[field for field in fields if _is_labelled_only_by_title(document, field)], unless=""
    )


@check(
    "label-content-name-mismatch",
    name="Names contain the visible text",
    outcomes={"mismatch": "Names that do not contain the visible text"},
    why="People who use voice control say what they see, and nothing happens.",
    consequence="Visitors who control the page by voice say what they see, and nothing may happen.",
    severity=HIGH,
    fix="Begin the accessible name with the control's visible text.",
    references=("WCAG 2.5.3 Label in Name (A)", "axe-core: label-content-name-mismatch"),
)
@faulty("control|controls", "has|have a name that does not contain the visible text")
def label_content_name_mismatch(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


def _judge_aria_names(document: AccessibleDocument, nameless: Faults) -> Faults:
    """Return the fields without an accessible name.

    If there are none, return fields whose name does not contain their label.
    """
    if nameless.certain or nameless.uncertain:
        return nameless
    return Faults(
        nameless.judged,
        uncertain=[field for field in nameless.judged if _differs_from_label(document, field)],
        unless="",
        outcome="unlike-label",
        predicate="has|have a name that does not contain the text of its|their label",
    )


def _fields_with_labels(document: AccessibleDocument, selector: str) -> list[LexborNode]:
    return list(islice((field for field in document.exposed(selector) if _can_have_label(field)), MAX_JUDGED_FIELDS))


def _can_have_label(node: LexborNode) -> bool:
    return node.tag != "input" or (attribute(node, "type") or "").lower() not in INPUT_TYPES_WITHOUT_LABEL


def _has_field_name(document: AccessibleDocument, node: LexborNode, *, accepts_placeholder: bool) -> bool:
    explicit = document.explicit_labels(node)
    # As in axe-core, a hidden label counts only if the field has another name.
    if explicit and document.visibility.is_hidden_from_at(explicit[0]) and not accessible_name(document, node):
        return False
    return (
        has_author_name(document, node)
        or any(label_text(document, label, node) for label in document.labels(node))
        or any(document.visibility.is_hidden(label) for label in explicit)
        or (accepts_placeholder and bool((attribute(node, "placeholder") or "").strip()))
        or is_presentational(node)
    )


def _differs_from_label(document: AccessibleDocument, node: LexborNode) -> bool:
    text = " ".join(label_text(document, label, node) for label in document.labels(node)).strip()
    return bool(text) and text.lower() not in accessible_name(document, node).lower()


def _allows_autofill(node: LexborNode) -> bool:
    if not (attribute(node, "autocomplete") or "").strip():
        return False
    if node.tag == "input" and (attribute(node, "type") or "").lower() in INPUT_TYPES_WITHOUT_AUTOFILL:
        return False
    for state in ("disabled", "readonly"):
        if attribute(node, state) is not None or (attribute(node, f"aria-{state}") or "").lower() == "true":
            return False
    has_non_widget_role = attribute(node, "role") is not None and explicit_role(node) not in WIDGETS
    return not (has_negative_tabindex(node) and has_non_widget_role)


def _judge_autocomplete(value: str) -> _AutocompleteValidity:
    """Judge an autocomplete value.

    Its form is [section-*] [shipping|billing] ([contact kind] contact field|field) [webauthn].
    """
    tokens = value.lower().split()
    if not tokens or (len(tokens) == 1 and tokens[0] in AUTOCOMPLETE_SWITCH_VALUES | TOLERATED_AUTOCOMPLETE_VALUES):
        return _AutocompleteValidity.VALID
    if tokens[-1] == CREDENTIAL:
        tokens.pop()
    if tokens and tokens[0].startswith(SECTION) and tokens[0] != SECTION:
        tokens.pop(0)
    if tokens and tokens[0] in ADDRESS_KINDS:
        tokens.pop(0)
    fields = AUTOFILL_FIELDS | CONTACT_FIELDS
    if tokens and tokens[0] in CONTACT_KINDS:
        tokens.pop(0)
        fields = CONTACT_FIELDS
    if len(tokens) != 1:
        return _AutocompleteValidity.INVALID
    if tokens[0] in UNCERTAIN_AUTOCOMPLETE_VALUES:
        return _AutocompleteValidity.UNCERTAIN
    return _AutocompleteValidity.VALID if tokens[0] in fields else _AutocompleteValidity.INVALID


def _has_multiple_labels(document: AccessibleDocument, node: LexborNode) -> bool:
    labels = [label for label in document.explicit_labels(node) if not document.visibility.is_hidden(label)]
    explicit_label_ids = {label.mem_id for label in labels}
    labels += [label for label in _enclosing_labels(node) if label.mem_id not in explicit_label_ids]
    if len(labels) < 2:
        return False
    announced = [label.mem_id for label in labels if not document.visibility.is_hidden_from_at(label)]
    referenced = {element.mem_id for element in document.referenced(node, "aria-labelledby")}
    return len(announced) != 1 or announced[0] not in referenced


def _enclosing_labels(node: LexborNode) -> list[LexborNode]:
    labels = []
    current = enclosing(node, "label")
    while current is not None:
        labels.append(current)
        current = enclosing(current, "label")
    return labels


def _is_labelled_only_by_title(document: AccessibleDocument, node: LexborNode) -> bool:
    # The check `label` or `select-name` reports fields without a name.
    if not (attribute(node, "title") or "").strip() or is_presentational(node):
        return False
    if any((attribute(node, name) or "").strip() for name in ("aria-label", "placeholder")):
        return False
    if any(shown_text(document, element) for element in document.referenced(node, "aria-labelledby")):
        return False
    explicit, labels = document.explicit_labels(node), document.labels(node)
    return not any(visible_text(document, label) for label in (*explicit[:1], *labels[len(explicit) :]))
