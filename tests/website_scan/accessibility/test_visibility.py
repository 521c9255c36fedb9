from __future__ import annotations

from time import process_time

import pytest

from tests.website_scan.cast import document, head, page
from website_scan.accessibility.document import AccessibleDocument


def accessible_document(body: str, style: str = "") -> AccessibleDocument:
    return AccessibleDocument(document(page(head(f"<style>{style}</style>" if style else "", body))))


@pytest.mark.parametrize(
    ("body", "is_hidden"),
    [
        ("<b id=x>", False),
        ("<b id=x hidden>", True),
        ("<div hidden><b id=x></b></div>", True),
        (
            "<div hidden style='display: flex'><b id=x></b></div>",
            False,
        ),  # The page's own display value overrides the attribute `hidden`.
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
        ("<input id=x type=' hidden'>", False),  # An invalid type makes the input a text field.
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
        ("<svg id=x hidden></svg>", False),  # The attribute `hidden` only has a meaning in HTML, not in SVG.
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
def test_elements_hidden_from_everybody_are_detected(body: str, is_hidden: bool) -> None:
    accessible = accessible_document(body)
    node = accessible.document.tree.css_first("#x")
    assert node is not None
    assert accessible.visibility.is_hidden(node) is is_hidden


@pytest.mark.parametrize(
    "body", ["<div aria-hidden=true><b id=x></b></div>", "<div inert><b id=x></b></div>", "<b id=x hidden>"]
)
def test_elements_hidden_from_screen_readers_are_detected(body: str) -> None:
    assert list(accessible_document(body).exposed("#x")) == []


@pytest.mark.parametrize("body", ["<div aria-hidden=false><b id=x></b></div>", "<b id=x aria-hidden>"])
def test_aria_hidden_hides_only_with_the_value_true(body: str) -> None:
    assert len(list(accessible_document(body).exposed("#x"))) == 1


MENU = "<div class=w><ul class=y><u></u><i></i><b id=x class='a b' data-off title='a, b > c'></b></ul></div>"


@pytest.mark.parametrize(
    ("style", "is_hidden"),
    [
        (".a{display:none}", True),
        ("b.a { color: red; display: none }", True),
        ("#x{visibility:hidden}", True),
        ("p, .a{display:none}", True),
        ("i.a{display:none}", False),
        (".a.c{display:none}", False),
        (".z .a{display:none}", False),
        (".y .a{display:none}", True),
        (".y > .a{display:none}", True),
        (".w > .a{display:none}", False),
        (".w .y .a{display:none}", True),
        (".y + .a, i + .a{display:none}", True),
        ("u ~ .a{display:none}", True),
        ("u + .a{display:none}", False),
        (".a ~ .a{display:none}", False),
        ("[data-off]{display:none}", True),
        ("[data-off='2']{display:none}", False),
        ("[title='a, b > c']{display:none}", True),
        (".y :nth-child(3){display:none}", True),
        ("b:nth-child(2){display:none}", False),
        (".a:not(.open){display:none}", True),
        (".a:not(.b){display:none}", False),
        (".a:not(:hover):not(:focus, :active){display:none}", True),
        (":is(.y, .z) > :where(.a){display:none}", True),
        (".a::before{display:none}", False),
        (".a:before{display:none}", False),
        (".y:hover .a{display:none}", False),
        ("@layer base{.a{display:none}}", True),
        ("@layer base{.a{display:none}} .a{display:block}", False),
        (".a{display:none} @layer base{#x{display:block}}", True),
        ("@layer one, two; @layer two{.a{display:none}} @layer one{#x{display:block}}", True),
        ("@layer one{.a{display:none!important}} @layer two{#x{display:block!important}}", True),
        (".y{.a{display:none}}", True),
        (".y{& > .a{display:none}}", True),
        (".a{&:hover{display:none}}", False),
        (".z{.a{display:none}}", False),
        (".a{@media print{display:none}}", False),
        ("@keyframes x{from{display:none}}", False),
        ("@media print{.a{display:none}}", False),
        ("@media screen { .a { display: none } }", True),
        ("@media only screen{p{color:red} .a{display:none}}", True),
        ("@media screen and (max-width: 9px){.a{display:none}}", False),
        ("@media screen{@media print{.a{display:none}}}", False),
        ("@import 'a.css'; .a{display:none}", True),
        ("/* .a{display:none} */", False),
        # These test cases are about the order of the CSS cascade.
        (".a{display:none} #x{display:block}", False),
        ("#x{display:none} .a{display:block}", True),
        (".a{display:block} .b{display:none}", True),
        (".a{display:none} .b{display:block}", False),
        (".a.b{display:none} .a{display:block}", True),
        (".y .a{display:none} .b{display:block}", True),
        (".a{display:none!important} #x{display:block}", True),
        (".a{display:none!important;display:block}", True),
        (":where(#x){display:none} b{display:block}", False),
        (".a{display:block}", False),
        (".a:hover{display:none}", False),
        (".a{display:none", False),
    ],
)
def test_css_rules_of_the_page_hide_elements(style: str, is_hidden: bool) -> None:
    accessible = accessible_document(MENU, style)
    node = accessible.document.tree.css_first("#x")
    assert node is not None
    assert accessible.visibility.is_hidden(node) is is_hidden


@pytest.mark.parametrize(
    ("style", "may_be_hidden"),
    [
        ("@media (min-width: 600px){.a{display:none}}", True),
        ("@media screen and (max-width: 9px){.y .a{display:none}}", True),
        ("@supports (display: grid){.a{display:none}}", True),
        ("@container (width > 9px){.a{display:none}}", True),
        (".a{@media (width < 9px){display:none}}", True),
        (".a:lang(en){display:none}", True),  # The parser lexbor does not support :lang().
        (".y:has(:target) .a{display:none}", True),
        (".a{display:var(--shown)}", True),
        ("@media (min-width: 600px){.z{display:none}}", False),
        ("@media (min-width: 600px){.a{display:none}} .a{display:block}", False),
        ("@media (min-width: 600px){.a{display:block}}", False),
        ("@media print{.a{display:none}}", False),
        (".a:hover{display:none}", False),
        (".a{display:block}", False),
    ],
)
def test_conditional_css_makes_visibility_uncertain(style: str, may_be_hidden: bool) -> None:
    accessible = accessible_document(MENU, style)
    node = accessible.document.tree.css_first("#x")
    assert node is not None
    assert not accessible.visibility.is_hidden(node)
    assert accessible.visibility.may_be_hidden(node) is may_be_hidden


@pytest.mark.parametrize(
    ("style", "body"),
    [
        ("".join(f".s{n} .t{n % 7} p{{display:none}}" for n in range(9_000)), "<p class=s1>" * 40_000),
        (".x " * 2_000 + "p{display:none}", "<div class=x>" * 400 + "<p>" * 5_000),
        ("p:nth-child(2 of .x){display:none}" * 900, "<p class=x>" * 40_000),
        (":has(:has(b)) ~ p ~ p{display:none}" * 900, "<p>" * 40_000),
        ("".join(f"p:not(.n{n}){{display:none}}" for n in range(5_000)), "<p>" * 40_000),
        (":is(" * 5_000 + "p" + ")" * 5_000 + "{display:none}", "<p>"),
        (".a{" * 25 + "".join(f".b{n}, .c{n}{{display:none}}" for n in range(5_000)), "<p class=a>"),
    ],
)
def test_expensive_css_rules_cannot_slow_down_a_scan(style: str, body: str) -> None:
    start = process_time()
    accessible = accessible_document(body, style)
    assert list(accessible.exposed("#none")) == []
    for node in accessible.document.tree.css("p")[:2_000]:
        accessible.visibility.is_hidden(node)
    assert process_time() - start < 4  # Resolving the styles usually takes one second.


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
        ("o-hidden", False),
        ("ov-x-hidden", False),
        ("md:of-hidden", False),
        ("o-modal", True),
        ("o-card--hidden", True),
        ("visually-hidden", False),
        # Class names that only seem to suggest hiding.
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
def test_class_names_can_make_visibility_uncertain(classes: str, may_be_hidden: bool) -> None:
    accessible = accessible_document(f"<div class='{classes}'><b id=x></b></div>")
    node = accessible.document.tree.css_first("#x")
    assert node is not None
    assert accessible.visibility.may_be_hidden(node) is may_be_hidden


@pytest.mark.parametrize("classes", ["sidebar-collapse", "desktop", "modal-open", "has-dropdown", "d-none", "hidden"])
@pytest.mark.parametrize("tag", ["html", "body"])
def test_class_of_the_body_does_not_suggest_hiding(tag: str, classes: str) -> None:
    accessible = AccessibleDocument(document(page(f"<!doctype html><{tag} class='{classes}'><b id=x>")))
    node = accessible.document.tree.css_first("#x")
    assert node is not None
    assert not accessible.visibility.may_be_hidden(node)


def test_deeply_nested_page_has_a_visibility() -> None:
    accessible = accessible_document("<div>" * 1500 + "<b id=x>")
    assert len(list(accessible.exposed("#x"))) == 1
