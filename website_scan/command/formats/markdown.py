"""Write reports as GitHub Markdown.

CI job summaries and coding agents use this format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from website_scan.command.executed_journeys import ExecutedJourneys
from website_scan.command.formats.text import browser_sentences, first_places
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.reported_page import ReportedPage, count_pages, noun_of
from website_scan.command.site_findings import group_findings
from website_scan.command.site_options import SitePages
from website_scan.command.terminal import printable
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.report import markup
from website_scan.report.levels import finding_level
from website_scan.report.references import page_url
from website_scan.report_json import ExportedFinding
from website_scan.wording import message_without_places

MAX_PLACES = 10


def markdown(result: CommandResult) -> str:
    """Return all reports as Markdown.

    A table of the scores, then the findings of each page.
    """
    return "\n".join(_lines(result)) + "\n"


def escaped(text: str) -> str:
    return markup.escaped(printable(text))


def link(url: str) -> str:
    return markup.link(printable(url))


def page_link(page: ReportedPage) -> str:
    """Return the link to a page, after the name of its state."""
    return f"{escaped(page.state_name)} {link(page.url)}" if page.state else link(page.url)


def _links(report: CommandReport) -> str:
    final = f" → {link(report.other_final_url)}" if report.other_final_url else ""
    return f"{page_link(report.page)}{final}"


def code(text: str) -> str:
    return markup.code(printable(text))


def _lines(result: CommandResult) -> Iterator[str]:
    yield "# Website scan"
    yield ""
    if result.complaints:
        yield "**The gate failed:**"
        yield ""
        yield from (f"- {escaped(complaint)}" for complaint in result.complaints)
        yield ""
    if result.site is not None:
        yield from _site(result.site, result)
        return
    yield "| Page | Type | Score | Grade | Failed | Warnings | Accepted |"
    yield "|---|---|--:|---|--:|--:|--:|"
    for report in result.reports:
        statuses = [check["status"] for _, check in report.findings()]
        failed, warned, accepted = statuses.count("fail"), statuses.count("warn"), len(report.accepted)
        score, grade = (report.export["score"], report.export["grade"]) if report.error is None else ("", "failed")
        if report.accepted_score is not None:
            score = f"{report.accepted_score} ({score} with {counted(accepted, 'accepted finding')})"
        page = f"{_links(report)} | {report.type}"
        yield f"| {page} | {score} | {escaped(str(grade))} | {failed} | {warned} | {accepted} |"
    for report in result.reports:
        yield from _report(report, result)


def _site(site: SitePages | ExecutedJourneys, result: CommandResult) -> Iterator[str]:
    """Yield the scores of each page in one row, and each finding once with its pages."""
    yield f"{escaped(site.sentence)} {escaped(' '.join(site.notes))}".rstrip()
    yield ""
    types = [scan_type for scan_type in ScanType if any(report.type == scan_type for report in result.reports)]
    reports = {(report.page, report.type): report for report in result.reports}
    pages = list(dict.fromkeys(report.page for report in result.reports))
    yield f"| {noun_of(pages).capitalize()} | {' | '.join(types)} |"
    yield f"|---|{'--:|' * len(types)}"
    for page in pages:
        scores = [_score(reports.get((page, type))) for type in types]
        yield f"| {page_link(page)} | {' | '.join(scores)} |"
    for report in result.reports:
        if report.error is not None:
            yield ""
            yield f"{report.type} of {page_link(report.page)} failed: {escaped(report.error['message'])}"
    findings = group_findings([report for report in result.reports if report.error is None])
    for scan_type in types:
        yield ""
        yield f"## {scan_type}"
        yield ""
        own = [report for report in result.reports if report.type == scan_type and report.error is None]
        for sentence in dict.fromkeys(sentence for report in own for sentence in browser_sentences(report.export)):
            yield escaped(sentence[:1].upper() + sentence[1:])
            yield ""
        for finding in findings:
            if finding.report.type == scan_type:
                about = page_url(result.check_pages, finding.finding["id"])
                yield from _finding(finding.category, finding.finding, finding.duplicate, about, finding.pages)
        if not any(finding.report.type == scan_type for finding in findings):
            yield "No findings."
            yield ""
        yield from _unjudged(own)


def _score(report: CommandReport | None) -> str:
    """Return the score in a table. A state of a journey has no report of a type that cannot judge it."""
    if report is None:
        return "-"
    return "failed" if report.error else str(report.score)


def _unjudged(reports: Sequence[CommandReport]) -> Iterator[str]:
    """Yield the names of accepted findings, and of the checks that did not judge all pages."""
    accepted = [check["title"] for report in reports for _, check in report.findings(accepted=True)]
    skipped = [check["name"] for report in reports for check in report.export["skipped_checks"]]
    omitted = [check["name"] for report in reports for check in report.export["omitted_checks"]]
    for title, names in (("Accepted", accepted), ("Could not run", skipped), ("Left out without a browser", omitted)):
        if names:
            yield f"{title}: {', '.join(map(escaped, dict.fromkeys(names)))}."
            yield ""


def _report(report: CommandReport, result: CommandResult) -> Iterator[str]:
    export = report.export
    yield ""
    yield f"## {report.type}: {_links(report)}"
    if report.error is not None:
        yield ""
        yield f"The scan failed: {code(report.error['code'])} {escaped(report.error['message'])}"
        return
    sentences = [report.notice, *browser_sentences(export), report.score_cap_sentence]
    for sentence in filter(None, sentences):
        yield ""
        yield escaped(sentence[:1].upper() + sentence[1:])
    yield ""
    duplicates = report.reported_elsewhere(result.reports)
    for category, check in report.findings():
        page = page_url(result.check_pages, check["id"])
        yield from _finding(category, check, duplicates.get(check["id"], ""), page)
    yield from _unjudged([report])
    yield f"{report.passed_count} checks passed."


def _finding(
    category: str, check: ExportedFinding, duplicate: str, page: str, site_pages: Sequence[ReportedPage] = ()
) -> Iterator[str]:
    id = f"[{code(check['id'])}]({page})" if page else code(check["id"])
    word = finding_level(check).word
    yield f"- **{escaped(check['title'])}** ({word}, {check['severity']}, {escaped(category)}, {id})"
    yield f"  {escaped(duplicate or message_without_places(check))}"
    if duplicate:
        yield ""
        return
    places, more = first_places(check, MAX_PLACES)
    yield from (f"  - {code(place)}" for place in places)
    if more:
        yield f"  - {more}"
    if site_pages:
        first = ", ".join(map(page_link, site_pages[:MAX_PLACES]))
        others = f", and {len(site_pages) - MAX_PLACES} more" if len(site_pages) > MAX_PLACES else ""
        yield ""
        yield f"  On {count_pages(site_pages)}: {first}{others}"
    if "fix" in check:
        yield ""
        yield f"  Fix: {markup.prose(printable(check['fix']))}"
    yield ""
