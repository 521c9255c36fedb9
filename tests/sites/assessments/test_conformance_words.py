"""Tests that no page, document or guide says that a machine found a criterion to be met."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from sites.assessments.documents.earl import assessment_earl
from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.assessments.documents.statement import accessibility_statement
from sites.assessments.method import METHOD
from sites.models import Assessment
from tests.factories import Member, member_of
from tests.page_reading import browser_of, page_of
from tests.populated_assessments import populate_assessment
from tests.reports.test_conformance_words import SUCCESS
from tests.sites.assessments.cast import assess, audit_of, check, museum_audit
from tests.sites.assessments.reports import museum_report
from tests.sites.assessments.storing import stored
from website_scan.report.earl import ASSERTOR

DOCS = Path(__file__).resolve().parents[3] / "docs"
GUIDES = ("statement.md", "assessments.md", "conformance.md", "audits.md")
MACHINE = re.compile(
    r"\b(?:machines?|automatic\w*|checks?|checked|scans?|scanned|service|software|tools?)\b", re.IGNORECASE
)
NEGATION = re.compile(r"\b(?:no|not|nobody|nothing|never|none|only|cannot|without|before|refused?)\b", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\s*\n\s*(?:[-*|#]|\d+\.|\n)\s*")
# Texts that claim no success by themselves, on pages and in documents of an assessment that nobody has tested.
PHRASES = (
    "Passed or not applicable",
    "Website Accessibility Conformance Evaluation Methodology",
    "It is not known yet whether the pages conform to",
    "The tested pages do not conform to",
    "is committed to making its website accessible",
    "Compliance status",
    "Decide whether this website is fully, partially or not compliant with the law.",
    "so it is not fully compliant.",
    "The content listed below is not accessible for these reasons",
    "List the content that is not accessible when people have tested all criteria.",
    "Non-compliance with",
    "Non-accessible content",
    "Accessible alternatives",
    "Describe accessible alternatives to this content",
    "Is any content of this website not accessible to you, or do you need it in an accessible form?",
    "no satisfactory response",
    "Accessibility Conformance Report",
    "only people decided what passes.",
    '"passed": 0',
)
PAGES = (
    "/o/home/assessments/",
    "/o/home/assessments/new",
    "/o/home/assessments/{id}",
    "/o/home/assessments/{id}/criteria/1.1.1",
    "/o/home/assessments/{id}/criteria/2.4.3",
    "/o/home/assessments/{id}/pages",
    "/o/home/assessments/{id}/pages/2",
    "/o/home/assessments/{id}/texts",
    "/o/home/assessments/{id}/log",
    "/assessment/{id}",
    "/assessment/{id}/statement",
)


@pytest.fixture
def home(db: None) -> Member:
    """Organization whose plan allows several assessments."""
    return member_of("Home", "pro")


@pytest.fixture
def untested(home: Member) -> Assessment:
    """Assessment with automatic failures, of which nobody has tested anything."""
    return assess(home, museum_audit(home), method=METHOD)


@pytest.fixture
def spotless(home: Member) -> Assessment:
    """Assessment without an automatic failure, of which nobody has tested anything."""
    fine = (check("image-alt", "pass"), check("html-has-lang", "pass"), check("color-contrast", "pass"))
    return assess(home, audit_of(home, {"/": fine, "/visit": fine}), name="Spotless")


def machine_claims(text: str) -> list[str]:
    """Return the sentences that name a machine and a success without a negation."""
    return [
        sentence
        for sentence in SENTENCE.split(text)
        if MACHINE.search(sentence) and SUCCESS.search(sentence) and not NEGATION.search(sentence)
    ]


def success_words(text: str) -> list[str]:
    for phrase in sorted(PHRASES, key=len, reverse=True):
        text = text.replace(phrase, "")
    return SUCCESS.findall(text)


def words_of_page(response: Any) -> str:
    """Return the text of the page's main part without choices of forms and without test procedures of criteria."""
    (main,) = page_of(response).xpath("//main")
    for part in main.xpath(".//select | .//section[contains(@class, 'criterion-card')]"):
        part.getparent().remove(part)
    return " ".join(str(main.text_content()).split())


def paragraphs_of_page(response: Any) -> list[str]:
    (main,) = page_of(response).xpath("//main")
    elements = main.xpath(".//p | .//h1 | .//h2 | .//h3 | .//small | .//li[not(*)] | .//dd | .//caption")
    return [" ".join(element.text_content().split()) for element in elements]


