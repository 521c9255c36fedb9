from __future__ import annotations

import pytest

from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import VERDICTS, body, document, message, page, rows, verdict
from website_scan.accessibility.checks import names as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.outcomes import Fail, Verdict, Warn

# Content of an element and the expected verdict on the element's accessible name.
CONTENTS = [
    ("Home", "pass"),
    ("", "fail"),
    (" &nbsp; ", "fail"),
    ("<span>Home</span>", "pass"),
    ("<span hidden>Home</span>", "fail"),
    ("<span aria-hidden=true>Home</span>", "fail"),
    ("<span inert>Home</span>", "fail"),
    ("<span style='display:none'>Home</span>", "fail"),
    ("<span style='visibility:hidden'>Home</span>", "fail"),
    # axe-core skips descendants of an element with visibility:hidden, too.
    ("<span style='visibility:hidden'><b style='visibility:visible'>Home</b></span>", "fail"),
    ("<noscript>Home</noscript>", "fail"),
    ("<template>Home</template>", "fail"),
    # Like axe-core, the check does not read the generated content of style sheets.
    ("<i class='fa fa-home'></i>", "fail"),
    ("<span class=visually-hidden>Home</span>", "pass"),
    ("<img src=a alt=Home>", "pass"),
    ("<img src=a alt=''>", "fail"),
    ("<img src=a>", "fail"),
    ("<img src=a title=Home>", "pass"),
    ("<img src=a alt='' title=Home>", "fail"),  # A decorative image has no name.
    ("<img src=a role=none alt=Home>", "fail"),
    ("<img src=a aria-label=Home>", "pass"),
    ("<img src=a alt=Home aria-hidden=true>", "fail"),
    ("<svg><path d='M0 0'/></svg>", "fail"),
    ("<svg><title>Home</title></svg>", "pass"),
    ("<svg><g><title>Home</title></g></svg>", "pass"),
    ("<svg><text>Home</text></svg>", "fail"),
    ("<svg aria-label=Home></svg>", "pass"),
    ("<svg aria-hidden=true><title>Home</title></svg>", "fail"),
    ("<canvas>Home</canvas>", "fail"),
    ("<object data=a>Home</object>", "fail"),
    ("<span aria-label=Home></span>", "pass"),
    ("<span aria-labelledby=n></span>", "pass"),
    ("<span title=Home></span>", "pass"),
    ("<span title=Home role=none></span>", "fail"),
    ("<span role=progressbar>50 %</span>", "fail"),
    ("<br>", "fail"),
    ("<sl-icon></sl-icon>", "warn"),  # The shadow tree of a custom element is unknown.
    ("<span x-text=name></span>", "warn"),
    ("<span data-i18n=home></span>", "warn"),
]
NAME_ELEMENTS = "<p id=n>Home</p><p id=h hidden>Home</p><p id=e></p>"
# Attributes of an element and the expected verdict on its accessible name.
ATTRIBUTES = [
    ("", "fail"),
    ("aria-label=Home", "pass"),
    ("aria-label=' '", "fail"),
    ("aria-labelledby=n", "pass"),
    ("aria-labelledby=h", "pass"),  # A hidden element may name another element.
    ("aria-labelledby='gone n'", "pass"),
    ("aria-labelledby=gone", "fail"),
    ("aria-labelledby=e", "fail"),
    ("title=Home", "pass"),
    ("title=' '", "fail"),
    (":aria-label=name", "warn"),
    ("class=d-none", "warn"),
    ("hidden", "n/a"),
    ("aria-hidden=true", "n/a"),
    ("style='display:none'", "n/a"),
    ("style='visibility:hidden'", "n/a"),
    ("inert", "n/a"),
]
# Rule IDs with templates for elements.
ELEMENTS_NAMED_BY_CONTENT = [
    ("link-name", "<a href=/ {attributes}>{content}</a>"),
    ("button-name", "<button {attributes}>{content}</button>"),
    ("summary-name", "<details open><summary {attributes}>{content}</summary>Text</details>"),
    ("empty-heading", "<h2 {attributes}>{content}</h2>"),
    ("aria-command-name", "<div role=button {attributes}>{content}</div>"),
    ("aria-tab-name", "<div role=tab {attributes}>{content}</div>"),
    ("aria-tooltip-name", "<div role=tooltip {attributes}>{content}</div>"),
    ("aria-treeitem-name", "<div role=treeitem {attributes}>{content}</div>"),
]
ELEMENTS_NAMED_BY_ATTRIBUTES = [
    ("frame-title", "<iframe {attributes}></iframe>"),
    ("aria-dialog-name", "<div role=dialog {attributes}>Home</div>"),
    ("aria-meter-name", "<div role=meter {attributes}>Home</div>"),
    ("aria-progressbar-name", "<div role=progressbar {attributes}>Home</div>"),
]
CASES: dict[str, list[tuple[str, str]]] = {
    "link-name": [
        ("<p>None", "n/a"),
        ("<a>Home</a>", "n/a"),
        ("<a name=top></a>", "n/a"),
        ("<a href></a>", "fail"),
        ("<a href=/ role=none></a>", "fail"),  # Role none is ignored on a focusable element.
        ("<a href=/ role=button></a>", "fail"),
        ("<a href=/ role=button>Home</a>", "pass"),
        ("<a href=/ role=tab>Home</a>", "pass"),
        ("<a href=/ role=combobox>Home</a>", "fail"),  # The content of a combobox is its value, not its name.
        ("<a href=/ role=doc-noteref>1</a>", "pass"),
        ("<a href=/ role=listitem>Home</a>", "pass"),
        ("<a href=/ role=banner>Home</a>", "fail"),
        ("<a href=/ tabindex=-1 aria-hidden=true></a>", "n/a"),
        ("<a href=/ tabindex=-1></a>", "fail"),
        ("<svg><a href=/><text>Home</text></a></svg>", "pass"),
        ("<svg><a xlink:href=/><path d='M0 0'/></a></svg>", "n/a"),
        ("<a href=/><input type=button value=Home></a>", "pass"),
        ("<a href=/><input type=submit></a>", "pass"),
        ("<a href=/><input type=image></a>", "pass"),
        ("<a href=/><output role=slider>5</output></a>", "fail"),
        ("<a href=/><input type=button></a>", "fail"),
        ("<a href=/><input placeholder=Search></a>", "pass"),
        ("<a href=/ aria-owns=n></a><p id=n>Home</p>", "pass"),
        ("<div class=dropdown-menu><a href=/></a></div>", "warn"),
        ("<div class=dropdown-menu><a href=/></a></div><a href=/></a>", "fail"),
        ("<a href=/><my-icon></my-icon></a><a href=/></a>", "fail"),
        ("<style>.gone{display:none}</style><a href=/ class=gone></a>", "n/a"),
        ("<details><summary>More</summary><a href=/></a></details>", "n/a"),
        ("<dialog><a href=/></a></dialog>", "n/a"),
        ("<dialog open><a href=/></a></dialog>", "fail"),
    ],
    "button-name": [
        ("<button role=none></button>", "fail"),
        ("<button role=none disabled></button>", "pass"),
        ("<button disabled></button>", "fail"),
        ("<button role=tab></button>", "fail"),
        ("<button role=tab disabled></button>", "n/a"),
        ("<button role=switch disabled></button>", "fail"),
        ("<button role=combobox>Choose</button>", "fail"),  # The content of a combobox is its value, not its name.
        ("<button value=Go></button>", "fail"),
        ("<button type=submit></button>", "fail"),
        ("<label>Go <button></button></label>", "pass"),
        ("<label><button></button></label>", "fail"),
        ("<label for=b>Go</label><button id=b></button>", "pass"),
        ("<label for=b></label><button id=b></button>", "fail"),
        ("<label for=b hidden>Go</label><button id=b></button>", "pass"),  # axe-core ignores a hidden label, too.
        ("<input type=submit>", "n/a"),
    ],
    "input-button-name": [
        ("<button></button>", "n/a"),
        ("<input type=submit>", "pass"),
        ("<input type=reset>", "pass"),
        ("<input type=SUBMIT>", "n/a"),  # The rule has axe-core's selector, which is case-sensitive.
        ("<input type=submit value=''>", "fail"),
        ("<input type=reset value=' '>", "fail"),
        ("<input type=button>", "fail"),
        ("<input type=button value=''>", "fail"),
        ("<input type=button value=Go>", "pass"),
        ("<input type=button alt=Go>", "fail"),
        ("<input type=button title=Go>", "pass"),
        ("<input type=button aria-label=Go>", "pass"),
        ("<input type=button aria-labelledby=g><p id=g>Go", "pass"),
        ("<input type=button role=none>", "fail"),
        ("<input type=button role=none disabled>", "pass"),
        ("<label>Go <input type=button></label>", "pass"),
        ("<label for=b>Go</label><input type=button id=b>", "pass"),
        ("<input type=button hidden>", "n/a"),
        ("<input type=image>", "n/a"),
        ("<div class=modal><input type=button></div>", "warn"),
    ],
    "summary-name": [
        ("<summary></summary>", "n/a"),  # A summary outside of <details> is not interactive.
        ("<details>Text</details>", "n/a"),  # Browsers add a summary to <details>.
        ("<details><div><summary></summary></div></details>", "n/a"),
        ("<details><summary></summary></details>", "fail"),  # Screen readers announce a closed <details>, too.
        ("<details open><summary>More</summary><summary></summary></details>", "pass"),
        ("<details><summary role=none></summary></details>", "fail"),
    ],
    "frame-title": [
        ("<p>None", "n/a"),
        ("<iframe src=a name=map></iframe>", "fail"),
        ("<iframe src=a tabindex=-1></iframe>", "n/a"),
        ("<iframe src=a tabindex=0></iframe>", "fail"),
        ("<iframe src=a role=none></iframe>", "pass"),
        ("<iframe src=a role=presentation title=''></iframe>", "fail"),
        ("<iframe src=a role=none tabindex=0></iframe>", "fail"),
        ("<iframe src=a role=none aria-label=''></iframe>", "fail"),
        ("<noscript><iframe src=a height=0></iframe></noscript>", "n/a"),
        ("<iframe src=a style='display:none;visibility:hidden'></iframe>", "n/a"),
    ],
    "empty-heading": [
        ("<p>None", "n/a"),
        ("<div role=heading></div>", "fail"),
        ("<div role=heading aria-level=2>Shoes</div>", "pass"),
        ("<h1 role=none></h1>", "n/a"),
        ("<h1 role=none tabindex=0></h1>", "fail"),
        ("<h1 role=none aria-live=polite></h1>", "fail"),
        ("<h1 role=tab></h1>", "n/a"),
        ("<h1 role=shiny></h1>", "fail"),
        ("<h1 role=heading></h1>", "fail"),
        ("<h1><img src=logo alt=Shop></h1>", "pass"),
        ("<h1><a href=/></a></h1>", "fail"),
        ("<h1><input aria-label=Name></h1>", "pass"),
    ],
    "empty-table-header": [
        ("<table><tr><td>1</table>", "n/a"),
        ("<table><tr><th>Size<tr><td>1</table>", "pass"),
        ("<table><tr><th><tr><td>1</table>", "fail"),
        ("<table><tr><td><th>Size</table>", "pass"),
        ("<table><tr><th aria-label=Size></table>", "fail"),  # axe-core requires visible text, too.
        ("<table><tr><th title=Size></table>", "fail"),
        ("<table><tr><th><span class=sr-only>Size</span></table>", "pass"),
        ("<table><tr><th><input type=checkbox aria-label='Choose all'></table>", "pass"),
        ("<label for=c>Choose all</label><table><tr><th><input type=checkbox id=c></table>", "pass"),
        ("<table><tr><th role=none></table>", "n/a"),
        ("<table><tr><th hidden></table>", "n/a"),
        ("<div role=table><div role=row><div role=columnheader></div></div></div>", "fail"),
        ("<div role=table><div role=row><div role=rowheader>Size</div></div></div>", "pass"),
        ("<table><tr><th><my-sorter></my-sorter></table>", "warn"),
    ],
    "aria-command-name": [
        ("<p>None", "n/a"),
        ("<div role=link></div>", "fail"),
        ("<li role=menuitem></li>", "fail"),
        ("<li role=menuitem><a href=/>Home</a></li>", "pass"),
        ("<a role=button></a>", "fail"),
        ("<a href=/ role=button></a>", "n/a"),  # Another rule judges links with the role button.
        ("<button role=link></button>", "n/a"),
        ("<img role=button>", "n/a"),
        ("<input type=checkbox role=button>", "n/a"),
        ("<svg role=button></svg>", "n/a"),
        ("<svg><g role=button><path d='M0 0'/></g></svg>", "fail"),
        ("<div role='button link'></div>", "n/a"),  # The rule has axe-core's selector, which does not match two roles.
        ("<div role=BUTTON></div>", "n/a"),
        ("<my-button role=button></my-button>", "warn"),
    ],
    "aria-dialog-name": [
        ("<dialog open>Text</dialog>", "n/a"),
        ("<div role=alertdialog>Text</div>", "fail"),
        ("<div role=dialog aria-labelledby=n><h2 id=n>Log in</h2></div>", "pass"),
        ("<div role=dialog><h2>Log in</h2></div>", "fail"),
        ("<div role=dialog class='modal fade'></div>", "warn"),
        ("<div role=dialog style='display: none'></div>", "n/a"),
    ],
    "aria-meter-name": [("<meter value=1></meter>", "n/a")],
    "aria-progressbar-name": [
        ("<progress value=1></progress>", "n/a"),
        ("<label for=p>Upload</label><div id=p role=progressbar></div>", "fail"),  # A label element cannot name a div.
    ],
    "aria-tab-name": [("<button role=tab></button>", "n/a"), ("<a href=/ role=tab></a>", "n/a")],
    "aria-tooltip-name": [("<div class=tooltip></div>", "n/a")],
    "aria-treeitem-name": [
        ("<ul role=tree><li role=treeitem>Shoes<ul role=group><li role=treeitem></li></ul></li></ul>", "fail"),
        ("<div class=tree></div>", "n/a"),
    ],
}
for _rule, _element in ELEMENTS_NAMED_BY_CONTENT:
    CASES[_rule] += [
        (NAME_ELEMENTS + _element.format(attributes="", content=content), expected) for content, expected in CONTENTS
    ]
    CASES[_rule] += [
        (NAME_ELEMENTS + _element.format(attributes=attributes, content=""), expected)
        for attributes, expected in ATTRIBUTES
    ]
