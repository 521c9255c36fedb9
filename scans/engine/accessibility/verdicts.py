"""From faulty elements to a finding: how many there are, the first of them, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import shown_text
from scans.engine.findings import EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import excerpt
from scans.engine.page.markup import attribute, live

SHOWN = 3  # in the message
EVIDENCE_ITEMS = 20
SELECTOR_LEVELS = 5
IDENTIFIER = re.compile(r"-?[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A success criterion of WCAG 2.2; `number` and `level` are empty for a best practice."""

    number: str = ""
    level: str = ""


BEST_PRACTICE = Criterion()


def judge(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    faulty: Sequence[LexborNode],
    criterion: Criterion,
    *,
    passed: str,
    failed: str,
) -> Finding:
    """Pass, or the first offenders after `failed` ("images without alternative text").

    When all of them may be hidden by a style sheet that is not in the page, it is a warning.
    """
    if not faulty:
        return Pass(passed)
    certain = [each for each in faulty if not document.visibility.may_be_hidden(each)]
    shown = certain or list(faulty)
    evidence: tuple[EvidenceItem, ...] = tuple(
        {
            "selector": selector(each),
            "snippet": excerpt(start_tag(each)),
            "wcag": criterion.number or None,
            "level": criterion.level or None,
        }
        for each in shown[:EVIDENCE_ITEMS]
    )
    places = "; ".join(f"{excerpt(start_tag(each), 120)} at {selector(each)}" for each in shown[:SHOWN])
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    if certain:
        return Fail(f"{len(certain)} of {len(judged)} {failed}: {places}{more}.", evidence=evidence)
    return Warn(
        f"{len(faulty)} of {len(judged)} {failed}, unless a style sheet hides them: {places}{more}.",
        evidence=evidence,
    )


def selector(node: LexborNode) -> str:
    """A CSS selector that leads to the element, from the nearest ID or a few levels up."""
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(steps) < SELECTOR_LEVELS:
        own_id = attribute(current, "id") or ""
        tag = current.tag or "*"
        if IDENTIFIER.fullmatch(own_id):
            steps.append(f"#{own_id}")
            break
        steps.append(tag if tag in ("html", "head", "body") else f"{tag}{_position(current)}")
        current = current.parent
    return " > ".join(reversed(steps))


def start_tag(node: LexborNode) -> str:
    """The element's start tag, written anew; long values are cut."""
    attributes = "".join(
        f' {name}="{excerpt(value[:400], 60)}"' if value else f" {name}" for name, value in node.attributes.items()
    )
    return f"<{node.tag}{attributes}>"


def _position(node: LexborNode) -> str:
    """`:nth-of-type(n)` where the element has siblings of its kind."""
    before = _count(node, "prev")
    return f":nth-of-type({before + 1})" if before or _count(node, "next") else ""


def _count(node: LexborNode, direction: str) -> int:
    count = 0
    current = getattr(node, direction)
    while current is not None:
        count += current.tag == node.tag
        current = getattr(current, direction)
    return count


# What scripts put on the page is not in the page as served, so nothing can be missed there.
NO_TEXT = NotApplicable("The page as served shows no text.")


def judge_doubtful(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    certain: Sequence[LexborNode],
    doubtful: Sequence[LexborNode],
    criterion: Criterion,
    *,
    passed: str,
    failed: str,
) -> Finding:
    """As `judge`; a warning, too, where nothing but the doubtful ones is faulty."""
    finding = judge(document, judged, certain or doubtful, criterion, passed=passed, failed=failed)
    if certain or not isinstance(finding, Fail):
        return finding
    return Warn(f"{finding.message} Scripts or style sheets may still mend them.", evidence=finding.evidence)


def judge_mildly(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    faulty: Sequence[LexborNode],
    criterion: Criterion,
    *,
    passed: str,
    failed: str,
) -> Finding:
    """As `judge`, but never a fail; what a style sheet may hide passes."""
    shown = [each for each in faulty if not document.visibility.may_be_hidden(each)]
    finding = judge(document, judged, shown, criterion, passed=passed, failed=failed)
    return Warn(finding.message, evidence=finding.evidence) if isinstance(finding, Fail) else finding


