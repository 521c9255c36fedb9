"""Findings of checks with two limits."""

from __future__ import annotations

from scans.engine.findings import EvidenceItem, Fail, Finding, Pass, Warn


def graded(
    value: float, good: float, poor: float, message: str, why: str, evidence: tuple[EvidenceItem, ...] = ()
) -> Finding:
    """A pass up to `good`, a warning up to `poor`, else a fail; `why` is added unless it is a pass."""
    if value <= good:
        return Pass(f"{message}.", evidence)
    told = f"{message}; {why}."
    return Warn(told, evidence=evidence) if value <= poor else Fail(told, evidence=evidence)