for _rule, _element in ELEMENTS_NAMED_BY_ATTRIBUTES:
    CASES[_rule] += [
        (NAME_ELEMENTS + _element.format(attributes=attributes), expected) for attributes, expected in ATTRIBUTES
    ]


def judge(rule: str, markup: str) -> Verdict:
    finding: Verdict = getattr(checks, rule.replace("-", "_"))(AccessibleDocument(document(page(body(markup)))))
    return finding


@pytest.mark.parametrize(
    ("rule", "markup", "expected"),
    [(rule, markup, expected) for rule, cases in CASES.items() for markup, expected in cases],
)
def test_name_check_verdict(rule: str, markup: str, expected: str) -> None:
    assert verdict(judge(rule, markup)) == expected


def test_headers_of_a_layout_table_are_not_judged() -> None:
    """Since version 4.11, axe-core does not judge the headers of such a table, either."""
    assert verdict(judge("empty-table-header", "<table role=none><tr><th><tr><td>1</table>")) == "n/a"


def test_frames_of_a_frameset_need_a_title() -> None:
    frameset = page("<!doctype html><html lang=en><title>Shop</title><frameset><frame src=a><frame src=b title=Menu>")
    finding = checks.frame_title(AccessibleDocument(document(frameset)))
    assert isinstance(finding, Fail)
    assert message(finding) == "1 of 2 frames has no title."
    assert labels(finding)[0].startswith("<frame src")


