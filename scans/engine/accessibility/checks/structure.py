"""Structure and tables: whether lists, headings, landmarks and tables are in the markup what they are to the eye.

The rules are axe-core's of the same ID; where it would look at rendered style sheets, or at what scripts have
made of the page, only a warning is given. A page that is not HTML has an empty tree, in which none applies.
"""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.structure import landmarks, lists, tables
from scans.engine.accessibility.structure.headings import skipping, top_headings
from scans.engine.accessibility.verdicts import (
    BEST_PRACTICE,
    NO_TEXT,
    Criterion,
    judge,
    judge_doubtful,
    judge_mildly,
    lacking,
    shows_text,
)
from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, Finding, NotApplicable, Pass
from scans.engine.page.markup import attribute

CATEGORY = Category("Structure and tables", weight=10)

RELATIONSHIPS = Criterion("1.3.1", "A")
WCAG_1_3_1 = "WCAG 1.3.1 Info and Relationships (A)"


@check(
    "list",
    name="Lists hold list items only",
    severity=HIGH,
    fix="Put everything in a <ul> or <ol> into its <li> elements.",
    references=(WCAG_1_3_1, "axe-core: list"),
)
def list_(document: AccessibleDocument) -> Finding:
    found = _without_role(document, "ul, ol")
    if not found:
        return NotApplicable("The page has no lists.")
    return _judged_strays(
        document,
        found,
        [lists.strays_in_list(document, each) for each in found],
        passed=f"All lists ({len(found)}) hold list items only.",
        failed="lists with something else than items, so that screen readers count and read them wrongly",
    )


@check(
    "listitem",
    name="List items are in a list",
    severity=HIGH,
    fix="Put the <li> elements directly into a <ul> or <ol> that has no other role.",
    references=(WCAG_1_3_1, "axe-core: listitem"),
)
def listitem(document: AccessibleDocument) -> Finding:
    found = _without_role(document, "li")
    if not found:
        return NotApplicable("The page has no list items.")
    return _judged_items(
        document, found, [each for each in found if not lists.is_in_list(document, each)], "list items", "a list"
    )


@check(
    "dlitem",
    name="Terms and descriptions are in a description list",
    severity=HIGH,
    fix="Put the <dt> and <dd> elements into a <dl>.",
    references=(WCAG_1_3_1, "axe-core: dlitem"),
)
def dlitem(document: AccessibleDocument) -> Finding:
    found = _without_role(document, "dd, dt")
    if not found:
        return NotApplicable("The page has no <dt> or <dd>.")
    return _judged_items(
        document,
        found,
        [each for each in found if not lists.is_in_descriptions(each)],
        "terms and descriptions",
        "a description list",
    )


@check(
    "definition-list",
    name="Description lists are in order",
    severity=HIGH,
    fix="Write groups of <dt> and then <dd> in a <dl>, each group in a <div> or not; nothing else.",
    references=(WCAG_1_3_1, "axe-core: definition-list"),
)
def definition_list(document: AccessibleDocument) -> Finding:
    found = _without_role(document, "dl")
    if not found:
        return NotApplicable("The page has no description lists.")
    strays = [
        lists.strays_in_descriptions(document, each) | lists.Strays(certain=lists.is_unordered(each)) for each in found
    ]
    return _judged_strays(
        document,
        found,
        strays,
        passed=f"All description lists ({len(found)}) are groups of <dt> and <dd>.",
        failed="description lists that are not groups of <dt> and <dd>, so nobody hears what belongs together",
    )


@check(
    "td-headers-attr",
    name="Cells name headers of their table",
    severity=HIGH,
    fix='Name the IDs of header cells of the same table: <th id="price">Price</th> … <td headers="price">.',
    references=(WCAG_1_3_1, "axe-core: td-headers-attr"),
)
def td_headers_attr(document: AccessibleDocument) -> Finding:
    found = tables.tables(document)
    if not found:
        return NotApplicable("The page has no tables.")
    cells, wrong, empty = tables.references(document, found)
    passed = f"What cells name as their headers ({len(cells)}) is one."
    if empty and not wrong:
        failed = "cells with an empty headers attribute"
        return judge_mildly(document, cells, empty, RELATIONSHIPS, passed=passed, failed=failed)
    failed = "cells that name something else than header cells of their table"
    return judge(document, cells, wrong, RELATIONSHIPS, passed=passed, failed=failed)


