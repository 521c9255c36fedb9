"""Build verdicts from faulty elements.

The message has the number of faulty elements, and the places have their selectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps

from msgspec import Struct
from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.accessibility.scripted import has_empty_root
from website_scan.accessibility.wcag import Criterion
from website_scan.accessibility.wording import (
    capitalize_clause,
    faulty,
    first_declared_outcome,
    get_wording,
    insert_agreement,
    needs_review_sentence,
)
from website_scan.elements import sort_identifying_first
from website_scan.findings import MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Pass, Review, Verdict, Warn, set_values
from website_scan.page.markup import attribute, live, select
from website_scan.places import Element
from website_scan.values import Count, Excerpt, Value, Values

MAX_PLACES = 20  # Limit of reported places per check, because computing a selector is expensive.
MAX_SELECTOR_LEVELS = 100  # Malicious pages may have very deep trees, so the number of levels is limited.
SNIPPET = ANCESTRY = 300  # These limits in characters equal those for places from axe-core.
IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*")
UNLESS_CHANGED_CONDITION = "unless scripts or style sheets change that"
UNLESS_HIDDEN_CONDITION = "unless a style sheet hides it|them"
MAY_BE_HIDDEN_CLAUSE = ", or may be hidden or changed"
# Verdict for a page to which scripts add the text later.
NO_TEXT = NotApplicable("The page as served shows no text.")
BUILT_BY_SCRIPTS = NotApplicable("Scripts build the page's content.")

Test = Callable[[LexborNode], object]


class Faults(Struct, frozen=True):
    """Result of an accessibility check.

    It has the judged elements, and the faulty ones among them, in document order. `certain` elements are faulty.
    `uncertain` elements may be faulty: `unless` states the condition under which they are not. A person has to judge
    the `review` elements. `fault_names(element)` returns the names of an element's faults. `is_mild(element)` is true
    if the fault has little effect on people. `outcome` and `predicate`, and `fix`, replace those of the check for
    another kind of fault.
    """

    judged: Sequence[LexborNode]
    certain: Sequence[LexborNode] = ()
    uncertain: Sequence[LexborNode] = ()
    review: Sequence[LexborNode] = ()
    fault_names: Callable[[LexborNode], Iterable[str]] = lambda _: ()
    is_mild: Test = lambda _: False
    unless: str = UNLESS_CHANGED_CONDITION
    outcome: str = ""
    predicate: str = ""
    fix: str | None = None

    @classmethod
    def find(
        cls,
        judged: Iterable[LexborNode],
        is_faulty: Test,
        may_change: Test = lambda _: False,
        *,
        needs_review: Test = lambda _: False,
        fault_names: Callable[[LexborNode], Iterable[str]] = lambda _: (),
        is_mild: Test = lambda _: False,
    ) -> Faults:
        """Return the faults of the judged elements.

        Elements are faulty if `is_faulty(element)` is True. A faulty element is in `review` if `needs_review(element)`,
        else uncertain if `may_change(element)`.
        """
        elements = list(judged)
        certain: list[LexborNode] = []
        uncertain: list[LexborNode] = []
        review: list[LexborNode] = []
        for node in elements:
            if is_faulty(node):
                (review if needs_review(node) else uncertain if may_change(node) else certain).append(node)
        return cls(elements, certain, uncertain, review, fault_names, is_mild)


Judge = Callable[[AccessibleDocument], Faults | Verdict]


def judges(
    subject: str, predicate: str, passed: str, criterion: Criterion, *, only_warns: bool = False
) -> Callable[[Judge], Callable[[AccessibleDocument], Verdict]]:
    """Decorate a check of elements, below `@check`.

    `subject` and `predicate` are the same as in the decorator `faulty`. The decorated function returns `Faults`, which
    become a verdict, or a verdict. `passed` is the predicate of elements without a fault ("have alternative text"),
    `criterion` is what faulty elements fail. If a check `only_warns`, no fault is certain, and elements that a style
    sheet may hide pass.
    """

    def mark(function: Judge) -> Callable[[AccessibleDocument], Verdict]:
        @faulty(subject, predicate)
        @wraps(function)
        def verdict_function(document: AccessibleDocument) -> Verdict:
            faults = function(document)
            if not isinstance(faults, Faults):
                return faults
            if only_warns:
                hidden = MAY_BE_HIDDEN_CLAUSE if faults.certain or faults.uncertain else ""
                visible = _filter_visible(document, faults.certain)
                faults = replace(faults, certain=(), uncertain=visible, unless="", review=())
                return _build_verdict(verdict_function, document, faults, criterion, f"{passed}{hidden}")
            return _build_verdict(verdict_function, document, faults, criterion, passed)

        return verdict_function

    return mark


warns = partial(judges, only_warns=True)


def _build_verdict(
    check: Callable[..., Verdict], document: AccessibleDocument, faults: Faults, criterion: Criterion, passed: str
) -> Verdict:
    """Build the verdict of a check from its faults.

    Not applicable if no element was judged. The verdict is a warning if all faults are uncertain, or if an external
    style sheet may hide the faulty elements. If all faults are mild, the severity is medium. Elements for review count
    only if no element is faulty.
    """
    wording = get_wording(check)
    if not faults.judged:
        return NotApplicable(f"The page has no {wording.all}.")
    if faults.predicate:
        wording = replace(wording, predicate=faults.predicate)
    outcome = faults.outcome or first_declared_outcome(check)
    faulty_elements = faults.certain or faults.uncertain
    visible = _filter_visible(document, faulty_elements or faults.review)
    if faulty_elements:
        reported = visible or faulty_elements
        has_certain_faults = bool(visible and faults.certain)
        names = list(dict.fromkeys(Excerpt(name, 40) for node in reported for name in faults.fault_names(node)))
        values_of_faults: dict[str, Value] = {"faults": Values(names)} if names else {}
        condition = (
            "" if has_certain_faults else insert_agreement(faults.unless if visible else UNLESS_HIDDEN_CONDITION)
        )
        finding = (Fail if has_certain_faults else Warn)(
            outcome,
            f"{capitalize_clause(wording.template)}{' ({faults})' if names else ''}"
            f"{f', {condition}' if condition else ''}.",
            severity=MEDIUM if all(map(faults.is_mild, reported)) else None,
            places=places(reported, criterion),
            total=len(reported),
            fix=faults.fix,
        )
        return set_values(finding, wording.values(len(reported), len(faults.judged)) | values_of_faults)
    if visible:
        review = Review(
            outcome, needs_review_sentence(wording.template), places=places(visible, criterion), total=len(visible)
        )
        return set_values(review, wording.values(len(visible), len(faults.judged)))
    hidden = MAY_BE_HIDDEN_CLAUSE if faults.review else ""
    return Pass(f"All {wording.all} ({{judged}}) {passed}{hidden}.", judged=Count(len(faults.judged)))


def warn_unless_dialog(document: AccessibleDocument, unique_selector: str, lacking: Warn) -> Verdict:
    """Return the warning `lacking` unless a dialog or no text is shown.

    The check passes for a dialog, and does not apply without text. As in axe-core, a visible dialog stands for the
    whole page. A dialog that a style sheet may hide counts as visible if only aria-hidden hides an element that matches
    `unique_selector`.
    """
    visibility = document.visibility
    dialogs = live(document.document, "dialog, [role=dialog], [aria-modal=true]")
    visible_dialogs = [dialog for dialog in dialogs if not visibility.is_hidden(dialog)]
    is_dialog_visible = bool(_filter_visible(document, visible_dialogs))
    if is_dialog_visible or (
        visible_dialogs and any(not visibility.is_hidden(node) for node in live(document.document, unique_selector))
    ):
        return Pass("The page shows a dialog, which stands for all of it.")
    return not_served(document) or lacking


def not_served(document: AccessibleDocument) -> NotApplicable | None:
    """Return a verdict if the served HTML lacks the page's content.

    Otherwise None.
    """
    if not shows_text(document):
        return NO_TEXT
    return BUILT_BY_SCRIPTS if has_empty_root(document) else None


def shows_text(document: AccessibleDocument) -> bool:
    """Return True if people see text before the page's scripts run."""
    body = document.document.tree.body
    return body is not None and bool(shown_text(document, body))


