"""Conformance report of an assessment as OpenACR, the machine-readable VPAT of the US General Services Administration.

https://github.com/GSA/openacr. The adherence levels have the meaning that VPAT gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from sites.assessments.documents.disputes import further_disputes
from sites.assessments.documents.summaries import (
    MAX_EXCERPTS,
    CriterionSummary,
    Excerpt,
    Group,
    Summary,
    summary_of,
)
from sites.assessments.documents.texts import further_notes, one_line, sentence
from sites.assessments.progress import decided_words
from sites.assessments.schemas import AssessmentJson
from sites.models import Assessment
from website_scan.accessibility.standards import LEVELS, Standard, required_criteria
from website_scan.messages import agreeing, counted, cut

SUPPORTS, PARTIALLY_SUPPORTS, DOES_NOT_SUPPORT = "supports", "partially-supports", "does-not-support"
NOT_APPLICABLE, NOT_EVALUATED = "not-applicable", "not-evaluated"

# Catalogs of OpenACR. It has none for WCAG 2.0 alone, and none for EN 301 549 with WCAG 2.1.
CATALOGS: Mapping[Standard, str] = {
    Standard.WCAG_22: "2.5-edition-wcag-2.2-en",
    Standard.WCAG_21: "2.4-edition-wcag-2.1-en",
    Standard.WCAG_20: "2.5-edition-wcag-2.0-508-en",
    Standard.SECTION_508: "2.5-edition-wcag-2.0-508-en",
    Standard.EN_301_549: "2.5-edition-wcag-2.2-508-eu-en",
}
SECTION_508_CHAPTERS = (
    "functional_performance_criteria",
    "hardware",
    "software",
    "support_documentation_and_services",
)
EN_301_549_CHAPTERS = (
    "en_301_549_functional_performance",
    "en_301_549_generic_requirements",
    "en_301_549_ict_with_two-way_voice",
    "en_301_549_ict_with_video",
    "en_301_549_hardware",
    "en_301_549_non-web-documents",
    "en_301_549_software",
    "en_301_549_documentation_and_support_services",
    "en_301_549_ict_providing_relay_or_emergency_service_access",
)
EN_301_549_WEB = "en_301_549_web"
# Chapters of the catalog beside the success criteria.
OTHER_CHAPTERS: Mapping[Standard, tuple[str, ...]] = {
    Standard.WCAG_20: SECTION_508_CHAPTERS,
    Standard.SECTION_508: SECTION_508_CHAPTERS,
    Standard.EN_301_549: (*SECTION_508_CHAPTERS, *EN_301_549_CHAPTERS),
}
COMPONENT = "web"
MISSING_EMAIL = "[e-mail address]"
MAX_NOTES, MAX_TEXT, MAX_PAGES, MAX_DISPUTES = 4_000, 300, MAX_EXCERPTS, 3


def openacr_yaml(assessment: Assessment) -> Iterator[str]:
    """Yield the assessment as OpenACR 0.1.0 in YAML."""
    yield yaml_of(openacr(summary_of(assessment)))


def yaml_of(document: dict[str, Any]) -> str:
    return yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120)


def openacr(summary: Summary) -> dict[str, Any]:
    """Return the assessment as an object of OpenACR's schema."""
    assessment = summary.assessment
    name = one_line(assessment["name"])
    document: dict[str, Any] = {
        "title": f"{name} Accessibility Conformance Report",
        "product": {"name": name, "description": one_line(f"{assessment['url']} {assessment['scope']}")},
        "author": _contact(assessment, ", ".join(summary.evaluators)),
        "vendor": _contact(assessment, ""),
        "report_date": (assessment["finished_at"] or assessment["updated_at"])[:10],
        "last_modified_date": assessment["updated_at"][:10],
        "notes": _notes(summary),
        "evaluation_methods_used": _methods(summary),
    }
    if feedback := one_line(assessment["contact_url"]):
        document["feedback"] = feedback
    return document | {"catalog": CATALOGS[Standard(assessment["standard"])], "chapters": _chapters(summary)}


def adherence(criterion: CriterionSummary) -> str:
    """Return how far the sample meets a criterion.

    VPAT says "partially supports" if some functions fail, and "does not support" if most of them fail. A criterion that
    no page is known to fail, but that people have not decided on each page, is not evaluated.
    """
    if criterion.failed:
        return DOES_NOT_SUPPORT if criterion.failed > criterion.passed else PARTIALLY_SUPPORTS
    if not criterion.is_decided:
        return NOT_EVALUATED
    return SUPPORTS if criterion.passed else NOT_APPLICABLE


def _contact(assessment: AssessmentJson, name: str) -> dict[str, str]:
    """Return a contact without its empty fields. The schema requires an e-mail address."""
    fields = {
        "name": name,
        "company_name": assessment["owner_name"],
        "email": one_line(assessment["contact_email"]) or MISSING_EMAIL,
        "phone": assessment["contact_phone"],
        "website": assessment["url"],
    }
    return {field: text for field, value in fields.items() if (text := one_line(value))}