def test_definite_faults_are_listed_first() -> None:
    finding = judge("button-name", "<button id=b1><my-icon></my-icon></button><button id=b2></button>")
    assert isinstance(finding, Fail)
    assert [item["selector"] for item in rows(finding)] == ["#b2"]
    finding = judge("button-name", "<button id=b1><my-icon></my-icon></button>")
    assert isinstance(finding, Warn)
    assert message(finding) == "1 button has no name, unless scripts or style sheets change that."
    assert labels(finding) == ['<button id="b1"> at #b1']


@pytest.mark.parametrize(
    "markup",
    [
        "<div role=button>" * 3_000,
        "<a href=/ aria-labelledby='" + "i " * 5_000 + "'><span id=i>" + "<b>" * 400,
        "<a href=/>" + "<i></i>" * 5_000 + "</a>",
        "<div role=button aria-owns=o>" * 100 + "<div id=o aria-owns=o>",
        "<p id=x aria-labelledby=y></p><p id=y aria-labelledby=x></p><a href=/ aria-labelledby='x y'></a>" * 500,
    ],
)
def test_expensive_markup_gets_a_verdict(markup: str) -> None:
    for rule in ("link-name", "aria-command-name"):
        assert verdict(judge(rule, markup)) in VERDICTS.values()


def test_content_beyond_the_limits_counts_as_a_name() -> None:
    assert verdict(judge("link-name", "<a href=/>" + "<i></i>" * 5_000 + "Home</a>")) == "pass"
    assert verdict(judge("link-name", "<a href=/>" + "<i>" * 200 + "Home</a>")) == "pass"


