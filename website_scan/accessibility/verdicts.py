"""Findings from faulty elements: the message counts them and shows the first, the evidence has their selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.accessibility.wcag import Criterion
from website_scan.accessibility.wording import Wording, in_number, review_title, sentence, unclear, wording_of
from website_scan.elements import telling_first
from website_scan.findings import LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import excerpt, some
from website_scan.page.markup import attribute, live, select

SHOWN = 3  # elements in the message
MOST_SHOWN = 20  # elements in the evidence, the most a report takes; a selector needs the element's siblings counted
SELECTOR_LEVELS = 100  # more than on real pages; a selector must not be as long as a hostile page is deep
SNIPPET = ANCESTRY = 300  # characters, as in evidence of axe-core
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

    `certain`: faulty. `uncertain`: faulty unless a script changes them. `review`: a person has to look.
    `words(element)` returns the names of its faults. `is_mild(element)`: its fault harms people little.
    """

    document: AccessibleDocument
    judged: Sequence[LexborNode]
    certain: Sequence[LexborNode] = ()
    uncertain: Sequence[LexborNode] = ()
    review: Sequence[LexborNode] = ()
    words: Callable[[LexborNode], Iterable[str]] = lambda _: ()
    is_mild: Test = lambda _: False

    @classmethod
    def find(
        cls,
        document: AccessibleDocument,
        judged: Iterable[LexborNode],
        is_faulty: Test,
        may_change: Test = lambda _: False,
        *,
        needs_review: Test = lambda _: False,
        words: Callable[[LexborNode], Iterable[str]] = lambda _: (),
        is_mild: Test = lambda _: False,
    ) -> Faults:
        """Judge each element. A faulty one goes to `review` if it needs one, else to `uncertain` if it may change."""
        found = list(judged)
        certain: list[LexborNode] = []
        uncertain: list[LexborNode] = []
        review: list[LexborNode] = []
        for each in found:
            if is_faulty(each):
                (review if needs_review(each) else uncertain if may_change(each) else certain).append(each)
        return cls(document, found, certain, uncertain, review, words, is_mild)


def judge(
    check: Callable[..., Finding],
    found: Faults,
    criterion: Criterion,
    *,
    passed: str,
    wording: Wording | None = None,
    title: str = "",
    unless: str = UNLESS_CHANGED,
) -> Finding:
    """Turn faults into a finding of `check`, in the words that `faulty` declares for it. Not applicable without any.

    The message says what all elements do (`passed`: "have alternative text"), or counts the faulty elements and shows
    the first. `wording` and `title` replace the check's own for another fault.

    The finding is a warning if all faults are uncertain, or if an external style sheet may hide the faulty elements.
    Elements for review are not a finding yet, so such a finding has severity low and does not weigh, as in the browser.
    If all faults are mild, the severity is medium.
    `unless` says under which condition uncertain faults are none.
    """
    words = wording or wording_of(check)
    if not found.judged:
        return NotApplicable(f"The page has no {words.all}.")
    if found.certain or found.uncertain:
        return _judged(words, found, found.certain or found.uncertain, criterion, title, unless)
    visible = _visible(found.document, found.review)
    if visible:
        return Warn(
            f"{unclear(words.clause(len(visible), len(found.judged)))}: {_first(visible)}.",
            LOW,
            [evidence_item(each, criterion) for each in visible[:MOST_SHOWN]],
            weighs=False,
            title=review_title(check),
        )
    hidden = MAY_BE_HIDDEN if found.review else ""
    return Pass(f"All {words.all} ({len(found.judged):,}) {passed}{hidden}.")


def warn_at_most(
    check: Callable[..., Finding], found: Faults, criterion: Criterion, *, passed: str, unless: str = ""
) -> Finding:
    """Judge only the certain faults, and warn at most. Elements that a style sheet may hide pass."""
    visible = _visible(found.document, found.certain)
    if found.certain or found.uncertain:
        passed = f"{passed}{MAY_BE_HIDDEN}"
    warned = replace(found, certain=(), uncertain=visible, review=())
    return judge(check, warned, criterion, passed=passed, unless=unless)


