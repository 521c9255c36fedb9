"""Output format text, for terminals: findings with reasons and fixes, and the scores of all reports at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from website_scan.command.gate import CommandReport, outcome_name
from website_scan.command.terminal import printable
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.report.browserless import MEANING_WITHOUT_BROWSER
from website_scan.report.levels import finding_level
from website_scan.report.places import count_places, stored_places
from website_scan.report_json import ExportedCategory, ExportedFinding, ExportJson
from website_scan.scoring import mean_grade
from website_scan.wording import message_without_places

# The formats `full` and `html` contain all places of a finding.
MAX_PLACES = 3
# Widths of lines in characters: for files and pipes, and on very narrow and very wide terminals.
DEFAULT_WIDTH, MIN_WIDTH, MAX_WIDTH = 100, 40, 120
TYPE_WIDTH = max(map(len, ScanType))
SCORE_WIDTH = len("100/100  A+")
MAX_PLACE_CHARACTERS = 120
# Parameters of the SGR escape sequence for colours (ECMA-48, section 8.3.117).
STYLES = {"fail": "31", "warn": "33", "good": "32", "bold": "1", "dim": "2"}
GRADE_STYLES = {"A+": "good", "A": "good", "B": "warn", "C": "warn", "D": "fail", "F": "fail"}

Paint = Callable[[str, str], str]


def join_lines(lines: Iterable[str]) -> str:
    """Return lines as a text in which every line ends with a line feed."""
    return "".join(f"{line}\n" for line in lines)


def plain(_style: str, words: str) -> str:
    """Return the text without colours and with escapes.

    Terminal control characters are escaped.
    """
    return printable(words)


def colored(style: str, words: str) -> str:
    """Return the text in a colour of STYLES, as a terminal escape sequence."""
    return f"\x1b[{STYLES[style]}m{printable(words)}\x1b[0m"


def text(
    report: CommandReport,
    paint: Paint = plain,
    *,
    width: int = DEFAULT_WIDTH,
    is_quiet: bool = False,
    others: Sequence[CommandReport] = (),
    types: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines of a report, wrapped at `width` except for URLs and code.

    `is_quiet` omits passed and accepted checks, and the version of the browser. `others` are the other reports in the
    output. A fact of another report of the same page is not repeated. `types` are the types of all scans that failed
    with the same error, if the report has one.
    """
    lines = TextLines(paint, width)
    export = report.export
    if report.error is not None:
        failed = ", ".join(types or [report.type])
        yield paint("fail", f"{report.page}  {failed}  not scanned")
        yield from lines.wrap(report.error["message"], 2)
        return
    score, with_accepted = _score(report)
    head = (paint("bold", f"{report.addresses}  {report.type}"), paint(score_style(report), score), with_accepted)
    yield "  ".join(filter(None, head))
    if report.notice:
        yield from lines.wrap(report.notice, 2, "warn")
    if not is_quiet:
        for sentence in browser_sentences(export):
            yield from lines.wrap(sentence, 2, "dim")
    if report.score_cap_sentence:
        yield from lines.wrap(report.score_cap_sentence, 2)
    findings = report.findings()
    if findings:
        yield ""
        yield paint("bold", f"  {totals([finding for _, finding in findings])}")
    duplicates = report.reported_elsewhere(others)
    for category, check in findings:
        yield ""
        yield from finding_lines(category, check, duplicates.get(check["id"], ""), lines)
    if not is_quiet:
        accepted = [f"{check['title']} ({report.accepted[check['id']]})" for _, check in report.findings(accepted=True)]
        yield from section("Accepted", "-", accepted, lines, "dim")
    skipped = [f"{check['name']}: {check['reason']}" for check in export["skipped_checks"]]
    yield from section("Could not run", "?", skipped, lines)
    if is_quiet:
        return
    yield from section(
        "Left out without a browser", "-", [check["name"] for check in export["omitted_checks"]], lines, "dim"
    )
    yield ""
    scores = ", ".join(map(_category_score, export["categories"]))
    yield from lines.wrap(f"{report.passed_count} passed. By category: {scores}", 2, "good")


def _category_score(category: ExportedCategory) -> str:
    """Return the name and score of a category, with the plug-in that added it."""
    source = " (plug-in {name} {version})".format(**category["plug_in"]) if "plug_in" in category else ""
    return f"{category['name']}{source} {category['score']}"


def summary(reports: Sequence[CommandReport], paint: Paint = plain) -> Iterator[str]:
    """Yield one line for each report, with its score and number of findings.

    The lines follow the address of their page. Without a score, nothing is yielded.
    """
    if all(report.error is not None for report in reports):
        return
    page = None
    for report in reports:
        if report.page != page:
            page = report.page
            yield paint("bold", report.addresses)
        if report.error is not None:
            yield f"  {report.type:<{TYPE_WIDTH}}  " + paint("fail", "not scanned")
            continue
        findings = totals([finding for _, finding in report.findings()]) or "no findings"
        score, with_accepted = _score(report)
        # Align the numbers of one to three digits.
        score = f"{' ' * (len('100') - score.index('/'))}{score}"
        row = (f"{report.type:<{TYPE_WIDTH}}", paint(score_style(report), f"{score:<{SCORE_WIDTH}}"), findings)
        yield "  " + "  ".join(filter(None, (*row, with_accepted)))


