"""Tests for AccessibleDocument and CSS selectors in findings."""

from __future__ import annotations

from time import process_time

import pytest

from tests.website_scan.accessibility.corpus import PAGES, templates
from tests.website_scan.accessibility.static import run_check, static_checks, static_findings
from tests.website_scan.cast import document, message, outcome, page, rows, verdict
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.verdicts import unique_selector
from website_scan.findings import NotApplicable
from website_scan.page.evidence import Document, Page

CHECKS = static_checks()


@pytest.mark.parametrize("name", ["dialogs/behind-tab-order", "docs/wiki-neglected", "legacy/bureau"])
def test_checks_do_not_influence_each_other(name: str) -> None:
    served_page = page(PAGES[name])
    parsed = document(served_page)

    def findings(shared: AccessibleDocument | None, step: int) -> dict[str, tuple[object, ...]]:
        results: dict[str, tuple[object, ...]] = {}
        for check in CHECKS[::step]:
            evidence: dict[type, object] = {
                Page: served_page,
                Document: parsed,
                AccessibleDocument: shared or AccessibleDocument(parsed),
            }
            finding = run_check(check, evidence)
            places = () if isinstance(finding, NotApplicable) else rows(finding)
            results[check.id] = (verdict(finding), outcome(finding), message(finding), places)
        return results

    alone = findings(None, 1)
    assert findings(AccessibleDocument(parsed), 1) == alone
    assert findings(AccessibleDocument(parsed), -1) == alone


@pytest.mark.parametrize("state", templates.CLASSES)
def test_body_class_does_not_change_a_verdict(state: str) -> None:
    plain = {rule: verdict(finding) for rule, finding in static_findings(PAGES["templates/panel-nameless"]).items()}
    page_with_body_class = static_findings(PAGES[f"templates/panel-nameless-{state}"])
    assert {rule: verdict(finding) for rule, finding in page_with_body_class.items()} == plain
    assert {rule for rule, plain_verdict in plain.items() if plain_verdict == "fail"} == {
        "image-alt",
        "label",
        "link-name",
    }


def test_every_selector_matches_one_element() -> None:
    for name, markup in PAGES.items():
        tree = document(page(markup)).tree
        for rule, finding in static_findings(markup).items():
            for row in () if isinstance(finding, NotApplicable) else rows(finding):
                if css_selector := str(row.get("selector") or ""):
                    assert len(tree.css(css_selector)) == 1, (name, rule, css_selector)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<div id=a><p><p class=x>", "#a > p:nth-of-type(2)"),
        ("<p><div id=a><b></b><b id=a class=x></b></div>", "html > body > div > b:nth-of-type(2)"),
        (
            "<div><div><div><div><div><div><b class=x>" + "</div>" * 6 + "<div></div>",
            "html > body > div:nth-of-type(1)",
        ),
        ("<b id='1 2' class=x>", "html > body > b"),
        ("<x-a class=x></x-a><x-b></x-b>", "html > body > x-a"),
        ("<svg><linearGradient class=x /></svg>", "html > body > svg"),
        ("<p><svg:a class=x>", "html > body > p > :nth-child(1)"),
    ],
)
def test_css_selector_begins_at_the_nearest_unique_ID(markup: str, expected: str) -> None:
    tree = document(page(f"<!doctype html><body>{markup}")).tree
    node = tree.css_first(".x")
    assert node is not None
    css_selector = unique_selector(node)
    assert css_selector.startswith(expected)
    assert [match.mem_id for match in tree.css(css_selector)] == [node.mem_id]


@pytest.mark.parametrize(
    ("rule", "markup"),
    [
        ("label", "<label>" + "<input aria-labelledby='a b c d'>" * 60_000),
        ("label", "<label for=f>x</label>" * 20_000 + "<input id=f>" * 20_000),
        ("td-headers-attr", f"<table>{('<tr>' + '<td headers=a id=x>1</td>' * 20 + '</tr>') * 2_500}</table>"),
    ],
)
def test_expensive_markup_cannot_slow_down_a_check(rule: str, markup: str) -> None:
    accessible_document = AccessibleDocument(document(page(f"<!doctype html><body>{markup}")))
    function = next(check.function for check in CHECKS if check.id == rule)
    start = process_time()
    function(accessible_document)
    assert process_time() - start < 4  # Judging all checks usually takes one to two seconds.


def test_accessible_document_is_immutable() -> None:
    accessible_document = AccessibleDocument(document(page()))
    for name in ("document", "visibility"):
        with pytest.raises(AttributeError):
            setattr(accessible_document, name, None)
