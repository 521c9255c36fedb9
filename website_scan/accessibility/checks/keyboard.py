"""Checks of the keyboard: tab order, access keys and skip links.

Nested and unreachable controls are judged here, too. A check is the axe-core rule with its ID. A fault is only a
warning if axe-core would need rendered styles or the page after its scripts have run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, ClassVar

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import InheritedProperty
from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.axe import INAPPLICABLE
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import visible_text
from website_scan.accessibility.roles import is_focusable, is_summary_of_details, is_tabbable, tab_index
from website_scan.accessibility.structure.headings import plain_headings
from website_scan.accessibility.structure.skip_links import SkipLinks
from website_scan.accessibility.verdicts import Faults, judges, not_served, warns
from website_scan.accessibility.wai_aria import WIDGETS
from website_scan.accessibility.wcag import BEST_PRACTICE, BYPASS_BLOCKS, KEYBOARD, NAME_ROLE_VALUE
from website_scan.accessibility.wording import faulty
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.outcomes import Pass, Review, Verdict, outcome
from website_scan.page.markup import attribute, live
from website_scan.places import Column, Place

CATEGORY = Category("Keyboard and navigation", weight=10, html=True, content=True)

# Roles with "Children Presentational: True" (WAI-ARIA 1.2, section 5.2.8, and Graphics-ARIA 1.0).
OPAQUE = frozenset(
    {"button", "checkbox", "graphics-symbol", "img", "math", "menuitemcheckbox", "menuitemradio", "meter", "option"}
    | {"progressbar", "radio", "scrollbar", "separator", "slider", "switch", "tab"}
)
# Selectors of elements whose role may hide their children, and of possible widgets.
OPAQUE_ELEMENTS_SELECTOR = "[role], button, hr, img, input, math, meter, option, progress, summary"
WIDGET_ELEMENTS_SELECTOR = "[role], a[href], button, input, option, select, summary, textarea"
# A link must not contain interactive content. The Tab key does not stop at labels and details.
INTERACTIVE_CONTENT_SELECTOR = (
    "[contenteditable], [tabindex], audio[controls], button, iframe, input, select, summary, textarea, video[controls]"
)
NATIVE_CONTROLS = frozenset({"button", "input", "select", "textarea"})
INTERACTIVE_WITHOUT_FOCUS = frozenset({"audio", "iframe", "summary", "video"})
# Routes of single-page applications (`#/…`, `#!…`) are no in-page links.
IN_PAGE_LINK = re.compile(r"#[^/!]")
# Class names of links that are invisible until they have the keyboard focus.
HIDING_CLASS = re.compile(
    r"skip|jump|visually-?hidden|visuallyhidden|sr-only|screen-?reader|off-?screen|a11y|element-invisible",
    re.IGNORECASE,
)
OFFSCREEN_STYLE = re.compile(
    r"(?:left|top|right|bottom|margin|transform|clip)[^;]{0,80}?(?:-\d{2}|\(0|\(1px)", re.IGNORECASE
)
# Number of ancestors to search for the class that hides a skip link.
MAX_ANCESTOR_LEVELS = 4
SKIPPING = re.compile(r"\b(?:skip|jump)\b", re.IGNORECASE)
# The fragment `top` works without a target element.
TOP = frozenset({"#top"})


class FailedCriterion(Place, frozen=True):
    """Place of a finding about the whole page.

    Names the WCAG success criterion that the page may fail.
    """

    kind: ClassVar[str] = "criterion"

    wcag: Annotated[str, Column("WCAG", "short")]
    level: Annotated[str, Column("WCAG level", "short")]


@check(
    "tabindex",
    name="No tabindex above 0",
    outcomes={"positive": "Tabindex above 0"},
    why="The Tab key moves through the page in an unexpected order.",
    severity=MEDIUM,
    fix='Use `tabindex="0"` or none at all, and put the elements in the HTML into the order of use.',
    references=("axe-core: tabindex (best practice)",),
)
@judges("element|elements with a tabindex", "has|have one above 0", "have 0 or less", BEST_PRACTICE)
def tabindex(document: AccessibleDocument) -> Faults:
    return Faults.find(document.exposed("[tabindex]"), lambda node: (tab_index(node) or 0) > 0)


@check(
    "accesskeys",
    name="Access keys are unique",
    outcomes={"duplicate": "Duplicate access keys"},
    why="The key works for one of the elements only, and which one depends on the browser.",
    judged="Links to the same address may share a key.",
    severity=MEDIUM,
    fix="Use each `accesskey` for one element only, or remove them: they conflict with screen readers' own keys.",
    references=("axe-core: accesskeys (best practice)",),
)
@judges("element|elements with an access key", "shares|share it with another", "have a key of their own", BEST_PRACTICE)
def accesskeys(document: AccessibleDocument) -> Faults:
    elements_by_key: dict[str, list[LexborNode]] = {}
    for node in live(document.document, "[accesskey]"):
        key = (attribute(node, "accesskey") or "").upper()
        if key and not document.visibility.is_hidden(node):
            elements_by_key.setdefault(key, []).append(node)
    certain: list[LexborNode] = []
    uncertain: list[LexborNode] = []
    for elements_with_key in elements_by_key.values():
        if _are_same_link(elements_with_key):
            continue
        visible = [node for node in elements_with_key if not document.visibility.may_be_hidden(node)]
        if len(visible) > 1:
            certain += visible
        elif len(elements_with_key) > 1:
            uncertain += elements_with_key
    return Faults(
        [node for elements_with_key in elements_by_key.values() for node in elements_with_key], certain, uncertain
    )


@check(
    "bypass",
    name="Repeated content can be bypassed",
    outcomes={"missing": "No way to bypass repeated content"},
    why="Keyboard users have to tab through the same navigation on every page.",
    consequence="Visitors who use a keyboard instead of a mouse have to pass the same links again on every page.",
    severity=HIGH,
    fix='Put the main content into `<main>`, give it headings, or start with `<a href="#content">Skip to content</a>`.',
    references=(f"{BYPASS_BLOCKS}", "axe-core: bypass"),
    absence=True,
)
@faulty("the page", "has no way to bypass repeated content")
def bypass(document: AccessibleDocument) -> Verdict:
    links = list(live(document.document, "a[href]"))
    if not links:
        return NotApplicable("The page has no links.")
    if any(document.exposed("main, [role=main]")):
        return Pass("The page has a main landmark to jump to.")
    if plain_headings(document):
        return Pass("The page has headings to jump to.")
    if any(IN_PAGE_LINK.match(attribute(link, "href") or "") for link in links):
        return Pass("The page has links within it.")
    if verdict := not_served(document):
        return verdict
    return Review(
        "missing",
        "Only a person can tell whether repeated content can be bypassed: the page has no main landmark, no heading "
        "and no link within it.",
        details=[FailedCriterion(BYPASS_BLOCKS.number, BYPASS_BLOCKS.level)],
    )


@check(
    "skip-link",
    name="Skip links have a target",
    outcomes={"no-target": "Skip links without a target"},
    why="Keyboard users cannot skip the navigation after all.",
    severity=MEDIUM,
    fix='Give the target the ID that the link refers to: `<a href="#content">Skip to content</a>` and `<main '
    'id="content">`.',
    references=("axe-core: skip-link (best practice)",),
)
@warns("skip link|links", "has|have no visible target", "have a target on the page", BEST_PRACTICE)
def skip_link(document: AccessibleDocument) -> Faults:
    skip_links = SkipLinks(document)
    links = (
        link
        for link in document.exposed("a[href]")
        if link.mem_id in skip_links.links
        and (attribute(link, "href") or "").startswith(("#", "/#"))
        and (_is_visible_only_on_focus(document, link) or skip_links.is_moved_offscreen(link))
    )
    return Faults.find(links, lambda link: not _has_valid_target(document, link, skip_links.target(link)))


@check(
    "nested-interactive",
    name="Interactive controls are not nested",
    outcomes={"nested": "Nested interactive controls"},
    why="Screen readers announce only the outer control, and may not reach the inner one.",
    consequence="Blind visitors may not be able to reach or use a button or link on the page.",
    judged="A control inside a link counts, too: HTML allows no interactive content there.",
    severity=HIGH,
    fix="Put one control beside the other instead of inside it, or remove the role from the outer one.",
    references=(f"{NAME_ROLE_VALUE}", "axe-core: nested-interactive"),
)
@judges(
    "control|controls or image|images", "contains|contain another control", "contain no other control", NAME_ROLE_VALUE
)
def nested_interactive(document: AccessibleDocument) -> Faults:
    links = [
        node
        for node in document.exposed("a[href], [role=link]")
        if role(document, node) == "link" and is_focusable(node)
    ]
    opaque = [
        node
        for node in document.exposed(OPAQUE_ELEMENTS_SELECTOR)
        if role(document, node) in OPAQUE and not _is_plain_summary(node)
    ]
    visible = [
        node for node in _find_opaque_elements_with_widgets(document, opaque) if _is_surely_visible(document, node)
    ]
    return Faults([*opaque, *links], _find_links_with_controls(document, links), visible, unless="")


@check(
    "scrollable-region-focusable",
    name="Scrollable regions are keyboard accessible",
    outcomes={
        "unreachable": "Scrollable regions without keyboard access",
        "older-browsers": outcome("Scrollable regions without keyboard access in older browsers", LOW),
    },
    why="Keyboard users who cannot scroll the region never see the rest of it.",
    consequence="Visitors who use a keyboard instead of a mouse may not reach a part of the content.",
    judged="It fails if the scanning browser does not reach the region by Tab, and warns if only older ones do not. "
    "A widget with `aria-activedescendant` scrolls its region.",
    severity=HIGH,
    fix='Make the region focusable: `<div tabindex="0" role="region" aria-label="…">`, or put a focusable control '
    "inside it.",
    references=(f"{KEYBOARD}", "axe-core: scrollable-region-focusable"),
)
@faulty("scrollable region|regions", "cannot be scrolled by keyboard")
def scrollable_region_focusable(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


@check(
    "frame-focusable-content",
    name="Frames with controls are keyboard accessible",
    outcomes={"unreachable": "Frames with controls and a negative tabindex"},
    why="Keyboard users cannot reach the controls inside the frame.",
    consequence="Visitors who use a keyboard instead of a mouse cannot use an embedded part of the page.",
    severity=HIGH,
    fix='Remove `tabindex="-1"` from the frame: it makes everything in it unreachable by keyboard.',
    references=(f"{KEYBOARD}", "axe-core: frame-focusable-content"),
)
@faulty("frame|frames with controls", "has|have a negative tabindex")
def frame_focusable_content(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


def _has_valid_target(document: AccessibleDocument, link: LexborNode, target: LexborNode | None) -> bool:
    if target is None:
        return attribute(link, "href") in TOP
    return not document.visibility.is_hidden_from_at(target)


def _find_opaque_elements_with_widgets(document: AccessibleDocument, opaque: list[LexborNode]) -> list[LexborNode]:
    """Return elements that hide a focusable widget inside them.

    Their role hides their children.
    """
    opaque_by_id = {opaque_node.mem_id: opaque_node for opaque_node in opaque}
    nearest: InheritedProperty[LexborNode | None] = InheritedProperty(
        None, lambda node, parent_value: opaque_by_id.get(node.mem_id, parent_value)
    )
    faulty: dict[int, LexborNode] = {}
    for node in live(document.document, WIDGET_ELEMENTS_SELECTOR):
        container = nearest.inherited_value(node.parent)
        if container is None or container.mem_id in faulty:
            continue
        if _is_surely_visible(document, node) and role(document, node) in WIDGETS and is_focusable(node):
            faulty[container.mem_id] = container
    return list(faulty.values())


def _find_links_with_controls(document: AccessibleDocument, links: list[LexborNode]) -> list[LexborNode]:
    """Return the links that contain interactive content.

    The content is another tab stop.
    """
    links_by_id = {link.mem_id: link for link in links}
    nearest: InheritedProperty[LexborNode | None] = InheritedProperty(
        None, lambda node, parent_value: links_by_id.get(node.mem_id, parent_value)
    )
    faulty: dict[int, LexborNode] = {}
    for node in live(document.document, INTERACTIVE_CONTENT_SELECTOR):
        link = nearest.inherited_value(node.parent)
        if link is not None and _is_surely_visible(document, node) and _is_tab_stop(node):
            faulty[link.mem_id] = link
    return list(faulty.values())


def _is_tab_stop(node: LexborNode) -> bool:
    """Return True if the Tab key may reach the element.

    True for all interactive content.
    """
    if node.tag in INTERACTIVE_WITHOUT_FOCUS:
        return not _is_plain_summary(node)
    if attribute(node, "contenteditable") is not None and tab_index(node) is None:
        return (attribute(node, "contenteditable") or "").lower() in ("", "true", "plaintext-only")
    return is_tabbable(node) if node.tag not in NATIVE_CONTROLS else is_focusable(node)


def _is_plain_summary(node: LexborNode) -> bool:
    """Return True for a summary element that does not open anything.

    Documentation generators put these elements into sections.
    """
    return node.tag == "summary" and attribute(node, "role") is None and not is_summary_of_details(node)


def _is_surely_visible(document: AccessibleDocument, node: LexborNode) -> bool:
    return not (document.visibility.is_hidden(node) or document.visibility.may_be_hidden(node))


@lru_cache(maxsize=100)
def _has_hiding_class(classes: str) -> bool:
    return HIDING_CLASS.search(classes) is not None


def _is_visible_only_on_focus(document: AccessibleDocument, link: LexborNode) -> bool:
    """Return True if a skip link is probably visible only on focus.

    Its classes, style or text suggest so.
    """
    current: LexborNode | None = link
    for _ in range(MAX_ANCESTOR_LEVELS):
        if current is None:
            break
        if _has_hiding_class((attribute(current, "class") or "")[:1_000]):
            return True
        current = current.parent
    style = (attribute(link, "style") or "")[:1_000]
    return OFFSCREEN_STYLE.search(style) is not None or SKIPPING.search(visible_text(document, link)[:200]) is not None


def _are_same_link(nodes: Sequence[LexborNode]) -> bool:
    """Return True if all elements are links to the same URL.

    An example is “next” above and below a text.
    """
    addresses = {attribute(node, "href") if node.tag == "a" else None for node in nodes}
    return len(addresses) == 1 and None not in addresses
