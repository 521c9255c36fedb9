from __future__ import annotations

import pytest

from scans.engine.accessibility.document import AccessibleDocument
from tests.scans.engine.cast import document, head, page


def tree(body: str, style: str = "") -> AccessibleDocument:
    return AccessibleDocument(document(page(head(f"<style>{style}</style>" if style else "", body))))


@pytest.mark.parametrize(
    ("body", "is_hidden"),
    [
        ("<b id=x>", False),
        ("<b id=x hidden>", True),
        ("<div hidden><b id=x></b></div>", True),
        ("<div hidden style='display: flex'><b id=x></b></div>", False),  # the author's display wins
        ("<div style='DISPLAY : None'><b id=x></b></div>", True),
        ("<div style='color:red;display:none!important'><b id=x></b></div>", True),
        ("<div style='/* display:none */'><b id=x></b></div>", False),
        ("<div style='--display:none'><b id=x></b></div>", False),
        ("<div style='display:none'><b id=x style='display:block'></b></div>", True),
        ("<div style='visibility:hidden'><b id=x></b></div>", True),
        ("<div style='visibility:hidden'><b id=x style='visibility:visible'></b></div>", False),
        ("<b id=x style='opacity:0'>", False),
        ("<details><summary>S</summary><b id=x></b></details>", True),
        ("<details open><summary>S</summary><b id=x></b></details>", False),
        ("<details><summary><b id=x></b></summary></details>", False),
        ("<details><summary>S</summary><summary id=x>T</summary></details>", True),
        ("<dialog><b id=x></b></dialog>", True),
        ("<dialog open><b id=x></b></dialog>", False),
        ("<div popover><b id=x></b></div>", True),
        ("<input id=x type=HIDDEN>", True),
        ("<input id=x type=' hidden'>", False),  # which is no type, so a text
        ("<title id=x>A page</title>", True),
        ("<svg><title id=x>A shoe</title></svg>", False),
        ("<link id=x>", True),
        ("<noframes id=x>Text</noframes>", True),
        ("<ruby>x<rp id=x>(</rp></ruby>", True),
        ("<audio id=x src=a></audio>", True),
        ("<audio id=x src=a controls></audio>", False),
        ("<map><area id=x href=/></map>", False),
        ("<div style='content-visibility:hidden'><b id=x></b></div>", True),
        ("<div id=x style='content-visibility:hidden'></div>", False),
        ("<div aria-hidden=true><b id=x></b></div>", False),
        ("<svg id=x hidden></svg>", False),  # `hidden` is an attribute of HTML
        ("<svg><g id=x hidden></g></svg>", False),
        ("<svg><foreignObject><b id=x hidden></b></foreignObject></svg>", True),
        ("<svg></svg><b id=x hidden>", True),
        ("<svg style='display:none'><g id=x></g></svg>", True),
        ("<math id=x hidden></math>", False),
        ("<svg id=x popover></svg>", False),
        ("<marquee id=x hidden>Text</marquee>", False),
        ("<marquee id=x style='display:none'>Text</marquee>", True),
        ("<blink id=x hidden>Text</blink>", True),
        ("<embed id=x hidden>", False),
        ("<b id=x hidden=until-found>", False),
        ("<div hidden=until-found><b id=x></b></div>", True),
        ("<table><form id=x><tr><td></table>", True),
        ("<table><tr><form id=x style='display:block'><td></table>", True),
        ("<table><tr><td><form id=x></form></table>", False),
    ],
)
def test_what_is_hidden_from_everybody(body: str, is_hidden: bool) -> None:
    seen = tree(body)
    node = seen.document.tree.css_first("#x")
    assert node is not None
    assert seen.visibility.is_hidden(node) is is_hidden


@pytest.mark.parametrize(
    "body", ["<div aria-hidden=true><b id=x></b></div>", "<div inert><b id=x></b></div>", "<b id=x hidden>"]
)
def test_what_is_hidden_from_assistive_technology(body: str) -> None:
    assert list(tree(body).exposed("#x")) == []


@pytest.mark.parametrize("body", ["<div aria-hidden=false><b id=x></b></div>", "<b id=x aria-hidden>"])
def test_aria_hidden_needs_the_word_true(body: str) -> None:
    assert len(list(tree(body).exposed("#x"))) == 1


@pytest.mark.parametrize(
    ("style", "is_hidden"),
    [
        (".a{display:none}", True),
        ("b.a { color: red; display: none }", True),
        ("#x{visibility:hidden}", True),
        ("p, .a{display:none}", True),
        ("i.a{display:none}", False),
        (".a.c{display:none}", False),
        (".z .a{display:none}", False),  # not judged
        ("@media print{.a{display:none}}", False),
        ("@media screen { .a { display: none } }", True),
        ("@media only screen{p{color:red} .a{display:none}}", True),
        ("@media screen and (max-width: 9px){.a{display:none}}", False),
        ("@media screen{@media print{.a{display:none}}}", False),
        ("@import 'a.css'; .a{display:none}", True),
        ("/* .a{display:none} */", False),
        (".a{display:none} #x{display:block}", False),  # the cascade is not played out
        (".a{display:block}", False),
        (".a:hover{display:none}", False),
        (".a{display:none", False),
    ],
)
def test_simple_rules_of_the_page_itself_count(style: str, is_hidden: bool) -> None:
    seen = tree("<b id=x class='a b'>", style)
    node = seen.document.tree.css_first("#x")
    assert node is not None
    assert seen.visibility.is_hidden(node) is is_hidden


@pytest.mark.parametrize(
    ("classes", "may_be_hidden"),
    [
        ("hidden", True),
        ("md:hidden", True),
        ("modal fade", True),
        ("nav-submenu", True),
        ("d-none d-lg-block", True),
        ("collapse", True),
        ("dropdown-menu", True),
        ("tab-pane fade", True),
        ("hidden active", True),
        ("print-only", True),
        ("overflow-hidden", False),
        ("visually-hidden", False),
        # Shown, and with it what they are a part of.
        ("dropdown-toggle", False),
        ("nav-item dropdown", False),
        ("modal-trigger", False),
        ("popup-link", False),
        ("border-collapse", False),
        ("has-dropdown", False),
        ("has-tooltip", False),
        ("mobile-friendly", False),
        ("modal-open", False),
        ("not-hidden", False),
        ("collapse show", False),
        ("collapse in", False),
        ("tab-pane active", False),
        ("modal is-open", False),
        ("d-print-none", False),
        ("print:hidden", False),
        ("hidden-print", False),
        ("sr-only", False),
        ("hero", False),
    ],
)
def test_class_names_of_hiding_are_uncertain(classes: str, may_be_hidden: bool) -> None:
    seen = tree(f"<div class='{classes}'><b id=x></b></div>")
    node = seen.document.tree.css_first("#x")
    assert node is not None
    assert seen.visibility.may_be_hidden(node) is may_be_hidden


@pytest.mark.parametrize("classes", ["sidebar-collapse", "desktop", "modal-open", "has-dropdown", "d-none", "hidden"])
@pytest.mark.parametrize("tag", ["html", "body"])
def test_a_class_of_the_whole_page_speaks_of_its_state(tag: str, classes: str) -> None:
    seen = AccessibleDocument(document(page(f"<!doctype html><{tag} class='{classes}'><b id=x>")))
    node = seen.document.tree.css_first("#x")
    assert node is not None
    assert not seen.visibility.may_be_hidden(node)


def test_a_deep_page_is_no_problem() -> None:
    seen = tree("<div>" * 1500 + "<b id=x>")
    assert len(list(seen.exposed("#x"))) == 1
