"""Markdown of comparisons: what is new, worse, fixed and better since an earlier report of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from website_scan.command.formats.markdown import code, escaped, link
from website_scan.report.diff import Change, Diff, NotCompared
from website_scan.report_json import ExportJson


def changes(found: Sequence[Diff[ExportJson]]) -> str:
    """Return one document with a section for each comparison."""
    return "\n".join(line for each in found for line in _section(each))


def _section(found: Diff[ExportJson]) -> Iterator[str]:
    was, now = found.before, found.after
    yield f"## {now['type']}: {link(now['url'])}"
    yield ""
    yield escaped(f"{was['score']} {was['grade']} → {now['score']} {now['grade']}")
    yield ""
    if not found.same_browser:
        yield "Only one of the two reports was judged in a browser, so that they see different things."
        yield ""
    groups: dict[str, Sequence[Change | NotCompared]] = {
        "New": found.new,
        "Worse": found.worse,
        "Fixed": found.fixed,
        "Better": found.better,
        "Not compared": found.not_compared,
    }
    for title, group in groups.items():
        if group:
            yield f"### {title}"
            yield ""
            for each in group:
                yield from _lines(each)
            yield ""
    yield f"Unchanged findings: {found.same_count}."
    yield ""


def _lines(each: Change | NotCompared) -> Iterator[str]:
    yield f"- **{escaped(each.title)}** ({each.severity}, {code(each.id)}{f'; {each.said}' if each.said else ''})"
    if isinstance(each, Change):
        if each.after:
            yield f"  {escaped(each.message)}"
        for sign, places in (("new", each.new_places), ("fixed", each.fixed_places)):
            yield from (f"  - {sign}: {code(place.text)}" for place in places if place.text)