def lacking(document: AccessibleDocument, selector: str, message: str) -> Finding:
    """A warning that the page lacks something; not if it may come by script, nor below a dialog, as axe-core.

    A dialog that a style sheet may hide is taken to be shown if `selector` leads to what it hides by aria-hidden.
    """
    visibility = document.visibility
    dialogs = live(document.document, "dialog, [role=dialog], [aria-modal=true]")
    shown = [each for each in dialogs if not visibility.is_hidden(each)]
    is_shown = any(not visibility.may_be_hidden(each) for each in shown)
    if is_shown or (shown and any(not visibility.is_hidden(each) for each in live(document.document, selector))):
        return Pass("The page shows a dialog, which stands for all of it.")
    return Warn(message) if shows_text(document) else NO_TEXT


def shows_text(document: AccessibleDocument) -> bool:
    """Whether people see any text on the page before its scripts have run."""
    body = document.document.tree.body
    return body is not None and bool(shown_text(document, body))


SHOWN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Faults:
    """Elements in document order; `doubtful`: unless a script mends them; `review`: somebody has to look.

    `words` are what is wrong in them: names of roles or attributes.
    """

    document: AccessibleDocument
    judged: Sequence[LexborNode]
    certain: Sequence[LexborNode] = ()
    doubtful: Sequence[LexborNode] = ()
    review: Sequence[LexborNode] = ()
    words: tuple[str, ...] = ()


def sorted_out(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    wrong: Sequence[LexborNode],
    may_change: Callable[[LexborNode], bool],
    *,
    review: Sequence[LexborNode] = (),
    words: Iterable[str] = (),
) -> Faults:
    """Faults of which those are doubtful that may change."""
    doubtful = [each for each in wrong if may_change(each)]
    known = {each.mem_id for each in doubtful}
    certain = [each for each in wrong if each.mem_id not in known]
    return Faults(document, judged, certain, doubtful, review, tuple(dict.fromkeys(words)))


def some(words: Sequence[str]) -> str:
    """The first of them, in parentheses; nothing if there are none."""
    if not words:
        return ""
    shown = ", ".join(excerpt(each, 40) for each in words[:SHOWN_WORDS])
    return f" ({shown}{', …' if len(words) > SHOWN_WORDS else ''})"


# By which Alpine, Vue, AngularJS, Knockout and i18next are told to write a text or an attribute that names.
BINDING = re.compile(
    r"[xv]-(?:text|html)|(?:data-)?ng-(?:bind(?:-html)?|attr-(?:aria-label|title))|data-bind|data-i18n(?:-[a-z-]+)?"
    r"|(?:[xv]-bind)?:(?:aria-label|aria-labelledby|title|placeholder|value)"
)
MAX_NODES = 200


def judge_names(
    document: AccessibleDocument,
    judged: Sequence[LexborNode],
    nameless: Sequence[LexborNode],
    criterion: Criterion,
    *,
    passed: str,
    failed: str,
) -> Finding:
    """As `judge`; a warning, too, where a script may still name all of the nameless."""
    certain = [each for each in nameless if not may_be_filled(each)]
    finding = judge(document, judged, certain or nameless, criterion, passed=passed, failed=failed)
    if certain or not isinstance(finding, Fail):
        return finding
    return Warn(f"{finding.message} Scripts may still name them.", evidence=finding.evidence)


def may_be_filled(node: LexborNode) -> bool:
    """Whether it is or has a custom element, whose content is its own business, or a framework's binding."""
    pending = [node]
    for _ in range(MAX_NODES):
        if not pending:
            return False
        each = pending.pop()
        if "-" in (each.tag or "") or any(BINDING.fullmatch(name) for name in each.attributes):
            return True
        child = each.first_child
        while child is not None:
            if child.is_element_node:
                pending.append(child)
            child = child.next
    return True
