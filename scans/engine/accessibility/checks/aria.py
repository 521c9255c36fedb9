"""ARIA: whether roles and attributes tell assistive technology what is there.

The rules are axe-core's of the same ID. Only a warning is given where a script may still change what is wrong, and
about what is around an element or focusable in it; one without weight where axe-core asks a person to look.
"""

from __future__ import annotations

from dataclasses import replace

from scans.engine.accessibility.aria.attributes import (
    braille_only,
    contradictions,
    hidden_body,
    invalid_values,
    missing_attributes,
    repeated_ids,
    unknown_attributes,
    unsuited_attributes,
    vain_names,
)
from scans.engine.accessibility.aria.role_faults import (
    contradicted_decoration,
    deprecated_roles,
    unknown_roles,
    unsuited_roles,
    wrong_children,
    wrong_parents,
)
from scans.engine.accessibility.controls.focus import controls_in_texts, tabbable_but_hidden
from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.verdicts import BEST_PRACTICE, Criterion, Faults, judge_doubtful, judge_mildly, some
from scans.engine.catalogue import Category, check
from scans.engine.findings import CRITICAL, HIGH, LOW, MEDIUM, Finding, NotApplicable, Warn
from scans.engine.messages import counted
from scans.engine.page.evidence import Page

CATEGORY = Category("ARIA", weight=15)

NAME_ROLE_VALUE = Criterion("4.1.2", "A")
INFO_AND_RELATIONSHIPS = Criterion("1.3.1", "A")
WCAG_4_1_2 = "WCAG 4.1.2 Name, Role, Value (A)"
WCAG_1_3_1 = "WCAG 1.3.1 Info and Relationships (A)"
NOT_HTML = NotApplicable("The page is not HTML.")


@check(
    "aria-roles",
    name="Roles exist",
    severity=CRITICAL,
    fix='Use a role of WAI-ARIA: <div role="button" tabindex="0">, or better the element itself: <button>',
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 5.4", "axe-core: aria-roles"),
)
def aria_roles(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        unknown_roles(document),
        NAME_ROLE_VALUE,
        none="roles",
        passed="All roles exist",
        failed="elements with a role that there is not{}, so that it tells nothing",
    )


@check(
    "aria-deprecated-role",
    name="Roles are not deprecated",
    severity=LOW,
    fix='Replace the role: role="list" for directory, role="listitem" for doc-endnote and doc-biblioentry.',
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 5.4", "axe-core: aria-deprecated-role"),
)
def aria_deprecated_role(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        deprecated_roles(document),
        NAME_ROLE_VALUE,
        none="roles",
        passed="No role is deprecated",
        failed="elements with a deprecated role{}, for which support may end",
    )


@check(
    "aria-required-attr",
    name="Roles have the attributes they need",
    severity=CRITICAL,
    fix='Add the state or value: <div role="checkbox" aria-checked="false">, <div role="slider" aria-valuenow="5">',
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 5.2.2", "axe-core: aria-required-attr"),
)
def aria_required_attr(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        missing_attributes(document),
        NAME_ROLE_VALUE,
        none="roles",
        passed="All roles have the attributes that they need",
        failed="elements without an attribute that their role needs{}, so nobody hears their state",
    )


@check(
    "aria-valid-attr",
    name="ARIA attributes exist",
    severity=CRITICAL,
    fix="Correct the attribute's name, for example aria-lable to aria-label, or remove it.",
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 6.6", "axe-core: aria-valid-attr"),
)
def aria_valid_attr(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        unknown_attributes(document),
        NAME_ROLE_VALUE,
        none="attributes of ARIA",
        passed="All attributes of ARIA exist",
        failed="elements with an attribute of ARIA that there is not{}, so that it does nothing",
    )


@check(
    "aria-valid-attr-value",
    name="ARIA attributes have valid values",
    severity=CRITICAL,
    fix='Write a value that the attribute takes: aria-expanded="false", aria-controls="menu" with <ul id="menu">',
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 6.6", "axe-core: aria-valid-attr-value"),
)
def aria_valid_attr_value(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        invalid_values(document),
        NAME_ROLE_VALUE,
        none="attributes of ARIA",
        passed="All attributes of ARIA have values that they take",
        failed="elements with a value that the attribute does not take{}, so that it does nothing",
    )