def places(nodes: Sequence[LexborNode], criterion: Criterion) -> list[Element]:
    """Return the places of at most `MAX_PLACES` elements."""
    return [place(node, criterion) for node in nodes[:MAX_PLACES]]


def place(node: LexborNode, criterion: Criterion) -> Element:
    """Return the place of an element with a WCAG criterion.

    The criterion is the one that the element fails.
    """
    return Element(
        unique_selector(node),
        excerpt(start_tag(node), SNIPPET),
        wcag=criterion.number or None,
        level=criterion.level or None,
        ancestry=_ancestor_tags(node),
    )


def unique_selector(node: LexborNode) -> str:
    """Return a CSS selector that matches only the element.

    It starts at the nearest unique ID, else at the root.
    """
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(steps) < MAX_SELECTOR_LEVELS:
        if (element_id := attribute(current, "id") or "") and _is_unique_id(current, element_id):
            steps.append(f"#{element_id}")
            break
        steps.append(_selector_among_siblings(current))
        current = current.parent
    return " > ".join(reversed(steps))


def start_tag(node: LexborNode) -> str:
    """Return the element's start tag.

    The most informative attributes come first. Long values are truncated.
    """
    attributes = "".join(
        f' {name}="{excerpt(value[:400], 60)}"' if value else f" {name}"
        for name, value in sort_identifying_first(node.attributes).items()
    )
    return f"<{node.tag}{attributes}>"


def _ancestor_tags(node: LexborNode) -> str:
    """Return the tags of the element and its ancestors.

    An example is `main > ul > li`. This is axe-core's ancestry without positions.
    """
    names: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(names) < MAX_SELECTOR_LEVELS:
        names.append(current.tag or "")
        current = current.parent
    return " > ".join(reversed(names))[-ANCESTRY:]


def _filter_visible(document: AccessibleDocument, elements: Iterable[LexborNode]) -> list[LexborNode]:
    return [node for node in elements if not document.visibility.may_be_hidden(node)]


def _is_unique_id(node: LexborNode, element_id: str) -> bool:
    return bool(IDENTIFIER.fullmatch(element_id)) and len(select(node.parser, f"#{element_id}")) == 1


def _selector_among_siblings(node: LexborNode) -> str:
    """Return a CSS selector that distinguishes an element from its siblings.

    It is the tag, followed by a position if siblings have the same tag.
    """
    tag = node.tag or ""
    if tag in ("html", "head", "body"):
        return tag
    if not IDENTIFIER.fullmatch(tag):  # A tag with a colon, such as `svg:a`, needs an escape in a selector.
        return f":nth-child({_count_siblings(node, 'prev', None) + 1})"
    before = _count_siblings(node, "prev", tag)
    return f"{tag}:nth-of-type({before + 1})" if before or _count_siblings(node, "next", tag) else tag


def _count_siblings(node: LexborNode, direction: str, tag: str | None) -> int:
    """Count the siblings in a direction that have this tag.

    The direction is `prev` or `next`. None counts all tags.
    """
    count = 0
    current = getattr(node, direction)
    while current is not None:
        count += current.is_element_node and tag in (None, current.tag)
        current = getattr(current, direction)
    return count
