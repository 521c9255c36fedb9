"""Checks for invalid, disallowed and missing ARIA roles and attributes.

A check is the axe-core rule with its ID. A fault is only a warning if a script may still change it, or if it depends
on the element's ancestors, children or focusable content. What axe-core reports as incomplete is for review.
"""

from __future__ import annotations

from website_scan.accessibility.aria.attributes import (
    find_braille_only_texts,
    find_contradicting_attributes,
    find_disallowed_attributes,
    find_duplicate_ids,
    find_invalid_values,
    find_missing_attributes,
    find_prohibited_names,
    find_unknown_attributes,
)
from website_scan.accessibility.aria.role_faults import (
    find_conflicting_presentation,
    find_deprecated_roles,
    find_disallowed_roles,
    find_missing_children,
    find_missing_parents,
    find_unknown_roles,
)
from website_scan.accessibility.controls.focus import find_controls_in_text, find_hidden_focusable
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.verdicts import Faults, judges, place, warns
from website_scan.accessibility.wcag import BEST_PRACTICE, INFO_AND_RELATIONSHIPS, NAME_ROLE_VALUE
from website_scan.accessibility.wording import faulty
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM
from website_scan.outcomes import Fail, Pass, Verdict, outcome
from website_scan.page.markup import attribute

CATEGORY = Category("ARIA", weight=15, html=True, content=True)


@check(
    "aria-roles",
    name="ARIA roles are valid",
    outcomes={"invalid": outcome("Invalid ARIA roles", CRITICAL, MEDIUM)},
    why="Assistive technologies ignore an unknown role, so the element is not announced as what it looks like.",
    consequence="Blind visitors may not be told what a part of the page is, and so not know how to use it.",
    judged="Elements with a role of their own, such as nav, keep it, so these are of medium severity.",
    severity=CRITICAL,
    fix='Use a role of WAI-ARIA: `<div role="button" tabindex="0">`, or better, the native element, `<button>`.',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.4", "axe-core: aria-roles"),
)
@judges("ARIA role|roles", "is|are invalid", "are valid", NAME_ROLE_VALUE)
def aria_roles(document: AccessibleDocument) -> Faults:
    return find_unknown_roles(document)


@check(
    "aria-deprecated-role",
    name="ARIA roles are not deprecated",
    outcomes={"deprecated": "Deprecated ARIA roles"},
    why="Assistive technologies may stop supporting a deprecated role.",
    severity=LOW,
    fix='Replace the role: `role="list"` for `directory`, `role="listitem"` for `doc-endnote` and `doc-biblioentry`.',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.4", "axe-core: aria-deprecated-role"),
)
@judges("ARIA role|roles", "is|are deprecated", "are supported", NAME_ROLE_VALUE)
def aria_deprecated_role(document: AccessibleDocument) -> Faults:
    return find_deprecated_roles(document)


@check(
    "aria-required-attr",
    name="Roles have their required ARIA attributes",
    outcomes={"missing": outcome("Required ARIA attributes are missing", CRITICAL, MEDIUM)},
    why="Without the attribute, assistive technologies announce a wrong state of the control, or none.",
    consequence="Blind visitors may be told something wrong, such as whether a box is ticked, or nothing at all.",
    judged="Headings without a level are of medium severity, because browsers assume level 2.",
    severity=CRITICAL,
    fix='Add the state or value: `<div role="checkbox" aria-checked="false">` or `<div role="slider" '
    'aria-valuenow="5">`.',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.2.2", "axe-core: aria-required-attr"),
    absence=True,
)
@judges(
    "element|elements with a role",
    "lacks|lack an attribute that the role requires",
    "have the attributes that their role requires",
    NAME_ROLE_VALUE,
)
def aria_required_attr(document: AccessibleDocument) -> Faults:
    return find_missing_attributes(document)


@check(
    "aria-valid-attr",
    name="ARIA attributes exist",
    outcomes={"unknown": "Unknown ARIA attributes"},
    why="Assistive technologies ignore unknown attributes, so what was meant is never announced.",
    consequence="Blind visitors may miss information that was meant for them.",
    severity=CRITICAL,
    fix="Correct the name of the attribute, for example `aria-lable` to `aria-label`, or remove it.",
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 6.6", "axe-core: aria-valid-attr"),
)
@judges(
    "element|elements with ARIA attributes",
    "has|have one that does not exist",
    "have only those that exist",
    NAME_ROLE_VALUE,
)
def aria_valid_attr(document: AccessibleDocument) -> Faults:
    return find_unknown_attributes(document)


@check(
    "aria-valid-attr-value",
    name="ARIA attributes have valid values",
    outcomes={"invalid": "ARIA attributes with invalid values"},
    why="Assistive technologies ignore or misread an invalid value.",
    consequence="Blind visitors may be told something wrong about a part of the page, or nothing at all.",
    severity=CRITICAL,
    fix='Use a value that the attribute allows: `aria-expanded="false"`, or `aria-controls="menu"` with `<ul '
    'id="menu">`.',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 6.6", "axe-core: aria-valid-attr-value"),
)
@judges(
    "element|elements with ARIA attributes", "has|have one with an invalid value", "have valid values", NAME_ROLE_VALUE
)
def aria_valid_attr_value(document: AccessibleDocument) -> Faults:
    return find_invalid_values(document)


