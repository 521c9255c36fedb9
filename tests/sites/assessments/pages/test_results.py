"""Tests for the pages on which people judge criteria and pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from lxml import html

from accounts.models import Tier, User
from sites.assessments.pages.rows import ROWS_PER_PART
from sites.models import Assessment, AssessmentResult
from tests.factories import Member
from tests.page_reading import browser_of, page_of, parsed, strings, text_of
from tests.populated_assessments import populate_assessment
from tests.sites.assessments.cast import HOST, assess, decide, museum_audit, result_of

HOSTILE = "</textarea><script>alert(1)</script>\n&amp; “so”"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def assessment(home: Member) -> Assessment:
    return assess(home, museum_audit(home))


def path_of(assessment: Assessment, rest: str) -> str:
    return f"/o/home/assessments/{assessment.id}{rest}"


def row_in(tree: html.HtmlElement, number: int, criterion: str) -> html.HtmlElement:
    (row,) = tree.xpath(f"//*[@id='result-{number}-{criterion.replace('.', '-')}']")
    return row


def submit(client: Client, tree: html.HtmlElement, number: int, criterion: str, **values: str) -> Any:
    """Submit a row's form as a browser without scripts does, with these values."""
    (form,) = row_in(tree, number, criterion).xpath(".//form[@class='result-form']")
    entered = {name: value or "" for name, value in form.form_values()} | values
    return client.post(form.action, entered)


def test_criterion_page_has_procedure_and_neighbours(client: Client, assessment: Assessment) -> None:
    page = client.get(path_of(assessment, "/criteria/1.2.1"))
    text = text_of(page)
    assert "Audio-only and Video-only" in text
    assert "Not applicable on pages without recordings" in text
    assert len(strings(page_of(page), "//section[@aria-labelledby='procedure-title']//li")) >= 3
    links = [link.rpartition("/")[2] for link in strings(page_of(page), "//nav[@class='neighbours']//a/@href")]
    assert links == ["1.1.1", "1.2.2", "1.2.2"]
    # People test the site's pages, so that each row leads to its page.
    opened = strings(page_of(page), "//a[@class='open-page']/@href")
    assert opened == [f"{HOST}{path}" for path in ("/", "/visit", "/shop")]


def test_fix_of_a_finding_has_code_in_place_of_backticks(client: Client, assessment: Assessment) -> None:
    assessment.findings.filter(check_id="image-alt").update(fix='Write `alt=""` or `<b>`.')
    row = row_in(page_of(client.get(path_of(assessment, "/criteria/1.1.1"))), 2, "1.1.1")
    (line,) = row.xpath(".//p[strong='Fix:']")
    assert line.text_content() == 'Fix: Write alt="" or <b>.'
    assert strings(line, "code/text()") == ['alt=""', "<b>"]


def test_next_untested_criterion_skips_tested_ones(client: Client, home: Member, assessment: Assessment) -> None:
    for number in (1, 2, 3):
        decide(home, assessment, number, "1.2.2", "not_applicable")
    page = page_of(client.get(path_of(assessment, "/criteria/1.2.1")))
    assert "Next untested: 1.2.3" in " ".join(page.text_content().split())


def test_result_is_saved_without_scripts(client: Client, assessment: Assessment) -> None:
    page = page_of(client.get(path_of(assessment, "/criteria/2.4.3")))
    response = submit(client, page, 2, "2.4.3", result="failed", note=HOSTILE, remedy="Mend it.")
    assert response["Location"] == path_of(assessment, "/criteria/2.4.3#result-2-2-4-3")
    stored = result_of(assessment, 2, "2.4.3")
    assert (stored.result, stored.note, stored.version) == ("failed", HOSTILE, 1)
    saved = client.get(response["Location"])
    assert "Saved: 2.4.3 on https://museum.example.com/visit." in text_of(saved)
    assert row_in(page_of(saved), 2, "2.4.3").xpath("string(.//textarea[@name='note'])").strip() == HOSTILE
    assert b"<script>alert" not in saved.content


def test_result_of_a_page_returns_to_the_page(client: Client, assessment: Assessment) -> None:
    page = page_of(client.get(path_of(assessment, "/pages/2?show=untested")))
    response = submit(client, page, 2, "2.4.3", result="passed")
    assert response["Location"] == path_of(assessment, "/pages/2?show=untested#result-2-2-4-3")


def test_controls_are_named_by_their_page(client: Client, assessment: Assessment) -> None:
    row = row_in(page_of(client.get(path_of(assessment, "/criteria/2.4.3"))), 2, "2.4.3")
    names = {" ".join(label.text_content().split()) for label in row.xpath(".//form[@class='result-form']//label")}
    url = "https://museum.example.com/visit"
    assert names == {f"Result of {url}", f"Note of {url}", f"What to do of {url}"}
    for label in row.xpath(".//label"):
        assert len(row.xpath(f".//*[@id='{label.get('for')}']")) == 1


