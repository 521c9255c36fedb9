"""Results of an assessment in EARL 1.0, the W3C's vocabulary for test results, as JSON-LD.

https://www.w3.org/TR/EARL10-Schema/. Each result names who reached it: a person, the automatic checks, or both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from sites.assessments.documents.page_results import CriterionResults, PageResult, results_by_criterion
from sites.assessments.schemas import AssessmentFindingJson, AssessmentPageJson, AssessmentReport
from website_scan.messages import some
from website_scan.report.earl import ASSERTOR, assertion, document, result_of, software_assertor

OUTCOMES = {
    "passed": "earl:passed",
    "failed": "earl:failed",
    "not_applicable": "earl:inapplicable",
    "cannot_tell": "earl:cantTell",
    "untested": "earl:untested",
}
# Characters that an IRI must not contain (RFC 3987).
FORBIDDEN = re.compile(r"""[\x00-\x20<>"{}|\\^`\x7f-\x9f]""")


def assessment_earl(report: AssessmentReport) -> dict[str, Any]:
    """Return a JSON-LD document with assertions about each criterion on each page.

    Pages on which nobody and nothing decided about a criterion share one assertion about the sample, which is untested.
    """
    names = sorted(
        {
            result["tested_by"]
            for row in report["criteria"]
            for result in row["results"]
            if result["result"] != "untested"
        }
    )
    people = _People(report, names)
    assertions: list[dict[str, Any]] = []
    for results in results_by_criterion(report):
        for one in results.pages:
            assertions += _assertions(report, results, one, people)
        assertions += _untested(report, results)
    return document([software_assertor(), *people.nodes(), *_subjects(report), *assertions])


class _People:
    """Assertors for the people who tested. Their IRIs have numbers, because names may be e-mail addresses."""

    def __init__(self, report: AssessmentReport, names: Iterable[str]) -> None:
        self._iris = {name: _part_of(report, f"person-{number}") for number, name in enumerate(names, 1)}
        self._groups: dict[str, str] = {}

    def iri(self, name: str) -> str:
        return self._iris[name]

    def group(self, name: str) -> str:
        """Return the assertor of a result that the checks found and a person confirmed."""
        return self._groups.setdefault(name, f"{self._iris[name]}-with-checks")

    def nodes(self) -> Iterator[dict[str, Any]]:
        for name, iri in self._iris.items():
            yield {"@id": iri, "@type": ["earl:Assertor", "foaf:Person"], "foaf:name": name or "Tester without a name"}
        for name, iri in self._groups.items():
            yield {
                "@id": iri,
                "@type": ["earl:Assertor", "foaf:Group"],
                "earl:mainAssertor": self._iris[name],
                "foaf:member": [self._iris[name], ASSERTOR],
            }


def _part_of(report: AssessmentReport, fragment: str) -> str:
    return f"{report['assessment']['assessment_url']}#{fragment}"


def _iri(url: str) -> str:
    return FORBIDDEN.sub(lambda match: quote(match[0]), url)


def _subject(report: AssessmentReport, page: AssessmentPageJson) -> str:
    """Return the IRI of a page. A state has the URL of its page, so that it needs an IRI of its own."""
    return _part_of(report, f"state-{page['number']}") if page["is_state"] else _iri(page["url"])


def _subjects(report: AssessmentReport) -> Iterator[dict[str, Any]]:
    sample = report["sample"]
    yield {
        "@id": _part_of(report, "sample"),
        "@type": "earl:TestSubject",
        "dct:title": f"Sample of {report['assessment']['name']}",
        "dct:hasPart": [_subject(report, page) for page in sample],
    }
    for page in sample:
        node = {"@id": _subject(report, page), "@type": "earl:TestSubject", "dct:title": page["title"]}
        if page["is_state"]:
            node["dct:source"] = _iri(page["url"])
        yield node


def _assertions(
    report: AssessmentReport, results: CriterionResults, one: PageResult, people: _People
) -> Iterator[dict[str, Any]]:
    """Yield the assertion of a person and that of the checks, as far as they decided."""
    failures, is_confirmed = one.failures, False
    if one.result is not None and one.decision != "untested":
        name = one.result["tested_by"]
        is_confirmed = bool(failures) and one.decision == "failed"
        yield assertion(
            by=people.group(name) if is_confirmed else people.iri(name),
            mode="earl:semiAuto" if is_confirmed else "earl:manual",
            subject=_subject(report, one.page),
            test=results.criterion["url"],
            result=result_of(
                OUTCOMES[one.decision],
                _title(results),
                "\n".join(_person_texts(one, failures if is_confirmed else ())),
                one.result["tested_at"],
            ),
        )
    if failures and not is_confirmed:
        yield _automatic(report, results, one, "earl:failed", failures)
    elif one.decision == "untested" and one.open_findings:
        yield _automatic(report, results, one, "earl:cantTell", one.open_findings)


def _automatic(
    report: AssessmentReport,
    results: CriterionResults,
    one: PageResult,
    outcome: str,
    findings: list[AssessmentFindingJson],
) -> dict[str, Any]:
    return assertion(
        by=ASSERTOR,
        mode="earl:automatic",
        subject=_subject(report, one.page),
        test=results.criterion["url"],
        result=result_of(
            outcome,
            _title(results),
            "\n".join(map(_finding_text, findings)),
            max(finding["seen_at"] for finding in findings),
        ),
    )


def _title(results: CriterionResults) -> str:
    row = results.criterion
    return f"{row['number']} {row['name']} ({row['level']})"


def _finding_text(finding: AssessmentFindingJson) -> str:
    return f"{finding['title']}: {finding['message']}"


def _person_texts(one: PageResult, confirmed: Iterable[AssessmentFindingJson]) -> Iterator[str]:
    if one.note:
        yield one.note
    if one.remedy:
        yield f"To do: {one.remedy}"
    yield from map(_finding_text, confirmed)
    for finding in one.findings:
        if finding["disputed"]:
            yield f"Disputed: {finding['title']}. Reason: {finding['dispute_reason']}"
    if one.result is not None and one.result["is_older_than_page"]:
        yield "The page has changed since this test."


def _untested(report: AssessmentReport, results: CriterionResults) -> Iterator[dict[str, Any]]:
    """Yield an assertion about the pages on which neither people nor checks decided."""
    pages = [one.page["title"] for one in results.pages if one.decision == "untested" and not one.open_findings]
    if pages or not results.pages:
        where = f" on {len(pages):,} of {len(results.pages):,} pages: {some(pages, '; ')}" if pages else ""
        yield assertion(
            by=ASSERTOR,
            subject=_part_of(report, "sample"),
            mode=None,
            test=results.criterion["url"],
            result=result_of("earl:untested", _title(results), f"Not tested{where}.", None),
        )
