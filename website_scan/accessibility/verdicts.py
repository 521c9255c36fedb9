"""Findings from faulty elements: the summary counts them, the places have their selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.accessibility.wcag import Criterion
from website_scan.accessibility.wording import faulty, first_outcome, insert_agreement, sentence, unclear, wording_of
from website_scan.elements import telling_first
from website_scan.findings import MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Pass, Review, Verdict, Warn, with_values
from website_scan.page.markup import attribute, live, select
from website_scan.places import Element
from website_scan.values import Count, Excerpt, Value, Values

MAX_PLACES = 20  # places, the most a report takes; a selector needs the element's siblings counted
SELECTOR_LEVELS = 100  # more than on real pages; a selector must not be as long as a hostile page is deep
SNIPPET = ANCESTRY = 300  # characters, as in places of axe-core
IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*")
UNLESS_CHANGED = "unless scripts or style sheets change that"
UNLESS_HIDDEN = "unless a style sheet hides it|them"
MAY_BE_HIDDEN = ", or may be hidden or changed"
# The content that scripts add is not in the page as served, so nothing can be said to be missing.
NO_TEXT = NotApplicable("The page as served shows no text.")

Test = Callable[[LexborNode], object]


@dataclass(frozen=True, slots=True)
class Faults:
    """Elements in document order: those judged, and the faulty ones among them.

    `certain`: faulty. `uncertain`: maybe faulty; `unless` says under which condition they are not. `review`: a person
    has to look. `fault_names(element)` returns the names of its faults. `is_mild(element)`: its fault harms people little.
    `outcome` and `predicate` together, and `fix`, replace those of the check for another fault.
    """

    judged: Sequence[LexborNode]
    certain: Sequence[LexborNode] = ()
    uncertain: Sequence[LexborNode] = ()
    review: Sequence[LexborNode] = ()
    fault_names: Callable[[LexborNode], Iterable[str]] = lambda _: ()
    is_mild: Test = lambda _: False
    unless: str = UNLESS_CHANGED
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
        """Judge each element. A faulty one goes to `review` if it needs one, else to `uncertain` if it may change."""
        found = list(judged)
        certain: list[LexborNode] = []
        uncertain: list[LexborNode] = []
        review: list[LexborNode] = []
        for node in found:
            if is_faulty(node):
                (review if needs_review(node) else uncertain if may_change(node) else certain).append(node)
        return cls(found, certain, uncertain, review, fault_names, is_mild)


Judge = Callable[[AccessibleDocument], Faults | Verdict]


def judges(
    subject: str, predicate: str, passed: str, criterion: Criterion, *, only_warns: bool = False
) -> Callable[[Judge], Callable[[AccessibleDocument], Verdict]]:
    """Declare how a check judges elements. Goes below `@check`; subject and predicate are those of `faulty`.

    The function returns its faults, which become a finding, or a finding of its own. `passed` says what all right
    elements do ("have alternative text"), `criterion` what faulty ones fail. If a check `only_warns`, no fault is
    certain, and elements that a style sheet may hide pass.
    """

    def mark(function: Judge) -> Callable[[AccessibleDocument], Verdict]:
        @faulty(subject, predicate)
        @wraps(function)
        def judged(document: AccessibleDocument) -> Verdict:
            found = function(document)
            if not isinstance(found, Faults):
                return found
            if only_warns:
                hidden = MAY_BE_HIDDEN if found.certain or found.uncertain else ""
                visible = _filter_visible(document, found.certain)
                found = replace(found, certain=(), uncertain=visible, unless="", review=())
                return _judged(judged, document, found, criterion, f"{passed}{hidden}")
            return _judged(judged, document, found, criterion, passed)

        return judged

    return mark


warns = partial(judges, only_warns=True)


def _judged(
    check: Callable[..., Verdict], document: AccessibleDocument, found: Faults, criterion: Criterion, passed: str
) -> Verdict:
    """Return the finding of a check. Not applicable without any element.

    It is a warning if all faults are uncertain, or if an external style sheet may hide the faulty elements. If all
    faults are mild, the severity is medium. Elements for review count only where no element is faulty.
    """
    wording = wording_of(check)
    if not found.judged:
        return NotApplicable(f"The page has no {wording.all}.")
    if found.predicate:
        wording = replace(wording, predicate=found.predicate)
    outcome = found.outcome or first_outcome(check)
    wrong = found.certain or found.uncertain
    visible = _filter_visible(document, wrong or found.review)
    if wrong:
        shown = visible or wrong
        is_certain = bool(visible and found.certain)
        faults = list(dict.fromkeys(Excerpt(word, 40) for node in shown for word in found.fault_names(node)))
        named: dict[str, Value] = {"faults": Values(faults)} if faults else {}
        condition = "" if is_certain else insert_agreement(found.unless if visible else UNLESS_HIDDEN)
        finding = (Fail if is_certain else Warn)(
            outcome,
            f"{sentence(wording.template)}{' ({faults})' if faults else ''}{f', {condition}' if condition else ''}.",
            severity=MEDIUM if all(map(found.is_mild, shown)) else None,
            places=places(shown, criterion),
            total=len(shown),
            fix=found.fix,
        )
        return with_values(finding, wording.values(len(shown), len(found.judged)) | named)
    if visible:
        review = Review(outcome, unclear(wording.template), places=places(visible, criterion), total=len(visible))
        return with_values(review, wording.values(len(visible), len(found.judged)))
    hidden = MAY_BE_HIDDEN if found.review else ""
    return Pass(f"All {wording.all} ({{judged}}) {passed}{hidden}.", judged=Count(len(found.judged)))


def warn_unless_dialog(document: AccessibleDocument, selector: str, lacking: Warn) -> Verdict:
    """Return the warning that the page lacks something.

    Pass if the page shows a dialog; not applicable if it shows no text yet.

    As in axe-core, a shown dialog stands for the whole page. A dialog that a style sheet may hide counts as shown if
    aria-hidden is all that hides an element that matches `selector`.
    """
    visibility = document.visibility
    dialogs = live(document.document, "dialog, [role=dialog], [aria-modal=true]")
    shown = [dialog for dialog in dialogs if not visibility.is_hidden(dialog)]
    is_shown = bool(_filter_visible(document, shown))
    if is_shown or (shown and any(not visibility.is_hidden(node) for node in live(document.document, selector))):
        return Pass("The page shows a dialog, which stands for all of it.")
    return lacking if shows_text(document) else NO_TEXT


def shows_text(document: AccessibleDocument) -> bool:
    """Return True if people see text on the page before its scripts have run."""
    body = document.document.tree.body
    return body is not None and bool(shown_text(document, body))


def places(nodes: Sequence[LexborNode], criterion: Criterion) -> list[Element]:
    """Return the places of the first elements, as many as a report takes."""
    return [place(node, criterion) for node in nodes[:MAX_PLACES]]


def place(node: LexborNode, criterion: Criterion) -> Element:
    """Return the place of an element: its selector, its start tag, and the criterion that it fails."""
    return Element(
        selector(node),
        excerpt(start_tag(node), SNIPPET),
        wcag=criterion.number or None,
        level=criterion.level or None,
        ancestry=_ancestry(node),
    )


def selector(node: LexborNode) -> str:
    """Return a CSS selector that matches this element only. It starts at the nearest unique ID, else at the root."""
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(steps) < SELECTOR_LEVELS:
        if (own_id := attribute(current, "id") or "") and _is_unique(current, own_id):
            steps.append(f"#{own_id}")
            break
        steps.append(_simple_selector(current))
        current = current.parent
    return " > ".join(reversed(steps))


def start_tag(node: LexborNode) -> str:
    """Return the element's start tag, rebuilt from its attributes. Long values are cut, the most telling are first."""
    attributes = "".join(
        f' {name}="{excerpt(value[:400], 60)}"' if value else f" {name}"
        for name, value in telling_first(node.attributes).items()
    )
    return f"<{node.tag}{attributes}>"


