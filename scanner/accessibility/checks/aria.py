"""ARIA checks: roles and attributes are valid, allowed, and complete.

Each check is the axe-core rule of the same ID. It only warns if a script may still change the fault, and if the fault
is about an element's surroundings or about focusable content. Where axe-core asks a person to look, the warning has
no weight.
"""

from __future__ import annotations

from scanner.accessibility.aria.attributes import (
    braille_only,
    conditional_attributes,
    disallowed_attributes,
    duplicate_ids,
    invalid_values,
    missing_attributes,
    prohibited_names,
    unknown_attributes,
)
from scanner.accessibility.aria.role_faults import (
    conflicting_presentation,
    deprecated_roles,
    disallowed_roles,
    missing_required_children,
    missing_required_parents,
    unknown_roles,
)
from scanner.accessibility.controls.focus import controls_in_text, hidden_focusable
from scanner.accessibility.document import AccessibleDocument
from scanner.accessibility.verdicts import evidence_item, judge, start_tag, warn_at_most
from scanner.accessibility.wcag import BEST_PRACTICE, INFO_AND_RELATIONSHIPS, NAME_ROLE_VALUE
from scanner.catalogue import Category, check
from scanner.findings import CRITICAL, HIGH, LOW, MEDIUM, Fail, Finding, Pass
from scanner.page.markup import attribute

CATEGORY = Category("ARIA", weight=15, html=True, content=True)

WITH_ROLE = "elements with a role"
WITH_ARIA = "elements with ARIA attributes"


@check(
    "aria-roles",
    name="ARIA roles are valid",
    found="Invalid ARIA roles",
    why="Assistive technologies ignore unknown roles, so the element is not announced as what it looks like.",
    judged="Elements with a role of their own, such as nav, keep it, so these are of medium severity.",
    severity=CRITICAL,
    fix='Use a WAI-ARIA role: <div role="button" tabindex="0">, or better, the native element: <button>',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.4", "axe-core: aria-roles"),
)
def aria_roles(document: AccessibleDocument) -> Finding:
    return judge(
        unknown_roles(document),
        NAME_ROLE_VALUE,
        WITH_ROLE,
        passed="have a valid role",
        failed="have an invalid role, which screen readers ignore",
    )


@check(
    "aria-deprecated-role",
    name="ARIA roles are not deprecated",
    found="Deprecated ARIA roles",
    why="Assistive technologies may no longer support the role.",
    severity=LOW,
    fix='Replace the role: role="list" for directory, role="listitem" for doc-endnote and doc-biblioentry.',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.4", "axe-core: aria-deprecated-role"),
)
def aria_deprecated_role(document: AccessibleDocument) -> Finding:
    return judge(
        deprecated_roles(document),
        NAME_ROLE_VALUE,
        WITH_ROLE,
        passed="have a role that is not deprecated",
        failed="have a deprecated role, which may lose support",
    )


@check(
    "aria-required-attr",
    name="Roles have their required ARIA attributes",
    found="Required ARIA attributes are missing",
    why="Without them, assistive technologies cannot announce the state of the control.",
    judged="Headings without a level are of medium severity, because browsers assume level 2.",
    severity=CRITICAL,
    fix='Add the state or value: <div role="checkbox" aria-checked="false">, <div role="slider" aria-valuenow="5">',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.2.2", "axe-core: aria-required-attr"),
    absence=True,
)
def aria_required_attr(document: AccessibleDocument) -> Finding:
    return judge(
        missing_attributes(document),
        NAME_ROLE_VALUE,
        WITH_ROLE,
        passed="have the attributes that their role requires",
        failed="lack an attribute that their role requires, so screen readers assume or leave out their state",
    )


@check(
    "aria-valid-attr",
    name="ARIA attributes exist",
    found="Unknown ARIA attributes",
    why="Assistive technologies ignore unknown attributes, so what was meant is never announced.",
    severity=CRITICAL,
    fix="Correct the attribute's name, for example aria-lable to aria-label, or remove it.",
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 6.6", "axe-core: aria-valid-attr"),
)
def aria_valid_attr(document: AccessibleDocument) -> Finding:
    return judge(
        unknown_attributes(document),
        NAME_ROLE_VALUE,
        WITH_ARIA,
        passed="have only those that exist",
        failed="have one that does not exist and has no effect",
    )


