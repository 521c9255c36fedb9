"""What the tests of SEO checks share."""

from __future__ import annotations

from collections.abc import Callable

from scanner.catalogue import checks, probes
from scanner.findings import Finding, ScanType
from scanner.page.evidence import Clock, Page
from tests.scanner.cast import CLOCK


def judge(check: Callable[..., Finding], seen: Page, *given: object) -> Finding:
    """What a check finds on a page, from the given evidence and what probes without a network work out."""
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
