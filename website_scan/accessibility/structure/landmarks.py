"""Landmarks: the parts of a page that assistive technology can jump to (WAI-ARIA 1.2, section 5.3.4).

axe-core 4.12 is the model for which elements are landmarks and which content must be inside one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.accessibility.ancestors import Inherited
from website_scan.accessibility.aria.native_roles import implicit_role, role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.languages import TAGS_WITHOUT_TEXT, VISUAL_ROLES, VISUAL_TAGS
from website_scan.accessibility.names import accessible_name, has_aria_name
from website_scan.accessibility.roles import sole_role
from website_scan.accessibility.structure.skip_links import SkipLinks
from website_scan.accessibility.verdicts import Faults, places
from website_scan.accessibility.wcag import BEST_PRACTICE
from website_scan.findings import NotApplicable
from website_scan.outcomes import Pass, Verdict, Warn
from website_scan.page.markup import attribute, elements, select, texts

# WAI-ARIA 1.2, section 5.3.4, plus application, as in axe-core.
LANDMARKS = frozenset(
    {"application", "banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"}
)
# A header or footer inside one of these belongs to that part and not to the page.
PARTS = frozenset({"article", "aside", "main", "nav", "section"})
# HTML element of each landmark. It counts only without a role attribute.
NATIVE = {"banner": "header", "contentinfo": "footer", "main": "main"}
# Elements that axe-core compares to find landmarks that are alike.
COMPARED_SELECTOR = "form, footer, header, aside, main, nav, section, " + ", ".join(
    f"[role={each}]" for each in sorted(LANDMARKS - {"application"})
)
# Live regions: screen readers announce changes in these anywhere on the page.
LIVE_VALUES = frozenset({"assertive", "polite"})
LIVE_ROLES = frozenset({"alert", "log", "status"})
DIALOGS = frozenset({"dialog", "alertdialog"})
# Landmarks that pages have twice, such as above and below a long text.
REPEATABLE = frozenset({"navigation", "search"})


def candidates(document: AccessibleDocument, landmark: str) -> list[LexborNode]:
    """Return the elements that the role attribute or the tag marks as this landmark, anywhere in the page."""
    tag = NATIVE[landmark]
    return [
        node
        for node in document.exposed(f"{tag}, [role={landmark}]")
        if attribute(node, "role") == landmark or (node.tag == tag and attribute(node, "role") is None)
    ]


def find_nested_landmarks(document: AccessibleDocument, landmark: str) -> Faults:
    """Judge the landmarks of a kind: faulty are those inside another landmark.

    A header or footer of an article or section is not a landmark.
    """
    surroundings = Inherited(_Surroundings(), _step(document))
    found = [
        node
        for node in candidates(document, landmark)
        if landmark == "main" or attribute(node, "role") is not None or not surroundings.of(node.parent).part
    ]
    return Faults.find(found, lambda node: surroundings.of(node.parent).landmark)


def visible_landmarks(document: AccessibleDocument, landmark: str) -> list[LexborNode]:
    """Return the candidates that are landmarks in their position, without those that a style sheet may hide."""
    return [
        node
        for node in candidates(document, landmark)
        if (landmark == "main" or role(document, node) == landmark) and not document.visibility.may_be_hidden(node)
    ]


def judge_landmark_count(document: AccessibleDocument, landmark: str) -> Verdict:
    """Warn about several landmarks of a kind. Not applicable without any."""
    if not candidates(document, landmark):
        return NotApplicable(f"The page has no {landmark} landmarks.")
    found = visible_landmarks(document, landmark)
    if len(found) <= 1:
        return Pass(f"The page has no more than one {landmark} landmark.")
    return Warn(
        "several",
        f"The page has more than one {landmark} landmark.",
        places=places(found, BEST_PRACTICE),
        total=len(found),
    )


def find_duplicate_landmarks(document: AccessibleDocument) -> Faults:
    """Judge all landmarks: faulty are those with the role and the name of an earlier one.

    Landmarks that a style sheet may hide are left out, and navigation or search with the links and forms of an earlier
    one, which should have the same name (ARIA Authoring Practices Guide, "Landmark Regions", Navigation).
    """
    found: list[LexborNode] = []
    repeated: list[LexborNode] = []
    seen: set[tuple[str, str]] = set()
    contents: set[tuple[str, frozenset[str]]] = set()
    for node in document.exposed(COMPARED_SELECTOR):
        own = role(document, node)
        needs_name = node.tag in ("section", "form")
        if own is None or not (own in LANDMARKS or needs_name) or document.visibility.may_be_hidden(node):
            continue
        if own in REPEATABLE and (targets := _link_targets(node)):
            if (own, targets) in contents:
                continue
            contents.add((own, targets))
        name = accessible_name(document, node).lower()
        if name or not needs_name:
            found.append(node)
            if (own, name) in seen:
                repeated.append(node)
            seen.add((own, name))
    return Faults(found, repeated)


def _link_targets(node: LexborNode) -> frozenset[str]:
    """Return the addresses of the links and forms of an element, each with its text."""
    links = [*select(node, "a[href], form[action]"), *([node] if attribute(node, "action") else [])]
    return frozenset(
        " ".join((attribute(link, "href") or attribute(link, "action") or "", *(link.text() or "").split()))
        for link in links
    )


def find_content_outside(document: AccessibleDocument) -> Faults:
    """Judge the elements outside of landmarks: faulty are those with content to read or see.

    The judged elements include the landmarks themselves. Of the faulty ones, only the outermost without a landmark
    inside are named. Elements that a style sheet may hide, skip links and single buttons are left out; nothing is
    judged if nothing else has content.
    """
    body = next(document.exposed("body"), None)
    if body is None:
        return Faults(())
    skip_links = SkipLinks(document)
    excluded_containers: set[int] = {body.mem_id}  # elements that contain a landmark or an element that is left out
    found: list[LexborNode] = []
    lonely: list[LexborNode] = []
    has_region = False
    pending = [body]
    while pending:
        node = pending.pop()
        if document.visibility.is_hidden_from_at(node):
            _mark_ancestors(node, excluded_containers)
            continue
        own = role(document, node)
        if node.mem_id != body.mem_id:
            found.append(node)
        is_skip_link = node.mem_id in skip_links.links and skip_links.target(node) is not None
        if document.visibility.may_be_hidden(node) or is_skip_link:
            _mark_ancestors(node, excluded_containers)
        elif _is_region(node, own):
            has_region = True
            _mark_ancestors(node, excluded_containers)
        elif node.mem_id != body.mem_id and _has_content(document, node, own):
            lonely.append(node)
        else:
            pending.extend(reversed([*elements(node)]))
    return Faults(found if has_region or lonely else (), _outermost(lonely, excluded_containers))


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Kinds of elements that a node is or is inside of."""

    part: bool = False
    landmark: bool = False


