"""Results of success criteria in EARL 1.0, the W3C's vocabulary for test results, as JSON-LD.

https://www.w3.org/TR/EARL10-Schema/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from website_scan import __version__
from website_scan.report.conformance import Conformance, CriterionResult, Result

CONTEXT = {
    "earl": "http://www.w3.org/ns/earl#",
    "dct": "http://purl.org/dc/terms/",
    "doap": "http://usefulinc.com/ns/doap#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "earl:assertedBy": {"@type": "@id"},
    "earl:subject": {"@type": "@id"},
    "earl:test": {"@type": "@id"},
    "earl:mode": {"@type": "@id"},
    "earl:outcome": {"@type": "@id"},
    "earl:mainAssertor": {"@type": "@id"},
    "foaf:member": {"@type": "@id"},
    "dct:isPartOf": {"@type": "@id"},
    "dct:hasPart": {"@type": "@id"},
    "dct:source": {"@type": "@id"},
    "dct:date": {"@type": "xsd:dateTime"},
}
ASSERTOR = "urn:x-website-scan:assertor"
# A machine proves failures only. A criterion without an automatic failure is undecided in EARL.
OUTCOMES = {
    Result.FAILS: "earl:failed",
    Result.NEEDS_REVIEW: "earl:cantTell",
    Result.NO_FAILURE: "earl:cantTell",
    Result.NOT_TESTED: "earl:untested",
}
INFORMATION = {
    Result.NEEDS_REVIEW: "A person has to review what the checks could not decide.",
    Result.NO_FAILURE: "No automatic check found a failure. A person has to test the criterion.",
    Result.NOT_TESTED: "No automatic check tests the criterion.",
}


def earl(url: str, completed_at: str, conformance: Conformance) -> dict[str, Any]:
    """Return a JSON-LD document with an assertion about the page or site for each criterion of the standard."""
    return earl_of_pages([(url, completed_at, conformance)])


def earl_of_pages(
    pages: Iterable[tuple[str, str, Conformance]],
    states: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return a JSON-LD document about several pages.

    `pages` are triples of a URL, the time of the scan and its results. Each URL is in the document once. `states` has
    pairs of the name and the address of a journey's states, by the URI that replaces the URL in `pages`.
    """
    unique = {url: (completed_at, conformance) for url, completed_at, conformance in pages}
    subjects: list[dict[str, Any]] = [
        {"@id": url, "@type": "earl:TestSubject", "dct:date": completed_at, **_state_fields(states.get(url))}
        for url, (completed_at, _) in unique.items()
    ]
    assertions = [
        _assertion(url, completed_at, row)
        for url, (completed_at, conformance) in unique.items()
        for row in conformance["criteria"]
    ]
    return document([software_assertor(), *subjects, *assertions])


def document(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a JSON-LD document with these assertors, subjects and assertions."""
    return {"@context": CONTEXT, "@graph": nodes}


def software_assertor() -> dict[str, Any]:
    """Return this program as the assertor of automatic results."""
    return {
        "@id": ASSERTOR,
        "@type": ["earl:Assertor", "earl:Software"],
        "doap:name": "Website Scan Service",
        "doap:release": {"@type": "doap:Version", "doap:revision": __version__},
    }


def assertion(*, by: str, subject: str, mode: str | None, test: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return an assertion. `by`, `subject` and `test` are IRIs. A result that nobody reached has no mode."""
    return {
        "@type": "earl:Assertion",
        "earl:assertedBy": by,
        "earl:subject": subject,
        **({"earl:mode": mode} if mode else {}),
        "earl:test": test,
        "earl:result": result,
    }


def result_of(outcome: str, title: str, description: str, date: str | None) -> dict[str, Any]:
    """Return the result of a test. `date` is None if nobody tested."""
    return {
        "@type": "earl:TestResult",
        "earl:outcome": outcome,
        "dct:title": title,
        "dct:description": description,
        **({"dct:date": date} if date else {}),
    }


def _state_fields(state: tuple[str, str] | None) -> dict[str, str]:
    return {"dct:title": state[0], "dct:isPartOf": state[1]} if state else {}


def _assertion(url: str, completed_at: str, row: CriterionResult) -> dict[str, Any]:
    result = Result(row["result"])
    findings = row["failed"] if result is Result.FAILS else row["needs_review"]
    texts = [f"{finding['title']}: {finding['message']}" for finding in findings]
    return assertion(
        by=ASSERTOR,
        subject=url,
        mode="earl:automatic",
        test=row["url"],
        result=result_of(
            OUTCOMES[result],
            f"{row['number']} {row['name']} ({row['level']})",
            "\n".join(texts) or INFORMATION[result],
            completed_at,
        ),
    )
