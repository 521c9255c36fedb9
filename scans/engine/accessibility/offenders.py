"""From faulty elements to a finding: how many there are, the first of them, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.tree import AccessibleDocument
from scans.engine.findings import EvidenceItem, Fail, Finding, Pass, Warn
from scans.engine.markup import attribute
from scans.engine.masking import excerpt

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
