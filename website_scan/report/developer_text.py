"""Plain text about the worst findings, which the owner of a site sends to a web developer by mail."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct

from website_scan.findings import SEVERE, Severity
from website_scan.messages import cut
from website_scan.priority import priority_of
from website_scan.report.mute_matching import MutedPlaces
from website_scan.report.places import describe_places
from website_scan.report_json import ExportedFinding, ExportJson, StoredFix, checks_of

# Mail programs wrap longer lines at other places, and quote them badly in answers.
WIDTH = 72
MAX_FINDINGS = 20
MAX_PLACES = 3
MAX_PLACE_CHARACTERS = 200
SEVERITIES = list(Severity)


class DeveloperFinding(Struct, frozen=True):
    """Critical or high finding in the text.

    `type` is the name of the scan type. `pages` is a sentence about the affected pages, empty for a single page.
    `places` are the first places, `more_places` the number of the others.
    """

    title: str
    type: str
    severity: str
    consequence: str
    fix: StoredFix
    places: Sequence[str] = ()
    more_places: int = 0
    pages: str = ""


class DeveloperText(Struct, frozen=True):
    """Content of the text.

    `grades` are those of the scan types by name, "" for a type without a grade. `findings` are sorted by priority. The
    address of the report is `link`; `readers` is a sentence about who can open it.
    """

    address: str
    day: date
    grades: Mapping[str, str]
    findings: Sequence[DeveloperFinding]
    link: str
    readers: str

    def render(self) -> str:
        """Return the text, with lines of at most WIDTH characters except for addresses and code."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "Website scan"
        yield ""
        yield from _wrapped(self.address, first="Address: ")
        yield f"Date:    {self.day.day} {self.day:%B %Y}"
        yield ""
        if any(self.grades.values()):
            width = max(map(len, self.grades)) + 2
            yield "Grades, from A+ (best) to F:"
            yield from (f"  {f'{label}:':{width}}{grade or '-'}" for label, grade in self.grades.items())
            yield ""
        severe = sorted(self.findings, key=lambda finding: SEVERITIES.index(Severity(finding.severity)))
        if not severe:
            yield "No critical or high problems were found."
            yield ""
        else:
            yield "Critical and high problems, worst first"
            yield ""
        for number, finding in enumerate(severe[:MAX_FINDINGS], 1):
            yield from _finding_lines(number, finding)
            yield ""
        if len(severe) > MAX_FINDINGS:
            yield f"... and {len(severe) - MAX_FINDINGS} more in the report."
            yield ""
        yield f"Report:  {self.link}"
        yield from _wrapped(self.readers)


def severe_findings(export: ExportJson, muted: Mapping[str, MutedPlaces], type: str) -> list[DeveloperFinding]:
    """Return the unmuted critical and high findings of a report, sorted by priority.

    `type` is the name of its scan type.
    """
    findings = [check for _, check in checks_of(export) if check["status"] != "pass" and check["severity"] in SEVERE]
    unmuted = [check for check in findings if check["id"] not in muted or not muted[check["id"]].is_whole]
    return [_finding_of_report(check, muted.get(check["id"]), type) for check in sorted(unmuted, key=priority_of)]


def _finding_of_report(check: ExportedFinding, muted: MutedPlaces | None, type: str) -> DeveloperFinding:
    rules = muted.rules if muted else {}
    places = [text for place, text in describe_places(check).items() if text and place not in rules]
    return DeveloperFinding(
        title=check["title"],
        type=type,
        severity=check["severity"],
        consequence=check["consequence"],
        fix=check["how_to_fix"],
        places=places[:MAX_PLACES],
        more_places=max(0, len(places) - MAX_PLACES),
    )


def _finding_lines(number: int, finding: DeveloperFinding) -> Iterator[str]:
    yield from _wrapped(f"{finding.title} ({finding.type}, {finding.severity})", first=f"{number}. ", rest="   ")
    if finding.consequence:
        yield from _wrapped(finding.consequence, "   ")
    if finding.pages:
        yield from _wrapped(finding.pages, "   ")
    if finding.places:
        yield "   Where:"
        for place in finding.places:
            yield from _wrapped(cut(place, MAX_PLACE_CHARACTERS), first="   - ", rest="     ")
        if finding.more_places:
            yield f"   - and {finding.more_places:,} more"
    yield from _wrapped(finding.fix["text"], first="   Fix: ", rest="   ")
    for snippet in finding.fix["snippets"]:
        # Code is not wrapped, so that it can be copied.
        yield f"   {snippet['label']}:"
        yield from (f"     {_visible(line)}" for line in snippet["code"].splitlines())


def _visible(text: str) -> str:
    """Replace control characters and bidirectional marks, which findings may quote from the site, by spaces."""
    return "".join(character if character.isprintable() else " " for character in text)


def _wrapped(text: str, indent: str = "", *, first: str = "", rest: str = "") -> Iterable[str]:
    """Return the lines of a text, whose white space is collapsed.

    The first line begins with `first`, all others with `rest`; or all with `indent`.
    """
    return textwrap.wrap(
        " ".join(_visible(text).split()),
        WIDTH,
        initial_indent=first or indent,
        subsequent_indent=rest or indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
