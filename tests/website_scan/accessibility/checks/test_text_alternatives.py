from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import body, document, message, page, rows, verdict
from website_scan.accessibility.checks import text_alternatives as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.outcomes import Fail, Verdict
from website_scan.places import Element


def judge(check: Callable[[AccessibleDocument], Verdict], markup: str) -> Verdict:
    return check(AccessibleDocument(document(page(body(markup)))))


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>No image", "n/a"),
        ("<img src=a alt='A shoe'>", "pass"),
        ("<img src=a alt=''>", "pass"),
        ("<img src=a alt>", "pass"),
        ("<img src=a>", "fail"),
        ("<img src=a alt=' '>", "fail"),
        ("<img src=a alt='\t' aria-label=Shoe>", "fail"),  # axe-core reports an alt attribute of white space, too.
        ("<img src=a title=Shoe>", "pass"),
        ("<img src=a title=' '>", "fail"),
        ("<img src=a aria-label=Shoe>", "pass"),
        ("<img src=a aria-label=''>", "fail"),
        ("<img src=a aria-labelledby=l><p id=l>Shoe", "pass"),
        ("<img src=a aria-labelledby=l><p id=l hidden>Shoe", "pass"),
        ("<img src=a aria-labelledby=l><p id=l>", "fail"),
        ("<img src=a aria-labelledby=gone>", "fail"),
        ("<img src=a role=none>", "pass"),
        ("<img src=a role=presentation>", "pass"),
        ("<img src=a role=none tabindex=0>", "fail"),
        ("<img src=a role=button>", "fail"),
        ("<img src=a role=separator>", "n/a"),
        ("<img src=a role=shiny>", "fail"),
        ("<img src=a aria-hidden=true>", "n/a"),
        ("<div aria-hidden=true><img src=a></div>", "n/a"),
        ("<div inert><img src=a></div>", "n/a"),
        ("<img src=pixel height=1 width=1 style='display:none'>", "n/a"),
        ("<div hidden><img src=a></div>", "n/a"),
        ("<noscript><img src=pixel></noscript>", "n/a"),
        ("<template><img src=a></template>", "n/a"),
        ("<details><summary>More</summary><img src=a></details>", "n/a"),
        ("<div class=modal><img src=a></div>", "warn"),
        ("<div class=modal><img src=a></div><img src=b>", "fail"),
        ("<picture><source srcset=a.webp><img src=a.jpg></picture>", "fail"),
        ("<a href=/><img src=a alt=''></a>", "pass"),  # The check link-name judges the name of the link.
        ("<svg><image href=a /></svg>", "n/a"),
    ],
)
def test_image_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.image_alt, markup)) == expected


def test_image_alt_finding_counts_elements() -> None:
    finding = judge(checks.image_alt, "<div id=shop>" + "<img src=a.png>" * 5 + "<img src=b alt=B></div>")
    assert isinstance(finding, Fail)
    assert message(finding) == "5 of 6 images have no alternative text."
    assert labels(finding)[0] == '<img src="a.png"> at #shop > img:nth-of-type(1)'
    assert len(finding.places) == 5
    assert finding.places[0] == Element(
        "#shop > img:nth-of-type(1)",
        '<img src="a.png">',
        wcag="1.1.1",
        level="A",
        ancestry="html > body > div > img",
    )


def test_finding_lists_the_first_places() -> None:
    finding = judge(checks.image_alt, "<img src=a.png>" * 45)
    assert isinstance(finding, Fail)
    assert (len(finding.places), finding.total) == (20, 45)


def test_selector_of_a_place_matches_its_element() -> None:
    parsed = document(page(body("<main><p><p><img src=a><img src=b></main>")))
    finding = checks.image_alt(AccessibleDocument(parsed))
    assert isinstance(finding, Fail)
    for item in rows(finding):
        (node,) = parsed.tree.css(str(item["selector"]))
        assert node.tag == "img"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<input type=text>", "n/a"),
        ("<input type=image alt=Search>", "pass"),
        ("<input type=IMAGE alt=Search>", "pass"),
        ("<input type=image alt=''>", "fail"),
        ("<input type=image>", "fail"),
        ("<input type=image value=Search>", "fail"),  # Not every browser uses the value as the name.
        ("<input type=image title=Search>", "pass"),
        ("<input type=image aria-label=Search>", "pass"),
        ("<label>Search <input type=image></label>", "pass"),
        ("<label for=go>Search</label><input type=image id=go>", "pass"),
        ("<label><input type=image></label>", "fail"),
        ("<label for=gone>Search</label><input type=image id=go>", "fail"),
        ("<input type=image hidden>", "n/a"),
    ],
)
def test_input_image_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.input_image_alt, markup)) == expected


