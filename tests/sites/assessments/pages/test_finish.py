"""Tests for finishing an assessment, and for its pages when it is finished."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from sites.assessments import services
from sites.models import Assessment, AssessmentResult
from tests.factories import Member
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.sites.assessments.cast import HOST, assess, caller_of, decide, museum_audit, result_of


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def assessment(home: Member) -> Assessment:
    return assess(home, museum_audit(home))


def path_of(assessment: Assessment, rest: str = "") -> str:
    return f"/o/home/assessments/{assessment.id}{rest}"


def finish(home: Member, assessment: Assessment) -> None:
    values = {"status": "finished"}
    services.change_assessment(caller=caller_of(home), assessment_id=assessment.id, values=values)


def test_finish_asks_with_numbers_and_links_while_something_is_open(
    client: Client, home: Member, assessment: Assessment
) -> None:
    decide(home, assessment, 1, "3.3.1", "cannot_tell", note="The form needs an account.")
    for number, criterion in ((1, "2.4.3"), (1, "2.4.4"), (3, "2.4.3")):
        decide(home, assessment, number, criterion, "passed")
    changed_at = timezone.now() + timedelta(seconds=1)
    assessment.pages.filter(number__in=(1, 3)).update(changed_at=changed_at)
    overview = page_of(client.get(path_of(assessment)))
    assert strings(overview, "//a[normalize-space()='Finish …']/@href") == [path_of(assessment, "/status")]
    assert not overview.xpath("//button[@name='status']")
    question = client.get(path_of(assessment, "/status"))
    text = text_of(question)
    assert "Finish this assessment?" in text
    assert "55 criteria are untested on at least one page." in text
    assert "1 criterion has the result “Cannot tell” on at least one page." in text
    assert "4 results are older than changes of 2 pages." in text
    links = strings(page_of(question), "//main//li/a[contains(@href, '?show=')]/@href")
    assert [link.rpartition("=")[2] for link in links] == ["untested", "cannot_tell", "review"]
    assert all(client.get(link).status_code == 200 for link in links)
    (form,) = page_of(question).xpath("//main//form")
    assert client.post(path_of(assessment, "/status"), {"status": form.xpath("string(.//button/@value)")})
    assessment.refresh_from_db()
    assert assessment.is_finished
    assert "4 results are older than changes of 2 pages." in text_of(client.get(f"/assessment/{assessment.id}"))
    # A finished assessment has nothing to ask.
    assert client.get(path_of(assessment, "/status"))["Location"] == path_of(assessment)


def test_finish_says_when_everything_is_decided(client: Client, assessment: Assessment) -> None:
    AssessmentResult.objects.filter(assessment=assessment).update(result="passed")
    text = text_of(client.get(path_of(assessment, "/status")))
    assert "have decided about each criterion on each page, and no page has changed since." in text
    assert "untested" not in text


def test_viewers_cannot_finish(home: Member, assessment: Assessment) -> None:
    viewer = browser_of(home, "viewer")
    assert viewer.get(path_of(assessment, "/status")).status_code == 403
    assert "Finish" not in text_of(viewer.get(path_of(assessment)))


def test_pages_of_a_finished_assessment_have_no_fields(client: Client, home: Member, assessment: Assessment) -> None:
    values = {"scope": "The site.\nWithout the <b>shop</b>."}
    services.change_assessment(caller=caller_of(home), assessment_id=assessment.id, values=values)
    finding = assessment.findings.get(has_failed=True)
    finish(home, assessment)
    for rest in (
        *("", "/texts", "/log", "/pages", "/pages/1", "/pages/2/rename", "/pages/2/remove", "/criteria/1.1.1"),
        *("/criteria/1.1.1/remaining", "/pages/1/results/1.1.1", f"/findings/{finding.id}/dispute"),
    ):
        page = client.get(path_of(assessment, rest))
        fields = page_of(page).xpath("//main//*[self::input[not(@type='hidden')] or self::textarea or self::select]")
        assert fields == [], rest
        assert text_of(page).count("This assessment is finished. Reopen it") == 1, rest
    assert "Scope The site. Without the <b>shop</b>." in text_of(client.get(path_of(assessment, "/texts")))


def test_input_is_still_there_if_somebody_finishes_the_assessment_meanwhile(
    client: Client, home: Member, assessment: Assessment
) -> None:
    finding = assessment.findings.get(has_failed=True)
    finish(home, assessment)
    for rest, values in (
        ("/pages/1/results/2.4.3", {"version": "0", "result": "passed", "note": "My text"}),
        ("/criteria/2.4.3/remaining", {"result": "passed", "note": "My text"}),
        ("/pages", {"url": f"{HOST}/cart", "name": "My text"}),
        ("/pages/1/rename", {"name": "My text"}),
        ("/texts", {"initial-scope": "", "name": "Museum", "scope": "My text"}),
        (f"/findings/{finding.id}/dispute", {"reason": "My text"}),
    ):
        response = client.post(path_of(assessment, rest), values)
        assert response.status_code == 409, rest
        assert "Reopen it before you change it." in text_of(response), rest
        entered = page_of(response).xpath("//main//textarea/text() | //main//input/@value")
        assert "My text" in [value.strip() for value in entered], rest
    assert result_of(assessment, 1, "2.4.3").result == "untested"


def test_result_without_a_needed_note_keeps_its_input(client: Client, assessment: Assessment) -> None:
    values = {"version": "0", "result": "cannot_tell", "note": "", "remedy": "Try a phone."}
    response = client.post(path_of(assessment, "/pages/1/results/2.4.3"), values)
    assert response.status_code == 400
    assert "The result “Cannot tell” needs a note: say why you could not decide." in text_of(response)
    row = page_of(response)
    assert strings(row, "//textarea[@aria-invalid]/@name") == ["note"]
    assert row.xpath("string(//textarea[@name='remedy'])").strip() == "Try a phone."
    remaining = client.post(path_of(assessment, "/criteria/2.4.3/remaining"), {"result": "failed", "note": ""})
    assert remaining.status_code == 400
    (problem,) = page_of(remaining).xpath("//p[@id='id_note_error']")
    assert problem.text_content() == "The result “Failed” needs a note: say where the page fails, and how."
