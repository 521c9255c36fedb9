"""Forms: whether everybody learns what to fill in, and browsers can help with it.

The rules are axe-core's of the same ID; where it would look at rendered style sheets, or at what scripts have
made of the page, or where it asks a person to review, only a warning is given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.axe import INAPPLICABLE
from scans.engine.accessibility.controls.autocomplete import Purpose, purpose
from scans.engine.accessibility.controls.widgets import widgets
from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import (
    accessible_name,
    has_aria_name,
    has_content_name,
    has_title,
    label_text,
    shown_text,
    visible_text,
)
from scans.engine.accessibility.roles import explicit_role, is_presentational
from scans.engine.accessibility.verdicts import BEST_PRACTICE, Criterion, judge, judge_names
from scans.engine.accessibility.wai_aria import WIDGETS
from scans.engine.browser.evidence import AxeReport
from scans.engine.catalogue import Category, check
from scans.engine.findings import CRITICAL, HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.page.evidence import Page
from scans.engine.page.markup import MAX_DEPTH, attribute

CATEGORY = Category("Forms", weight=15)

NAME_ROLE_VALUE = Criterion("4.1.2", "A")
LABELS = Criterion("3.3.2", "A")
INPUT_PURPOSE = Criterion("1.3.5", "AA")
WCAG_4_1_2 = "WCAG 4.1.2 Name, Role, Value (A)"
NOT_HTML = NotApplicable("The page is not HTML.")
# Input types that are named otherwise, or not shown at all.
UNLABELLED_TYPES = frozenset({"hidden", "image", "button", "submit", "reset"})
WITHOUT_AUTOFILL = frozenset({"hidden", "button", "submit", "reset"})
FIELDS = "input, select, textarea"


@check(
    "label",
    name="Form fields have a label",
    severity=CRITICAL,
    fix='Label each field: <label for="mail">E-mail</label> <input id="mail" type="email">',
    references=(WCAG_4_1_2, "axe-core: label"),
)
def label(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fields = [each for each in document.exposed("input, textarea") if _takes_a_label(each)]
    if not fields:
        return NotApplicable("The page has no form fields.")
    nameless = [each for each in fields if not _is_named_field(document, each, takes_placeholder=True)]
    return _judged(document, fields, nameless, "form fields", "without a label, so nobody hears what to fill in")


@check(
    "select-name",
    name="Select fields have a label",
    severity=CRITICAL,
    fix='Label each field: <label for="size">Size</label> <select id="size">…',
    references=(WCAG_4_1_2, "axe-core: select-name"),
)
def select_name(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fields = list(document.exposed("select"))
    if not fields:
        return NotApplicable("The page has no select fields.")
    nameless = [each for each in fields if not _is_named_field(document, each, takes_placeholder=False)]
    return _judged(document, fields, nameless, "select fields", "without a label, so nobody hears what to choose")


@check(
    "aria-input-field-name",
    name="Input fields by role have a name",
    severity=HIGH,
    fix='Say what to fill in: <div role="textbox" aria-label="Comment" contenteditable>',
    references=(WCAG_4_1_2, "axe-core: aria-input-field-name"),
)
def aria_input_field_name(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fields = widgets(document, "combobox", "listbox", "searchbox", "slider", "spinbutton", "textbox")
    if not fields:
        return NotApplicable("No element has the role of an input field.")
    nameless = [each for each in fields if not (has_aria_name(document, each) or has_title(each))]
    return _judged_by_role(document, fields, nameless, "input fields by role")


@check(
    "aria-toggle-field-name",
    name="Toggles by role have a name",
    severity=HIGH,
    fix='Say what is chosen: <span role="checkbox" aria-checked="false" tabindex="0">Gift wrap</span>',
    references=(WCAG_4_1_2, "axe-core: aria-toggle-field-name"),
)
def aria_toggle_field_name(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    toggles = widgets(document, "checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch", "option")
    if not toggles:
        return NotApplicable("No element has the role of a toggle.")
    nameless = [
        each
        for each in toggles
        if not (has_aria_name(document, each) or has_title(each) or has_content_name(document, each))
    ]
    return _judged_by_role(document, toggles, nameless, "toggles by role")


@check(
    "autocomplete-valid",
    name="Autocomplete names a purpose",
    severity=HIGH,
    fix='Use the tokens of HTML: <input autocomplete="email">, "given-name", "shipping street-address", …',
    references=("WCAG 1.3.5 Identify Input Purpose (AA)", "axe-core: autocomplete-valid"),
)
def autocomplete_valid(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fields = [each for each in document.exposed(FIELDS) if _asks_for_autofill(each)]
    if not fields:
        return NotApplicable("No form field has an autocomplete attribute.")
    purposes = [(each, purpose(attribute(each, "autocomplete") or "")) for each in fields]
    finding = judge(
        document,
        fields,
        [each for each, found in purposes if found is Purpose.INVALID],
        INPUT_PURPOSE,
        passed=f"All autocomplete attributes ({len(fields)}) are such that browsers understand them.",
        failed="autocomplete attributes that no browser understands",
    )
    if not isinstance(finding, Pass):
        return finding
    return _reviewed(
        document,
        fields,
        [each for each, found in purposes if found is Purpose.UNCERTAIN],
        INPUT_PURPOSE,
        "autocomplete attributes of no standard purpose",
        finding,
    )


@check(
    "form-field-multiple-labels",
    name="Form fields have one label each",
    severity=MEDIUM,
    fix="Leave one <label> for each field, and put the rest into an element that aria-describedby names.",
    references=("WCAG 3.3.2 Labels or Instructions (A)", "axe-core: form-field-multiple-labels"),
)
def form_field_multiple_labels(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fields = [each for each in document.exposed(FIELDS) if _takes_a_label(each)]
    if not fields:
        return NotApplicable("The page has no form fields.")
    return _reviewed(
        document,
        fields,
        [each for each in fields if _has_rival_labels(document, each)],
        LABELS,
        "form fields with several labels, of which some screen readers read but one",
        Pass(f"No form field ({len(fields)}) has more than one label."),
    )


@check(
    "label-title-only",
    name="Labels of form fields are visible",
    severity=MEDIUM,
    fix='Write a label that is seen: <label for="mail">E-mail</label>; title and aria-describedby only add to it.',
    references=("axe-core: label-title-only (best practice)",),
)
def label_title_only(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fields = [each for each in document.exposed(FIELDS) if _takes_a_label(each)]
    if not fields:
        return NotApplicable("The page has no form fields.")
    return _reviewed(
        document,
        fields,
        [each for each in fields if _has_only_a_title(document, each)],
        BEST_PRACTICE,
        "form fields that only title or aria-describedby explains, which most people never see",
        Pass(f"No form field ({len(fields)}) is explained by its title alone."),
    )


@check(
    "label-content-name-mismatch",
    name="Names contain the visible text",
    severity=HIGH,
    fix="Begin the name with what is to be read on the control, so that people who speak to their computer can say "
    "it: no other aria-label.",
    references=("WCAG 2.5.3 Label in Name (A)", "axe-core: label-content-name-mismatch"),
)
def label_content_name_mismatch(axe: AxeReport) -> Finding:
    return INAPPLICABLE


def _judged(
    document: AccessibleDocument,
    fields: Sequence[LexborNode],
    nameless: Sequence[LexborNode],
    what: str,
    fault: str,
) -> Finding:
    passed = f"All {what} ({len(fields)}) have a name."
    return judge_names(document, fields, nameless, NAME_ROLE_VALUE, passed=passed, failed=f"{what} {fault}")


def _judged_by_role(
    document: AccessibleDocument, fields: Sequence[LexborNode], nameless: Sequence[LexborNode], what: str
) -> Finding:
    finding = _judged(document, fields, nameless, what, "without a name, so nobody hears what they are for")
    if not isinstance(finding, Pass):
        return finding
    fault = f"{what} with a <label> that their name does not contain: browsers ignore it here"
    differing = [each for each in fields if _differs_from_label(document, each)]
    return _reviewed(document, fields, differing, NAME_ROLE_VALUE, fault, finding)


def _reviewed(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    doubtful: Sequence[LexborNode],
    criterion: Criterion,
    what: str,
    otherwise: Pass,
) -> Finding:
    """A warning about the doubtful elements, where a person has to look."""
    finding = judge(document, judged, doubtful, criterion, passed=otherwise.message, failed=what)
    return Warn(finding.message, evidence=finding.evidence) if isinstance(finding, Fail) else finding


def _takes_a_label(node: LexborNode) -> bool:
    return node.tag != "input" or (attribute(node, "type") or "").lower() not in UNLABELLED_TYPES


def _is_named_field(document: AccessibleDocument, node: LexborNode, *, takes_placeholder: bool) -> bool:
    explicit = document.explicit_labels(node)
    # A label that is named to the field, but hidden, is none; unless something else names the field.
    if explicit and document.visibility.is_hidden_from_at(explicit[0]) and not accessible_name(document, node):
        return False
    return (
        has_aria_name(document, node)
        or has_title(node)
        or any(label_text(document, each, node) for each in document.labels(node))
        or any(document.visibility.is_hidden(each) for each in explicit)
        or (takes_placeholder and bool((attribute(node, "placeholder") or "").strip()))
        or is_presentational(node)
    )


def _differs_from_label(document: AccessibleDocument, node: LexborNode) -> bool:
    text = " ".join(label_text(document, each, node) for each in document.labels(node)).strip()
    return bool(text) and text.lower() not in accessible_name(document, node).lower()


def _asks_for_autofill(node: LexborNode) -> bool:
    if not (attribute(node, "autocomplete") or "").strip():
        return False
    if node.tag == "input" and (attribute(node, "type") or "").lower() in WITHOUT_AUTOFILL:
        return False
    for state in ("disabled", "readonly"):
        if attribute(node, state) is not None or (attribute(node, f"aria-{state}") or "").lower() == "true":
            return False
    is_out_of_tab_order = re.match(r"\s*-0*[1-9]", attribute(node, "tabindex") or "") is not None
    return not (is_out_of_tab_order and attribute(node, "role") is not None and explicit_role(node) not in WIDGETS)


def _has_rival_labels(document: AccessibleDocument, node: LexborNode) -> bool:
    labels = [each for each in document.explicit_labels(node) if not document.visibility.is_hidden(each)]
    known = {each.mem_id for each in labels}
    labels += [each for each in _labels_around(node) if each.mem_id not in known]
    if len(labels) < 2:
        return False
    heard = [each.mem_id for each in labels if not document.visibility.is_hidden_from_at(each)]
    referenced = {each.mem_id for each in document.referenced(node, "aria-labelledby")}
    return len(heard) != 1 or heard[0] not in referenced


def _labels_around(node: LexborNode) -> list[LexborNode]:
    found = []
    current = node.parent
    for _ in range(MAX_DEPTH):
        if current is None:
            break
        if current.tag == "label":
            found.append(current)
        current = current.parent
    return found


def _has_only_a_title(document: AccessibleDocument, node: LexborNode) -> bool:
    if not (attribute(node, "title") or attribute(node, "aria-describedby")) or is_presentational(node):
        return False
    if (attribute(node, "aria-label") or "").strip():
        return False
    if any(shown_text(document, each) for each in document.referenced(node, "aria-labelledby")):
        return False
    explicit, labels = document.explicit_labels(node), document.labels(node)
    heard = [*explicit[:1], *labels[len(explicit) :]]
    return not any(visible_text(document, each) for each in heard)