def test_change_by_somebody_else_is_shown_beside_the_own_input(
    client: Client, home: Member, assessment: Assessment
) -> None:
    page = page_of(client.get(path_of(assessment, "/criteria/2.4.3")))
    decide(home, assessment, 2, "2.4.3", "failed", note="Theirs <b>bold</b>")
    response = submit(client, page, 2, "2.4.3", result="passed", note="Mine")
    assert response.status_code == 409
    row = row_in(page_of(response), 2, "2.4.3")
    text = " ".join(row.text_content().split())
    assert "API key tests saved this while you were editing." in text
    assert "Theirs <b>bold</b>" in text
    assert row.xpath("string(.//textarea[@name='note'])").strip() == "Mine"
    assert strings(row, ".//option[@selected]/@value") == ["passed"]
    assert result_of(assessment, 2, "2.4.3").note == "Theirs <b>bold</b>"
    assert submit(client, page_of(response), 2, "2.4.3").status_code == 302
    assert result_of(assessment, 2, "2.4.3").note == "Mine"


def test_refused_result_stays_in_its_row(client: Client, assessment: Assessment) -> None:
    page = page_of(client.get(path_of(assessment, "/criteria/1.1.1")))
    response = submit(client, page, 2, "1.1.1", result="passed", note="It is fine.")
    assert response.status_code == 400
    row = row_in(page_of(response), 2, "1.1.1")
    assert "Dispute the finding with a reason first." in row.text_content()
    assert strings(row, ".//select/@aria-invalid") == ["true"]
    assert row.xpath("string(.//textarea[@name='note'])").strip() == "It is fine."
    long = submit(client, page, 1, "1.1.1", note="x" * 10_001)
    assert long.status_code == 400
    assert strings(row_in(page_of(long), 1, "1.1.1"), ".//textarea[@aria-invalid]/@name") == ["note"]


def test_refused_input_does_not_hide_a_later_change(client: Client, home: Member, assessment: Assessment) -> None:
    page = page_of(client.get(path_of(assessment, "/criteria/2.4.3")))
    decide(home, assessment, 2, "2.4.3", "failed", note="Theirs")
    too_long = submit(client, page, 2, "2.4.3", note="x" * 10_001)
    assert too_long.status_code == 400
    response = submit(client, page_of(too_long), 2, "2.4.3", note="Mine")
    assert response.status_code == 409
    assert result_of(assessment, 2, "2.4.3").note == "Theirs"


def test_input_returns_after_a_login_with_the_version_that_was_read(
    client: Client, home: Member, assessment: Assessment
) -> None:
    page = page_of(client.get(path_of(assessment, "/criteria/2.4.3")))
    user_id = client.session["_auth_user_id"]
    client.logout()
    assert submit(client, page, 2, "2.4.3", note="Mine")["Location"].startswith("/login/")
    decide(home, assessment, 2, "2.4.3", "failed", note="Theirs")
    client.force_login(User.objects.get(id=user_id))
    restored = page_of(client.get(path_of(assessment, "/pages/2/results/2.4.3")))
    row = row_in(restored, 2, "2.4.3")
    assert row.xpath("string(.//textarea[@name='note'])").strip() == "Mine"
    assert submit(client, restored, 2, "2.4.3").status_code == 409


def test_htmx_gets_the_row_and_the_progress(client: Client, home: Member, assessment: Assessment) -> None:
    url = path_of(assessment, "/pages/1/results/2.4.3")
    values = {"version": "0", "result": "passed", "note": "", "remedy": ""}
    response = client.post(url, values, headers={"HX-Request": "true"})
    tree = parsed(f"<div>{response.content.decode()}</div>")
    assert row_in(tree, 1, "2.4.3").get("data-saved") is not None
    assert strings(tree, "//*[@id='progress']/@hx-swap-oob") == ["true"]
    assert "Saved: 2.4.3 on" in tree.text_content()
    assert b"<html" not in response.content
    stale = client.post(url, values | {"result": "failed"}, headers={"HX-Request": "true"})
    assert stale.status_code == 409
    assert b"<html" not in stale.content
    assert "saved this while you were editing" in stale.content.decode()


def test_remaining_pages_get_one_result(client: Client, assessment: Assessment) -> None:
    url = path_of(assessment, "/criteria/1.1.1/remaining")
    refused = client.post(url, {"result": "untested", "note": "Kept"})
    assert refused.status_code == 400
    assert "Kept" in text_of(refused)
    client.post(url, {"result": "not_applicable", "note": "No pictures."})
    outcomes = AssessmentResult.objects.filter(assessment=assessment, criterion="1.1.1").order_by("page__number")
    assert [row.outcome for row in outcomes] == ["not_applicable", "failed", "not_applicable"]


