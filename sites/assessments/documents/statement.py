"""Draft of an accessibility statement by the model of the European Union.

Implementing Decision (EU) 2018/1523, annex, section 1. Texts that only people can write are in [square brackets].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct

from sites.assessments.documents.disputes import Dispute, further_disputes
from sites.assessments.documents.summaries import CriterionSummary, Group, Summary, summary_of
from sites.assessments.documents.texts import further_notes, one_line, paragraphs, sentence
from sites.assessments.method import GAP
from sites.assessments.progress import progress_of, undecided_words
from sites.assessments.schemas import AssessmentJson
from sites.models import Assessment
from website_scan.accessibility.standards import Standard, success_criteria
from website_scan.messages import agreeing, counted, some
from website_scan.report.references import safe_link

TITLE = "Accessibility statement"
# The directive requires criteria of levels A and AA of WCAG 2.1. These standards have all of them.
SUFFICIENT_STANDARDS = frozenset({Standard.EN_301_549, Standard.WCAG_21, Standard.WCAG_22})
MAX_TITLE, MAX_NOTE, MAX_NOTES, MAX_DISPUTES = 120, 300, 3, 20


class Item(Struct, frozen=True):
    """Item of a list. `url` is empty without a link."""

    text: str
    url: str = ""


class Section(Struct, frozen=True):
    """Section of the statement. `level` is 2, or 3 for a part of the section before."""

    heading: str
    paragraphs: Sequence[str]
    items: Sequence[Item] = ()
    level: int = 2


class Statement(Struct, frozen=True):
    """Draft of a statement. `missing` are the texts in square brackets that people still have to write."""

    title: str
    introduction: Sequence[str]
    sections: Sequence[Section]
    missing: Sequence[str]


def accessibility_statement(assessment: Assessment) -> Statement:
    """Return the draft of the site's accessibility statement."""
    return _Draft(summary_of(assessment, [Group.FAILED])).statement()


