"""Text for terminals: findings first, with reasons and fixes; passed checks are only counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from website_scan.command.judged import Judged
from website_scan.command.terminal import printable
from website_scan.messages import counted
from website_scan.report.browserless import MEANING_WITHOUT_BROWSER
from website_scan.report.levels import level_of
from website_scan.report.places import occurrences_of
from website_scan.report_json import ExportedFinding, ExportJson
from website_scan.wording import without_places

# Number of places of a finding in the text; the formats `full` and `html` have all places.
MAX_PLACES = 3
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
    """Yield the lines of one report. `is_quiet` omits passed and accepted checks, and which browser judged.

    `others` are the other reports in the output. A fact of another report of the same page is not repeated.
    """
    export = judged.export
    if judged.error is not None:
        yield paint("fail", f"{judged.url}  {judged.type}  failed: {judged.error['code']}: {judged.error['message']}")
        return
    without = f"  ({judged.score} without what is accepted)" if judged.accepted else ""
    yield paint("bold", f"{judged.url}  {judged.type}  {export['score']}/100  {export['grade']}{without}")
    if judged.notice:
        yield paint("warn", f"  {judged.notice}")
    if not is_quiet:
        yield from (paint("dim", f"  {line}") for line in how_judged(export))
    if judged.score_cap_sentence:
        yield printable(f"  {judged.score_cap_sentence}")
    findings = judged.findings()
    if findings:
        yield ""
        yield paint("bold", f"  {_totals([check for _, check in findings])}")
    duplicates = judged.reported_elsewhere(others)
    for category, check in findings:
        yield from _finding(category, check, duplicates.get(check["id"], ""), paint)
    if not is_quiet:
        accepted = [
            paint("dim", f"    - {check['title']} ({judged.accepted[check['id']]})")
            for _, check in judged.findings(accepted=True)
        ]
        yield from _section("Accepted", accepted, paint)
    skipped = [printable(f"    ? {check['name']}: {check['reason']}") for check in export["skipped_checks"]]
    yield from _section("Could not run", skipped, paint)
    if is_quiet:
        return
    omitted = [paint("dim", f"    - {check['name']}") for check in export["omitted_checks"]]
    yield from _section("Left out without a browser", omitted, paint)
    yield ""
    scores = ", ".join(f"{category_['name']} {category_['score']}" for category_ in export["categories"])
    yield paint("good", f"  {judged.passed_count} passed") + printable(f". By category: {scores}")


def _section(title: str, lines: Sequence[str], paint: Paint) -> Iterator[str]:
    if lines:
        yield ""
        yield paint("bold", f"  {title} ({len(lines)})")
        yield from lines


def how_judged(export: ExportJson) -> Sequence[str]:
    """Return a sentence on the browser that judged, or on checks left out without a browser; or nothing."""
    if export["browser"]:
        return [f"judged in {export['browser']}"]
    if export["omitted_checks"]:
        left_out = len(export["omitted_checks"])
        return [f"judged without a browser; {left_out} checks left out. {MEANING_WITHOUT_BROWSER[export['type']]}"]
    return []


def first_places(check: ExportedFinding, most: int = MAX_PLACES) -> tuple[Sequence[str], str]:
    """Return the first places of a finding in words, and a text with the number of further places, or empty."""
    places = [place for places in occurrences_of(check).values() for place in places if place]
    first = [place if len(place) <= PLACE_LENGTH else f"{place[:PLACE_LENGTH]}…" for place in places[:most]]
    remaining = len(places) - most
    return first, f"and {counted(remaining, 'more place')}" if remaining > 0 else ""


def _totals(findings: Sequence[ExportedFinding]) -> str:
    failed = sum(finding["status"] == "fail" for finding in findings)
    warnings = len(findings) - failed
    warned = counted(warnings, "warning")
    return ", ".join([*([f"{failed} failed"] if failed else []), *([warned] if warnings else [])])


def _finding(category: str, check: ExportedFinding, duplicate: str, paint: Paint) -> Iterator[str]:
    mark, text = f"{level_of(check).mark} {check['title']}", duplicate or without_places(check)
    yield f"    {paint(check['status'], mark)} " + printable(f"({check['severity']}, {category}): {text}")
    if duplicate:
        return
    places, more = first_places(check)
    yield from (paint("dim", f"        at {place}") for place in places)
    if more:
        yield paint("dim", f"        {more}")
    if "fix" in check:
        yield printable(f"        Fix: {check['fix']}")
