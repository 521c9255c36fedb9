"""Landmarks that assistive technology can jump to.

WAI-ARIA 1.2, section 5.3.4. Landmarks, and the content that must be inside one, are determined as in axe-core 4.12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import InheritedProperty
from website_scan.accessibility.aria.native_roles import implicit_role, role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.languages import TAGS_WITH_VISUAL_CONTENT, TAGS_WITHOUT_TEXT, VISUAL_ROLES
from website_scan.accessibility.names import accessible_name, has_aria_name
from website_scan.accessibility.roles import sole_role
from website_scan.accessibility.structure.skip_links import SkipLinks
from website_scan.accessibility.verdicts import Faults, places
from website_scan.accessibility.wcag import BEST_PRACTICE
from website_scan.findings import NotApplicable
from website_scan.outcomes import Pass, Verdict, Warn
from website_scan.page.markup import attribute, elements, select, texts

# Landmark roles as in axe-core, with the role application.
LANDMARKS = frozenset(
    {"application", "banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"}
)
# A header or footer inside these elements is not a landmark of the page.
SECTIONING_TAGS = frozenset({"article", "aside", "main", "nav", "section"})
# An element is a landmark only if it has no role attribute.
NATIVE = {"banner": "header", "contentinfo": "footer", "main": "main"}
# Selector of elements that axe-core compares to find duplicate landmarks.
COMPARED_LANDMARKS_SELECTOR = "form, footer, header, aside, main, nav, section, " + ", ".join(
    f"[role={role}]" for role in sorted(LANDMARKS - {"application"})
)
# Screen readers announce changes in live regions, wherever they are.
ARIA_LIVE_VALUES = frozenset({"assertive", "polite"})
LIVE_REGION_ROLES = frozenset({"alert", "log", "status"})
DIALOGS = frozenset({"dialog", "alertdialog"})
# A page may repeat these landmarks, for example around a long text.
REPEATABLE_LANDMARKS = frozenset({"navigation", "search"})


def landmark_candidates(document: AccessibleDocument, landmark: str) -> list[LexborNode]:
    """Return the elements with a landmark's role or tag.

    Some of them are in a position that prevents a landmark.
    """
    tag = NATIVE[landmark]
    return [
        node
        for node in document.exposed(f"{tag}, [role={landmark}]")
        if attribute(node, "role") == landmark or (node.tag == tag and attribute(node, "role") is None)
    ]


def find_nested_landmarks(document: AccessibleDocument, landmark: str) -> Faults:
    """Find landmarks with a role that are nested in another landmark.

    `role` is a role such as main. A header or footer of an article or section is not a landmark.
    """
    surroundings = InheritedProperty(_AncestorFlags(), _make_surroundings_step(document))
    landmarks = [
        node
        for node in landmark_candidates(document, landmark)
        if landmark == "main"
        or attribute(node, "role") is not None
        or not surroundings.inherited_value(node.parent).part
    ]
    return Faults.find(landmarks, lambda node: surroundings.inherited_value(node.parent).landmark)


def visible_landmarks(document: AccessibleDocument, landmark: str) -> list[LexborNode]:
    """Return the landmarks with this role that no style sheet may hide.

    `role` is a role such as main.
    """
    return [
        node
        for node in landmark_candidates(document, landmark)
        if (landmark == "main" or role(document, node) == landmark) and not document.visibility.may_be_hidden(node)
    ]


def judge_landmark_count(document: AccessibleDocument, landmark: str) -> Verdict:
    """Return a warning if the page has several landmarks of a role.

    “Not applicable” if it has none.
    """
    if not landmark_candidates(document, landmark):
        return NotApplicable(f"The page has no {landmark} landmarks.")
    landmarks = visible_landmarks(document, landmark)
    if len(landmarks) <= 1:
        return Pass(f"The page has no more than one {landmark} landmark.")
    return Warn(
        "several",
        f"The page has more than one {landmark} landmark.",
        places=places(landmarks, BEST_PRACTICE),
        total=len(landmarks),
    )


def find_duplicate_landmarks(document: AccessibleDocument) -> Faults:
    """Find landmarks with the role and name of an earlier landmark.

    Landmarks that a style sheet may hide are left out. So are navigation and search landmarks with the links and forms
    of an earlier one, because they should share a name (ARIA Authoring Practices Guide, "Landmark Regions",
    Navigation).
    """
    landmarks: list[LexborNode] = []
    duplicates: list[LexborNode] = []
    roles_and_names: set[tuple[str, str]] = set()
    contents: set[tuple[str, frozenset[str]]] = set()
    for node in document.exposed(COMPARED_LANDMARKS_SELECTOR):
        element_role = role(document, node)
        is_landmark_only_with_name = node.tag in ("section", "form")
        if (
            element_role is None
            or not (element_role in LANDMARKS or is_landmark_only_with_name)
            or document.visibility.may_be_hidden(node)
        ):
            continue
        if element_role in REPEATABLE_LANDMARKS and (targets := _link_targets(node)):
            if (element_role, targets) in contents:
                continue
            contents.add((element_role, targets))
        name = accessible_name(document, node).lower()
        if name or not is_landmark_only_with_name:
            landmarks.append(node)
            if (element_role, name) in roles_and_names:
                duplicates.append(node)
            roles_and_names.add((element_role, name))
    return Faults(landmarks, duplicates)


def _link_targets(node: LexborNode) -> frozenset[str]:
    """Return the URLs and texts of an element's links and forms."""
    links = [*select(node, "a[href], form[action]"), *([node] if attribute(node, "action") else [])]
    return frozenset(
        " ".join((attribute(link, "href") or attribute(link, "action") or "", *(link.text() or "").split()))
        for link in links
    )