@check(
    "aria-allowed-attr",
    name="ARIA attributes suit their role",
    severity=CRITICAL,
    fix="Remove the attribute, or give the element the role that it belongs to: aria-checked needs a checkbox.",
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 6.6", "axe-core: aria-allowed-attr"),
)
def aria_allowed_attr(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        unsuited_attributes(document),
        NAME_ROLE_VALUE,
        none="attributes of ARIA",
        passed="All attributes of ARIA suit their elements' roles",
        failed="elements with an attribute that their role does not have{}, which misleads screen readers",
    )


@check(
    "aria-prohibited-attr",
    name="Names are given to what can have one",
    severity=HIGH,
    fix='Give the element a role that takes a name, such as role="img" or role="group", or write the name as text.',
    references=(WCAG_4_1_2, "WAI-ARIA 1.2, section 5.2.8.6", "axe-core: aria-prohibited-attr"),
)
def aria_prohibited_attr(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        vain_names(document),
        NAME_ROLE_VALUE,
        none="attributes of ARIA",
        passed="No name is given to what takes none",
        failed="elements named by ARIA whose role takes no name, so that few screen readers say it",
    )


@check(
    "presentation-role-conflict",
    name="Decoration is nothing but decoration",
    severity=LOW,
    fix='Remove role="none", or what contradicts it: tabindex and the attributes of ARIA.',
    references=("WAI-ARIA 1.2, section 7", "axe-core: presentation-role-conflict (best practice)"),
)
def presentation_role_conflict(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        contradicted_decoration(document),
        BEST_PRACTICE,
        none="decoration",
        passed="All decoration is passed over by screen readers",
        failed="elements that say they are decoration, but are read out, as they take the focus or say more by ARIA",
    )


@check(
    "aria-text",
    name="Nothing in a text takes the focus",
    severity=MEDIUM,
    fix='Remove role="text" from what has links or controls in it: they are read as mere words.',
    references=("axe-core: aria-text (best practice)",),
)
def aria_text(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        controls_in_texts(document),
        BEST_PRACTICE,
        none="elements of the role text",
        passed="No element of the role text has controls in it",
        failed="elements of the role text with controls in them, which are read as mere words",
    )


@check(
    "aria-braille-equivalent",
    name="What is said in braille is also spoken",
    severity=HIGH,
    fix="Give the element an accessible name beside aria-braillelabel, or aria-roledescription beside "
    "aria-brailleroledescription.",
    references=(WCAG_4_1_2, "axe-core: aria-braille-equivalent"),
)
def aria_braille_equivalent(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        braille_only(document),
        NAME_ROLE_VALUE,
        none="words for braille",
        passed="What is said in braille is also spoken",
        failed="elements that say in braille what nobody hears",
    )


@check(
    "aria-required-children",
    name="Composite roles have the children they need",
    severity=CRITICAL,
    fix='Put into the element what its role needs: role="listitem" in a list, role="tab" in a tablist, and nothing '
    "else.",
    references=(WCAG_1_3_1, "WAI-ARIA 1.2, section 5.2.6", "axe-core: aria-required-children"),
)
def aria_required_children(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        wrong_children(document),
        INFO_AND_RELATIONSHIPS,
        none="roles that need others in them",
        passed="All composite elements have in them what belongs there",
        failed="elements without what their role needs in them, or with something else, so nobody hears their parts",
        is_mild=True,
    )


@check(
    "aria-required-parent",
    name="Parts are in what they are parts of",
    severity=CRITICAL,
    fix='Put the element into one of the role that it needs: role="tab" into a tablist, role="option" into a listbox.',
    references=(WCAG_1_3_1, "WAI-ARIA 1.2, section 5.2.7", "axe-core: aria-required-parent"),
)
def aria_required_parent(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        wrong_parents(document),
        INFO_AND_RELATIONSHIPS,
        none="roles that need another around them",
        passed="All parts are in what they are parts of",
        failed="elements outside of what their role makes them a part of{}, so nobody hears where they belong",
        is_mild=True,
    )