def test_disputed_finding_is_not_called_no_automatic_failure(client: Client, assessment: Assessment) -> None:
    finding = assessment.findings.get(check_id="image-alt")
    client.post(path_of(assessment, f"/findings/{finding.id}/dispute"), {"reason": "Decoration."})
    row = row_in(page_of(client.get(path_of(assessment, "/criteria/1.1.1"))), 2, "1.1.1")
    assert strings(row, ".//*[@class='automatic']/text()") == ["Automatic finding disputed"]
    overview = page_of(client.get(path_of(assessment, "")))
    (cell,) = overview.xpath("//tr[th//a[starts-with(., '1.1.1 ')]]/td[@data-label='Automatic checks']")
    assert cell.text_content() == "Automatic finding disputed"


def test_finding_is_disputed_and_the_dispute_withdrawn(client: Client, assessment: Assessment) -> None:
    page = page_of(client.get(path_of(assessment, "/criteria/1.1.1")))
    row = row_in(page, 2, "1.1.1")
    (form,) = row.xpath(".//form[@class='dispute']")
    assert [" ".join(code.text_content().split()) for code in row.xpath(".//code")] == ["#a", "#b"]
    entered = {name: value or "" for name, value in form.form_values()}
    empty = client.post(form.action, entered)
    assert empty.status_code == 400
    assert "This field is required." in text_of(empty)
    response = client.post(form.action, entered | {"reason": "<b>Decoration</b>"})
    assert response["Location"] == path_of(assessment, "/criteria/1.1.1#result-2-1-1-1")
    assert result_of(assessment, 2, "1.1.1").outcome == "untested"
    row = row_in(page_of(client.get(response["Location"])), 2, "1.1.1")
    assert "<b>Decoration</b>" in row.text_content()
    (withdraw,) = row.xpath(".//form[contains(@action, '/withdraw')]")
    client.post(withdraw.action, dict(withdraw.form_values()))
    assert result_of(assessment, 2, "1.1.1").outcome == "failed"


def test_refreshed_findings_have_marks(client: Client, home: Member) -> None:
    Tier.objects.update(assessments=5)
    ids = populate_assessment(home)
    assessment = Assessment.objects.get(id=ids["assessment_id"])
    text = text_of(client.get(path_of(assessment, "/criteria/1.1.1")))
    assert "image-alt Disputed" in text
    AssessmentResult.objects.filter(assessment=assessment, criterion="2.4.2").update(tested_at="2020-01-01T00:00Z")
    assessment.pages.filter(number=1).update(changed_at="2026-01-01T00:00Z")
    assessment.findings.filter(page__number=2, check_id="image-alt").update(fixed_at="2026-01-01T00:00Z")
    page = page_of(client.get(path_of(assessment, "/criteria/2.4.2")))
    assert "Older than the page's change" in row_in(page, 1, "2.4.2").text_content()
    assert "Older than" not in row_in(page, 2, "2.4.2").text_content()
    assert "image-alt Fixed" in text_of(client.get(path_of(assessment, "/pages/2")))


def test_viewers_read_and_change_nothing(home: Member, assessment: Assessment) -> None:
    decide(home, assessment, 1, "2.4.3", "failed", note="It jumps.")
    viewer = browser_of(home, "viewer")
    for rest in ("/criteria/2.4.3", "/pages/1", "/pages/1/results/2.4.3"):
        page = viewer.get(path_of(assessment, rest))
        assert "It jumps." in text_of(page), rest
        assert not page_of(page).xpath("//main//form[@method='post']"), rest
        assert b"htmx" not in page.content
    values = {"version": "1", "result": "passed"}
    assert viewer.post(path_of(assessment, "/pages/1/results/2.4.3"), values).status_code == 403
    assert viewer.post(path_of(assessment, "/pages"), {"url": "https://museum.example.com/a"}).status_code == 403
    assert result_of(assessment, 1, "2.4.3").result == "failed"


def test_rows_are_shown_in_parts(client: Client, home: Member, assessment: Assessment) -> None:
    page = assessment.pages.get(number=1)
    last = ROWS_PER_PART + 9
    for number in range(4, last + 1):
        page.pk, page.number, page.url = None, number, f"https://museum.example.com/{number}"
        page.save()
        AssessmentResult.objects.create(assessment=assessment, page=page, criterion="2.4.3")
    first = page_of(client.get(path_of(assessment, "/criteria/2.4.3")))
    assert len(first.find_class("result-row")) == ROWS_PER_PART
    (link,) = strings(first, "//a[@rel='next' and starts-with(@href, '?')]/@href")
    second = page_of(client.get(path_of(assessment, f"/criteria/2.4.3{link}")))
    assert len(second.find_class("result-row")) == 9
    response = submit(client, second, last, "2.4.3", result="passed")
    assert response["Location"] == path_of(assessment, f"/criteria/2.4.3?part=2#result-{last}-2-4-3")
    done = page_of(client.get(path_of(assessment, "/criteria/2.4.3?show=done")))
    assert [row.get("id") for row in done.find_class("result-row")] == [f"result-{last}-2-4-3"]