def find_content_outside(document: AccessibleDocument) -> Faults:
    """Find elements with text or visible content outside all landmarks.

    The judged elements include the landmarks. Of nested faulty elements, only the outermost without a landmark inside
    is reported. Elements that a style sheet may hide, skip links and single buttons are left out; no element is judged
    if nothing else has content.
    """
    body = next(document.exposed("body"), None)
    if body is None:
        return Faults(())
    skip_links = SkipLinks(document)
    excluded_ids: set[int] = {body.mem_id}  # IDs (`mem_id`) of elements that contain a landmark or an excluded element.
    judged: list[LexborNode] = []
    outside: list[LexborNode] = []
    has_landmark = False
    pending = [body]
    while pending:
        node = pending.pop()
        if document.visibility.is_hidden_from_at(node):
            _mark_ancestors(node, excluded_ids)
            continue
        element_role = role(document, node)
        if node.mem_id != body.mem_id:
            judged.append(node)
        is_skip_link = node.mem_id in skip_links.links and skip_links.target(node) is not None
        if document.visibility.may_be_hidden(node) or is_skip_link:
            _mark_ancestors(node, excluded_ids)
        elif _is_landmark_or_live_region(node, element_role):
            has_landmark = True
            _mark_ancestors(node, excluded_ids)
        elif node.mem_id != body.mem_id and _has_perceivable_content(document, node, element_role):
            outside.append(node)
        else:
            pending.extend(reversed([*elements(node)]))
    return Faults(judged if has_landmark or outside else (), _replace_by_outermost_ancestors(outside, excluded_ids))


class _AncestorFlags(Struct, frozen=True):
    """Whether a node is in a sectioning element or a landmark.

    True for such an element itself.
    """

    part: bool = False
    landmark: bool = False


def _make_surroundings_step(document: AccessibleDocument) -> Callable[[LexborNode, _AncestorFlags], _AncestorFlags]:
    def compute_surroundings(node: LexborNode, parent: _AncestorFlags) -> _AncestorFlags:
        element_role = sole_role(node)
        if element_role is None and node.tag != "form":  # A form is a landmark only if it has a role attribute.
            element_role = implicit_role(document, node)
        return _AncestorFlags(
            part=parent.part or node.tag in SECTIONING_TAGS, landmark=parent.landmark or element_role in LANDMARKS
        )

    return compute_surroundings


def _is_landmark_or_live_region(node: LexborNode, element_role: str | None) -> bool:
    return (
        element_role in LANDMARKS
        or element_role in LIVE_REGION_ROLES
        or element_role == "button"
        or node.tag in ("dialog", "svg", "iframe", "frame")
        or attribute(node, "role") in DIALOGS
        or (attribute(node, "aria-live") or "").lower().strip() in ARIA_LIVE_VALUES
    )


def _has_perceivable_content(document: AccessibleDocument, node: LexborNode, element_role: str | None) -> bool:
    has_text = node.tag not in TAGS_WITHOUT_TEXT and any(texts(node))
    if has_text or element_role == "none":
        return has_text
    explicit = sole_role(node)
    return (explicit in VISUAL_ROLES if explicit else node.tag in TAGS_WITH_VISUAL_CONTENT) or has_aria_name(
        document, node
    )


def _mark_ancestors(node: LexborNode, excluded_ids: set[int]) -> None:
    current: LexborNode | None = node
    while current is not None and current.mem_id not in excluded_ids:
        excluded_ids.add(current.mem_id)
        current = current.parent


def _replace_by_outermost_ancestors(nodes: Iterable[LexborNode], excluded_ids: set[int]) -> list[LexborNode]:
    """Replace nodes by their outermost ancestor that is not excluded.

    `excluded_ids` identifies the excluded ones. The result has no duplicates.
    """
    outermost_ancestor_by_id: dict[int, LexborNode] = {}
    result: dict[int, LexborNode] = {}
    for node in nodes:
        path = []
        current = node
        while current.mem_id not in outermost_ancestor_by_id:
            path.append(current)
            if current.parent is None or current.parent.mem_id in excluded_ids:
                break
            current = current.parent
        outermost = outermost_ancestor_by_id.get(current.mem_id, current)
        for element in path:
            outermost_ancestor_by_id[element.mem_id] = outermost
        result[outermost.mem_id] = outermost
    return list(result.values())