def _step(document: AccessibleDocument) -> Callable[[LexborNode, _Surroundings], _Surroundings]:
    def step(node: LexborNode, above: _Surroundings) -> _Surroundings:
        own = sole_role(node)
        if own is None and node.tag != "form":  # a form is a landmark by its role attribute only
            own = implicit_role(document, node)
        return _Surroundings(part=above.part or node.tag in PARTS, landmark=above.landmark or own in LANDMARKS)

    return step


def _is_region(node: LexborNode, own: str | None) -> bool:
    return (
        own in LANDMARKS
        or own in LIVE_ROLES
        or own == "button"
        or node.tag in ("dialog", "svg", "iframe", "frame")
        or attribute(node, "role") in DIALOGS
        or (attribute(node, "aria-live") or "").lower().strip() in LIVE_VALUES
    )


def _has_content(document: AccessibleDocument, node: LexborNode, own: str | None) -> bool:
    has_text = node.tag not in TAGS_WITHOUT_TEXT and any(texts(node))
    if has_text or own == "none":
        return has_text
    written = sole_role(node)
    return (written in VISUAL_ROLES if written else node.tag in VISUAL_TAGS) or has_aria_name(document, node)


def _mark_ancestors(node: LexborNode, excluded_containers: set[int]) -> None:
    current: LexborNode | None = node
    while current is not None and current.mem_id not in excluded_containers:
        excluded_containers.add(current.mem_id)
        current = current.parent


def _outermost(nodes: Iterable[LexborNode], excluded_containers: set[int]) -> list[LexborNode]:
    """Replace each node by the outermost element around it that is not in `excluded_containers`. Duplicates are removed."""
    above: dict[int, LexborNode] = {}
    found: dict[int, LexborNode] = {}
    for node in nodes:
        path = []
        current = node
        while current.mem_id not in above:
            path.append(current)
            if current.parent is None or current.parent.mem_id in excluded_containers:
                break
            current = current.parent
        outermost = above.get(current.mem_id, current)
        for element in path:
            above[element.mem_id] = outermost
        found[outermost.mem_id] = outermost
    return list(found.values())