@check(
    "scope-attr-valid",
    name="scope is used on header cells",
    severity=MEDIUM,
    fix='Write scope on header cells only: <th scope="col"> or <th scope="row">.',
    references=("axe-core: scope-attr-valid (best practice)",),
)
def scope_attr_valid(document: AccessibleDocument) -> Finding:
    found = list(document.exposed("td[scope], th[scope]"))
    if not found:
        return NotApplicable("No cell of the page has a scope.")
    return judge(
        document,
        found,
        tables.wrong_scopes(document, found),
        BEST_PRACTICE,
        passed=f"All scopes ({len(found)}) are those of header cells.",
        failed="cells with a scope that does not exist, or that no header cell has",
    )


@check(
    "table-duplicate-name",
    name="Caption and summary of a table differ",
    severity=LOW,
    fix="Remove the summary attribute, or let it say what the caption does not.",
    references=("axe-core: table-duplicate-name (best practice)",),
)
def table_duplicate_name(document: AccessibleDocument) -> Finding:
    found = list(document.exposed("table"))
    if not found:
        return NotApplicable("The page has no tables.")
    return judge(
        document,
        found,
        [each for each in found if tables.says_it_twice(document, each)],
        BEST_PRACTICE,
        passed=f"No table of {len(found)} says the same in its caption and its summary.",
        failed="tables whose summary repeats the caption, so that it is heard twice",
    )


@check(
    "th-has-data-cells",
    name="Header cells have data",
    severity=HIGH,
    fix='Say what a header is for, <th scope="col"> or <th scope="row">, and write cells that are none as <td>.',
    references=(WCAG_1_3_1, "axe-core: th-has-data-cells"),
)
def th_has_data_cells(document: AccessibleDocument) -> Finding:
    found, headers, alone = tables.headers(document)
    if not found:
        return NotApplicable("The page has no tables of data.")
    return judge_mildly(
        document,
        headers,
        alone,
        RELATIONSHIPS,
        passed=f"All header cells ({len(headers)}) of the tables have data cells.",
        failed="header cells that no data cell belongs to",
    )


@check(
    "heading-order",
    name="Headings go down by one level",
    severity=MEDIUM,
    fix="Leave no level out on the way down: <h3> follows <h2>, not <h1>.",
    references=("axe-core: heading-order (best practice)",),
)
def heading_order(document: AccessibleDocument) -> Finding:
    found, wrong = skipping(document)
    if not found:
        return NotApplicable("The page has no headings.")
    return judge_mildly(
        document,
        found,
        wrong,
        BEST_PRACTICE,
        passed=f"No heading of {len(found)} leaves a level out.",
        failed="headings that leave a level out, so that the outline has gaps",
    )


@check(
    "page-has-heading-one",
    name="Page has a main heading",
    severity=MEDIUM,
    fix="Write what the page is about as its <h1>.",
    references=("axe-core: page-has-heading-one (best practice)",),
)
def page_has_heading_one(document: AccessibleDocument) -> Finding:
    if found := top_headings(document):
        return Pass(f"The page has a heading of the first level ({len(found)}).")
    return lacking(document, "h1", "The page has no <h1>, by which people find out where its content begins.")


@check(
    "landmark-banner-is-top-level",
    name="The page's header is in no other landmark",
    severity=MEDIUM,
    fix="Move the <header> or role=banner out of the landmark around it.",
    references=("axe-core: landmark-banner-is-top-level (best practice)",),
)
def landmark_banner_is_top_level(document: AccessibleDocument) -> Finding:
    return _top_level(document, "banner")


@check(
    "landmark-contentinfo-is-top-level",
    name="The page's footer is in no other landmark",
    severity=MEDIUM,
    fix="Move the <footer> or role=contentinfo out of the landmark around it.",
    references=("axe-core: landmark-contentinfo-is-top-level (best practice)",),
)
def landmark_contentinfo_is_top_level(document: AccessibleDocument) -> Finding:
    return _top_level(document, "contentinfo")


@check(
    "landmark-main-is-top-level",
    name="The main part is in no other landmark",
    severity=MEDIUM,
    fix="Move the <main> out of the landmark around it.",
    references=("axe-core: landmark-main-is-top-level (best practice)",),
)
def landmark_main_is_top_level(document: AccessibleDocument) -> Finding:
    return _top_level(document, "main")


@check(
    "landmark-no-duplicate-banner",
    name="Page has one header",
    severity=MEDIUM,
    fix="Keep one <header> that is not part of an <article> or <section>; write the others as <div>.",
    references=("axe-core: landmark-no-duplicate-banner (best practice)",),
)
def landmark_no_duplicate_banner(document: AccessibleDocument) -> Finding:
    return _at_most_one(document, "banner")


