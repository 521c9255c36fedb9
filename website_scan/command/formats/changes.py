"""Describe in Markdown how a page's findings have changed.

Since an earlier report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from website_scan.command.formats.markdown import code, escaped, link
from website_scan.report.diff import Change, Diff, NotCompared
from website_scan.report_json import ExportJson


def changes(diffs: Sequence[Diff[ExportJson]]) -> str:
    """Return Markdown with a section for each diff of two reports."""
    return "\n".join(line for diff in diffs for line in _section(diff))


def _section(diff: Diff[ExportJson]) -> Iterator[str]:
    was, now = diff.before, diff.after
    yield f"## {now['type']}: {link(now['url'])}"
    yield ""
    yield escaped(f"{was['score']} {was['grade']} → {now['score']} {now['grade']}")
    yield ""
    if not diff.same_categories:
        yield "Not the same categories of checks were judged, so the scores cannot be compared."
        yield ""
    if not diff.same_browser:
        yield "Only one of the two reports was judged in a browser, so that they see different things."
        yield ""
    groups: dict[str, Sequence[Change | NotCompared]] = {
        "New": diff.new,
        "Worse": diff.worse,
        "Fixed": diff.fixed,
        "Better": diff.better,
        "Not compared": diff.not_compared,
    }
    for title, group in groups.items():
        if group:
            yield f"### {title}"
            yield ""
            for change in group:
                yield from _lines(change)
            yield ""
    yield f"Unchanged findings: {diff.same_count}."
    yield ""


def _lines(change: Change | NotCompared) -> Iterator[str]:
    words = f"; {change.said}" if change.said else ""
    yield f"- **{escaped(change.title)}** ({change.severity}, {code(change.id)}{words})"
    if isinstance(change, Change):
        if change.after:
            yield f"  {escaped(change.message)}"
        for label, places in (("new", change.new_places), ("fixed", change.fixed_places)):
            yield from (f"  - {label}: {code(place.text)}" for place in places if place.text)
