"""Tests that pages and documents of an assessment have the same numbers of decided criteria."""

from __future__ import annotations

import yaml

from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.assessments.documents.statement import accessibility_statement
from sites.assessments.loading import assessment_json_of, assessments_json
from sites.assessments.progress import decided_words, progress_of
from sites.models import AssessmentResult
from tests.factories import Member
from tests.page_reading import browser_of, text_of
from tests.sites.assessments.cast import assess, museum_audit


def test_pages_and_documents_have_the_same_numbers_of_decided_criteria(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    results = AssessmentResult.objects.filter(assessment=assessment)
    results.update(result="passed")
    # Page 2 fails 1.1.1, so that the criterion is evaluated, but people have not decided about page 3.
    results.filter(page__number=3, criterion__in=("1.1.1", "2.4.3", "2.4.4")).update(result="cannot_tell")
    words = "52 of 55 criteria decided, 3 cannot tell"
    client, base = browser_of(home), "/o/home/assessments/"
    for path in (base, f"{base}{assessment.id}", f"/assessment/{assessment.id}"):
        assert words in text_of(client.get(path)), path
    acr = yaml.safe_load("".join(DOCUMENT_FORMATS["openacr"].write(assessment)))
    assert f"{words}. Incomplete: 2 criteria are not evaluated" in acr["notes"]
    (status,) = accessibility_statement(assessment).sections[0].paragraphs
    assert "People have not decided about 3 criteria of 55 on each page of the sample (3 cannot tell)." in status
    one, (other,) = assessment_json_of(assessment), assessments_json([assessment])
    assert (one["progress"], one["pages"]) == (other["progress"], other["pages"])


def test_criterion_without_pages_is_neither_tested_nor_decided() -> None:
    progress = progress_of([{"passed": 2}, {}, {"passed": 1, "cannot_tell": 1}, {"untested": 1, "cannot_tell": 1}])
    assert decided_words(progress) == "1 of 4 criteria decided, 2 untested, 1 cannot tell"
    assert (progress["results"], progress["results_tested"]) == (6, 5)