@check(
    "aria-allowed-attr",
    name="ARIA attributes are allowed for their role",
    outcomes={"not-allowed": "ARIA attributes not allowed for their role"},
    why="The attribute has no meaning there, and may make assistive technologies announce something wrong.",
    consequence="Blind visitors may be told something wrong about a part of the page.",
    severity=CRITICAL,
    fix="Remove the attribute, or give the element a role that supports it: `aria-checked` needs a checkbox, for "
    "example.",
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 6.6", "axe-core: aria-allowed-attr"),
)
@judges(
    "element|elements with ARIA attributes",
    "has|have one that the role does not allow",
    "have only attributes that their role allows",
    NAME_ROLE_VALUE,
)
def aria_allowed_attr(document: AccessibleDocument) -> Faults:
    return find_disallowed_attributes(document)


@check(
    "aria-prohibited-attr",
    name="ARIA labels are only on roles that permit a name",
    outcomes={"prohibited": "ARIA labels on roles that prohibit a name"},
    why="Assistive technologies may ignore the label, so its text reaches nobody.",
    consequence="Blind visitors may not hear a description that was written for them.",
    severity=HIGH,
    fix='Give the element a role that permits a name, such as `role="img"` or `role="group"`, or write the name as '
    "text.",
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.2.8.6", "axe-core: aria-prohibited-attr"),
)
@judges(
    "element|elements with ARIA attributes",
    "has|have a label that the role prohibits",
    "have a label only if their role permits one",
    NAME_ROLE_VALUE,
)
def aria_prohibited_attr(document: AccessibleDocument) -> Faults:
    return find_prohibited_names(document)


@check(
    "presentation-role-conflict",
    name="Decorative elements are hidden from screen readers",
    outcomes={"exposed": "Decorative elements exposed to screen readers"},
    why="Browsers do not hide such an element, so screen readers announce what was meant to be decoration.",
    severity=LOW,
    fix='Remove `role="none"`, or what overrides it: `tabindex` or global ARIA attributes.',
    references=("WAI-ARIA 1.2, section 7", "axe-core: presentation-role-conflict (best practice)"),
)
@judges(
    "decorative element|elements",
    "is|are focusable or has|have a global ARIA attribute",
    "are hidden from screen readers",
    BEST_PRACTICE,
)
def presentation_role_conflict(document: AccessibleDocument) -> Faults:
    return find_conflicting_presentation(document)


@check(
    "aria-text",
    name="role=text has no focusable content",
    outcomes={"focusable": "Focusable content inside role=text"},
    why="Screen readers read the content as plain text, and do not say that it contains a control.",
    severity=MEDIUM,
    fix='Remove `role="text"` from elements that contain links or controls, which are read as plain text.',
    references=("axe-core: aria-text (best practice)",),
)
@judges(
    "element|elements with role=text",
    "contains|contain a link or control",
    "contain no links or controls",
    BEST_PRACTICE,
)
def aria_text(document: AccessibleDocument) -> Faults:
    return find_controls_in_text(document)


@check(
    "aria-braille-equivalent",
    name="Braille labels have a spoken equivalent",
    outcomes={"braille-only": "Braille labels without a spoken equivalent"},
    why="A braille label without a spoken one leaves out everyone who uses speech.",
    consequence="Visitors who listen to the page may miss what those who read braille are told.",
    severity=HIGH,
    fix="Give the element an accessible name beside `aria-braillelabel`, or `aria-roledescription` beside "
    "`aria-brailleroledescription`.",
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-braille-equivalent"),
)
@judges(
    "element|elements with a braille label",
    "has|have no spoken equivalent",
    "have a spoken equivalent",
    NAME_ROLE_VALUE,
)
def aria_braille_equivalent(document: AccessibleDocument) -> Faults:
    return find_braille_only_texts(document)


@check(
    "aria-required-children",
    name="Roles contain the children they require",
    outcomes={"wrong": outcome("Roles with the wrong children", CRITICAL, MEDIUM)},
    why="Screen readers announce an empty list, menu or table, or the wrong number of items.",
    consequence="Blind visitors may be told that a list, menu or table is empty, or hear the wrong number of entries.",
    judged="If nothing but <li> elements is wrong, the severity is medium, because most browsers look through them.",
    severity=CRITICAL,
    fix='Give the element the children that its role requires, and no others: `role="listitem"` in a list, '
    '`role="tab"` in a tablist. Give `<li>` elements around them `role="none"`.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "WAI-ARIA 1.2, section 5.2.6", "axe-core: aria-required-children"),
    absence=True,
)
@warns(
    "element|elements whose role requires children",
    "lacks|lack them or contains|contain something else",
    "contain them and nothing else",
    INFO_AND_RELATIONSHIPS,
)
def aria_required_children(document: AccessibleDocument) -> Faults:
    return find_missing_children(document)