FILL = "<script>document.getElementById('cart').textContent = count</script>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<a href=/cart id=cart></a>{FILL}", "Review"),
        (f"<a href=/cart><span id=cart></span></a>{FILL}", "Review"),
        ("<a href=/cart><b class=count></b></a><script>$('.count').text(1)</script>", "Review"),
        ("<a href=/cart id=cart></a><script src=a.js></script>", "Warn"),
        ("<a href=/cart data-count></a><script src=a.js></script>", "Warn"),
        ("<a href=/cart id=cart></a>", "Fail"),  # No script can fill the link, because the page has no script.
        ("<a href=/cart></a><script src=a.js></script>", "Fail"),
        # The word in the script may have nothing to do with the link's class.
        ("<a href=/cart class=count></a><script>f('count')</script>", "Fail"),
        ("<a href=/cart id=cart><img src=a></a><script src=a.js></script>", "Fail"),
        # A permalink in a heading points to its own heading.
        ("<a href=#cart id=cart></a><script src=a.js></script>", "Fail"),
        ("<a href=/cart id=cart></a><script type=application/ld+json>{}</script>", "Fail"),
    ],
)
def test_script_may_fill_an_empty_link(markup: str, expected: str) -> None:
    assert type(judge("link-name", markup)).__name__ == expected
