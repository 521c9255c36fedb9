"""Shared helpers of the tests of SEO checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tests.website_scan.cast import CLOCK, message
from website_scan.catalogue import checks, probes
from website_scan.findings import ScanType
from website_scan.outcomes import Fault, Verdict
from website_scan.page.evidence import Clock, Page

F = TypeVar("F", bound=Verdict)


def told(finding: Verdict) -> str:
    """Return what the finding says, followed by its places as a message names them."""
    labels = [place.label for place in finding.places if place.label] if isinstance(finding, Fault) else []
    return f"{message(finding).removesuffix('.')}: {'; '.join(labels)}." if labels else message(finding)


def verdict_of(outcome: str, *failing: str) -> str:
    """Return the verdict of an outcome: one of `failing` fails, another fault warns."""
    return outcome if outcome in ("pass", "n/a") else "fail" if outcome in failing else "warn"


def judge(check: Callable[..., F], seen: Page, *given: object) -> F:
    """Return a check's finding on a page, from the given evidence and from probes that need no network."""
    evidence: dict[type, object] = {Page: seen, Clock: CLOCK} | {type(each): each for each in given}

    def needed(kind: type) -> object:
        if kind not in evidence:
            probe = probes()[kind]
            evidence[kind] = probe.function(**{need.parameter: needed(need.evidence) for need in probe.needs})
        return evidence[kind]

    (declared,) = (each for each in checks(ScanType.SEO) if each.function is check)
    return check(
        **{
            need.parameter: evidence.get(need.evidence) if need.optional else needed(need.evidence)
            for need in declared.needs
        }
    )