@check(
    "landmark-no-duplicate-contentinfo",
    name="Page has one footer",
    severity=MEDIUM,
    fix="Keep one <footer> that is not part of an <article> or <section>; write the others as <div>.",
    references=("axe-core: landmark-no-duplicate-contentinfo (best practice)",),
)
def landmark_no_duplicate_contentinfo(document: AccessibleDocument) -> Finding:
    return _at_most_one(document, "contentinfo")


@check(
    "landmark-no-duplicate-main",
    name="Page has one main part",
    severity=MEDIUM,
    fix="Keep one <main>; write the others as <div> or <section>.",
    references=("axe-core: landmark-no-duplicate-main (best practice)",),
)
def landmark_no_duplicate_main(document: AccessibleDocument) -> Finding:
    return _at_most_one(document, "main")


@check(
    "landmark-one-main",
    name="Page has a main part",
    severity=MEDIUM,
    fix="Put what the page is about into <main>…</main>.",
    references=("axe-core: landmark-one-main (best practice)",),
)
def landmark_one_main(document: AccessibleDocument) -> Finding:
    if landmarks.candidates(document, "main"):
        return Pass("The page has a main part.")
    return lacking(document, "main, [role=main]", "The page has no <main>, so nobody can jump to what it is about.")


@check(
    "landmark-unique",
    name="Landmarks can be told apart",
    severity=MEDIUM,
    fix='Name landmarks of the same kind: <nav aria-label="Shop"> and <nav aria-label="Footer">.',
    references=("axe-core: landmark-unique (best practice)",),
)
def landmark_unique(document: AccessibleDocument) -> Finding:
    found, repeated = landmarks.alike(document)
    if not found:
        return NotApplicable("The page has no landmarks.")
    return judge_mildly(
        document,
        found,
        repeated,
        BEST_PRACTICE,
        passed=f"All landmarks ({len(found)}) differ in role or name.",
        failed="landmarks with the role and the name of one before, so that nobody can tell them apart",
    )


@check(
    "region",
    name="All content is in landmarks",
    severity=MEDIUM,
    fix="Put everything on the page into <header>, <nav>, <main>, <aside> or <footer>.",
    references=("axe-core: region (best practice)",),
)
def region(document: AccessibleDocument) -> Finding:
    found, outside = landmarks.outside(document)
    if not found or not shows_text(document):
        return NO_TEXT
    return judge_mildly(
        document,
        found,
        outside,
        BEST_PRACTICE,
        passed="All content of the page is in landmarks.",
        failed="elements in no landmark, so that nobody finds them who jumps from one to the next",
    )


def _top_level(document: AccessibleDocument, landmark: str) -> Finding:
    found, inside = landmarks.nested(document, landmark)
    if not found:
        return NotApplicable(f"The page has no landmark {landmark}.")
    return judge_mildly(
        document,
        found,
        inside,
        BEST_PRACTICE,
        passed=f"No landmark {landmark} ({len(found)}) stands in another one.",
        failed=f"landmarks {landmark} in another landmark, by which their place in the page is misunderstood",
    )


def _at_most_one(document: AccessibleDocument, landmark: str) -> Finding:
    if not landmarks.candidates(document, landmark):
        return NotApplicable(f"The page has no landmark {landmark}.")
    found = [each for each in landmarks.of_kind(document, landmark) if not document.visibility.may_be_hidden(each)]
    return judge_mildly(
        document,
        found,
        found if len(found) > 1 else [],
        BEST_PRACTICE,
        passed=f"The page has no more than one landmark {landmark}.",
        failed=f"landmarks {landmark}, of which there should be one, so nobody knows which is the page's",
    )


def _without_role(document: AccessibleDocument, selector: str) -> list[LexborNode]:
    return [each for each in document.exposed(selector) if not attribute(each, "role")]


def _judged_strays(
    document: AccessibleDocument,
    found: Sequence[LexborNode],
    strays: Sequence[lists.Strays],
    *,
    passed: str,
    failed: str,
) -> Finding:
    certain = [each for each, of_it in zip(found, strays, strict=True) if of_it.certain]
    doubtful = [each for each, of_it in zip(found, strays, strict=True) if of_it.doubtful]
    return judge_doubtful(document, found, certain, doubtful, RELATIONSHIPS, passed=passed, failed=failed)


def _judged_items(
    document: AccessibleDocument, found: Sequence[LexborNode], lost: Sequence[LexborNode], items: str, place: str
) -> Finding:
    doubtful = [each for each in lost if lists.is_in_component(each)]
    certain = [each for each in lost if not lists.is_in_component(each)]
    passed = f"All {items} ({len(found)}) are in {place}."
    failed = f"{items} outside of {place}, so that nobody hears what they belong to"
    return judge_doubtful(document, found, certain, doubtful, RELATIONSHIPS, passed=passed, failed=failed)