def _ancestry(node: LexborNode) -> str:
    """Return the names of the element's ancestors and its own, as axe-core does, without positions among siblings."""
    names: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(names) < SELECTOR_LEVELS:
        names.append(current.tag or "")
        current = current.parent
    return " > ".join(reversed(names))[-ANCESTRY:]


def _filter_visible(document: AccessibleDocument, nodes: Iterable[LexborNode]) -> list[LexborNode]:
    return [node for node in nodes if not document.visibility.may_be_hidden(node)]


def _is_unique(node: LexborNode, own_id: str) -> bool:
    return bool(IDENTIFIER.fullmatch(own_id)) and len(select(node.parser, f"#{own_id}")) == 1


def _simple_selector(node: LexborNode) -> str:
    """Return the element's simple selector: its tag, with its position if it has siblings with the same tag."""
    tag = node.tag or ""
    if tag in ("html", "head", "body"):
        return tag
    if not IDENTIFIER.fullmatch(tag):  # for example `svg:a`
        return f":nth-child({_count_siblings(node, 'prev', None) + 1})"
    before = _count_siblings(node, "prev", tag)
    return f"{tag}:nth-of-type({before + 1})" if before or _count_siblings(node, "next", tag) else tag


def _count_siblings(node: LexborNode, direction: str, tag: str | None) -> int:
    """Count the sibling elements in a direction (`prev` or `next`) with a tag, or all if the tag is None."""
    count = 0
    current = getattr(node, direction)
    while current is not None:
        count += current.is_element_node and tag in (None, current.tag)
        current = getattr(current, direction)
    return count
