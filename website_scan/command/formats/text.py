"""Text for terminals: findings first, with reasons and fixes; passed checks are only counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from website_scan.command.judged import Judged
from website_scan.command.terminal import printable
from website_scan.messages import counted
from website_scan.report.browserless import WORTH
from website_scan.report.levels import level_of
from website_scan.report.places import occurrences_of
from website_scan.report_json import ExportedFinding, ExportJson
from website_scan.wording import without_places

# The number of places shown for a finding; the formats `full` and `html` have all.
TOLD_PLACES = 3
PLACE_LENGTH = 120
# SGR parameters (ECMA-48, 8.3.117).
STYLES = {"fail": "31", "warn": "33", "good": "32", "bold": "1", "dim": "2"}

Paint = Callable[[str, str], str]


def plain(_style: str, words: str) -> str:
    """Return the words without colours, and without terminal control characters."""
    return printable(words)


def colored(style: str, words: str) -> str:
    """Return the words in a style of STYLES, as an escape sequence."""
    return f"\x1b[{STYLES[style]}m{printable(words)}\x1b[0m"


def text(
    judged: Judged, paint: Paint = plain, *, is_quiet: bool = False, others: Sequence[Judged] = ()
) -> Iterator[str]:
    """Yield the lines of one report. If `is_quiet`, leaves out what passed or is accepted, and which browser judged.

    `others` are reports that the reader has as well: a fact that one of the same page tells is not told again.
    """
    document = judged.document
    if judged.error is not None:
        yield paint("fail", f"{judged.url}  {judged.type}  failed: {judged.error['code']}: {judged.error['message']}")
        return
    without = f"  ({judged.score} without what is accepted)" if judged.accepted else ""
    yield paint("bold", f"{judged.url}  {judged.type}  {document['score']}/100  {document['grade']}{without}")
    if judged.notice:
        yield paint("warn", f"  {judged.notice}")
    if not is_quiet:
        yield from (paint("dim", f"  {line}") for line in how_judged(document))
    if judged.held:
        yield printable(f"  {judged.held}")
    findings = judged.findings()
    if findings:
        yield ""
        yield paint("bold", f"  {_totals([check for _, check in findings])}")
    told = judged.told_by(others)
    for category, check in findings:
        yield from _finding(category, check, told.get(check["id"], ""), paint)
    if not is_quiet:
        accepted = [
            paint("dim", f"    - {check['title']} ({judged.accepted[check['id']]})")
            for _, check in judged.findings(accepted=True)
        ]
        yield from _section("Accepted", accepted, paint)
    skipped = [printable(f"    ? {check['name']}: {check['reason']}") for check in document["skipped_checks"]]
    yield from _section("Could not run", skipped, paint)
    if is_quiet:
        return
    omitted = [paint("dim", f"    - {check['name']}") for check in document["omitted_checks"]]
    yield from _section("Left out without a browser", omitted, paint)
    yield ""
    scores = ", ".join(f"{each['name']} {each['score']}" for each in document["categories"])
    yield paint("good", f"  {judged.passed} passed") + printable(f". By category: {scores}")


def _section(title: str, lines: Sequence[str], paint: Paint) -> Iterator[str]:
    if lines:
        yield ""
        yield paint("bold", f"  {title} ({len(lines)})")
        yield from lines


def how_judged(document: ExportJson) -> Sequence[str]:
    """Return a sentence on the browser that judged, or on the checks left out without one; empty if none was needed."""
    if document["browser"]:
        return [f"judged in {document['browser']}"]
    if document["omitted_checks"]:
        left_out = len(document["omitted_checks"])
        return [f"judged without a browser; {left_out} checks left out. {WORTH[document['type']]}"]
    return []


def where(check: ExportedFinding, most: int = TOLD_PLACES) -> tuple[Sequence[str], str]:
    """Return the first places of a finding in words, and a text with the number of the others, empty if none."""
    named = [each for places in occurrences_of(check).values() for each in places if each]
    told = [each if len(each) <= PLACE_LENGTH else f"{each[:PLACE_LENGTH]}…" for each in named[:most]]
    left = len(named) - most
    return told, f"and {counted(left, 'more place')}" if left > 0 else ""


def _totals(findings: Sequence[ExportedFinding]) -> str:
    failed = sum(each["status"] == "fail" for each in findings)
    warnings = len(findings) - failed
    warned = counted(warnings, "warning")
    return ", ".join([*([f"{failed} failed"] if failed else []), *([warned] if warnings else [])])


def _finding(category: str, check: ExportedFinding, told: str, paint: Paint) -> Iterator[str]:
    mark, said = f"{level_of(check).mark} {check['title']}", told or without_places(check)
    yield f"    {paint(check['status'], mark)} " + printable(f"({check['severity']}, {category}): {said}")
    if told:
        return
    places, more = where(check)
    yield from (paint("dim", f"        at {place}") for place in places)
    if more:
        yield paint("dim", f"        {more}")
    if "fix" in check:
        yield printable(f"        Fix: {check['fix']}")
