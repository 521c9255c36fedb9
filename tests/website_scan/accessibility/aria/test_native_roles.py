"""Tests for the native roles of elements.

All rows of the tables were compared with axe-core 4.12.1 in Chromium.
"""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborNode

from tests.website_scan.cast import body, document, page
from website_scan.accessibility.aria.allowed_roles import ALLOWED_BY_TAG, HTML
from website_scan.accessibility.aria.framework_bindings import has_scripts, may_be_set_by_script
from website_scan.accessibility.aria.native_roles import FIXED_ROLE_BY_TAG, role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.wai_aria import (
    ABSTRACT,
    ATTRIBUTES,
    GLOBAL_ATTRIBUTES,
    REQUIRED_ATTRIBUTES,
    REQUIRED_CHILD_ROLES,
    REQUIRED_PARENT_ROLES,
    ROLES,
    ROLES_BY_ATTRIBUTE,
    WIDGETS,
    ValueType,
)


def parse(markup: str) -> tuple[AccessibleDocument, LexborNode]:
    accessible_document = AccessibleDocument(document(page(body(markup))))
    node = accessible_document.document.tree.css_first("[data-x]")
    assert node is not None
    return accessible_document, node


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a data-x href=/>a</a>", "link"),
        ("<a data-x>a</a>", None),
        ("<article data-x>", "article"),
        ("<article><aside data-x>a</aside></article>", None),
        ("<article><aside data-x title=n>a</aside></article>", "complementary"),
        ("<aside data-x>a</aside>", "complementary"),
        ("<div role=region><aside data-x>a</aside></div>", None),
        ("<article role=none><aside data-x>a</aside></article>", "complementary"),
        ("<main><header data-x>", None),
        # The lookup for the first header fills a cache that the second lookup uses.
        ("<main><div><header>a</header><p><i><header data-x>", None),
        ("<main>a</main><footer data-x>", "contentinfo"),
        ("<main role=none><header data-x>", "banner"),
        ("<header data-x>", "banner"),
        ("<header data-x role=region>", "region"),
        ("<footer data-x>", "contentinfo"),
        ("<nav><footer data-x>", None),
        ("<form data-x>", None),
        ("<form data-x aria-label=n>", "form"),
        ("<form data-x title=n>", None),
        ("<form data-x aria-labelledby=n></form><p id=n>a", "form"),
        ("<form data-x aria-labelledby=n></form>", None),
        ("<section data-x>", None),
        ("<section data-x aria-label=n>", "region"),
        ("<img data-x>", "img"),
        ("<img data-x alt=''>", "none"),
        ("<img data-x alt='' tabindex=0>", "img"),
        ("<img data-x alt='' aria-live=off>", "img"),
        ("<img data-x alt='' title=n>", "none"),
        ("<input data-x>", "textbox"),
        ("<input data-x type=foo>", "textbox"),
        ("<input data-x type=color>", "textbox"),
        ("<input data-x type=CHECKBOX>", "checkbox"),
        ("<input data-x type=number>", "spinbutton"),
        ("<input data-x type=search>", "searchbox"),
        ("<input data-x list=l><datalist id=l></datalist>", "combobox"),
        ("<input data-x type=number list=l><datalist id=l></datalist>", "spinbutton"),
        ("<input data-x list=l><ul id=l></ul>", "textbox"),
        ("<input data-x type=image>", "button"),
        ("<select data-x>", "combobox"),
        ("<select data-x multiple>", "listbox"),
        ("<select data-x size=4>", "listbox"),
        ("<select data-x size=1>", "combobox"),
        ("<select data-x size=x>", "combobox"),
        ("<table><tr><td data-x>a", "cell"),
        ("<table role=grid><tr><td data-x>a", "gridcell"),
        ("<table role=none><tr><td data-x>a", "none"),
        ("<table role=none tabindex=0><tr><td data-x>a", "cell"),
        ("<table role=none><tr role=row><td data-x>a", "cell"),
        ("<table><tr><th data-x scope=row>a<td>b", "rowheader"),
        # axe-core reports the role rowheader for this cell in the first column.
        ("<table><tr><th data-x>a<td>b", "columnheader"),
        ("<ul role=none><li data-x>a", "none"),
        ("<ul role=none aria-label=n><li data-x>a", "listitem"),
        ("<ul role='none foo'><li data-x>a", "listitem"),
        ("<div role=none><li data-x>a</div>", "listitem"),
        ("<dl role=none><div><dt data-x>a</div></dl>", "none"),
        ("<p data-x>", None),
        ("<b data-x role=button>", "button"),
        ("<b data-x role='button foo'>", None),
        ("<b data-x role='foo button'>", None),
        ("<h1 data-x role=none>", "none"),
        ("<h1 data-x role=none tabindex=0>", "heading"),
        ("<h1 data-x role=doc-subtitle>", "heading"),
        ("<p data-x role=widget>", None),
        ("<video data-x>", None),
        ("<dfn data-x>", "term"),
        ("<my-a data-x>", None),
        ("<summary data-x>", "button"),
        ("<search data-x>", "search"),
        ("<output data-x>", "status"),
        ("<button data-x role=presentation>", "button"),
        ("<button data-x role=none disabled>", "none"),
    ],
)
def test_role_is_computed_from_markup(markup: str, expected: str | None) -> None:
    assert role(*parse(markup)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<b data-x role='foo button'>", "button"),
        ("<b data-x role='none button'>", "none"),
        ("<b data-x role='doc-tip note'>", "note"),
        ("<h1 data-x role='foo'>", "heading"),
    ],
)
def test_first_valid_role_is_used_on_request(markup: str, expected: str) -> None:
    assert role(*parse(markup), takes_first_valid=True) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<b data-x :role=r>", True),
        ("<b data-x x-bind:role=r>", True),
        ("<b data-x v-bind:role.attr=r>", True),
        ("<b data-x ng-attr-role=r>", True),
        ("<b data-x data-ng-attr-role=r>", True),
        ("<b data-x [attr.role]=r>", True),
        ("<b data-x role.bind=r>", True),
        ("<b data-x role$=r>", True),
        ("<b data-x v-bind=all>", True),
        ("<b data-x data-bind='attr: {role: r}'>", True),
        ("<b data-x role='{{r}}'>", True),
        ("<my-a data-x>", True),
        ("<b data-x role=button>", False),
        ("<b data-x :title=t>", False),
        ("<b data-x title='{{t}}'>", False),
        ("<b data-x data-role=r>", False),
        ("<b data-x @role=r>", False),
    ],
)
def test_attribute_may_be_set_by_a_framework_binding(markup: str, expected: bool) -> None:
    assert may_be_set_by_script(parse(markup)[1], "role") is expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<script>a()</script>", True),
        ("<script src=a type=module></script>", True),
        ("<script type='text/javascript; charset=utf-8'></script>", True),
        ("<script type=application/ld+json>{}</script>", False),
        ("<script type=text/template></script>", False),
        ("", False),
    ],
)
def test_only_executable_script_types_count_as_scripts(markup: str, expected: bool) -> None:
    assert has_scripts(parse(f"<p data-x>{markup}")[0]) is expected


