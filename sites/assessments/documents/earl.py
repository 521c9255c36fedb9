"""Results of an assessment in EARL 1.0, the W3C's vocabulary for test results, as JSON-LD.

https://www.w3.org/TR/EARL10-Schema/. Each result names who reached it: a person, the automatic checks, or both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from sites.assessments.documents.disputes import dispute_of_finding
from sites.assessments.documents.page_results import PageResult, PageResults
from sites.assessments.loading import criteria_rows
from sites.assessments.schemas import AssessmentCriterionJson, AssessmentFindingJson, AssessmentPageJson
from sites.models import Assessment
from website_scan.messages import some
from website_scan.report.earl import ASSERTOR, CONTEXT, assertion, result_of, software_assertor
from website_scan.report.storage import compact_json

OUTCOMES = {
    "passed": "earl:passed",
    "failed": "earl:failed",
    "not_applicable": "earl:inapplicable",
    "cannot_tell": "earl:cantTell",
    "untested": "earl:untested",
}
# Characters that an IRI must not contain (RFC 3987).
FORBIDDEN = re.compile(r"""[\x00-\x20<>"{}|\\^`\x7f-\x9f]""")


def assessment_earl(assessment: Assessment) -> Iterator[str]:
    """Yield a JSON-LD document in pieces, with assertions about each criterion on each page.

    Pages on which nobody and nothing decided about a criterion share one assertion about the sample, which is untested.
    """
    results = PageResults(assessment)
    people = _People(assessment)
    yield f'{{"@context":{compact_json(CONTEXT)},"@graph":['
    yield ",".join(map(compact_json, [software_assertor(), *_subjects(assessment, results.sample)]))
    for row in criteria_rows(assessment):
        criterion = _Criterion(assessment, row, people)
        for batch in results.of_criterion(row["number"]):
            yield _with_commas(criterion.assertions(batch))
        yield _with_commas(criterion.untested())
    yield _with_commas(people.nodes())
    yield "]}"


def _with_commas(nodes: Iterable[dict[str, Any]]) -> str:
    return "".join(f",{compact_json(node)}" for node in nodes)


class _People:
    """Assertors for the people who tested. Their IRIs have numbers, because names may be e-mail addresses."""

    def __init__(self, assessment: Assessment) -> None:
        self._assessment = assessment
        self._iris: dict[str, str] = {}
        self._groups: dict[str, str] = {}

    def iri(self, name: str) -> str:
        return self._iris.setdefault(name, _part_of(self._assessment, f"person-{len(self._iris) + 1}"))

    def group(self, name: str) -> str:
        """Return the assertor of a result that the checks found and a person confirmed."""
        return self._groups.setdefault(name, f"{self.iri(name)}-with-checks")

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Yield the nodes of the people and groups whose IRIs were used."""
        for name, iri in self._iris.items():
            yield {"@id": iri, "@type": ["earl:Assertor", "foaf:Person"], "foaf:name": name or "Tester without a name"}
        for name, iri in self._groups.items():
            yield {
                "@id": iri,
                "@type": ["earl:Assertor", "foaf:Group"],
                "earl:mainAssertor": self._iris[name],
                "foaf:member": [self._iris[name], ASSERTOR],
            }


def _part_of(assessment: Assessment, fragment: str) -> str:
    return f"{assessment.assessment_url}#{fragment}"


def _iri(url: str) -> str:
    return FORBIDDEN.sub(lambda match: quote(match[0]), url)


def _subject(assessment: Assessment, page: AssessmentPageJson) -> str:
    """Return the IRI of a page. A state has the URL of its page, so that it needs an IRI of its own."""
    return _part_of(assessment, f"state-{page['number']}") if page["is_state"] else _iri(page["url"])


def _subjects(assessment: Assessment, sample: Sequence[AssessmentPageJson]) -> Iterator[dict[str, Any]]:
    yield {
        "@id": _part_of(assessment, "sample"),
        "@type": "earl:TestSubject",
        "dct:title": f"Sample of {assessment.name}",
        "dct:hasPart": [_subject(assessment, page) for page in sample],
    }
    for page in sample:
        node = {"@id": _subject(assessment, page), "@type": "earl:TestSubject", "dct:title": page["title"]}
        if page["is_state"]:
            node["dct:source"] = _iri(page["url"])
        yield node


class _Criterion:
    """Writes the assertions about a criterion, and collects the pages on which nobody and nothing decided."""

    def __init__(self, assessment: Assessment, row: AssessmentCriterionJson, people: _People) -> None:
        self._assessment, self._people = assessment, people
        self._url = row["url"]
        self._title = f"{row['number']} {row['name']} ({row['level']})"
        self._pages = 0
        self._untested: list[str] = []

    def assertions(self, pages: Sequence[PageResult]) -> Iterator[dict[str, Any]]:
        """Yield the assertions of people and of the checks, as far as they decided."""
        self._pages += len(pages)
        for one in pages:
            if one.decision == "untested" and not one.open_findings and not one.disputed_findings:
                self._untested.append(one.page["title"])
            else:
                yield from self._of_page(one)

    def untested(self) -> Iterator[dict[str, Any]]:
        """Yield an assertion about the pages on which neither people nor checks decided."""
        titles = self._untested
        if titles or not self._pages:
            where = f" on {len(titles):,} of {self._pages:,} pages: {some(titles, '; ')}" if titles else ""
            yield assertion(
                by=ASSERTOR,
                subject=_part_of(self._assessment, "sample"),
                mode=None,
                test=self._url,
                result=result_of("earl:untested", self._title, f"Not tested{where}.", None),
            )

    def _of_page(self, one: PageResult) -> Iterator[dict[str, Any]]:
        failures, is_confirmed = one.failures, False
        if one.result is not None and one.decision != "untested":
            name = one.result["tested_by"]
            is_confirmed = bool(failures) and one.decision == "failed"
            yield assertion(
                by=self._people.group(name) if is_confirmed else self._people.iri(name),
                mode="earl:semiAuto" if is_confirmed else "earl:manual",
                subject=_subject(self._assessment, one.page),
                test=self._url,
                result=result_of(
                    OUTCOMES[one.decision],
                    self._title,
                    "\n".join(_person_texts(one, failures if is_confirmed else ())),
                    one.result["tested_at"],
                ),
            )
        if failures and not is_confirmed:
            yield self._automatic(one, "earl:failed", failures)
        elif one.decision == "untested":
            yield self._automatic(one, "earl:cantTell", one.open_findings)

    def _automatic(self, one: PageResult, outcome: str, findings: list[AssessmentFindingJson]) -> dict[str, Any]:
        """Return the assertion of the checks. A finding that a person disputed leaves them undecided."""
        disputed = one.disputed_findings if one.decision == "untested" else []
        return assertion(
            by=ASSERTOR,
            mode="earl:automatic",
            subject=_subject(self._assessment, one.page),
            test=self._url,
            result=result_of(
                outcome,
                self._title,
                "\n".join([*map(_finding_text, findings), *map(dispute_of_finding, disputed)]),
                max(finding["seen_at"] for finding in (*findings, *disputed)),
            ),
        )


def _finding_text(finding: AssessmentFindingJson) -> str:
    return f"{finding['title']}: {finding['message']}"


def _person_texts(one: PageResult, confirmed: Iterable[AssessmentFindingJson]) -> Iterator[str]:
    if one.note:
        yield one.note
    if one.remedy:
        yield f"To do: {one.remedy}"
    yield from map(_finding_text, confirmed)
    yield from map(dispute_of_finding, one.disputed_findings)
    if one.result is not None and one.result["is_older_than_page"]:
        yield "The page has changed since this test."