def _notes(summary: Summary) -> str:
    texts = [
        "This report describes a sample of pages. Automatic checks find failures; only people decided what passes."
    ]
    texts.append(decided_words(summary.assessment["progress"]))
    rows = [one for one in summary.criteria if one.criterion["level"] != "AAA" and adherence(one) == NOT_EVALUATED]
    if rows:
        number = counted(len(rows), "criterion is", "criteria are")
        texts.append(
            f"Incomplete: {number} not evaluated at levels A and AA, because people have not decided about a page, or "
            "the page has changed since, and no page is known to fail. VPAT allows that only at level AAA, so people "
            "have to test them before this report is published."
        )
    if not summary.assessment["contact_email"]:
        texts.append("The e-mail address of the contact is missing.")
    return _joined(texts)


def _methods(summary: Summary) -> str:
    assessment = summary.assessment
    titles = [one_line(title, MAX_TEXT) for title in summary.titles]
    more = f", and {summary.pages - len(titles):,} more" if summary.pages > len(titles) else ""
    names = [f"Pages: {', '.join(titles)}{more}."] if titles else []
    return _joined(
        [
            assessment["method"],
            f"The standard is {Standard(assessment['standard']).at_level(assessment['level'])}.",
            summary.method_sentences(),
            *names,
        ]
    )


def _chapters(summary: Summary) -> dict[str, Any]:
    standard, level = Standard(summary.assessment["standard"]), summary.assessment["level"]
    covered = [name for name in LEVELS if any(one.criterion["level"] == name for one in summary.criteria)]
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in LEVELS}
    for one in summary.criteria:
        rows[one.criterion["level"]].append(_criterion(one.criterion["number"], adherence(one), _remarks(one)))
    if standard is Standard.EN_301_549:
        # The catalog has the criteria of WCAG 2.2.
        known = {one.number for one in required_criteria(standard, level)}
        for newer in required_criteria(Standard.WCAG_22, min(level, "AA", key=LEVELS.index)):
            if newer.number not in known:
                remark = f"{standard.label} does not require this criterion."
                rows[newer.level].append(_criterion(newer.number, NOT_EVALUATED, remark))
    chapters: dict[str, Any] = {}
    for name in LEVELS:
        chapter = f"success_criteria_level_{name.lower()}"
        if rows[name]:
            criteria = sorted(rows[name], key=lambda row: [int(part) for part in row["num"].split(".")])
            notes = "Only the component Web is evaluated: no electronic documents, software or authoring tools."
            chapters[chapter] = {"notes": notes, "criteria": criteria}
        else:
            levels = f"{agreeing(len(covered), 'level', 'levels')} {' and '.join(covered)}"
            chapters[chapter] = _disabled(f"Not evaluated. The assessment covers {levels}.")
    for chapter in OTHER_CHAPTERS.get(standard, ()):
        chapters[chapter] = _disabled("Not evaluated. The assessment covers the success criteria of web pages.")
    if standard is Standard.EN_301_549:
        chapters[EN_301_549_WEB] = {"notes": "The tables of success criteria have the results of clause 9."}
    return chapters


def _disabled(notes: str) -> dict[str, Any]:
    return {"notes": notes, "disabled": True}


def _criterion(number: str, level: str, notes: str) -> dict[str, Any]:
    return {"num": number, "components": [{"name": COMPONENT, "adherence": {"level": level, "notes": notes}}]}


def _remarks(criterion: CriterionSummary) -> str:
    """Return the number of pages by result, and what people and checks saw on the first pages."""
    disputes = criterion.disputes[:MAX_DISPUTES]
    texts = [criterion.sentences(), *(dispute.sentences() for dispute in disputes)]
    if more := len(criterion.disputes) - len(disputes):
        texts.append(further_disputes(more))
    pages = [one for group in Group for one in criterion.excerpts[group] if one.has_content][:MAX_PAGES]
    texts += map(_page_remarks, pages)
    if more := sum(criterion.with_content.values()) - len(pages):
        texts.append(further_notes(more))
    return cut(_joined(texts), MAX_NOTES)


def _page_remarks(page: Excerpt) -> str:
    texts = [sentence(page.note, MAX_TEXT)]
    if page.remedy:
        texts.append(f"To do: {sentence(page.remedy, MAX_TEXT)}")
    for finding in page.findings:
        kind = "Automatic check" if finding.has_failed else "A person has to review"
        texts.append(f"{kind}: {sentence(finding.title, MAX_TEXT)}")
    if more := page.finding_count - len(page.findings):
        texts.append(f"And {counted(more, 'more automatic finding')}.")
    return f"{one_line(page.title, MAX_TEXT)}: {_joined(texts)}"


def _joined(texts: Iterable[str]) -> str:
    return " ".join(filter(None, map(sentence, texts)))


SIMPLE_WORD = re.compile(r"[a-z][a-z_-]*")


class _Dumper(yaml.SafeDumper):
    """Writes YAML without references, and with quotes around all texts except simple words.

    YAML 1.1 and 1.2 differ in what they take for a number: 1e3 and 0o17 are numbers in YAML 1.2 only.
    """

    def ignore_aliases(self, _: object) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = None if SIMPLE_WORD.fullmatch(data) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)
