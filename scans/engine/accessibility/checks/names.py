"""Names and labels of controls: whether everybody learns what links, buttons and other parts of the page are for.

The rules are axe-core's of the same ID; where it would look at rendered style sheets, or at what scripts have
made of the page, only a warning is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.axe import INAPPLICABLE
from scans.engine.accessibility.controls.widgets import widgets
from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import has_aria_name, has_content_name, has_title, label_text
from scans.engine.accessibility.roles import explicit_role, is_focusable, is_presentational, says_more
from scans.engine.accessibility.verdicts import BEST_PRACTICE, Criterion, judge_names
from scans.engine.accessibility.wai_aria import NAME_REQUIRED
from scans.engine.browser.evidence import AxeReport
from scans.engine.catalogue import Category, check
from scans.engine.findings import CRITICAL, HIGH, LOW, MEDIUM, Finding, NotApplicable
from scans.engine.page.evidence import Page
from scans.engine.page.markup import attribute, enclosing

CATEGORY = Category("Names and labels of controls", weight=20)

LINK_PURPOSE = Criterion("2.4.4", "A")
NAME_ROLE_VALUE = Criterion("4.1.2", "A")
NON_TEXT_CONTENT = Criterion("1.1.1", "A")
WCAG_4_1_2 = "WCAG 4.1.2 Name, Role, Value (A)"
WCAG_1_1_1 = "WCAG 1.1.1 Non-text Content (A)"
NOT_HTML = NotApplicable("The page is not HTML.")
INPUT_BUTTONS = frozenset({"button", "submit", "reset"})
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
Named = Callable[[AccessibleDocument, LexborNode], bool]


@check(
    "link-name",
    name="Links have a name",
    severity=HIGH,
    fix='Say where the link leads: <a href="/cart" aria-label="Shopping cart"><svg …></a>, or write it as text.',
    references=("WCAG 2.4.4 Link Purpose (In Context) (A)", WCAG_4_1_2, "axe-core: link-name"),
)
def link_name(page: Page, document: AccessibleDocument) -> Finding:
    found = (each for each in document.exposed("a[href]") if attribute(each, "href") is not None)
    return _judged(page, document, found, _is_named_by_content, LINK_PURPOSE, "links", "where they lead")


@check(
    "button-name",
    name="Buttons have a name",
    severity=CRITICAL,
    fix='Say what the button does: <button aria-label="Close"><svg …></button>, or write it as text.',
    references=(WCAG_4_1_2, "axe-core: button-name"),
)
def button_name(page: Page, document: AccessibleDocument) -> Finding:
    found = (each for each in document.exposed("button") if _is_judged_as_button(each))
    return _judged(page, document, found, _is_named_button, NAME_ROLE_VALUE, "buttons", "what they do")


@check(
    "input-button-name",
    name="Input buttons have a name",
    severity=CRITICAL,
    fix='Say what the button does: <input type="button" value="Add to cart">',
    references=(WCAG_4_1_2, "axe-core: input-button-name"),
)
def input_button_name(page: Page, document: AccessibleDocument) -> Finding:
    inputs = (each for each in document.exposed("input[type]") if attribute(each, "type") in INPUT_BUTTONS)
    found = (each for each in inputs if _is_judged_as_button(each))
    return _judged(page, document, found, _is_named_input_button, NAME_ROLE_VALUE, "input buttons", "what they do")


@check(
    "summary-name",
    name="Summaries have a name",
    severity=HIGH,
    fix="Say what is below: <details><summary>Delivery</summary>…",
    references=(WCAG_4_1_2, "axe-core: summary-name"),
)
def summary_name(page: Page, document: AccessibleDocument) -> Finding:
    found = (each for each in document.exposed("summary") if _is_first_summary(each))
    return _judged(page, document, found, _is_named_by_content, NAME_ROLE_VALUE, "summary elements", "what they open")


@check(
    "frame-title",
    name="Frames have a title",
    severity=HIGH,
    fix='Say what the frame shows: <iframe src="…" title="Map of our shops">',
    references=(WCAG_4_1_2, "axe-core: frame-title"),
)
def frame_title(page: Page, document: AccessibleDocument) -> Finding:
    found = (each for each in document.exposed("frame, iframe") if not _is_out_of_tab_order(each))
    return _judged(page, document, found, _is_named_frame, NAME_ROLE_VALUE, "frames", "what they hold")


@check(
    "empty-heading",
    name="Headings have text",
    severity=LOW,
    fix="Write the heading's text, or remove the heading.",
    references=("axe-core: empty-heading (best practice)",),
)
def empty_heading(page: Page, document: AccessibleDocument) -> Finding:
    found = _headings(document)
    return _judged(page, document, found, _is_named_by_content, BEST_PRACTICE, "headings", "what comes below them")


@check(
    "empty-table-header",
    name="Table headers have text",
    severity=LOW,
    fix="Write what the column or row holds, or make the empty corner a <td>.",
    references=("axe-core: empty-table-header (best practice)",),
)
def empty_table_header(page: Page, document: AccessibleDocument) -> Finding:
    found = _table_headers(document)
    return _judged(page, document, found, has_content_name, BEST_PRACTICE, "table headers", "what their cells mean")


@check(
    "aria-command-name",
    name="Links, buttons and menu items by role have a name",
    severity=HIGH,
    fix='Say what it does: <div role="button" aria-label="Close" …>, or write it as text.',
    references=(WCAG_4_1_2, "axe-core: aria-command-name"),
)
def aria_command_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "link", "button", "menuitem")
    return _judged(page, document, found, _is_named_by_content, NAME_ROLE_VALUE, "controls by role", "what they do")


@check(
    "aria-dialog-name",
    name="Dialogs have a name",
    severity=MEDIUM,
    fix='Name the dialog by its heading: <div role="dialog" aria-labelledby="dialog-heading">',
    references=("axe-core: aria-dialog-name (best practice)",),
)
def aria_dialog_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "dialog", "alertdialog")
    return _judged(page, document, found, _is_named_by_author, BEST_PRACTICE, "dialogs", "which one has opened")


@check(
    "aria-meter-name",
    name="Meters have a name",
    severity=HIGH,
    fix='Say what is measured: <div role="meter" aria-label="Disk space" …>',
    references=(WCAG_1_1_1, "axe-core: aria-meter-name"),
)
def aria_meter_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "meter")
    return _judged(page, document, found, _is_named_by_author, NON_TEXT_CONTENT, "meters", "what they measure")


@check(
    "aria-progressbar-name",
    name="Progress bars have a name",
    severity=HIGH,
    fix='Say what goes on: <div role="progressbar" aria-label="Upload" …>',
    references=(WCAG_1_1_1, "axe-core: aria-progressbar-name"),
)
def aria_progressbar_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "progressbar")
    return _judged(page, document, found, _is_named_by_author, NON_TEXT_CONTENT, "progress bars", "what is in progress")


@check(
    "aria-tab-name",
    name="Tabs have a name",
    severity=HIGH,
    fix='Say what the tab shows: <div role="tab" aria-label="Reviews" …>, or write it as text.',
    references=(WCAG_4_1_2, "axe-core: aria-tab-name"),
)
def aria_tab_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "tab")
    return _judged(page, document, found, _is_named_by_content, NAME_ROLE_VALUE, "tabs", "what they show")


@check(
    "aria-tooltip-name",
    name="Tooltips have text",
    severity=HIGH,
    fix='Write the text of the tip into the element with role="tooltip".',
    references=(WCAG_4_1_2, "axe-core: aria-tooltip-name"),
)
def aria_tooltip_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "tooltip")
    return _judged(page, document, found, _is_named_by_content, NAME_ROLE_VALUE, "tooltips", "what they explain")


@check(
    "aria-treeitem-name",
    name="Tree items have a name",
    severity=MEDIUM,
    fix='Say what the item is: <li role="treeitem">Documents</li>, or by aria-label.',
    references=("axe-core: aria-treeitem-name (best practice)",),
)
def aria_treeitem_name(page: Page, document: AccessibleDocument) -> Finding:
    found = widgets(document, "treeitem")
    return _judged(page, document, found, _is_named_by_content, BEST_PRACTICE, "tree items", "what they are")


@check(
    "frame-title-unique",
    name="Frames have titles of their own",
    severity=HIGH,
    fix='Give each frame a title that tells it from the others: <iframe title="Map of our shops" …>.',
    references=(WCAG_4_1_2, "axe-core: frame-title-unique"),
)
def frame_title_unique(axe: AxeReport) -> Finding:
    return INAPPLICABLE


def _judged(
    page: Page,
    document: AccessibleDocument,
    elements: Iterable[LexborNode],
    is_named: Named,
    criterion: Criterion,
    what: str,
    unheard: str,
) -> Finding:
    if not page.is_html:
        return NOT_HTML
    found = list(elements)
    if not found:
        return NotApplicable(f"The page has no {what}.")
    return judge_names(
        document,
        found,
        [each for each in found if not is_named(document, each)],
        criterion,
        passed=f"All {what} ({len(found)}) have a name.",
        failed=f"{what} without a name, so nobody hears {unheard}",
    )


def _is_named_by_author(document: AccessibleDocument, node: LexborNode) -> bool:
    return has_aria_name(document, node) or has_title(node)


def _is_named_by_content(document: AccessibleDocument, node: LexborNode) -> bool:
    return _is_named_by_author(document, node) or has_content_name(document, node)


def _is_named_button(document: AccessibleDocument, node: LexborNode) -> bool:
    return _is_named_by_content(document, node) or _is_labelled(document, node) or is_presentational(node)


def _is_named_input_button(document: AccessibleDocument, node: LexborNode) -> bool:
    value = attribute(node, "value")
    has_default = value is None and attribute(node, "type") != "button"
    return (
        has_default
        or bool(value and value.strip())
        or _is_named_by_author(document, node)
        or _is_labelled(document, node)
        or is_presentational(node)
    )


def _is_labelled(document: AccessibleDocument, button: LexborNode) -> bool:
    """By a label, for which axe-core also takes one that is named to the button, but hidden."""
    return any(
        label_text(document, each, button) or (document.visibility.is_hidden(each) and attribute(each, "for"))
        for each in document.labels(button)
    )


def _is_named_frame(document: AccessibleDocument, node: LexborNode) -> bool:
    if _is_named_by_author(document, node):
        return True
    attributes = node.attributes
    is_none = explicit_role(node) == "none" and not says_more(node)
    return is_none and "title" not in attributes and "tabindex" not in attributes


def _is_judged_as_button(node: LexborNode) -> bool:
    """Not where a disabled button has another role, that needs no name."""
    role = explicit_role(node)
    return role in (None, "none") or role in NAME_REQUIRED or is_focusable(node)


def _is_first_summary(node: LexborNode) -> bool:
    if node.parent is None or node.parent.tag != "details":
        return False
    before = node.prev
    while before is not None and before.tag != "summary":
        before = before.prev
    return before is None


def _is_out_of_tab_order(node: LexborNode) -> bool:
    return re.match(r"\s*-0*[1-9]", attribute(node, "tabindex") or "") is not None


def _headings(document: AccessibleDocument) -> Iterable[LexborNode]:
    for node in document.exposed(", ".join((*HEADINGS, "[role=heading]"))):
        role = explicit_role(node)
        if role == "heading" or (
            node.tag in HEADINGS and (role is None or (role == "none" and not is_presentational(node)))
        ):
            yield node


def _table_headers(document: AccessibleDocument) -> Iterable[LexborNode]:
    for node in document.exposed("th, [role=rowheader], [role=columnheader]"):
        if attribute(node, "role") is not None:
            if attribute(node, "role") in ("rowheader", "columnheader"):
                yield node
            continue
        table = enclosing(node, "table")
        if table is None or not is_presentational(table):  # a layout's headers are none
            yield node
