"""Doubt about what the served page says: scripts may fill an element with a name that is not there yet."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.offenders import Criterion, judge
from scans.engine.accessibility.tree import AccessibleDocument
from scans.engine.findings import Fail, Finding, Warn

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