def texts_in(value: object) -> Iterator[str]:
    """Yield all strings of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)


@pytest.mark.parametrize(
    "text",
    [
        "Automatic checks passed 1.1.1.",
        "Nobody has tested this. The scan shows that the site complies with WCAG.",
        "The service certifies accessible pages",
        "Look here:\n- A machine found that the page conforms\n",
    ],
)
def test_claims_by_machines_are_recognized(text: str) -> None:
    assert len(machine_claims(text)) == 1


@pytest.mark.parametrize("text", ["No check says that a page conforms.", "People tested it. It passes."])
def test_texts_without_a_claim_by_machines_are_accepted(text: str) -> None:
    assert machine_claims(text) == []


def test_pages_of_an_untested_assessment_have_no_words_of_success(
    home: Member, untested: Assessment, spotless: Assessment
) -> None:
    client = browser_of(home)
    texts = []
    for path, assessment in product(PAGES, (untested, spotless)):
        response = client.get(path.format(id=assessment.id))
        assert response.status_code == 200, path
        texts.append(words_of_page(response))
        assert success_words(texts[-1]) == [], path
        # A tick would say the same without words. The sprite defines it, and only a result uses it.
        assert b'href="#outcome-passed"' not in response.content, path
    documents = [document_of(name, untested) for name in DOCUMENT_FORMATS]
    unused = [phrase for phrase in PHRASES if not any(phrase in text for text in (*texts, *documents))]
    assert unused == []


@pytest.mark.parametrize("name", sorted(DOCUMENT_FORMATS))
def test_documents_of_an_untested_assessment_have_no_words_of_success(
    untested: Assessment, spotless: Assessment, name: str
) -> None:
    for assessment in (untested, spotless):
        assert success_words(document_of(name, assessment)) == []


def test_untested_assessment_supports_no_criterion(untested: Assessment, spotless: Assessment) -> None:
    assert verdicts(untested) == (
        {"does-not-support", "not-evaluated"},
        {"earl:failed", "earl:cantTell", "earl:untested"},
    )
    assert verdicts(spotless) == ({"not-evaluated"}, {"earl:untested"})


def document_of(name: str, assessment: Assessment) -> str:
    return "".join(DOCUMENT_FORMATS[name].write(assessment))


def assertions_of(assessment: Assessment) -> list[dict[str, Any]]:
    """Return the assertions of an assessment in EARL."""
    nodes = json.loads("".join(assessment_earl(assessment)))["@graph"]
    return [node for node in nodes if node["@type"] == "earl:Assertion"]


def verdicts(assessment: Assessment) -> tuple[set[str], set[str]]:
    """Return the adherences in OpenACR and the outcomes in EARL. The statement leaves the decision to people."""
    (status,) = accessibility_statement(assessment).sections[0].paragraphs
    assert status.startswith("[Decide whether")
    adherences = {
        row["components"][0]["adherence"]["level"]
        for chapter in yaml.safe_load(document_of("openacr", assessment))["chapters"].values()
        for row in chapter.get("criteria", ())
    }
    outcomes = {node["earl:result"]["earl:outcome"] for node in assertions_of(assessment)}
    return adherences, outcomes


@pytest.mark.django_db
def test_earl_attributes_success_to_people_only() -> None:
    nodes = assertions_of(stored(museum_report()))
    successes = [node for node in nodes if node["earl:result"]["earl:outcome"] in ("earl:passed", "earl:inapplicable")]
    assert successes
    for node in successes:
        assert node["earl:mode"] == "earl:manual"
        assert ASSERTOR not in json.dumps(node["earl:assertedBy"])


def test_pages_of_a_tested_assessment_have_no_claim_by_a_machine(home: Member) -> None:
    client, ids = browser_of(home), populate_assessment(home)
    for path in PAGES:
        response = client.get(path.format(id=ids["assessment_id"]))
        claims = [claim for text in paragraphs_of_page(response) for claim in machine_claims(text)]
        assert claims == [], path


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(DOCUMENT_FORMATS))
def test_documents_of_a_tested_assessment_have_no_claim_by_a_machine(name: str) -> None:
    text = document_of(name, stored(museum_report()))
    # JSON is YAML, too.
    texts = texts_in(yaml.safe_load(text)) if name in ("json", "earl", "openacr") else [text]
    assert [claim for text in texts for claim in machine_claims(text)] == []


@pytest.mark.parametrize("name", GUIDES)
def test_guides_have_no_claim_by_a_machine(name: str) -> None:
    text = re.sub(r"```.*?```|<!--.*?-->", "", (DOCS / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert machine_claims(text) == []


def test_guides_say_that_automatic_results_prove_failures_only() -> None:
    assert "**Automatic checks prove failures only.**" in (DOCS / "statement.md").read_text(encoding="utf-8")
    assert "**A machine proves failures only.**" in (DOCS / "conformance.md").read_text(encoding="utf-8")
