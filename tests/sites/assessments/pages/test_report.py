"""Tests for the report and the statement of an assessment, and who can read them."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from sites.assessments import services
from sites.assessments.method import GAP, METHOD
from sites.assessments.pages.report import MAX_NOTES_PER_CRITERION
from sites.models import Assessment, AssessmentResult
from tests.factories import Member, member_of
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.sites.assessments.cast import HOST, assess, audit_of, caller_of, check, decide, museum_audit


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def assessment(home: Member) -> Assessment:
    return assess(home, museum_audit(home))


def report_path(assessment: Assessment) -> str:
    return f"/assessment/{assessment.id}"


def summary_of(client: Client, assessment: Assessment) -> str:
    return str(page_of(client.get(report_path(assessment))).xpath("string(//*[@class='report-summary'])"))


def set_all(assessment: Assessment, result: str) -> None:
    AssessmentResult.objects.filter(assessment=assessment).update(result=result)


def test_summary_claims_conformance_only_if_people_tested_everything(client: Client, home: Member) -> None:
    fine = (check("image-alt", "pass"),)
    assessment = assess(home, audit_of(home, {"/": fine, "/visit": fine}))
    assert summary_of(client, assessment).startswith("It is not known yet whether the pages conform")
    set_all(assessment, "passed")
    assert summary_of(client, assessment) == (
        "The sample of 2 pages conforms to WCAG 2.2, level AA: people tested all 55 criteria on each page."
    )
    now = timezone.now()
    AssessmentResult.objects.filter(page__number=1, criterion="1.1.1").update(tested_at=now)
    assessment.pages.filter(number=1).update(changed_at=now + timedelta(seconds=1))
    assert summary_of(client, assessment) == (
        "It is not known any more whether the pages conform to WCAG 2.2, level AA: pages have changed since people "
        "tested them."
    )
    assert "1 result is older than a change of 1 page." in text_of(client.get(report_path(assessment)))
    AssessmentResult.objects.filter(page__number=1, criterion="1.1.1").update(result="cannot_tell")
    assert "1 of 55 criteria is undecided" in summary_of(client, assessment)
    AssessmentResult.objects.filter(page__number=2, criterion="2.4.3").update(result="untested")
    assert summary_of(client, assessment).startswith("It is not known yet")
    text = text_of(client.get(report_path(assessment)))
    assert "2 criteria are not decided on every page of the sample: 1 untested, 1 cannot tell." in text
    assert "53 of 55 criteria decided, 1 untested, 1 cannot tell." in text
    AssessmentResult.objects.filter(page__number=2, criterion="2.4.4").update(result="failed")
    assert summary_of(client, assessment).endswith("do not conform to WCAG 2.2, level AA: 1 of 55 criteria fails.")


def test_report_has_notes_and_automatic_failures(client: Client, home: Member, assessment: Assessment) -> None:
    decide(home, assessment, 1, "2.4.3", "failed", note="<script>alert(1)</script>", remedy="Mend it.")
    response = client.get(report_path(assessment))
    text = text_of(response)
    assert "image-alt automatic, on page 2 /visit" in text
    assert strings(page_of(response), "//td[@class='notes']//a/@href") == [f"{HOST}/visit"]
    assert "Page 1: <script>alert(1)</script> What to do: Mend it." in text
    assert b"<script>alert" not in response.content
    assert response["X-Robots-Tag"] == "noindex, nofollow"


def test_report_names_the_first_pages_of_an_automatic_failure(client: Client, home: Member) -> None:
    failing = (check("image-alt", "fail", "#a"),)
    assessment = assess(home, audit_of(home, {f"/{page}": failing for page in range(7)}))
    text = text_of(client.get(report_path(assessment)))
    paths = [page.url.removeprefix(HOST) for page in assessment.pages.order_by("number")]
    named = ", ".join(f"page {number} {path}" for number, path in enumerate(paths[:5], 1))
    # Links end with a space in the text.
    assert f"automatic, on {named} and 2 more pages" in text.replace(" ,", ",")


def test_report_has_disputes_without_addresses_of_members(client: Client, home: Member, assessment: Assessment) -> None:
    finding = assessment.findings.get(check_id="image-alt")
    client.post(f"/o/home/assessments/{assessment.id}/findings/{finding.id}/dispute", {"reason": "It is <b>decor</b>."})
    finding.refresh_from_db()
    assert "@" in finding.disputed_by_name
    response = client.get(report_path(assessment))
    (row,) = page_of(response).xpath("//tr[th//a[starts-with(., '1.1.1')]]")
    assert " ".join(row.text_content().split()) == (
        "1.1.1 Non-text Content A Untested "
        f"Automatic failure on {HOST}/visit, disputed by a member of the organization: image-alt. "
        "Reason: It is <b>decor</b>. Without the dispute, the criterion fails there."
    )


def test_report_shows_the_first_notes_of_a_criterion(client: Client, home: Member) -> None:
    number = MAX_NOTES_PER_CRITERION + 2
    assessment = assess(home, audit_of(home, {f"/{page}": (check("image-alt", "pass"),) for page in range(number)}))
    for page in range(1, number + 1):
        decide(home, assessment, page, "2.4.3", "failed", note=f"Note {page}.")
    text = text_of(client.get(report_path(assessment)))
    assert f"Note {MAX_NOTES_PER_CRITERION}." in text
    assert f"Note {MAX_NOTES_PER_CRITERION + 1}." not in text
    assert "and 2 more pages, in the downloads." in text


def test_report_joins_pages_with_the_same_note(client: Client, home: Member, assessment: Assessment) -> None:
    for page in (1, 2, 3):
        decide(home, assessment, page, "1.2.4", "not_applicable", note="No live video.")
    decide(home, assessment, 2, "1.2.5", "not_applicable", note="No video.")
    text = text_of(client.get(report_path(assessment)))
    assert text.count("No live video.") == 1
    assert "Pages 1, 2, 3: No live video." in text
    assert "Page 2 (not applicable): No video." in text


def test_report_is_private_until_it_is_shared(client: Client, assessment: Assessment) -> None:
    paths = [
        report_path(assessment),
        f"{report_path(assessment)}/statement",
        f"{report_path(assessment)}/export/openacr",
    ]
    outsider = browser_of(member_of("Away"))
    for path in paths:
        assert Client().get(path).status_code == 302
        assert outsider.get(path).status_code == 404
    share = f"/o/home/assessments/{assessment.id}/share"
    assessment_shared = client.post(share, {"shared": "on"}, follow=True)
    assert "Anyone with the link can now read the report." in text_of(assessment_shared)
    for path in paths:
        response = Client().get(path)
        assert response.status_code == 200
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert f"/o/home/assessments/{assessment.id}".encode() not in response.getvalue()
    links = strings(page_of(Client().get(paths[0])), "//a[@download]/@href")
    assert [link.rpartition("/")[2] for link in links] == ["openacr", "statement"]
    for name in ("json", "earl", "csv"):  # They name the members who have tested.
        assert Client().get(f"{report_path(assessment)}/export/{name}").status_code == 404
    client.post(share, {"shared": "off"})
    assert Client().get(paths[0]).status_code == 302
    assert client.post(share, {"shared": "x"}).status_code == 400
    assert browser_of(member_of("Afar")).get(f"/assessment/asm_{'0' * 22}").status_code == 404


def test_report_shows_failures_before_other_notes(client: Client, home: Member) -> None:
    """Regression test: notes of the first ten pages hid the failing one."""
    fine = (check("image-alt", "pass"),)
    assessment = assess(home, audit_of(home, {f"/{number}": fine for number in range(14)}), sample_size=14)
    for number in range(1, 14):
        decide(home, assessment, number, "3.3.1", "not_applicable", note=f"Nothing to enter, {number}.")
    decide(home, assessment, 14, "3.3.1", "failed", note="The message names no field.")
    row = "//tr[contains(., 'The message names no field.')]"
    (cell,) = page_of(client.get(report_path(assessment))).xpath(f"{row}//td[@class='notes']")
    notes = [" ".join(note.text_content().split()) for note in cell.xpath("./p[@class='text']")]
    assert notes[0] == "Page 14: The message names no field."
    assert len(notes) == 10


def test_documents_are_downloaded(client: Client, home: Member, assessment: Assessment) -> None:
    links = strings(page_of(client.get(report_path(assessment))), "//a[@download]/@href")
    assert [link.rpartition("/")[2] for link in links] == ["json", "openacr", "earl", "csv", "statement"]
    for link in links:
        response = client.get(link)
        assert response.status_code == 200
        assert response["Content-Disposition"].startswith(f'attachment; filename="{assessment.id}')
    assert json.loads(client.get(links[0]).getvalue())["assessment"]["id"] == assessment.id
    assert client.get(f"{report_path(assessment)}/export/docx").status_code == 404


def test_statement_says_how_people_tested_with_a_gap(client: Client, home: Member) -> None:
    assessment = assess(home, museum_audit(home), method=METHOD)
    path = f"{report_path(assessment)}/statement"
    page = page_of(client.get(path))
    assert GAP in strings(page, "//section[@aria-labelledby='missing-title']//li/text()")
    paragraphs = strings(page, "//section[@aria-label='Draft']/p/text()")
    assert f"[{GAP}]" in paragraphs
    assert any(text.startswith("The evaluation followed the Website Accessibility") for text in paragraphs)
    values = {"method": METHOD.replace(f"[{GAP}]", "We tested with the keyboard only.")}
    services.change_assessment(caller=caller_of(home), assessment_id=assessment.id, values=values)
    assert GAP not in text_of(client.get(path))


def test_statement_lists_what_is_still_to_write(client: Client, home: Member, assessment: Assessment) -> None:
    response = client.get(f"{report_path(assessment)}/statement")
    text = text_of(response)
    assert "Still to write name of the organization the national law" in text
    # The details have no field for the law.
    assert "Write the rest, such as the law, into the downloaded text." in text
    assert f"/o/home/assessments/{assessment.id}/texts" in strings(page_of(response), "//main//a/@href")
    viewer = browser_of(home, "viewer").get(f"{report_path(assessment)}/statement")
    assert f"/o/home/assessments/{assessment.id}/texts" not in strings(page_of(viewer), "//main//a/@href")
