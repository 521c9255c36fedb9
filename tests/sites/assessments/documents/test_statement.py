"""Tests for drafts of accessibility statements."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.template.loader import render_to_string
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from sites.assessments.documents.statement import MAX_DISPUTES, Section, Statement, accessibility_statement
from sites.assessments.documents.statement_text import statement_markdown
from sites.assessments.schemas import AssessmentReport
from tests.sites.assessments.reports import (
    FINISHED_AT,
    HOST,
    HOSTILE,
    PAGES,
    decided,
    disputed,
    finding,
    hostile_report,
    museum_report,
    report_of,
    result,
)
from tests.sites.assessments.storing import stored
from website_scan.accessibility.standards import Standard, success_criteria

pytestmark = pytest.mark.django_db
FULLY = "Decide whether this website is fully compliant with the law"
LAW = "[the national law that implements Directive (EU) 2016/2102]"
EVERYTHING = {"alternatives": "Call us.", "enforcement": "Write to the ombudsman."}


def statement_of(report: AssessmentReport) -> Statement:
    return accessibility_statement(stored(report))


def markdown_of(report: AssessmentReport) -> str:
    return "".join(statement_markdown(stored(report)))


def missing_in(report: AssessmentReport) -> list[str]:
    return list(statement_of(report).missing)


def status(report: AssessmentReport) -> str:
    (text,) = section_of(report, "Compliance status").paragraphs
    return text


def section_of(report: AssessmentReport, heading: str) -> Section:
    (section,) = [one for one in statement_of(report).sections if one.heading.startswith(heading)]
    return section


def headings(report: AssessmentReport) -> list[str]:
    return [section.heading for section in statement_of(report).sections]


def passed_except(failed: int, **options: Any) -> AssessmentReport:
    """Return a report in which the first criteria fail on page 2, and everything else passes."""
    results = decided("passed")
    numbers = list(dict.fromkeys(number for _, number in results))
    for number in numbers[:failed]:
        results[2, number] = result(2, number, "failed")
    return report_of(results, **options)


def test_fully_compliant_needs_a_result_of_each_criterion_on_each_page() -> None:
    assert status(passed_except(0)) == f"[{FULLY}. People found no failure in 4 pages.]"
    assert "Non-accessible content" not in headings(passed_except(0))


@pytest.mark.parametrize("decision", ["cannot_tell", "untested"])
def test_one_undecided_page_is_a_decision_for_people(decision: str) -> None:
    results = decided("not_applicable") | {(4, "4.1.3"): result(4, "4.1.3", decision)}
    report = report_of(results)
    assert status(report) == (
        "[Decide whether this website is fully, partially or not compliant with the law. "
        f"People have not decided about 1 criterion of 55 on each page of the sample (1 {decision.replace('_', ' ')}).]"
    )
    assert section_of(report, "Non-accessible content").paragraphs == [
        "[List the content that is not accessible when people have tested all criteria.]"
    ]


def test_result_that_is_older_than_its_page_is_not_decided() -> None:
    results = decided("passed")
    results[2, "2.1.1"]["is_older_than_page"] = True
    assert status(report_of(results)) == (
        "[Decide whether this website is fully, partially or not compliant with the law. Pages have changed since the "
        "tests of 1 criterion, which people have to test again.]"
    )


def test_automatic_results_alone_never_make_a_site_compliant() -> None:
    for report in (report_of({}), report_of({}, sample=[])):
        assert status(report).startswith("[Decide")
        assert "55 criteria of 55" in status(report)


@pytest.mark.parametrize(
    ("standard", "level"),
    [(Standard.WCAG_20, "AAA"), (Standard.SECTION_508, "AA"), (Standard.WCAG_22, "A"), (Standard.EN_301_549, "A")],
)
def test_standard_with_fewer_criteria_than_the_law_is_a_decision_for_people(standard: Standard, level: str) -> None:
    report = report_of(decided("passed", standard=standard, level=level), standard=standard, level=level)
    assert status(report).startswith("[Decide")
    assert f"The assessment used {standard.at_level(level)}." in status(report)


@pytest.mark.parametrize("standard", [Standard.WCAG_21, Standard.EN_301_549])
def test_standard_of_the_law_is_sufficient(standard: Standard) -> None:
    report = report_of(decided("passed", standard=standard), standard=standard)
    assert status(report).startswith(f"[{FULLY}.")


def test_failures_at_level_aaa_do_not_count() -> None:
    results = decided("passed", level="AAA") | {(1, "1.4.6"): result(1, "1.4.6", "failed")}
    report = report_of(results, level="AAA")
    assert status(report).startswith(f"[{FULLY}.")
    assert "1.4.6" not in markdown_of(report)


def test_some_failures_make_it_partially_compliant() -> None:
    assert (
        status(passed_except(27))
        == f"This website is partially compliant with {LAW}, due to the non-compliances listed below."
    )


def test_failures_of_most_criteria_make_it_not_compliant() -> None:
    assert (
        status(passed_except(28)) == f"This website is not compliant with {LAW}. The non-compliances are listed below."
    )


def test_failures_of_half_of_the_applicable_criteria_are_partial_compliance() -> None:
    results = decided("passed") | {(number, "4.1.3"): result(number, "4.1.3", "not_applicable") for number in PAGES}
    numbers = list(dict.fromkeys(number for _, number in results))
    half = {(2, number): result(2, number, "failed") for number in numbers[:27]}
    assert status(report_of(results | half)).startswith("This website is partially compliant")
    more = half | {(2, numbers[27]): result(2, numbers[27], "failed")}
    assert status(report_of(results | more)).startswith("This website is not compliant")


@pytest.mark.parametrize("field", ["burden", "exempt_content"])
def test_exemption_alone_is_partial_compliance(field: str) -> None:
    report = passed_except(0, **{field: "Maps of 1890."})
    assert status(report) == f"This website is partially compliant with {LAW}, due to the exemptions listed below."
    heading = "(b)" if field == "burden" else "(c)"
    assert section_of(report, heading).paragraphs == ["Maps of 1890."]


def test_failures_without_all_tests_rule_out_full_compliance() -> None:
    assert status(museum_report()).endswith("The website fails 3 criteria, so it is not fully compliant.]")


def test_failures_are_described_in_plain_words() -> None:
    items = [item.text for item in section_of(museum_report(), "(a) Non-compliance").items]
    assert len(items) == 3
    assert items[0] == (
        f"{success_criteria()['1.1.1'].asks} "
        "This is not so on these pages: Home; https://museum.example.com/visit. "
        "The map has no text. 2 images have no alternative text. "
        "(WCAG 2.2: 1.1.1 Non-text Content, level A)"
    )
    assert "This is not so on this page: Cart with one item." in items[1]
    assert items[2].count("Links have no visible focus.") == 1


def test_disputed_and_fixed_findings_are_not_listed() -> None:
    fixed = finding(1, "html-has-lang", "3.1.1", state="fixed", fixed_at=FINISHED_AT)
    findings = {"1.1.1": [disputed(1, "image-alt", "1.1.1")], "3.1.1": [fixed]}
    assert status(report_of(decided("passed"), findings)).startswith(f"[{FULLY}.")


def test_disputed_findings_have_a_section_without_addresses_of_members() -> None:
    section = section_of(museum_report(), "Disputed findings of automatic checks")
    assert [item.text for item in section.items] == [
        "1.1.1 Non-text Content: Automatic failure on Shop, disputed by Ada Ruiz, a member of the organization: "
        "2 images have no alternative text. Reason: The logo is decoration. "
        "Without the dispute, the criterion fails there."
    ]
    for name, words in (("ada@museum.example", "a member of the organization"), ("API key CI", "the API key CI")):
        report = report_of({}, {"1.1.1": [disputed(1, "image-alt", "1.1.1", disputed_by=name, has_failed=False)]})
        (item,) = section_of(report, "Disputed").items
        assert f"Automatic finding on Home, disputed by {words}: 2 images" in item.text
        assert item.text.endswith("Without the dispute, a person has to review this.")


def test_disputes_with_one_reason_are_joined_and_others_are_counted() -> None:
    pages = [disputed(number, "image-alt", "1.1.1") for number in PAGES]
    (item,) = section_of(report_of({}, {"1.1.1": pages}), "Disputed").items
    assert f"on Home; {HOST}/visit; Shop; Cart with one item, disputed" in item.text
    many = [disputed(1, f"check-{number:02}", "1.1.1") for number in range(MAX_DISPUTES + 2)]
    items = section_of(report_of({}, {"1.1.1": many}), "Disputed").items
    assert len(items) == MAX_DISPUTES + 1
    assert items[-1].text == "2 more disputed findings are in the assessment."


def test_automatic_failures_beyond_the_listed_ones_are_counted() -> None:
    results = {(1, "1.1.1"): result(1, "1.1.1", "untested", outcome="failed")}
    findings = [finding(1, f"check-{number}", "1.1.1", title=f"Failure {number}") for number in range(5)]
    (item,) = section_of(report_of(results, {"1.1.1": findings}), "(a) Non-compliance").items
    assert (
        "Failure 0. Failure 1. Failure 2. Automatic checks found 2 more failures on these pages, which the conformance "
        "report lists." in item.text
    )
    assert "There are notes" not in item.text


def test_requirements_have_clauses_of_the_european_standard() -> None:
    items = section_of(museum_report(standard=Standard.EN_301_549), "(a) Non-compliance").items
    assert items[0].text.endswith("(EN 301 549 V3.2.1: 9.1.1.1 Non-text Content, level A)")


def test_failures_are_bounded() -> None:
    results = {
        (number, "1.1.1"): result(number, "1.1.1", "failed", note=f"{number}" * 9_000) for number in (1, 2, 3, 4)
    }
    (item,) = section_of(report_of(results), "(a) Non-compliance").items
    assert len(item.text) < 1_600


def test_sections_are_those_of_the_model() -> None:
    report = museum_report(burden="Maps.", exempt_content="Old videos.", alternatives="Call us.\nOr write.")
    assert headings(report) == [
        "Compliance status",
        "Non-accessible content",
        f"(a) Non-compliance with {LAW}",
        "(b) Disproportionate burden",
        "(c) Content that is not within the scope of the law",
        "Accessible alternatives",
        "Preparation of this accessibility statement",
        "Disputed findings of automatic checks",
        "Feedback and contact information",
        "Enforcement procedure",
    ]
    assert section_of(report, "Accessible alternatives").paragraphs == ["Call us.", "Or write."]
    assert statement_of(report).introduction == [
        f"City of Lund is committed to making its website accessible, in accordance with {LAW}.",
        "This accessibility statement applies to https://museum.example.com/.",
    ]


def test_preparation_names_date_method_and_people() -> None:
    report = museum_report(evaluators="Ada Ruiz\n\nBo Lind", method="By WCAG-EM.")
    assert section_of(report, "Preparation").paragraphs == [
        "This statement was prepared on 2 November 2026.",
        "It is based on a self-assessment by WCAG 2.2, level AA. People tested a sample of the website. The sample "
        "has 3 pages and 1 state of a page. Automatic checks examined 3 pages of it.",
        "Tested by Ada Ruiz, Bo Lind.",
        "By WCAG-EM.",
        "The statement was last reviewed on 2 November 2026.",
    ]


def test_preparation_admits_that_nobody_has_tested() -> None:
    results = {(1, "1.1.1"): result(1, "1.1.1", "untested", outcome="failed")}
    method = section_of(report_of(results), "Preparation").paragraphs[1]
    assert "level AA. No person has tested the website yet. The sample has" in method


def test_testers_stand_in_for_evaluators_without_names() -> None:
    assert "Tested by Ada Ruiz." in section_of(museum_report(), "Preparation").paragraphs


def test_contacts_are_links() -> None:
    items = section_of(museum_report(), "Feedback").items
    assert [(item.text, item.url) for item in items] == [
        ("E-mail: access@museum.example.com", "mailto:access@museum.example.com"),
        ("Website: https://museum.example.com/contact", "https://museum.example.com/contact"),
        ("Telephone: +46 1 234", ""),
    ]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "https:///"])
def test_unsafe_address_is_no_link(url: str) -> None:
    (item,) = [one for one in section_of(museum_report(contact_url=url), "Feedback").items if url in one.text]
    assert item.url == ""


def test_missing_texts_are_in_square_brackets() -> None:
    empty = dict.fromkeys(("owner_name", "contact_email", "contact_url", "contact_phone"), "")
    report = museum_report(finished_at=None, **empty)
    missing = missing_in(report)
    assert missing == [
        "name of the organization",
        LAW.strip("[]"),
        status(report).strip("[]"),
        "Describe accessible alternatives to this content, or say that there are none.",
        "date",
        "e-mail address, contact form or telephone number",
        "Describe how people can complain if they get no satisfactory response, and name the body that enforces the "
        "law, with its address and a link.",
    ]
    text = visible_text(MarkdownIt().render(markdown_of(report)))
    assert all(f"[{one}]" in text for one in missing)


def test_complete_statement_lacks_only_the_law() -> None:
    assert missing_in(passed_except(1, **EVERYTHING)) == [LAW.strip("[]")]


def test_brackets_in_texts_by_people_are_not_missing_in() -> None:
    assert missing_in(passed_except(1, **EVERYTHING, scope="All [of] it.")) == [LAW.strip("[]")]


def rendered(report: AssessmentReport) -> str:
    return render_to_string("sites/assessments/_statement.html", {"statement": statement_of(report)})


def visible_text(markup: str) -> str:
    body = LexborHTMLParser(markup).body
    assert body is not None
    return " ".join(body.text().split())


def texts_of(statement: Statement) -> str:
    texts = list(statement.introduction)
    for section in statement.sections:
        texts += [section.heading, *section.paragraphs, *(item.text for item in section.items)]
    return " ".join(" ".join(texts).split())


def test_markdown_and_html_have_the_same_texts() -> None:
    report = museum_report(burden="Maps.", scope="The shop, too.")
    expected = texts_of(statement_of(report))
    assert visible_text(rendered(report)) == expected
    assert visible_text(MarkdownIt().render(markdown_of(report))) == f"Accessibility statement {expected}"


def test_html_has_headings_lists_and_links() -> None:
    tree = LexborHTMLParser(rendered(museum_report()))
    assert [heading.tag for heading in tree.css("h1, h2, h3")] == ["h2", "h2", "h3", "h3", "h2", "h3", "h2", "h2"]
    links = [link.attributes["href"] for link in tree.css("li > a")]
    assert links == ["mailto:access@museum.example.com", "https://museum.example.com/contact"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_markup(text: str) -> None:
    report = hostile_report(text)
    fragment = rendered(report)
    tree = LexborHTMLParser(fragment)
    assert {node.tag for node in tree.css("body *")} <= {"p", "h2", "h3", "ul", "li", "a"}
    links = [link.attributes for link in tree.css("a")]
    assert [(set(link), str(link["href"]).partition(":")[0]) for link in links] == [({"href"}, "mailto")]
    tokens = MarkdownIt().parse(markdown_of(report))
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in tokens} <= {
        *("heading", "inline", "paragraph", "bullet_list", "list_item"),
    }
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "text_special"}
    assert len([token for token in tokens if token.type == "heading_open"]) == 11
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", markdown_of(report) + fragment)