@check(
    "aria-valid-attr-value",
    name="ARIA attributes have valid values",
    found="ARIA attributes with invalid values",
    why="Assistive technologies ignore or misread the attribute.",
    severity=CRITICAL,
    fix='Use a value that the attribute allows: aria-expanded="false", aria-controls="menu" with <ul id="menu">',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 6.6", "axe-core: aria-valid-attr-value"),
)
def aria_valid_attr_value(document: AccessibleDocument) -> Finding:
    return judge(
        invalid_values(document),
        NAME_ROLE_VALUE,
        WITH_ARIA,
        passed="have valid values",
        failed="have an invalid value, so that browsers ignore the attribute",
    )


@check(
    "aria-allowed-attr",
    name="ARIA attributes are allowed for their role",
    found="ARIA attributes not allowed for their role",
    why="The attribute has no meaning there, and may make assistive technologies announce something wrong.",
    severity=CRITICAL,
    fix="Remove the attribute, or give the element a role that supports it: aria-checked needs a checkbox, for "
    "example.",
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 6.6", "axe-core: aria-allowed-attr"),
)
def aria_allowed_attr(document: AccessibleDocument) -> Finding:
    return judge(
        disallowed_attributes(document),
        NAME_ROLE_VALUE,
        WITH_ARIA,
        passed="have only attributes that their role allows",
        failed="have an attribute that their role does not allow, which misleads screen readers",
    )


@check(
    "aria-prohibited-attr",
    name="ARIA labels are only on roles that permit a name",
    found="ARIA labels on roles that prohibit a name",
    why="Assistive technologies may ignore the label, so its text reaches nobody.",
    severity=HIGH,
    fix='Give the element a role that permits a name, such as role="img" or role="group", or write the name as text.',
    references=(f"{NAME_ROLE_VALUE}", "WAI-ARIA 1.2, section 5.2.8.6", "axe-core: aria-prohibited-attr"),
)
def aria_prohibited_attr(document: AccessibleDocument) -> Finding:
    return judge(
        prohibited_names(document),
        NAME_ROLE_VALUE,
        WITH_ARIA,
        passed="are named by it only if their role permits a name",
        failed="are named by it although their role prohibits a name, so that few screen readers announce it",
    )


@check(
    "presentation-role-conflict",
    name="Decorative elements are hidden from screen readers",
    found="Decorative elements exposed to screen readers",
    why="Browsers ignore the role, so screen readers announce what was meant to be decoration.",
    severity=LOW,
    fix='Remove role="none", or what overrides it: tabindex or global ARIA attributes.',
    references=("WAI-ARIA 1.2, section 7", "axe-core: presentation-role-conflict (best practice)"),
)
def presentation_role_conflict(document: AccessibleDocument) -> Finding:
    return judge(
        conflicting_presentation(document),
        BEST_PRACTICE,
        "decorative elements",
        passed="are hidden from screen readers",
        failed="are announced all the same, because they are focusable or have a global ARIA attribute",
    )


@check(
    "aria-text",
    name="role=text has no focusable content",
    found="Focusable content inside role=text",
    why="Screen readers read the content as plain text, and do not say that it contains a control.",
    severity=MEDIUM,
    fix='Remove role="text" from elements that contain links or controls, which are read as plain text.',
    references=("axe-core: aria-text (best practice)",),
)
def aria_text(document: AccessibleDocument) -> Finding:
    return judge(
        controls_in_text(document),
        BEST_PRACTICE,
        "elements with role=text",
        passed="contain no links or controls",
        failed="contain links or controls, which screen readers read as plain text",
    )


@check(
    "aria-braille-equivalent",
    name="Braille labels have a spoken equivalent",
    found="Braille labels without a spoken equivalent",
    why="A braille label without a spoken one leaves out everyone who uses speech.",
    severity=HIGH,
    fix="Give the element an accessible name beside aria-braillelabel, or aria-roledescription beside "
    "aria-brailleroledescription.",
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-braille-equivalent"),
)
def aria_braille_equivalent(document: AccessibleDocument) -> Finding:
    return judge(
        braille_only(document),
        NAME_ROLE_VALUE,
        "elements with braille labels",
        passed="have a spoken equivalent",
        failed="have no spoken equivalent",
    )


@check(
    "aria-required-children",
    name="Roles contain the children they require",
    found="Roles with missing or disallowed children",
    why="Screen readers announce an empty list, menu or table, or the wrong number of items.",
    judged="If nothing but <li> elements is wrong, the severity is medium, because most browsers look through them.",
    severity=CRITICAL,
    fix='Give the element the children that its role requires, and no others: role="listitem" in a list, role="tab" '
    'in a tablist. Give <li> elements around them role="none".',
    references=(f"{INFO_AND_RELATIONSHIPS}", "WAI-ARIA 1.2, section 5.2.6", "axe-core: aria-required-children"),
    absence=True,
)
def aria_required_children(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        missing_required_children(document),
        INFO_AND_RELATIONSHIPS,
        "elements whose role requires children",
        passed="contain them and nothing else",
        failed="lack them or contain something else, so screen readers may announce their parts wrongly",
    )


