"""Tests for results of assessments as EARL."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from django.conf import settings
from rdflib import RDF, Graph, Literal, Namespace, Node, URIRef
from rdflib.namespace import DCTERMS, FOAF

from sites.assessments.documents.earl import assessment_earl
from sites.assessments.schemas import AssessmentReport
from tests.sites.assessments.reports import (
    HOST,
    HOSTILE,
    ID,
    TESTER,
    decided,
    disputed,
    hostile_report,
    museum_report,
    page,
    report_of,
)
from tests.sites.assessments.storing import MAX_NAME, MAX_PAGE_NAME, stored
from website_scan.accessibility.standards import success_criteria
from website_scan.report.earl import ASSERTOR

# rdflib uses the class itself
pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")]

EARL = Namespace("http://www.w3.org/ns/earl#")
ASSESSMENT = f"{settings.BASE_URL}/assessment/{ID}"
PERSON, GROUP = URIRef(f"{ASSESSMENT}#person-1"), URIRef(f"{ASSESSMENT}#person-1-with-checks")
SOFTWARE, SAMPLE = URIRef(ASSERTOR), URIRef(f"{ASSESSMENT}#sample")
HOME, VISIT, SHOP, CART = (
    *(URIRef(f"{HOST}{path}") for path in ("/", "/visit", "/shop")),
    URIRef(f"{ASSESSMENT}#state-4"),
)
# Values of EARL 1.0 Schema, sections 2.4, 2.7 and 2.9.
MODES = {EARL.automatic, EARL.manual, EARL.semiAuto, EARL.undisclosed, EARL.unknownMode}
OUTCOMES = {EARL.passed, EARL.failed, EARL.cantTell, EARL.inapplicable, EARL.untested}
DISPUTE = (
    "Automatic failure, disputed by Ada Ruiz, a member of the organization: 2 images have no alternative text. "
    "Reason: The logo is decoration. Without the dispute, the criterion fails."
)
Said = tuple[Node | None, Node | None, Node | None, Node | None]


def text_of(report: AssessmentReport) -> str:
    return "".join(assessment_earl(stored(report)))


def graph_of(report: AssessmentReport) -> Graph:
    """Return the triples of the document, whose assertions are complete by EARL 1.0 Schema."""
    graph = Graph().parse(data=text_of(report), format="json-ld")
    for assertion in graph.subjects(RDF.type, EARL.Assertion):
        (assertor,) = graph.objects(assertion, EARL.assertedBy)
        (subject,) = graph.objects(assertion, EARL.subject)
        (test,) = graph.objects(assertion, EARL.test)
        (result,) = graph.objects(assertion, EARL.result)
        (outcome,) = graph.objects(result, EARL.outcome)
        assert (assertor, RDF.type, EARL.Assertor) in graph
        assert (subject, RDF.type, EARL.TestSubject) in graph
        assert (result, RDF.type, EARL.TestResult) in graph
        assert isinstance(test, URIRef)
        assert outcome in OUTCOMES
        assert set(graph.objects(assertion, EARL.mode)) <= MODES
    return graph


def assertions(graph: Graph, number: str) -> set[Said]:
    """Return who said what about a criterion: the assertor, the mode, the subject and the outcome."""
    return {
        (
            graph.value(assertion, EARL.assertedBy),
            graph.value(assertion, EARL.mode),
            graph.value(assertion, EARL.subject),
            graph.value(graph.value(assertion, EARL.result), EARL.outcome),
        )
        for assertion in graph.subjects(EARL.test, URIRef(success_criteria()[number].url))
    }


def test_assertions_name_people_and_checks() -> None:
    graph = graph_of(museum_report())
    assert assertions(graph, "1.1.1") == {
        (GROUP, EARL.semiAuto, HOME, EARL.failed),
        # A person saw no failure, but the failure of a check is neither fixed nor disputed.
        (PERSON, EARL.manual, VISIT, EARL.passed),
        (SOFTWARE, EARL.automatic, VISIT, EARL.failed),
        # The finding is disputed.
        (PERSON, EARL.manual, SHOP, EARL.passed),
        (SOFTWARE, None, SAMPLE, EARL.untested),
    }
    assert assertions(graph, "1.4.3") == {
        (SOFTWARE, EARL.automatic, HOME, EARL.cantTell),
        (SOFTWARE, None, SAMPLE, EARL.untested),
    }
    assert assertions(graph, "1.2.1") == {
        (PERSON, EARL.manual, subject, EARL.inapplicable) for subject in (HOME, VISIT, SHOP, CART)
    }
    assert (PERSON, EARL.manual, CART, EARL.cantTell) in assertions(graph, "3.3.1")
    assert assertions(graph, "2.4.3") == {(SOFTWARE, None, SAMPLE, EARL.untested)}


def test_people_and_groups_are_assertors() -> None:
    graph = graph_of(museum_report())
    assert (PERSON, RDF.type, FOAF.Person) in graph
    assert (PERSON, FOAF.name, Literal(TESTER)) in graph
    assert (GROUP, RDF.type, FOAF.Group) in graph
    assert (GROUP, EARL.mainAssertor, PERSON) in graph
    assert set(graph.objects(GROUP, FOAF.member)) == {PERSON, SOFTWARE}


def test_state_is_a_subject_beside_its_page() -> None:
    graph = graph_of(museum_report())
    assert set(graph.objects(SAMPLE, DCTERMS.hasPart)) == {HOME, VISIT, SHOP, CART}
    assert (CART, DCTERMS.title, Literal("Cart with one item")) in graph
    assert (CART, DCTERMS.source, SHOP) in graph


def descriptions(report: AssessmentReport, number: str) -> list[str]:
    test = success_criteria()[number].url
    return [
        node["earl:result"]["dct:description"]
        for node in json.loads(text_of(report))["@graph"]
        if node.get("earl:test") == test
    ]


def test_descriptions_have_what_people_and_checks_saw() -> None:
    report = museum_report()
    assert descriptions(report, "1.1.1") == [
        "The map has no text.\nTo do: Describe the map.\n"
        "2 images have no alternative text: Screen readers say nothing, or a file name.",
        "",
        "2 images have no alternative text: Screen readers say nothing, or a file name.",
        DISPUTE,
        "Not tested on 1 of 4 pages: Cart with one item.",
    ]
    assert descriptions(report, "3.2.1")[1] == "The page has changed since this test."


def test_disputed_finding_without_a_persons_result_is_undecided() -> None:
    report = report_of({}, {"1.1.1": [disputed(3, "image-alt", "1.1.1")]})
    assert assertions(graph_of(report), "1.1.1") == {
        (SOFTWARE, EARL.automatic, SHOP, EARL.cantTell),
        (SOFTWARE, None, SAMPLE, EARL.untested),
    }
    assert descriptions(report, "1.1.1")[0] == DISPUTE


def test_software_never_asserts_that_a_criterion_passed() -> None:
    for report in (museum_report(), report_of({}), report_of({}, sample=[])):
        graph = graph_of(report)
        counts: Counter[Node | None] = Counter()
        for assertion in graph.subjects(EARL.assertedBy, SOFTWARE):
            counts[graph.value(graph.value(assertion, EARL.result), EARL.outcome)] += 1
        assert counts[EARL.untested] >= 40
        assert set(counts) <= {EARL.failed, EARL.cantTell, EARL.untested}


def test_complete_assessment_has_an_assertion_for_each_criterion_and_page() -> None:
    graph = graph_of(report_of(decided("passed")))
    assert len(set(graph.subjects(EARL.mode, EARL.manual))) == 55 * 4
    assert not set(graph.subjects(EARL.assertedBy, SOFTWARE))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    graph = graph_of(hostile_report(text))
    assert Literal(text[:MAX_NAME]) in set(graph.objects(None, FOAF.name))
    assert Literal(text[:MAX_PAGE_NAME]) in set(graph.objects(None, DCTERMS.title))
    assert (None, EARL.mode, EARL.semiAuto) in graph


def test_urls_become_valid_iris() -> None:
    graph = graph_of(report_of({}, sample=[page(1, '/a b?<c>="{d}|\\^`ü')]))
    parts = [str(part) for part in graph.objects(SAMPLE, DCTERMS.hasPart)]
    assert parts == [f"{HOST}/a%20b?%3Cc%3E=%22%7Bd%7D%7C%5C%5E%60ü"]
