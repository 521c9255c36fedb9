"""Checks of the accessible names of links, buttons and widgets.

The names of frames and headings are judged here, too. A check is the axe-core rule with its ID. A fault is only a
warning if axe-core would need rendered styles or the page after its scripts have run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.framework_bindings import may_be_named_by_script
from website_scan.accessibility.axe import INAPPLICABLE
from website_scan.accessibility.controls.links import find_ambiguous_links
from website_scan.accessibility.controls.widgets import aria_widgets
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import has_author_name, has_content_name, is_labelled
from website_scan.accessibility.roles import (
    explicit_role,
    has_global_attribute,
    has_negative_tabindex,
    is_focusable,
    is_presentational,
    is_summary_of_details,
)
from website_scan.accessibility.scripted import FilledLinks
from website_scan.accessibility.verdicts import Faults, judges
from website_scan.accessibility.wai_aria import ROLES_THAT_REQUIRE_NAMES
from website_scan.accessibility.wcag import (
    BEST_PRACTICE,
    LINK_PURPOSE,
    LINK_PURPOSE_ALONE,
    NAME_ROLE_VALUE,
    NON_TEXT_CONTENT,
)
from website_scan.accessibility.wording import faulty
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM
from website_scan.outcomes import Verdict
from website_scan.page.markup import attribute, enclosing

CATEGORY = Category("Names and labels of controls", weight=20, html=True, content=True, absence=True)

BUTTON_INPUT_TYPES = frozenset({"button", "submit", "reset"})
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
IsNamed = Callable[[AccessibleDocument, LexborNode], bool]


@check(
    "link-name",
    name="Links have a name",
    outcomes={"missing": "Links without a name"},
    why="Screen readers announce only “link”, or read out the URL.",
    consequence="Blind visitors cannot tell where a link leads, and may not find what they came for.",
    severity=HIGH,
    fix='Add text that says where the link leads, or an `aria-label`: `<a href="/cart" aria-label="Shopping '
    'cart"><svg …></a>`.',
    references=(f"{LINK_PURPOSE}", f"{NAME_ROLE_VALUE}", "axe-core: link-name"),
)
@judges("link|links", "has|have no name", "have a name", LINK_PURPOSE)
def link_name(document: AccessibleDocument) -> Faults:
    links = (link for link in document.exposed("a[href]") if attribute(link, "href") is not None)
    filled = FilledLinks(document)
    return Faults.find(
        links,
        lambda link: not _is_named_by_content(document, link),
        lambda link: may_be_named_by_script(link) or filled.may_be_filled(link),
        needs_review=filled.is_named_in_script,
    )


@check(
    "identical-links-same-purpose",
    name="Links with the same name lead to the same place",
    outcomes={"ambiguous": "Links with the same name lead to different places"},
    why="People who go through a list of the page's links cannot tell them apart.",
    severity=LOW,
    fix='Say in each link what it leads to: `<a href="/a">More about A</a>` or `<a href="/a" aria-label="More about '
    'A">`.',
    references=(f"{LINK_PURPOSE_ALONE}", "axe-core: identical-links-same-purpose"),
)
@judges(
    "link name|names", "belongs|belong to links with different purposes", "lead to one place each", LINK_PURPOSE_ALONE
)
def identical_links_same_purpose(document: AccessibleDocument) -> Faults:
    return find_ambiguous_links(document)


@check(
    "button-name",
    name="Buttons have a name",
    outcomes={"missing": "Buttons without a name"},
    why="Screen readers announce only “button”, and not what it does.",
    consequence="Blind visitors cannot tell what a button does, and may not be able to use the page.",
    severity=CRITICAL,
    fix='Add text that says what the button does, or an `aria-label`: `<button aria-label="Close"><svg …></button>`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: button-name"),
)
@judges("button|buttons", "has|have no name", "have a name", NAME_ROLE_VALUE)
def button_name(document: AccessibleDocument) -> Faults:
    buttons = (button for button in document.exposed("button") if _requires_button_name(button))
    return _find_nameless(document, buttons, _is_named_button)


@check(
    "input-button-name",
    name="Input buttons have a name",
    outcomes={"missing": "Input buttons without a name"},
    why="Screen readers announce only “button”, and not what it does.",
    consequence="Blind visitors cannot tell what a button does, and may not be able to use the page.",
    severity=CRITICAL,
    fix='Say what the button does: `<input type="button" value="Add to cart">`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: input-button-name"),
)
@judges("input button|buttons", "has|have no name", "have a name", NAME_ROLE_VALUE)
def input_button_name(document: AccessibleDocument) -> Faults:
    inputs = (field for field in document.exposed("input[type]") if attribute(field, "type") in BUTTON_INPUT_TYPES)
    buttons = (button for button in inputs if _requires_button_name(button))
    return _find_nameless(document, buttons, _has_input_button_name)


@check(
    "summary-name",
    name="Summaries have a name",
    outcomes={"missing": "Summaries without a name"},
    why="Screen readers cannot say what the element opens.",
    consequence="Blind visitors cannot tell what a fold-out part of the page contains, and may miss it.",
    severity=HIGH,
    fix="Say what the element opens: `<details><summary>Delivery</summary>…</details>`.",
    references=(f"{NAME_ROLE_VALUE}", "axe-core: summary-name"),
)
@judges("summary element|elements", "has|have no name", "have a name", NAME_ROLE_VALUE)
def summary_name(document: AccessibleDocument) -> Faults:
    summaries = (summary for summary in document.exposed("summary") if is_summary_of_details(summary))
    return _find_nameless(document, summaries, _is_named_by_content)


@check(
    "frame-title",
    name="Frames have a title",
    outcomes={"missing": "Frames without a title"},
    why="Screen reader users have to enter a frame to find out what is in it.",
    consequence="Blind visitors cannot tell what an embedded part of the page contains, such as a map or a video.",
    severity=HIGH,
    fix='Say what the frame shows: `<iframe src="…" title="Map of our shops">`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: frame-title"),
    absence=False,
)
@judges("frame|frames", "has|have no title", "have a title", NAME_ROLE_VALUE)
def frame_title(document: AccessibleDocument) -> Faults:
    frames = (frame for frame in document.exposed("frame, iframe") if not has_negative_tabindex(frame))
    return _find_nameless(document, frames, _is_named_frame)


@check(
    "empty-heading",
    name="Headings have text",
    outcomes={"empty": "Headings without text"},
    why="Screen reader users jump from heading to heading; an empty one leads nowhere.",
    severity=LOW,
    fix="Give the heading text, or remove it.",
    references=("axe-core: empty-heading (best practice)",),
)
@judges("heading|headings", "has|have no text", "have text", BEST_PRACTICE)
def empty_heading(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, _heading_elements(document), _is_named_by_content)


@check(
    "empty-table-header",
    name="Table headers have text",
    outcomes={"empty": "Table headers without text"},
    why="Screen readers announce the header with each cell, but this one is empty.",
    severity=LOW,
    fix="Say what the column or row contains, or use `<td>` for an empty corner.",
    references=("axe-core: empty-table-header (best practice)",),
)
@judges("table header|headers", "has|have no text", "have text", BEST_PRACTICE)
def empty_table_header(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, _table_headers(document), has_content_name)


@check(
    "aria-command-name",
    name="ARIA links, buttons and menu items have a name",
    outcomes={"missing": "ARIA controls without a name"},
    why="Screen readers announce the role alone, and not what the control does.",
    consequence="Blind visitors cannot tell what a button, link or menu entry does.",
    severity=HIGH,
    fix='Say what the control does: `<div role="button" aria-label="Close" …>`, or write it as text.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-command-name"),
)
@judges("ARIA link|links, button|buttons or menu item|items", "has|have no name", "have a name", NAME_ROLE_VALUE)
def aria_command_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "link", "button", "menuitem"), _is_named_by_content)


@check(
    "aria-dialog-name",
    name="ARIA dialogs have a name",
    outcomes={"missing": "ARIA dialogs without a name"},
    why="When the dialog opens, screen reader users are not told what it is about.",
    severity=MEDIUM,
    fix='Name the dialog after its heading: `<div role="dialog" aria-labelledby="dialog-heading">`.',
    references=("axe-core: aria-dialog-name (best practice)",),
)
@judges("ARIA dialog|dialogs", "has|have no name", "have a name", BEST_PRACTICE)
def aria_dialog_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "dialog", "alertdialog"), has_author_name)


@check(
    "aria-meter-name",
    name="ARIA meters have a name",
    outcomes={"missing": "ARIA meters without a name"},
    why="Screen readers announce a value without saying what it measures.",
    consequence="Blind visitors hear a value, but not what it measures.",
    severity=HIGH,
    fix='Say what is measured: `<div role="meter" aria-label="Disk space" …>`.',
    references=(f"{NON_TEXT_CONTENT}", "axe-core: aria-meter-name"),
)
@judges("ARIA meter|meters", "has|have no name", "have a name", NON_TEXT_CONTENT)
def aria_meter_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "meter"), has_author_name)


@check(
    "aria-progressbar-name",
    name="ARIA progress bars have a name",
    outcomes={"missing": "ARIA progress bars without a name"},
    why="Screen readers announce progress without saying of what.",
    consequence="Blind visitors hear that something is in progress, but not what.",
    severity=HIGH,
    fix='Say what is in progress: `<div role="progressbar" aria-label="Upload" …>`.',
    references=(f"{NON_TEXT_CONTENT}", "axe-core: aria-progressbar-name"),
)
@judges("ARIA progress bar|bars", "has|have no name", "have a name", NON_TEXT_CONTENT)
def aria_progressbar_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "progressbar"), has_author_name)


@check(
    "aria-tab-name",
    name="ARIA tabs have a name",
    outcomes={"missing": "ARIA tabs without a name"},
    why="Screen readers announce “tab” without saying what it shows.",
    consequence="Blind visitors cannot tell what a tab shows, and may miss its content.",
    severity=HIGH,
    fix='Say what the tab shows: `<div role="tab" aria-label="Reviews" …>`, or write it as text.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-tab-name"),
)
@judges("ARIA tab|tabs", "has|have no name", "have a name", NAME_ROLE_VALUE)
def aria_tab_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "tab"), _is_named_by_content)


@check(
    "aria-tooltip-name",
    name="ARIA tooltips have a name",
    outcomes={"missing": "ARIA tooltips without a name"},
    why="Screen readers have nothing to announce for the tooltip.",
    consequence="Blind visitors may miss a hint that appears on the page.",
    severity=HIGH,
    fix='Put the text of the tooltip inside the element with `role="tooltip"`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: aria-tooltip-name"),
)
@judges("ARIA tooltip|tooltips", "has|have no name", "have a name", NAME_ROLE_VALUE)
def aria_tooltip_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "tooltip"), _is_named_by_content)


@check(
    "aria-treeitem-name",
    name="ARIA tree items have a name",
    outcomes={"missing": "ARIA tree items without a name"},
    why="Screen readers announce the level of the item without saying which one it is.",
    severity=MEDIUM,
    fix='Say what the item is: `<li role="treeitem">Documents</li>`, or use `aria-label`.',
    references=("axe-core: aria-treeitem-name (best practice)",),
)
@judges("ARIA tree item|items", "has|have no name", "have a name", BEST_PRACTICE)
def aria_treeitem_name(document: AccessibleDocument) -> Faults:
    return _find_nameless(document, aria_widgets(document, "treeitem"), _is_named_by_content)


@check(
    "frame-title-unique",
    name="Frame titles are unique",
    outcomes={"duplicate": "Frames with the same title"},
    why="Screen reader users cannot tell such frames apart.",
    consequence="Blind visitors cannot tell embedded parts of the page apart, such as maps or videos.",
    severity=HIGH,
    fix='Give each frame a title that differs from the others: `<iframe title="Map of our shops" …>`.',
    references=(f"{NAME_ROLE_VALUE}", "axe-core: frame-title-unique"),
)
@faulty("frame|frames", "has|have the title of another")
def frame_title_unique(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


def _find_nameless(document: AccessibleDocument, elements: Iterable[LexborNode], is_named: IsNamed) -> Faults:
    return Faults.find(elements, lambda node: not is_named(document, node), may_be_named_by_script)


def _is_named_by_content(document: AccessibleDocument, node: LexborNode) -> bool:
    return has_author_name(document, node) or has_content_name(document, node)


def _is_named_button(document: AccessibleDocument, node: LexborNode) -> bool:
    return _is_named_by_content(document, node) or is_labelled(document, node) or is_presentational(node)


def _has_input_button_name(document: AccessibleDocument, node: LexborNode) -> bool:
    value = attribute(node, "value")
    has_default_name = value is None and attribute(node, "type") != "button"
    return (
        has_default_name
        or bool(value and value.strip())
        or has_author_name(document, node)
        or is_labelled(document, node)
        or is_presentational(node)
    )


def _is_named_frame(document: AccessibleDocument, node: LexborNode) -> bool:
    if has_author_name(document, node):
        return True
    attributes = node.attributes
    has_role_none = explicit_role(node) == "none" and not has_global_attribute(node)
    return has_role_none and "title" not in attributes and "tabindex" not in attributes


def _requires_button_name(node: LexborNode) -> bool:
    """Return True if the button requires an accessible name.

    A disabled button with certain other roles requires none.
    """
    role = explicit_role(node)
    return role in (None, "none") or role in ROLES_THAT_REQUIRE_NAMES or is_focusable(node)


def _heading_elements(document: AccessibleDocument) -> Iterable[LexborNode]:
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
        if table is None or not is_presentational(table):  # Header cells of a layout table need no text.
            yield node