def _judged(
    words: Wording, found: Faults, faulty: Sequence[LexborNode], criterion: Criterion, title: str, unless: str
) -> Finding:
    visible = _visible(found.document, faulty)
    shown = visible or faulty
    faults = list(dict.fromkeys(excerpt(word, 40) for each in shown for word in found.words(each)))
    named = f" ({some(faults)})" if faults else ""
    is_certain = bool(visible and found.certain)
    condition = "" if is_certain else in_number(unless if visible else UNLESS_HIDDEN, len(shown))
    message = (
        f"{sentence(words.clause(len(shown), len(found.judged)))}{named}{f', {condition}' if condition else ''}: "
        f"{_first(shown)}."
    )
    evidence = [evidence_item(each, criterion) for each in shown[:MOST_SHOWN]]
    severity = MEDIUM if all(map(found.is_mild, shown)) else None
    return (Fail if is_certain else Warn)(message, severity, evidence, title=title)


def _first(shown: Sequence[LexborNode]) -> str:
    return places([(start_tag(each), selector(each)) for each in shown[:SHOWN]], len(shown))


def page_lacks(check: Callable[..., Finding], document: AccessibleDocument, selector: str) -> Finding:
    """Warn in the words of the check that the page lacks something.

    Pass if the page shows a dialog; not applicable if it shows no text yet.

    As in axe-core, a shown dialog stands for the whole page. A dialog that a style sheet may hide counts as shown if
    aria-hidden is all that hides an element that matches `selector`.
    """
    visibility = document.visibility
    dialogs = live(document.document, "dialog, [role=dialog], [aria-modal=true]")
    shown = [each for each in dialogs if not visibility.is_hidden(each)]
    is_shown = bool(_visible(document, shown))
    if is_shown or (shown and any(not visibility.is_hidden(each) for each in live(document.document, selector))):
        return Pass("The page shows a dialog, which stands for all of it.")
    return Warn(f"{sentence(wording_of(check).clause(1))}.") if shows_text(document) else NO_TEXT


def shows_text(document: AccessibleDocument) -> bool:
    """Return True if people see text on the page before its scripts have run."""
    body = document.document.tree.body
    return body is not None and bool(shown_text(document, body))


def places(shown: Iterable[tuple[str, str]], count: int) -> str:
    """Format the first of `count` elements, each given as start tag and selector."""
    first = [f"{excerpt(tag, 120)} at {excerpt(selector, 120)}" for tag, selector in shown][:SHOWN]
    return "; ".join(first) + (f" and {count - SHOWN} more" if count > SHOWN else "")


def evidence_item(node: LexborNode, criterion: Criterion) -> EvidenceItem:
    """Return the evidence for an element: its selector, its start tag, and the criterion that it fails."""
    return {
        "selector": selector(node),
        "ancestry": _ancestry(node),
        "snippet": excerpt(start_tag(node), SNIPPET),
        "wcag": criterion.number or None,
        "level": criterion.level or None,
    }


def selector(node: LexborNode) -> str:
    """Return a CSS selector that matches this element only. It starts at the nearest unique ID, else at the root."""
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(steps) < SELECTOR_LEVELS:
        if (own_id := attribute(current, "id") or "") and _is_unique(current, own_id):
            steps.append(f"#{own_id}")
            break
        steps.append(_step(current))
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


def _visible(document: AccessibleDocument, nodes: Iterable[LexborNode]) -> list[LexborNode]:
    return [each for each in nodes if not document.visibility.may_be_hidden(each)]


def _is_unique(node: LexborNode, own_id: str) -> bool:
    return bool(IDENTIFIER.fullmatch(own_id)) and len(select(node.parser, f"#{own_id}")) == 1


def _step(node: LexborNode) -> str:
    """Return the element's simple selector: its tag, with its position if it has siblings with the same tag."""
    tag = node.tag or ""
    if tag in ("html", "head", "body"):
        return tag
    if not IDENTIFIER.fullmatch(tag):  # for example `svg:a`
        return f":nth-child({_count(node, 'prev', None) + 1})"
    before = _count(node, "prev", tag)
    return f"{tag}:nth-of-type({before + 1})" if before or _count(node, "next", tag) else tag


def _count(node: LexborNode, direction: str, tag: str | None) -> int:
    """Count the sibling elements in a direction (`prev` or `next`) with a tag, or all if the tag is None."""
    count = 0
    current = getattr(node, direction)
    while current is not None:
        count += current.is_element_node and tag in (None, current.tag)
        current = getattr(current, direction)
    return count
