"""Helpers for tests of SEO checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tests.website_scan.cast import CLOCK, message
from website_scan.catalogue import checks, probes
from website_scan.findings import ScanType
from website_scan.outcomes import Fault, Verdict
from website_scan.page.evidence import Clock, Page

F = TypeVar("F", bound=Verdict)


def message_with_places(finding: Verdict) -> str:
    """Return the message of the finding and the labels of its places."""
    labels = [place.label for place in finding.places if place.label] if isinstance(finding, Fault) else []
    return f"{message(finding).removesuffix('.')}: {'; '.join(labels)}." if labels else message(finding)


def verdict_of(outcome: str, *failing: str) -> str:
    """Return the expected verdict.

    `failing` outcomes fail, other faults warn.
    """
    return outcome if outcome in ("pass", "n/a") else "fail" if outcome in failing else "warn"


def judge(check: Callable[..., F], page: Page, *extra_evidence: object) -> F:
    """Run a check on a page with this evidence.

    Probes that need no network run, too.
    """
    evidence: dict[type, object] = {Page: page, Clock: CLOCK} | {type(item): item for item in extra_evidence}

    def gather(kind: type) -> object:
        if kind not in evidence:
            probe = probes()[kind]
            evidence[kind] = probe.function(**{need.parameter: gather(need.evidence) for need in probe.needs})
        return evidence[kind]

    (declared,) = (entry for entry in checks(ScanType.SEO) if entry.function is check)
    return check(
        **{
            need.parameter: evidence.get(need.evidence) if need.optional else gather(need.evidence)
            for need in declared.needs
        }
    )