class _Draft:
    """Writes the sections in order, and collects the texts that are missing."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.assessment: AssessmentJson = summary.assessment
        # The directive requires nothing of level AAA.
        self.results = [one for one in summary.criteria if one.criterion["level"] != "AAA"]
        self.failed = [one for one in self.results if one.failed]
        self.undecided = [one for one in self.results if not one.is_decided and not one.failed]
        self.missing: dict[str, None] = {}
        self.owner = one_line(self.assessment["owner_name"]) or self.placeholder("name of the organization")
        self.law = self.placeholder("the national law that implements Directive (EU) 2016/2102")

    def statement(self) -> Statement:
        introduction = [
            f"{self.owner} is committed to making its website accessible, in accordance with {self.law}.",
            f"This accessibility statement applies to {one_line(self.assessment['url'])}.",
            *paragraphs(self.assessment["scope"]),
        ]
        sections = [
            Section("Compliance status", [self.status()]),
            *self.inaccessible_content(),
            Section("Preparation of this accessibility statement", list(self.preparation())),
            *self.disputed_findings(),
            self.feedback(),
            self.enforcement(),
        ]
        return Statement(TITLE, introduction, sections, list(self.missing))

    def placeholder(self, text: str) -> str:
        """Return a text in square brackets that people have to replace."""
        self.missing[text] = None
        return f"[{text}]"

    @property
    def exemptions(self) -> list[str]:
        return [text for text in (self.assessment["burden"], self.assessment["exempt_content"]) if text.strip()]

    def status(self) -> str:
        """Return a sentence about the compliance, or a text for people to decide if tests are missing.

        "Fully" needs the result of each criterion on each page, and neither failures nor exemptions. "Partially" means
        that most criteria are met (notes 2 to 7 of the annex).
        """
        if doubts := list(self.doubts()):
            return self.placeholder(
                f"Decide whether this website is fully, partially or not compliant with the law. {' '.join(doubts)}"
            )
        if not self.failed and not self.exemptions:
            pages = counted(self.assessment["pages"], "page")
            return self.placeholder(
                f"Decide whether this website is fully compliant with the law. People found no failure in {pages}."
            )
        applicable = [one for one in self.results if one.is_applicable]
        reasons = ["the non-compliances"] if self.failed else []
        reasons += ["the exemptions"] if self.exemptions else []
        listed = " and ".join(reasons)
        if 2 * len(self.failed) > len(applicable):
            listed = listed[:1].upper() + listed[1:]
            return f"This website is not compliant with {self.law}. {listed} are listed below."
        return f"This website is partially compliant with {self.law}, due to {listed} listed below."

    def doubts(self) -> Iterator[str]:
        """Yield sentences about what is missing for a decision about the compliance."""
        standard, level = Standard(self.assessment["standard"]), self.assessment["level"]
        if standard not in SUFFICIENT_STANDARDS or level == "A":
            yield (
                f"The assessment used {standard.at_level(level)}. The law requires levels A and AA of WCAG 2.1, "
                "which have more criteria."
            )
        progress = progress_of(one.criterion["pages"] for one in self.results)
        partly = any(not one.is_decided for one in self.results)
        if undecided := progress["criteria"] - progress["criteria_decided"]:
            number = f"{counted(undecided, 'criterion', 'criteria')} of {progress['criteria']}"
            reasons = undecided_words(progress)
            yield f"People have not decided about {number} on each page of the sample ({reasons})."
        if outdated := sum(one.outdated > 0 for one in self.results):
            pages = f"Pages have changed since the tests of {counted(outdated, 'criterion', 'criteria')}"
            yield f"{pages}, which people have to test again."
        if self.failed and (partly or standard not in SUFFICIENT_STANDARDS or level == "A"):
            number = counted(len(self.failed), "criterion", "criteria")
            yield f"The website fails {number}, so it is not fully compliant."

    def inaccessible_content(self) -> Iterator[Section]:
        """Yield the sections about content that is not accessible, with the reasons (a), (b) and (c) of the model."""
        if not self.failed and not self.exemptions and not self.undecided:
            return
        if not self.failed and not self.exemptions:
            text = self.placeholder("List the content that is not accessible when people have tested all criteria.")
            yield Section("Non-accessible content", [text])
            return
        yield Section("Non-accessible content", ["The content listed below is not accessible for these reasons:"])
        if self.failed:
            items = [Item(_failure(one, self.assessment)) for one in self.failed]
            yield Section(f"(a) Non-compliance with {self.law}", [], items, 3)
        if burden := paragraphs(self.assessment["burden"]):
            yield Section("(b) Disproportionate burden", burden, (), 3)
        if exempt := paragraphs(self.assessment["exempt_content"]):
            yield Section("(c) Content that is not within the scope of the law", exempt, (), 3)
        alternatives = paragraphs(self.assessment["alternatives"])
        missing = "Describe accessible alternatives to this content, or say that there are none."
        yield Section("Accessible alternatives", alternatives or [self.placeholder(missing)], (), 3)

    def preparation(self) -> Iterator[str]:
        finished_at, standard = self.assessment["finished_at"], Standard(self.assessment["standard"])
        day = _day(finished_at) if finished_at else self.placeholder("date")
        yield f"This statement was prepared on {day}."
        yield (
            f"It is based on a self-assessment by {standard.at_level(self.assessment['level'])}. "
            f"{self.summary.method_sentences()}"
        )
        if names := [one_line(name, MAX_TITLE) for name in self.summary.evaluators]:
            yield f"Tested by {', '.join(names)}."
        if f"[{GAP}]" in self.assessment["method"]:
            self.placeholder(GAP)
        yield from paragraphs(self.assessment["method"])
        if finished_at:
            yield f"The statement was last reviewed on {day}."

    def disputed_findings(self) -> Iterator[Section]:
        """Yield the automatic findings that people disputed, so that readers can judge the reasons."""
        disputes = [(one, clauses) for one in self.summary.disputes if (clauses := _clauses(one, self.results))]
        if disputes:
            items = [Item(f"{clauses}: {one.sentences()}") for one, clauses in disputes[:MAX_DISPUTES]]
            if more := len(disputes) - len(items):
                items.append(Item(further_disputes(more)))
            yield Section("Disputed findings of automatic checks", [], items, 3)

    def feedback(self) -> Section:
        email, phone = one_line(self.assessment["contact_email"]), one_line(self.assessment["contact_phone"])
        address = one_line(self.assessment["contact_url"])
        items = []
        if email:
            items.append(Item(f"E-mail: {email}", f"mailto:{quote(email, safe='@')}"))
        if address:
            items.append(Item(f"Website: {address}", safe_link(address) or ""))
        if phone:
            items.append(Item(f"Telephone: {phone}"))
        text = (
            "Is any content of this website not accessible to you, or do you need it in an accessible form? Please "
            f"contact {self.owner}, which is responsible for accessibility:"
        )
        return Section(
            "Feedback and contact information",
            [text],
            items or [Item(self.placeholder("e-mail address, contact form or telephone number"))],
        )

    def enforcement(self) -> Section:
        text = (
            "Describe how people can complain if they get no satisfactory response, and name the body that enforces "
            "the law, with its address and a link."
        )
        own = paragraphs(self.assessment["enforcement"])
        return Section("Enforcement procedure", own or [self.placeholder(text)])


def _failure(results: CriterionSummary, assessment: AssessmentJson) -> str:
    """Return what a criterion asks in plain words, where it is not so, and what people saw there."""
    row, failed = results.criterion, results.excerpts[Group.FAILED]
    titles = [one_line(page.title, MAX_TITLE) for page in failed]
    pages = agreeing(results.failed, "this page", "these pages")
    where = f"This is not so on {pages}: {some(titles, '; ', results.failed)}."
    requirement = f"({assessment['standard_name']}: {row['clause']} {row['name']}, level {row['level']})"
    return " ".join([success_criteria()[row["number"]].asks, where, *_notes(results), requirement])


def _day(timestamp: str) -> str:
    """Return the day of a timestamp in words, such as "2 November 2026"."""
    moment = datetime.fromisoformat(timestamp)
    return f"{moment.day} {moment:%B %Y}"


def _clauses(dispute: Dispute, results: Sequence[CriterionSummary]) -> str:
    """Return those of the criteria that a disputed finding concerns, such as "1.1.1 Non-text Content"."""
    rows = [one.criterion for one in results if one.criterion["number"] in dispute.criteria]
    return ", ".join(f"{row['clause']} {row['name']}" for row in rows)


def _notes(results: CriterionSummary) -> list[str]:
    """Return the notes of people, or the titles of automatic failures on pages without a note.

    The last sentences say what is left out, and where it is listed.
    """
    notes: dict[str, None] = {}
    quoted = more_failures = 0
    for page in results.excerpts[Group.FAILED]:
        texts = [page.note] if page.note.strip() else [one.title for one in page.findings if one.has_failed]
        sentences = {text: None for text in (sentence(text, MAX_NOTE) for text in texts) if text}
        if len(notes | sentences) <= MAX_NOTES:
            notes |= sentences
            quoted += page.has_content
            if not page.note.strip():
                more_failures += page.failure_count - len(texts)
    omitted = []
    if more_failures:
        failures = counted(more_failures, "more failure")
        omitted.append(f"Automatic checks found {failures} on these pages, which the conformance report lists.")
    more = results.with_content[Group.FAILED] - quoted
    if more:
        omitted.append(further_notes(more))
    return [*notes, *omitted]
