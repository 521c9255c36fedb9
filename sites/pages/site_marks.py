"""Marks that show the state of a site in tables."""

from __future__ import annotations

from msgspec import Struct

from sites.models import SiteState


class SiteMark(Struct, frozen=True):
    """Text of a mark with its color, such as "2 critical"."""

    text: str
    tone: str


FINE = SiteMark("No urgent problems", "good")


def marks_of(state: SiteState) -> tuple[SiteMark, ...]:
    """Return the marks of a site, the most urgent first. There is at least one."""
    marks = []
    if state.critical:
        marks.append(SiteMark(f"{state.critical:,} critical", "bad"))
    if state.failing_since:
        marks.append(SiteMark("Unreachable", "bad"))
    if state.high:
        marks.append(SiteMark(f"{state.high:,} high", "warn"))
    return tuple(marks) or (FINE,)