def test_aria_tables_are_consistent() -> None:
    for table in (REQUIRED_ATTRIBUTES, REQUIRED_CHILD_ROLES, REQUIRED_PARENT_ROLES):
        assert table.keys() <= ROLES
    for roles_of_element, attributes in REQUIRED_ATTRIBUTES.items():
        assert all(name in GLOBAL_ATTRIBUTES or roles_of_element in ROLES_BY_ATTRIBUTE[name] for name in attributes)
    for roles in (
        *REQUIRED_CHILD_ROLES.values(),
        *REQUIRED_PARENT_ROLES.values(),
        *ROLES_BY_ATTRIBUTE.values(),
        WIDGETS,
    ):
        assert roles <= ROLES
    assert ABSTRACT.isdisjoint(ROLES)
    assert ROLES_BY_ATTRIBUTE.keys() == ATTRIBUTES.keys() - GLOBAL_ATTRIBUTES
    assert set(FIXED_ROLE_BY_TAG.values()) <= ROLES
    assert FIXED_ROLE_BY_TAG.keys() <= HTML
    assert all(roles <= ROLES for roles in ALLOWED_BY_TAG.values())
    for definition in ATTRIBUTES.values():
        assert bool(definition.tokens) is (definition.type in (ValueType.TOKEN, ValueType.TOKENS))
