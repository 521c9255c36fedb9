"""Markdown (GitHub's dialect), for the summary of a CI job and for coding agents that fix the findings."""

from __future__ import annotations

from collections.abc import Iterator

from website_scan.command.formats.text import first_places, how_judged
from website_scan.command.judged import Judged, Outcome
from website_scan.command.terminal import printable
from website_scan.report import markup
from website_scan.report.levels import level_of
from website_scan.report.references import page_url
from website_scan.report_json import ExportedFinding
from website_scan.wording import without_places

MAX_PLACES = 10


def markdown(outcome: Outcome) -> str:
    """Return Markdown with a table of the scores, then the findings of each page."""
    return "\n".join(_lines(outcome)) + "\n"


def escaped(text: str) -> str:
    return markup.escaped(printable(text))


def link(url: str) -> str:
    return markup.link(printable(url))


def code(text: str) -> str:
    return markup.code(printable(text))


def _lines(outcome: Outcome) -> Iterator[str]:
    yield "# Website scan"
    yield ""
    if outcome.complaints:
        yield "**The gate failed:**"
        yield ""
        yield from (f"- {escaped(complaint)}" for complaint in outcome.complaints)
        yield ""
    yield "| Page | Type | Score | Grade | Failed | Warnings | Accepted |"
    yield "|---|---|--:|---|--:|--:|--:|"
    for judged in outcome.reports:
        statuses = [check["status"] for _, check in judged.findings()]
        failed, warned, accepted = statuses.count("fail"), statuses.count("warn"), len(judged.accepted)
        score, grade = (judged.export["score"], judged.export["grade"]) if judged.error is None else ("", "failed")
        if judged.accepted_score is not None:
            score = f"{score} ({judged.accepted_score} without what is accepted)"
        page = f"{link(judged.url)} | {judged.type}"
        yield f"| {page} | {score} | {escaped(str(grade))} | {failed} | {warned} | {accepted} |"
    for judged in outcome.reports:
        yield from _report(judged, outcome)


def _report(judged: Judged, outcome: Outcome) -> Iterator[str]:
    export = judged.export
    yield ""
    yield f"## {judged.type}: {link(judged.url)}"
    if judged.error is not None:
        yield ""
        yield f"The scan failed: {code(judged.error['code'])} {escaped(judged.error['message'])}"
        return
    sentences = [judged.notice, *how_judged(export), judged.score_cap_sentence]
    for sentence in filter(None, sentences):
        yield ""
        yield escaped(sentence[:1].upper() + sentence[1:])
    yield ""
    duplicates = judged.reported_elsewhere(outcome.reports)
    for category, check in judged.findings():
        page = page_url(outcome.check_pages, check["id"])
        yield from _finding(category, check, duplicates.get(check["id"], ""), page)
    if judged.accepted:
        yield f"Accepted: {', '.join(escaped(check['title']) for _, check in judged.findings(accepted=True))}."
        yield ""
    skipped = [skipped_check["name"] for skipped_check in export["skipped_checks"]]
    omitted = [omitted_check["name"] for omitted_check in export["omitted_checks"]]
    for title, names in (("Could not run", skipped), ("Left out without a browser", omitted)):
        if names:
            yield f"{title}: {', '.join(map(escaped, names))}."
            yield ""
    yield f"{judged.passed_count} checks passed."


def _finding(category: str, check: ExportedFinding, duplicate: str, page: str) -> Iterator[str]:
    id = f"[{code(check['id'])}]({page})" if page else code(check["id"])
    yield f"- **{escaped(check['title'])}** ({level_of(check).word}, {check['severity']}, {escaped(category)}, {id})"
    yield f"  {escaped(duplicate or without_places(check))}"
    if duplicate:
        yield ""
        return
    places, more = first_places(check, MAX_PLACES)
    yield from (f"  - {code(place)}" for place in places)
    if more:
        yield f"  - {more}"
    if "fix" in check:
        yield ""
        yield f"  Fix: {markup.prose(printable(check['fix']))}"
    yield ""