@check(
    "aria-required-parent",
    name="Roles are inside the parent they require",
    found="Roles outside the parent they require",
    why="Outside its parent, screen readers can announce neither the item's position nor its group.",
    severity=CRITICAL,
    fix='Put the element inside the parent its role requires: role="tab" in a tablist, role="option" in a listbox.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "WAI-ARIA 1.2, section 5.2.7", "axe-core: aria-required-parent"),
)
def aria_required_parent(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        missing_required_parents(document),
        INFO_AND_RELATIONSHIPS,
        "elements whose role requires a parent",
        passed="are inside that parent",
        failed="are outside that parent, so screen readers do not announce what they belong to",
    )


@check(
    "aria-allowed-role",
    name="Roles are allowed for their elements",
    found="Roles not allowed for their elements",
    why="The role takes away the element's own meaning without giving it the behaviour of the new role.",
    severity=LOW,
    fix="Use an element that fits the role, or one without semantics of its own: <div> or <span>.",
    references=("ARIA in HTML, section 4", "axe-core: aria-allowed-role (best practice)"),
)
def aria_allowed_role(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        disallowed_roles(document),
        BEST_PRACTICE,
        WITH_ROLE,
        passed="have a role that is allowed for them",
        failed="have a role that is not allowed for them",
    )


@check(
    "aria-hidden-focus",
    name="Elements with aria-hidden have no focusable content",
    found="Focusable content inside aria-hidden",
    why="Keyboard users land on something that screen readers do not announce.",
    severity=HIGH,
    fix='Take hidden content out of the tab order too: <div aria-hidden="true" inert>, or hide it from everyone.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-hidden-focus"),
)
def aria_hidden_focus(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        hidden_focusable(document),
        NAME_ROLE_VALUE,
        "elements with aria-hidden",
        passed="are out of the tab order",
        failed="are or contain something in the tab order, which screen readers do not announce",
    )


@check(
    "aria-conditional-attr",
    name="ARIA attributes agree with their elements",
    found="ARIA attributes contradict their elements",
    why="The attribute and the element disagree, and what is announced depends on the browser.",
    severity=HIGH,
    fix="Use the native state: checked instead of aria-checked; only rows of a treegrid have a level.",
    references=(f"{NAME_ROLE_VALUE}", "ARIA in HTML, section 4", "axe-core: aria-conditional-attr"),
)
def aria_conditional_attr(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        conditional_attributes(document),
        NAME_ROLE_VALUE,
        WITH_ARIA,
        passed="have no attribute that contradicts what they are",
        failed="have an attribute that contradicts what they are, so screen readers differ in what they announce",
    )


@check(
    "duplicate-id-aria",
    name="IDs used by labels and ARIA are unique",
    found="Duplicate IDs used by labels or ARIA",
    why="Labels and descriptions may come from the wrong element.",
    severity=CRITICAL,
    fix="Give each element a unique ID, and correct the references to it.",
    references=(f"{NAME_ROLE_VALUE}", "axe-core: duplicate-id-aria"),
)
def duplicate_id_aria(document: AccessibleDocument) -> Finding:
    return judge(
        duplicate_ids(document),
        NAME_ROLE_VALUE,
        "elements that labels or ARIA attributes refer to",
        passed="have a unique ID",
        failed="share their ID with another, so that only the first is found",
    )


@check(
    "aria-hidden-body",
    name="The body is not hidden by aria-hidden",
    found="The body is hidden by aria-hidden",
    why="Screen readers see an empty page.",
    severity=CRITICAL,
    fix='Remove aria-hidden="true" from the body.',
    references=(f"{INFO_AND_RELATIONSHIPS}", f"{NAME_ROLE_VALUE}", "axe-core: aria-hidden-body"),
)
def aria_hidden_body(document: AccessibleDocument) -> Finding:
    body = document.document.tree.body
    if body is None or attribute(body, "aria-hidden") != "true":
        return Pass("The body is exposed to assistive technology.")
    return Fail(
        f"{start_tag(body)} hides the whole page from assistive technology.",
        evidence=[evidence_item(body, INFO_AND_RELATIONSHIPS)],
    )