MAP = "<img usemap=#m alt=Plan {}><map name=m>{}</map>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>None", "n/a"),
        (MAP.format("", "<area href=/n alt=North>"), "pass"),
        (MAP.format("", "<area href=/n aria-label=North>"), "pass"),
        (MAP.format("", "<area href=/n>"), "fail"),
        (MAP.format("", "<area href=/n alt=''>"), "fail"),
        (MAP.format("", "<area alt=''>"), "n/a"),  # An area without href is not a link.
        (MAP.format("hidden", "<area href=/n>"), "fail"),
        ("<map name=m><area href=/n></map>", "fail"),  # An area element is judged even if no image uses its map.
        (MAP.format("", "<area href=/n aria-hidden=true>"), "fail"),
        ("<area href=/n>", "n/a"),
        (MAP.format("", "<p><area href=/n></p>"), "fail"),
    ],
)
def test_area_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.area_alt, markup)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<i role=img></i>", "fail"),
        ("<i role='img' class=icon aria-label='Five stars'></i>", "pass"),
        ("<i role=img title=Stars></i>", "pass"),
        ("<i role=img>*****</i>", "fail"),  # The content of an element with role=img does not name the element.
        ("<i role=img aria-hidden=true></i>", "n/a"),
        ("<i role='shiny img'></i>", "fail"),
        ("<img role=img>", "n/a"),
        ("<svg role=img></svg>", "n/a"),
        ("<i class=icon></i>", "n/a"),
    ],
)
def test_role_img_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.role_img_alt, markup)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<svg></svg>", "n/a"),  # Like axe-core, the check does not judge an svg without a role.
        ("<svg role=img></svg>", "fail"),
        ("<svg role=img><title>Chart</title></svg>", "pass"),
        ("<svg role=img><title> </title></svg>", "fail"),
        ("<svg role=img><title></title><title>Chart</title></svg>", "fail"),
        ("<svg role=img><g><title>Chart</title></g></svg>", "fail"),
        ("<svg role=img aria-label=Chart></svg>", "pass"),
        ("<svg role=img aria-labelledby=t><title id=t>Chart</title></svg>", "pass"),
        ("<svg role=graphics-document></svg>", "fail"),
        ("<svg><g role=graphics-symbol></g></svg>", "fail"),
        ("<svg><circle role=img aria-label=Dot /></svg>", "pass"),
        ("<svg role=img aria-hidden=true></svg>", "n/a"),
        ("<svg role=img hidden></svg>", "fail"),  # The attribute `hidden` only has a meaning in HTML, not in SVG.
        ("<svg role=presentation></svg>", "n/a"),
        ("<svg><foreignObject><p role=img></p></foreignObject></svg>", "n/a"),
    ],
)
def test_svg_img_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.svg_img_alt, markup)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<object data=a.pdf type=application/pdf></object>", "fail"),
        ("<object data=a.pdf aria-label=Plan></object>", "pass"),
        ("<object data=a.pdf title=Plan></object>", "pass"),
        ("<object data=a.svg role=none></object>", "pass"),
        ("<object data=a.pdf><a href=a.pdf>Plan</a></object>", "warn"),
        ("<object data=a.svg><img src=a.png alt=Plan></object>", "warn"),
        ("<object data=a.svg><img src=a.png></object>", "fail"),
        ("<object data=a.pdf></object><object data=b.pdf>Plan</object>", "fail"),
        ("<object></object>", "n/a"),
        ("<object data=a.swf type=application/x-shockwave-flash></object>", "n/a"),
        ("<object data=a.pdf hidden></object>", "n/a"),
    ],
)
def test_object_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.object_alt, markup)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<img src=a alt=''>", "n/a"),
        # The page may have text links to the same addresses elsewhere.
        ("<a href=/m><img src=a alt=Map ismap></a>", "warn"),
        ("<a href=/m><img src=a alt=Map ismap hidden></a>", "n/a"),
        ("<a href=/m><img src=a alt=Map ismap class=modal></a>", "pass"),
        ("<img src=a alt=Map usemap=#m>", "n/a"),
        ("<p>None", "n/a"),
    ],
)
def test_server_side_image_map_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.server_side_image_map, markup)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a href=/><img src=a alt=Home> Home</a>", "warn"),
        ("<a href=/><img src=a alt='HOME '><span> home </span></a>", "warn"),
        ("<button><img src=a alt=Search>Search</button>", "warn"),
        ("<li><img src=a alt=Milk>Milk</li>", "warn"),
        ("<a href=/><img src=a alt='Our logo'> Home</a>", "pass"),
        ("<a href=/><img src=a alt=Home></a>", "pass"),
        ("<a href=/><img src=a alt=Home><span hidden>Home</span></a>", "pass"),
        ("<img src=a alt=Home> Home", "pass"),
        ("<a><img src=a alt=Home> Home</a>", "pass"),  # An <a> without href is not a link.
        ("<a href=/><img src=a alt=''> Home</a>", "n/a"),
    ],
)
def test_image_redundant_alt_verdict(markup: str, expected: str) -> None:
    assert verdict(judge(checks.image_redundant_alt, markup)) == expected


def test_secret_in_an_image_url_is_masked() -> None:
    finding = judge(checks.image_alt, "<img src='/a.png?token=3f2a9c77'>")
    assert isinstance(finding, Fail)
    assert "3f2a9c77" not in f"{message(finding)}{finding.places}"
