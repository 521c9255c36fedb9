from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, page
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name, visible_text
from website_scan.accessibility.roles import explicit_role, is_focusable, is_presentational


def accessible_name_of(markup: str) -> str:
    accessible_document = AccessibleDocument(document(page(body(markup))))
    node = accessible_document.document.tree.css_first("[data-x]")
    assert node is not None
    return accessible_name(accessible_document, node)


@pytest.mark.parametrize(
    ("markup", "name"),
    [
        ("<img data-x alt=' A  shoe '>", "A shoe"),
        ("<img data-x alt='' title='Shoe'>", "Shoe"),
        ("<img data-x alt=a aria-label='b'>", "b"),
        ("<img data-x alt=a aria-label='  '>", "a"),
        ("<img data-x alt=a aria-labelledby=l><b id=l>c</b>", "c"),
        ("<img data-x alt=a aria-labelledby='gone'>", "a"),
        ("<img data-x aria-labelledby='l m'><b id=l>c</b><b id=m>d</b>", "c d"),
        ("<img data-x aria-labelledby=l><b id=l hidden>c</b>", "c"),  # aria-labelledby may refer to hidden elements.
        ("<img data-x aria-labelledby=l><b id=l hidden>c <i aria-hidden=true>d</i></b>", "c d"),
        ("<img data-x aria-labelledby=l><b id=l>c <i hidden>d</i></b>", "c"),
        # References of a referenced element are not followed.
        ("<img data-x aria-labelledby=l><b id=l aria-labelledby=m>c</b><b id=m>d</b>", "c"),
        ("<img data-x aria-labelledby=l><b id=l>first</b><b id=l>second</b>", "first"),
        ("<img data-x id=s aria-label=own aria-labelledby='s l'><b id=l>c</b>", "own c"),
        ("<button data-x>Go <b>on</b><i hidden>x</i></button>", "Go on"),
        ("<button data-x><img alt=Search></button>", "Search"),
        ("<button data-x><img aria-labelledby=l></button><b id=l>Find</b>", "Find"),
        ("<button data-x>a<div>b</div>c</button>", "a b c"),
        ("<button data-x>a<span>b</span>c</button>", "abc"),
        ("<a data-x href=/>Home<svg><title> page</title></svg></a>", "Home page"),
        ("<div data-x role=button title=T></div>", "T"),
        ("<div data-x>text</div>", ""),
        ("<input data-x type=submit>", "Submit"),
        ("<input data-x type=submit value=Send>", "Send"),
        ("<input data-x type=button>", ""),
        ("<input data-x type=image alt=Go>", "Go"),
        ("<input data-x placeholder=Name>", "Name"),
        ("<label>Name <input data-x></label>", "Name"),
        ("<label for=i>Name</label><input data-x id=i>", "Name"),
        # Like axe-core, the function ignores hidden labels.
        ("<label for=i hidden>Name</label><input data-x id=i>", ""),
        ("<label>Flash <input data-x type=checkbox> <input value=3> times</label>", "Flash 3 times"),
        ("<fieldset data-x><legend>Size</legend></fieldset>", "Size"),
        ("<table data-x><caption>Sales</caption></table>", "Sales"),
        ("<svg data-x><title>Chart</title></svg>", "Chart"),
        ("<select data-x aria-label=Size><option>1</select>", "Size"),
        ("<iframe data-x title=Map></iframe>", "Map"),
    ],
)
def test_accessible_name_follows_the_ARIA_computation(markup: str, name: str) -> None:
    assert accessible_name_of(markup) == name


def test_circular_aria_labelledby_does_not_loop() -> None:
    assert (
        accessible_name_of("<button data-x id=a aria-labelledby=b>A</button><button id=b aria-labelledby=a>B</button>")
        == "B"
    )


def test_visible_text_excludes_hidden_text() -> None:
    accessible_document = AccessibleDocument(
        document(page(body("<p data-x>One <img alt=two> <b hidden>three</b><br>four</p>")))
    )
    node = accessible_document.document.tree.css_first("[data-x]")
    assert node is not None
    assert visible_text(accessible_document, node) == "One four"


@pytest.mark.parametrize(
    ("markup", "role"),
    [
        ("<b data-x role='img'>", "img"),
        ("<b data-x role='shiny IMG none'>", "img"),
        ("<b data-x role='widget button'>", "button"),  # The role widget is abstract, so the next role counts.
        ("<b data-x role='presentation'>", "none"),
        ("<b data-x role='doc-toc'>", "doc-toc"),
        ("<b data-x role='graphics-symbol'>", "graphics-symbol"),
        ("<b data-x role=''>", None),
        ("<b data-x>", None),
    ],
)
def test_explicit_role_is_the_first_valid_role(markup: str, role: str | None) -> None:
    node = document(page(body(markup))).tree.css_first("[data-x]")
    assert node is not None
    assert explicit_role(node) == role


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<img data-x role=none>", True),
        ("<img data-x role=presentation>", True),
        ("<img data-x role=none aria-hidden=false>", False),
        ("<img data-x role=none aria-disabled=false>", False),
        ("<img data-x role=none aria-level=1>", True),
        ("<img data-x role=none tabindex=0>", False),
        ("<img data-x role=none aria-label=a>", False),
        ("<button data-x role=none>", False),
        ("<button data-x role=none disabled>", True),
        ("<img data-x role=img>", False),
    ],
)
def test_role_none_is_ignored_on_focusable_elements(markup: str, expected: bool) -> None:
    node = document(page(body(markup))).tree.css_first("[data-x]")
    assert node is not None
    assert is_presentational(node) is expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a data-x href>", True),
        ("<a data-x>", False),
        ("<div data-x tabindex=-1>", True),
        ("<div data-x tabindex=x>", False),
        ("<input data-x type=hidden>", False),
        ("<div data-x contenteditable>", False),  # This row and the next two rows follow axe-core.
        ("<video data-x controls>", False),
        ("<iframe data-x src=a></iframe>", False),
        ("<details><summary data-x>", True),
        ("<details data-x>Text</details>", True),
        ("<details data-x><summary>More</summary>Text</details>", False),
        ("<button data-x disabled tabindex=0>", False),
        ("<div data-x disabled tabindex=0>", True),
        ("<fieldset disabled><input data-x></fieldset>", False),
        ("<fieldset disabled><p><a data-x href=/ tabindex=0></a></fieldset>", False),
        ("<fieldset disabled><legend><input data-x></legend></fieldset>", True),
        ("<fieldset disabled><fieldset><legend><input data-x></legend></fieldset></fieldset>", True),
        ("<fieldset><input data-x></fieldset>", True),
        ("<div inert><p><input data-x></div>", False),
    ],
)
def test_focusable_elements_are_recognized(markup: str, expected: bool) -> None:
    node = document(page(body(markup))).tree.css_first("[data-x]")
    assert node is not None
    assert is_focusable(node) is expected