@check(
    "aria-allowed-role",
    name="Roles suit their elements",
    severity=LOW,
    fix="Use an element that fits the role, or one without a meaning of its own: <div> or <span>.",
    references=("ARIA in HTML, section 4", "axe-core: aria-allowed-role (best practice)"),
)
def aria_allowed_role(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        unsuited_roles(document),
        BEST_PRACTICE,
        none="roles",
        passed="All roles suit their elements",
        failed="elements with a role that contradicts what they are by themselves{}",
        is_mild=True,
    )


@check(
    "aria-hidden-focus",
    name="Nothing hidden takes the focus",
    severity=HIGH,
    fix='Take what is hidden out of the tab order, too: <div aria-hidden="true" inert>, or hide it from everybody.',
    references=(WCAG_4_1_2, "axe-core: aria-hidden-focus"),
)
def aria_hidden_focus(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        tabbable_but_hidden(document),
        NAME_ROLE_VALUE,
        none="elements with aria-hidden",
        passed="No element with aria-hidden has anything in it that takes the focus",
        failed="elements with aria-hidden that the Tab key leads into, where nobody hears where they are",
        is_mild=True,
    )


@check(
    "aria-conditional-attr",
    name="ARIA attributes agree with their elements",
    severity=HIGH,
    fix="Leave the state to the element itself: checked instead of aria-checked; only rows of a treegrid have a level.",
    references=(WCAG_4_1_2, "ARIA in HTML, section 4", "axe-core: aria-conditional-attr"),
)
def aria_conditional_attr(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        contradictions(document),
        NAME_ROLE_VALUE,
        none="attributes of ARIA",
        passed="No attribute of ARIA contradicts its element",
        failed="elements whose attributes of ARIA contradict what they are, so that screen readers differ",
        is_mild=True,
    )


@check(
    "duplicate-id-aria",
    name="IDs that are referred to are unique",
    severity=CRITICAL,
    fix="Give each element an ID of its own, and correct what refers to it.",
    references=(WCAG_4_1_2, "axe-core: duplicate-id-aria"),
)
def duplicate_id_aria(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        repeated_ids(document),
        NAME_ROLE_VALUE,
        none="references to IDs",
        passed="All IDs that labels or attributes of ARIA refer to are unique",
        failed="elements that share an ID to which a label or an attribute of ARIA refers{}, so the first is taken",
    )


@check(
    "aria-hidden-body",
    name="The page is not hidden",
    severity=CRITICAL,
    fix='Remove aria-hidden="true" from the body.',
    references=(WCAG_1_3_1, WCAG_4_1_2, "axe-core: aria-hidden-body"),
)
def aria_hidden_body(page: Page, document: AccessibleDocument) -> Finding:
    return _judged(
        page,
        hidden_body(document),
        INFO_AND_RELATIONSHIPS,
        none="body",
        passed="The body is not hidden from assistive technology",
        failed="bodies hidden from assistive technology, and all of the page with them",
    )


def _judged(
    page: Page,
    found: Faults,
    criterion: Criterion,
    *,
    none: str,
    passed: str,
    failed: str,
    is_mild: bool = False,
) -> Finding:
    """A fail only about what is certain; if `is_mild`, a warning about that alone.

    Where somebody has to look, it is not a finding yet, so it costs nothing. `{}` in `failed` is for what is wrong.
    """
    if not page.is_html:
        return NOT_HTML
    if not found.judged:
        return NotApplicable(f"The page has no {none}.")
    document = found.document
    passed = f"{passed}: {counted(len(found.judged), 'element', 'elements')}."
    failed = failed.format(some(found.words))
    if is_mild:
        return judge_mildly(document, found.judged, found.certain, criterion, passed=passed, failed=failed)
    if found.certain or found.doubtful:
        return judge_doubtful(
            document, found.judged, found.certain, found.doubtful, criterion, passed=passed, failed=failed
        )
    finding = judge_mildly(document, found.judged, found.review, criterion, passed=passed, failed=failed)
    return replace(finding, weighs=False) if isinstance(finding, Warn) else finding
