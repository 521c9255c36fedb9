"""From elements to a finding where the page as served can't decide: at most a warning."""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.names import shown_text
from scans.engine.accessibility.offenders import Criterion, judge
from scans.engine.accessibility.tree import AccessibleDocument
from scans.engine.findings import Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.markup import live

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
