"""Tests for the list of assessments, their forms, their overview, their log and their samples."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import Tier
from sites.assessments import refreshing, services
from sites.models import Assessment
from tests.factories import Member, member_of
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.responses import ClientResponse
from tests.sites.assessments.cast import HOST, assess, audit_of, caller_of, check, decide, museum_audit

LIST = "/o/home/assessments/"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def assessment(home: Member) -> Assessment:
    return assess(home, museum_audit(home))


def path_of(assessment: Assessment, rest: str = "") -> str:
    return f"{LIST}{assessment.id}{rest}"


def errors_of(response: ClientResponse) -> list[str]:
    return [element.text_content().strip() for element in page_of(response).find_class("problem")]


def criteria_in(response: ClientResponse) -> list[str]:
    """Return the numbers of the criteria in the overview."""
    return [text.split()[0] for text in strings(page_of(response), "//table//th[@scope='row']//a/text()")]


def test_empty_list_explains_how_to_begin(client: Client, home: Member) -> None:
    page = client.get(LIST)
    assert "To begin, scan the site for accessibility" in text_of(page)
    assert strings(page_of(page), "//main//a[@class='button']/@href") == [f"{LIST}new"]
    assert "Creating one requires the role member" in text_of(browser_of(home, "viewer").get(LIST))


def test_list_has_progress_of_each_assessment(client: Client, home: Member, assessment: Assessment) -> None:
    for number in (1, 2, 3):
        decide(home, assessment, number, "2.4.3", "passed")
    text = text_of(client.get(LIST))
    assert "WCAG 2.2, level AA" in text
    assert "1 of 55 criteria decided, 54 untested" in text
    assert "1 of 1 assessment in your plan is used." in text


def test_audit_page_links_to_the_form_of_its_assessment(client: Client, home: Member) -> None:
    audit = museum_audit(home)
    link = f"{LIST}new?audit={audit.id}"
    assert strings(page_of(client.get(f"/audit/{audit.id}")), "//a[text()='Assess']/@href") == [link]
    form = page_of(client.get(link))
    assert strings(form, "//select[@name='audit']/option[@selected]/@value") == [audit.id]
    assert strings(form, "//input[@name='name']/@value")[0].startswith("museum.example.com, ")
    assert "WCAG-EM" in form.xpath("string(//textarea[@name='method'])")
    without = audit_of(home, {"/": (check("image-alt", "pass"),)}, types=["seo"])
    assert strings(page_of(client.get(f"/audit/{without.id}")), "//a[text()='Assess']") == []


def test_form_creates_one_assessment_even_if_it_is_sent_twice(client: Client, home: Member) -> None:
    Tier.objects.update(assessments=5)
    audit = museum_audit(home)
    form: dict[str, Any] = {
        "audit": audit.id,
        "name": "Museum",
        "standard": "en301549",
        "level": "AA",
        "sample_size": "2",
        "once": "ab" * 16,
    }
    first, second = client.post(f"{LIST}new", form), client.post(f"{LIST}new", form)
    created = Assessment.objects.get()
    assert first["Location"] == second["Location"] == path_of(created)
    assert (created.standard, created.pages.count()) == ("en301549", 2)
    assert "9.1.1.1 Non-text Content" in text_of(client.get(path_of(created)))


def test_refused_form_keeps_its_input(client: Client, home: Member, assessment: Assessment) -> None:
    form = {"audit": "aud_x", "name": "Second", "standard": "wcag22", "level": "AA", "sample_size": "20"}
    response = client.post(f"{LIST}new", form | {"scope": "All <b>pages</b>"})
    assert response.status_code == 400
    assert errors_of(response) == ["audit must be the ID of an audit."]
    assert page_of(response).xpath("string(//textarea[@name='scope'])").strip() == "All <b>pages</b>"
    response = client.post(f"{LIST}new", form | {"audit": assessment.audit_id})
    assert response.status_code == 409
    assert "Your plan allows 1 assessment." in errors_of(response)[0]
    elsewhere = museum_audit(member_of("Away"))
    Tier.objects.update(assessments=5)
    response = client.post(f"{LIST}new", form | {"audit": elsewhere.id})
    assert errors_of(response) == ["This scan no longer exists. Choose another one."]


def test_overview_filters_criteria_by_result_and_level(client: Client, home: Member, assessment: Assessment) -> None:
    for number in (1, 2, 3):
        decide(home, assessment, number, "1.2.1", "not_applicable")
    decide(home, assessment, 1, "2.4.3", "cannot_tell", note="No keyboard.")
    assert len(criteria_in(client.get(path_of(assessment)))) == 55
    assert criteria_in(client.get(path_of(assessment, "?show=failed"))) == ["1.1.1"]
    assert criteria_in(client.get(path_of(assessment, "?show=review"))) == ["1.4.3"]
    assert criteria_in(client.get(path_of(assessment, "?show=cannot_tell"))) == ["2.4.3"]
    assert criteria_in(client.get(path_of(assessment, "?show=done"))) == ["1.2.1"]
    untested = criteria_in(client.get(path_of(assessment, "?show=untested&level=AA")))
    assert "1.4.3" in untested
    assert "1.1.1" not in untested
    assert "No criterion matches" in text_of(client.get(path_of(assessment, "?show=failed&level=AA")))


def test_overview_has_counts_and_automatic_results(client: Client, assessment: Assessment) -> None:
    rows = page_of(client.get(path_of(assessment))).xpath("//tbody/tr")
    text = " ".join(rows[0].text_content().split())
    assert text == "1.1.1 Non-text Content A Failed 1 failed, 2 untested Fails on 1 page"


def test_overview_says_that_a_person_reviewed_what_checks_left_undecided(
    client: Client, home: Member, assessment: Assessment
) -> None:
    def automatic() -> str:
        (row,) = page_of(client.get(path_of(assessment))).xpath("//tr[th//a[starts-with(., '1.4.3')]]")
        return " ".join(row.xpath("td")[-1].text_content().split())

    assert automatic() == "Needs review on 1 page"
    decide(home, assessment, 2, "1.4.3", "passed")
    assert automatic() == "Reviewed on 1 page"


def test_finished_assessment_has_no_forms_for_results(client: Client, assessment: Assessment) -> None:
    client.post(path_of(assessment, "/status"), {"status": "finished"})
    assessment.refresh_from_db()
    assert assessment.is_finished
    page = client.get(path_of(assessment, "/criteria/1.1.1"))
    assert not page_of(page).find_class("result-form")
    assert "This assessment is finished." in text_of(page)
    client.post(path_of(assessment, "/status"), {"status": "open"})
    assert page_of(client.get(path_of(assessment, "/criteria/1.1.1"))).find_class("result-form")
    assert client.post(path_of(assessment, "/status"), {"status": "x"}).status_code == 400


def test_refresh_offers_later_audits_of_the_site(client: Client, home: Member, assessment: Assessment) -> None:
    assert "There is no later scan of this site" in text_of(client.get(path_of(assessment)))
    audit_of(home, {"/": (check("image-alt", "pass"),)}, url="https://other.example/")
    later = museum_audit(home)
    page = page_of(client.get(path_of(assessment)))
    assert strings(page, "//select[@name='audit']/option/@value") == [later.id]
    response = client.post(path_of(assessment, "/refresh"), {"audit": later.id}, follow=True)
    assert "The results are being copied." in text_of(response)
    refreshing.copy_results(assessment.id)
    assessment.refresh_from_db()
    assert assessment.audit_id == later.id
    refused = client.post(path_of(assessment, "/refresh"), {"audit": "aud_x"}, follow=True)
    assert "audit must be the ID of an audit." in text_of(refused)
    unknown = client.post(path_of(assessment, "/refresh"), {"audit": f"aud_{'0' * 22}"}, follow=True)
    assert "This scan no longer exists." in text_of(unknown)


def test_deletion_asks_first(client: Client, assessment: Assessment) -> None:
    assert "This cannot be undone." in text_of(client.get(path_of(assessment, "/delete")))
    assert Assessment.objects.exists()
    assert client.post(path_of(assessment, "/delete"))["Location"] == LIST
    assert not Assessment.objects.exists()
    assert client.get(path_of(assessment)).status_code == 404


def texts_of(client: Client, assessment: Assessment) -> dict[str, str]:
    """Return the values of the form for the texts, with its hidden fields, as a browser sends them."""
    return entered_in(client.get(path_of(assessment, "/texts")))


def entered_in(response: ClientResponse) -> dict[str, str]:
    """Return the values of the last form of a page. Unlike lxml, browsers also send empty fields."""
    return {field.name: (field.value or "").strip() for field in page_of(response).forms[-1].inputs if field.name}


def test_two_people_change_different_texts_at_once(client: Client, home: Member, assessment: Assessment) -> None:
    entered = texts_of(client, assessment)
    values = {"scope": "Without the shop."}
    services.change_assessment(caller=caller_of(home), assessment_id=assessment.id, values=values)
    entered |= {"burden": "Old recordings.\r\nThey are many.", "owner_name": "Museum"}
    assert client.post(path_of(assessment, "/texts"), entered).status_code == 302
    assessment.refresh_from_db()
    assert (assessment.scope, assessment.owner_name) == ("Without the shop.", "Museum")
    assert assessment.burden == "Old recordings.\nThey are many."


def test_change_of_the_same_text_at_once_shows_both(client: Client, home: Member, assessment: Assessment) -> None:
    entered = texts_of(client, assessment) | {"scope": "My scope"}
    values = {"scope": "Their scope"}
    services.change_assessment(caller=caller_of(home), assessment_id=assessment.id, values=values)
    response = client.post(path_of(assessment, "/texts"), entered)
    assert response.status_code == 409
    assert "It is now: “Their scope”." in errors_of(response)[0]
    again = entered_in(response)
    assert again["scope"] == "My scope"
    assert client.post(path_of(assessment, "/texts"), again).status_code == 302
    assessment.refresh_from_db()
    assert assessment.scope == "My scope"


def test_invalid_text_is_refused_at_its_field(client: Client, assessment: Assessment) -> None:
    response = client.post(path_of(assessment, "/texts"), texts_of(client, assessment) | {"contact_url": "museum"})
    assert response.status_code == 400
    assert errors_of(response) == ["contact_url must be an address that begins with https:// or http://."]


def test_log_has_sentences_for_all_actions(client: Client, home: Member, assessment: Assessment) -> None:
    decide(home, assessment, 1, "2.4.3", "failed", note="<i>It</i> jumps.")
    client.post(path_of(assessment, "/criteria/1.2.1/remaining"), {"result": "not_applicable"})
    finding = assessment.findings.get(has_failed=True)
    client.post(path_of(assessment, f"/findings/{finding.id}/dispute"), {"reason": "Decoration."})
    client.post(path_of(assessment, f"/findings/{finding.id}/withdraw"))
    client.post(path_of(assessment, "/pages"), {"url": f"{HOST}/cart", "name": "Cart", "is_state": "on"})
    client.post(path_of(assessment, "/pages/4/rename"), {"name": "Full cart"})
    client.post(path_of(assessment, "/pages/4/remove"))
    text = text_of(client.get(path_of(assessment, "/log")))
    for sentence in (
        "created the assessment.",
        f"changed 2.4.3 from untested to failed on page 1, {HOST}/.",
        "Note: “<i>It</i> jumps.”",
        "set 1.2.1 to not applicable on 3 untested pages.",
        f"disputed the finding “Images without alternative text” (image-alt) on page 2, {HOST}/visit.",
        "Reason: “Decoration.”",
        f"withdrew the dispute of the finding “Images without alternative text” (image-alt) on page 2, {HOST}/visit.",
        "added page 4, Cart.",
        "renamed page 4 to Full cart.",
        "removed page 4, Full cart.",
        "The service copied the automatic results of a scan.",
    ):
        assert sentence in text
    first = assessment.events.earliest("id")
    assert "No more entries" in text_of(client.get(path_of(assessment, f"/log?before={first.id}")))


def test_sample_lists_pages_and_adds_states(client: Client, assessment: Assessment) -> None:
    response = client.post(path_of(assessment, "/pages"), {"url": f"{HOST}/cart", "is_state": "on"})
    assert response.status_code == 400
    assert errors_of(response) == ["A state needs a name that says how to reach it, such as: Cart with one item."]
    assert errors_of(client.post(path_of(assessment, "/pages"), {"url": "http://localhost/"}))
    client.post(path_of(assessment, "/pages"), {"url": f"{HOST}/cart", "name": "Cart", "is_state": "on"})
    text = text_of(client.get(path_of(assessment, "/pages")))
    assert "4 Cart State" in text
    assert "1 of 55" in text
    assert "Start page" in text
    confirmation = text_of(client.get(path_of(assessment, "/pages/2/remove")))
    assert "1 tested criterion" in confirmation
    client.post(path_of(assessment, "/pages/2/remove"))
    assert list(assessment.pages.order_by("number").values_list("number", flat=True)) == [1, 3, 4]


@pytest.mark.parametrize(
    "rest",
    ["", "/texts", "/log", "/pages", "/pages/1", "/criteria/1.1.1", "/pages/1/results/1.1.1", "/delete"],
)
def test_outsiders_find_no_assessment(home: Member, assessment: Assessment, rest: str) -> None:
    away = browser_of(member_of("Away"))
    assert away.get(path_of(assessment, rest)).status_code == 404
    assert away.get(path_of(assessment, rest).replace("/home/", "/away/")).status_code == 404


def test_unknown_parts_are_not_found(client: Client, assessment: Assessment) -> None:
    for rest in ("/pages/9", "/criteria/9.9.9", "/criteria/1.4.6", "/pages/1/results/9.9.9", "/findings/1/dispute"):
        assert client.get(path_of(assessment, rest)).status_code == 404, rest