@check(
    "aria-required-parent",
    name="Roles are inside the parent they require",
    outcomes={"outside": "Roles outside the parent they require"},
    why="Screen readers can announce neither the position of such an element nor its group.",
    consequence="Blind visitors may not be able to tell which list, menu or table an entry belongs to.",
    severity=CRITICAL,
    fix='Put the element inside the parent that its role requires: `role="tab"` in a tablist, `role="option"` in a '
    "listbox.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "WAI-ARIA 1.2, section 5.2.7", "axe-core: aria-required-parent"),
)
@warns(
    "element|elements whose role requires a parent",
    "is|are outside that parent",
    "are inside that parent",
    INFO_AND_RELATIONSHIPS,
)
def aria_required_parent(document: AccessibleDocument) -> Faults:
    return find_missing_parents(document)


@check(
    "aria-allowed-role",
    name="Roles are allowed for their elements",
    outcomes={"not-allowed": "Roles not allowed for their elements"},
    why="The role takes away the element's own meaning without giving it the behaviour of the new role.",
    severity=LOW,
    fix="Use an element that fits the role, or one without semantics of its own: `<div>` or `<span>`.",
    references=("ARIA in HTML, section 4", "axe-core: aria-allowed-role (best practice)"),
)
@warns("ARIA role|roles", "is|are not allowed on its|their element", "are allowed on their element", BEST_PRACTICE)
def aria_allowed_role(document: AccessibleDocument) -> Faults:
    return find_disallowed_roles(document)


@check(
    "aria-hidden-focus",
    name="Elements with aria-hidden have no focusable content",
    outcomes={"focusable": "Focusable content inside aria-hidden"},
    why="Keyboard users land on something that screen readers do not announce.",
    consequence="Blind visitors can land on a link or field that is not read out, and lose their way.",
    severity=HIGH,
    fix='Take hidden content out of the tab order too: `<div aria-hidden="true" inert>`, or hide it from everyone.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-hidden-focus"),
)
@judges(
    "element|elements with aria-hidden",
    "leaves|leave something in the tab order",
    "are out of the tab order",
    NAME_ROLE_VALUE,
)
def aria_hidden_focus(document: AccessibleDocument) -> Faults:
    return find_hidden_focusable(document)


@check(
    "aria-conditional-attr",
    name="ARIA attributes agree with their elements",
    outcomes={"contradictory": "ARIA attributes contradict their elements"},
    why="What screen readers announce then depends on the browser.",
    consequence="Blind visitors may be told something wrong, such as whether a box is ticked.",
    severity=HIGH,
    fix="Use the native state, such as `checked` instead of `aria-checked`. Only rows of a treegrid may have "
    "`aria-expanded` or `aria-level`.",
    references=(f"{NAME_ROLE_VALUE}", "ARIA in HTML, section 4", "axe-core: aria-conditional-attr"),
)
@warns(
    "element|elements with ARIA attributes",
    "has|have one that contradicts the element",
    "have no attribute that contradicts what they are",
    NAME_ROLE_VALUE,
)
def aria_conditional_attr(document: AccessibleDocument) -> Faults:
    return find_contradicting_attributes(document)


@check(
    "duplicate-id-aria",
    name="IDs used by labels and ARIA are unique",
    outcomes={"duplicate": "Duplicate IDs in labels and ARIA"},
    why="Labels and descriptions may come from the wrong element.",
    consequence="Blind visitors may hear the wrong name of a field or button, and make mistakes.",
    severity=CRITICAL,
    fix="Give each element a unique ID, and correct the references to it.",
    references=(f"{NAME_ROLE_VALUE}", "axe-core: duplicate-id-aria"),
)
@judges(
    "element|elements that labels or ARIA attributes refer to",
    "shares|share its|their ID with another",
    "have a unique ID",
    NAME_ROLE_VALUE,
)
def duplicate_id_aria(document: AccessibleDocument) -> Faults:
    return find_duplicate_ids(document)


@check(
    "aria-hidden-body",
    name="The body is not hidden by aria-hidden",
    outcomes={"hidden": "The body is hidden by aria-hidden"},
    why="Screen readers see an empty page.",
    consequence="Blind visitors find an empty page, and may not be able to use it at all.",
    severity=CRITICAL,
    fix='Remove `aria-hidden="true"` from the `<body>`.',
    references=(f"{INFO_AND_RELATIONSHIPS}", f"{NAME_ROLE_VALUE}", "axe-core: aria-hidden-body"),
)
@faulty("the body", "is hidden from assistive technology")
def aria_hidden_body(document: AccessibleDocument) -> Verdict:
    body = document.document.tree.body
    if body is None or attribute(body, "aria-hidden") != "true":
        return Pass("The body is exposed to assistive technology.")
    return Fail("hidden", "The body is hidden from assistive technology.", places=[place(body, INFO_AND_RELATIONSHIPS)])