class TextLines(Struct, frozen=True):
    """Lines of a terminal: their width in characters, and the function that colours them."""

    paint: Paint
    width: int

    def wrap(self, words: str, indent: int, style: str = "", first: str = "") -> Iterator[str]:
        """Yield the words, wrapped between words and indented below `first`, which begins the first line."""
        wrapped = textwrap.wrap(
            printable(words),
            max(self.width, MIN_WIDTH),
            initial_indent=" " * indent + first,
            subsequent_indent=" " * (indent + len(first)),
            break_long_words=False,
            break_on_hyphens=False,
        )
        return (self.paint(style, line) if style else line for line in wrapped)


def _score(report: CommandReport) -> tuple[str, str]:
    """Return the score that the gate judges, and in brackets the score with accepted findings, which may be empty."""
    score = f"{report.export['score']}/100  {report.export['grade']}"
    if not report.accepted:
        return score, ""
    if report.accepted_score is None:
        return score, f"(with {len(report.accepted)} accepted)"
    before = f"{report.export['score']}/100 {report.export['grade']}"
    return f"{report.accepted_score}/100", f"({before} with {len(report.accepted)} accepted)"


def score_style(report: CommandReport) -> str:
    """Return the style of a report's score by its grade: green for an A, yellow for a B or C, red for a D or F."""
    return GRADE_STYLES[mean_grade(report.score or 0, is_flawless=True)]


def section(title: str, mark: str, entries: Sequence[str], lines: TextLines, style: str = "") -> Iterator[str]:
    """Yield a list of checks below a title with their number. Nothing without entries."""
    if entries:
        yield ""
        yield lines.paint("bold", f"  {title} ({len(entries)})")
        for entry in entries:
            yield from lines.wrap(entry, 4, style, f"{mark} ")


def browser_sentences(export: ExportJson) -> Sequence[str]:
    """Return a sentence about the browser.

    It names the browser's version, or the number of checks omitted without a browser.
    """
    if export["browser"]:
        widths = ", ".join(f"{width:,}" for width in export.get("widths", ()))
        scheme = f", {export['color_scheme']} colour scheme" if "color_scheme" in export else ""
        return [f"judged in {export['browser']}{f', at {widths} pixels' if widths else ''}{scheme}"]
    if export["omitted_checks"]:
        omitted_count = len(export["omitted_checks"])
        return [f"judged without a browser; {omitted_count} checks left out. {MEANING_WITHOUT_BROWSER[export['type']]}"]
    return []


def first_places(check: ExportedFinding, max_places: int = MAX_PLACES) -> tuple[Sequence[str], str]:
    """Return a finding's first places and the number of the others.

    The number is in a text such as "and 2 more places", which may be empty.
    """
    places = [place.text for place in stored_places(check) if place.text]
    first = [
        place if len(place) <= MAX_PLACE_CHARACTERS else f"{place[:MAX_PLACE_CHARACTERS]}…"
        for place in places[:max_places]
    ]
    remaining = count_places(check) - len(first)
    return first, f"and {counted(remaining, 'more place')}" if first and remaining else ""


def totals(findings: Sequence[ExportedFinding]) -> str:
    """Return the numbers of failures and warnings, such as "1 failed, 2 warnings"; empty without findings."""
    failed = sum(finding["status"] == "fail" for finding in findings)
    warnings = len(findings) - failed
    warned = counted(warnings, "warning")
    return ", ".join([*([f"{failed} failed"] if failed else []), *([warned] if warnings else [])])


def finding_lines(
    category: str, check: ExportedFinding, duplicate: str, lines: TextLines, pages: str = ""
) -> Iterator[str]:
    """Yield a finding with its message, first places and fix.

    `pages` says which pages of a site have it. With a `duplicate`, that sentence replaces all but the title.
    """
    yield from _title_lines(category, check, lines)
    yield from lines.wrap(duplicate or message_without_places(check), 4)
    if duplicate:
        return
    places, more = first_places(check)
    yield from (lines.paint("dim", f"      at {place}") for place in places)
    if more:
        yield lines.paint("dim", f"      {more}")
    if pages:
        yield from lines.wrap(pages, 4)
    yield from lines.wrap(check["how_to_fix"]["text"], 4, first="Fix: ")
    for snippet in check["how_to_fix"]["snippets"]:
        # Code is not wrapped, so that readers can copy it.
        first, *rest = snippet["code"].splitlines() or [""]
        yield printable(f"      {snippet['label']}: {first}") if not rest else printable(f"      {snippet['label']}:")
        yield from (printable(f"        {line}") for line in ([first, *rest] if rest else []))


def _title_lines(category: str, check: ExportedFinding, lines: TextLines) -> Iterator[str]:
    """Yield a finding's title, and in brackets its severity, category and outcome, such as `hsts.short`.

    The options `--accept` and `--fail-on-outcome` expect the outcome.
    """
    start = f"  {lines.paint(str(check['status']), finding_level(check).mark)} "
    *rows, last = (row.strip() for row in lines.wrap(check["title"], 4))
    context = f"({', '.join(filter(None, (check['severity'], category, outcome_name(check))))})"
    for row in rows:
        yield start + lines.paint("bold", row)
        start = " " * 4
    if 4 + len(f"{last} {context}") <= max(lines.width, MIN_WIDTH):
        yield f"{start}{lines.paint('bold', last)} {printable(context)}"
    else:
        yield start + lines.paint("bold", last)
        yield from lines.wrap(context, 4)
