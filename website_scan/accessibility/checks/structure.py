"""Checks of lists, headings, landmarks and tables.

A check is the axe-core rule with its ID. A fault that depends on rendered styles or on scripts is only a warning.
"""

from __future__ import annotations

from msgspec.structs import replace

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.structure import landmarks, lists, tables
from website_scan.accessibility.structure.headings import find_skipped_levels, level_one_headings
from website_scan.accessibility.verdicts import (
    NO_TEXT,
    Faults,
    judges,
    not_served,
    warn_unless_dialog,
    warns,
)
from website_scan.accessibility.wcag import BEST_PRACTICE, INFO_AND_RELATIONSHIPS
from website_scan.accessibility.wording import faulty
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.outcomes import Pass, Verdict, Warn
from website_scan.values import Count

CATEGORY = Category("Structure and tables", weight=10, html=True, content=True)


@check(
    "list",
    name="Lists contain list items only",
    outcomes={"other-content": "Lists with content outside list items"},
    why="Screen readers announce the wrong number of items, or no list at all.",
    consequence="Blind visitors may hear the wrong number of entries of a list, or not notice that there is one.",
    severity=HIGH,
    fix="Put everything in a `<ul>` or `<ol>` into its `<li>` elements.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: list"),
)
@judges(
    "list|lists", "contains|contain something other than list items", "contain list items only", INFO_AND_RELATIONSHIPS
)
def list_(document: AccessibleDocument) -> Faults:
    return lists.find_stray_content(document, "ul, ol", lists.stray_content_of_list)


@check(
    "listitem",
    name="List items are in a list",
    outcomes={"outside": "List items outside a list"},
    why="Screen readers can announce neither the item's position nor the number of items.",
    consequence="Blind visitors may not notice that entries belong to a list, or hear how many there are.",
    severity=HIGH,
    fix="Put the `<li>` elements directly into a `<ul>` or `<ol>` that has no other role.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: listitem"),
)
@judges("list item|items", "is|are outside a list", "are in a list", INFO_AND_RELATIONSHIPS)
def listitem(document: AccessibleDocument) -> Faults:
    return Faults.find(
        lists.list_items(document), lambda item: not lists.is_in_list(document, item), lists.is_in_component
    )


@check(
    "dlitem",
    name="Terms and descriptions are in a description list",
    outcomes={"outside": "Terms and descriptions outside a description list"},
    why="Screen readers cannot say which term a description belongs to.",
    consequence="Blind visitors may not be told which explanation belongs to which word.",
    severity=HIGH,
    fix="Put the `<dt>` and `<dd>` elements into a `<dl>`.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: dlitem"),
)
@judges(
    "term|terms or description|descriptions",
    "is|are outside a description list",
    "are in a description list",
    INFO_AND_RELATIONSHIPS,
)
def dlitem(document: AccessibleDocument) -> Faults:
    items = lists.elements_without_role(document, "dd, dt")
    return Faults.find(items, lambda item: not lists.is_in_descriptions(item), lists.is_in_component)


@check(
    "definition-list",
    name="Description lists are groups of terms and descriptions",
    outcomes={"malformed": "Malformed description lists"},
    why="Screen readers cannot say which term a description belongs to.",
    consequence="Blind visitors may not be told which explanation belongs to which word.",
    severity=HIGH,
    fix="Write groups of `<dt>` and then `<dd>` in a `<dl>`, each group in a `<div>` or not; nothing else.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: definition-list"),
)
@judges(
    "description list|lists",
    "does|do not consist of groups of <dt> and <dd>",
    "are groups of <dt> and <dd>",
    INFO_AND_RELATIONSHIPS,
)
def definition_list(document: AccessibleDocument) -> Faults:
    return lists.find_stray_content(document, "dl", lists.stray_content_of_dl)


@check(
    "td-headers-attr",
    name="Headers attributes refer to header cells",
    outcomes={
        "invalid": "Headers attributes with invalid references",
        "empty": "Headers attributes without a reference",
    },
    why="Screen readers announce wrong headers with a cell, or none.",
    consequence="Blind visitors may hear the wrong column or row name with a value in a table, or none.",
    severity=HIGH,
    fix='Refer to the IDs of header cells in the same table: `<th id="price">Price</th>` and `<td headers="price">`.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: td-headers-attr"),
)
@judges(
    "cell|cells with a headers attribute",
    "refers|refer to something other than header cells of the table",
    "refer to header cells of their table",
    INFO_AND_RELATIONSHIPS,
)
def td_headers_attr(document: AccessibleDocument) -> Faults | Verdict:
    page_tables = tables.exposed_tables(document)
    if not page_tables:
        return NotApplicable("The page has no tables.")
    faults = tables.find_invalid_references(document, page_tables)
    if not faults.judged:
        return Pass("No cell has a headers attribute.")
    return faults if faults.certain else replace(faults, outcome="empty", predicate="lacks|lack a reference")


@check(
    "scope-attr-valid",
    name="Scope attributes are used correctly",
    outcomes={"invalid": "Scope attributes are used incorrectly"},
    why="Screen readers announce the wrong headers with the cells of the table.",
    severity=MEDIUM,
    fix='Use `scope` on header cells only: `<th scope="col">` or `<th scope="row">`.',
    references=("axe-core: scope-attr-valid (best practice)",),
)
@judges("cell|cells with a scope", "uses|use it incorrectly", "are header cells with a valid one", BEST_PRACTICE)
def scope_attr_valid(document: AccessibleDocument) -> Faults:
    return tables.find_invalid_scopes(document)


@check(
    "table-duplicate-name",
    name="Table summaries differ from captions",
    outcomes={"repeated": "Table summaries repeat the caption"},
    why="Screen readers say the same thing twice.",
    severity=LOW,
    fix="Remove the `summary` attribute, or say in it what the caption does not.",
    references=("axe-core: table-duplicate-name (best practice)",),
)
@judges(
    "table|tables",
    "has|have a summary that repeats the caption",
    "have a summary that differs from the caption, or only one of the two",
    BEST_PRACTICE,
)
def table_duplicate_name(document: AccessibleDocument) -> Faults:
    return Faults.find(document.exposed("table"), lambda table: tables.repeats_caption(document, table))


@check(
    "th-has-data-cells",
    name="Table headers refer to data cells",
    outcomes={"no-cells": "Table headers without data cells"},
    why="Screen readers announce a header that applies to no cell.",
    consequence="Blind visitors may hear a column or row name in a table that belongs to no value.",
    severity=HIGH,
    fix='Say what a header applies to, with `<th scope="col">` or `<th scope="row">`, and use `<td>` for other cells.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: th-has-data-cells"),
)
@judges("table header|headers", "has|have no data cells", "have data cells", INFO_AND_RELATIONSHIPS)
def th_has_data_cells(document: AccessibleDocument) -> Faults | Verdict:
    faults = tables.find_headers_without_cells(document)
    if faults is None:
        return NotApplicable("The page has no data tables.")
    if not faults.judged:
        return Pass("The data tables have no header cells with text.")
    # A person has to judge whether the cell is meant as a header.
    return replace(faults, certain=(), review=faults.certain)


@check(
    "table-fake-caption",
    name="Table captions are caption elements",
    outcomes={"cell": "Table captions made of cells"},
    why="Screen readers announce the caption as a cell, and do not name the table after it.",
    consequence="Blind visitors may not be told what a table is about.",
    severity=HIGH,
    fix="Move the text of the row into a caption: `<table><caption>Prices</caption><tr>…</table>`.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: table-fake-caption"),
)
@warns(
    "data table|tables",
    "has|have a first row of one cell, which may be a caption",
    "have no caption made of cells",
    INFO_AND_RELATIONSHIPS,
)
def table_fake_caption(document: AccessibleDocument) -> Faults:
    return tables.find_fake_captions(document)


@check(
    "td-has-header",
    name="Data cells of large tables have headers",
    outcomes={"missing": "Data cells without headers"},
    why="Screen readers say the value of a cell, but not what it means.",
    consequence="Blind visitors hear the values in a table, but may not be told what they mean.",
    judged="Tables of at least three rows and three columns are judged.",
    severity=CRITICAL,
    fix='Use `<th>` for the cells that say what a column or row contains: `<th scope="col">Price</th>`.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: td-has-header"),
)
@judges(
    "large data table|tables",
    "has|have data cells without a header",
    "have a header for each data cell",
    INFO_AND_RELATIONSHIPS,
)
def td_has_header(document: AccessibleDocument) -> Faults:
    return tables.find_cells_without_headers(document)


@check(
    "heading-order",
    name="Headings do not skip levels",
    outcomes={"skipped": "Headings skip levels"},
    why="Screen reader users who navigate by headings may think they have missed a section.",
    severity=MEDIUM,
    fix="Skip no level on the way down: `<h3>` follows `<h2>`, not `<h1>`.",
    references=("axe-core: heading-order (best practice)",),
)
@warns("heading|headings", "skips|skip a level", "follow one another without skipping a level", BEST_PRACTICE)
def heading_order(document: AccessibleDocument) -> Faults:
    return find_skipped_levels(document)


@check(
    "page-has-heading-one",
    name="Page has a level-one heading",
    outcomes={"missing": "No level-one heading"},
    why="Screen reader users jump to the main heading to find where the content begins.",
    severity=MEDIUM,
    fix="Put what the page is about into an `<h1>`.",
    references=("axe-core: page-has-heading-one (best practice)",),
    absence=True,
)
@faulty("the page", "has no level-one heading")
def page_has_heading_one(document: AccessibleDocument) -> Verdict:
    if headings := level_one_headings(document):
        return Pass("The page has {headings}.", headings=Count(len(headings), "level-one heading"))
    return warn_unless_dialog(document, "h1", Warn("missing", "The page has no level-one heading."))


@check(
    "landmark-banner-is-top-level",
    name="Banner landmark is at top level",
    outcomes={"nested": "Banner landmark inside another landmark"},
    why="Screen reader users who navigate by landmarks do not find the header of the page.",
    severity=MEDIUM,
    fix='Move the `<header>` or `role="banner"` out of the landmark around it.',
    references=("axe-core: landmark-banner-is-top-level (best practice)",),
)
@warns("banner landmark|landmarks", "is|are inside another landmark", "are in no other landmark", BEST_PRACTICE)
def landmark_banner_is_top_level(document: AccessibleDocument) -> Faults:
    return landmarks.find_nested_landmarks(document, "banner")


@check(
    "landmark-contentinfo-is-top-level",
    name="Contentinfo landmark is at top level",
    outcomes={"nested": "Contentinfo landmark inside another landmark"},
    why="Screen reader users who navigate by landmarks do not find the footer of the page.",
    severity=MEDIUM,
    fix='Move the `<footer>` or `role="contentinfo"` out of the landmark around it.',
    references=("axe-core: landmark-contentinfo-is-top-level (best practice)",),
)
@warns("contentinfo landmark|landmarks", "is|are inside another landmark", "are in no other landmark", BEST_PRACTICE)
def landmark_contentinfo_is_top_level(document: AccessibleDocument) -> Faults:
    return landmarks.find_nested_landmarks(document, "contentinfo")


@check(
    "landmark-main-is-top-level",
    name="Main landmark is at top level",
    outcomes={"nested": "Main landmark inside another landmark"},
    why="Screen reader users who navigate by landmarks do not find the main content.",
    severity=MEDIUM,
    fix="Move the `<main>` out of the landmark around it.",
    references=("axe-core: landmark-main-is-top-level (best practice)",),
)
@warns("main landmark|landmarks", "is|are inside another landmark", "are in no other landmark", BEST_PRACTICE)
def landmark_main_is_top_level(document: AccessibleDocument) -> Faults:
    return landmarks.find_nested_landmarks(document, "main")


@check(
    "landmark-no-duplicate-banner",
    name="Page has at most one banner landmark",
    outcomes={"several": "Several banner landmarks"},
    why="Screen reader users cannot tell which one is the header of the page.",
    severity=MEDIUM,
    fix="Keep one `<header>` that is not part of an `<article>` or `<section>`; use `<div>` for the others.",
    references=("axe-core: landmark-no-duplicate-banner (best practice)",),
)
@faulty("the page", "has more than one banner landmark")
def landmark_no_duplicate_banner(document: AccessibleDocument) -> Verdict:
    return landmarks.judge_landmark_count(document, "banner")


@check(
    "landmark-no-duplicate-contentinfo",
    name="Page has at most one contentinfo landmark",
    outcomes={"several": "Several contentinfo landmarks"},
    why="Screen reader users cannot tell which one is the footer of the page.",
    severity=MEDIUM,
    fix="Keep one `<footer>` that is not part of an `<article>` or `<section>`; use `<div>` for the others.",
    references=("axe-core: landmark-no-duplicate-contentinfo (best practice)",),
)
@faulty("the page", "has more than one contentinfo landmark")
def landmark_no_duplicate_contentinfo(document: AccessibleDocument) -> Verdict:
    return landmarks.judge_landmark_count(document, "contentinfo")


@check(
    "landmark-no-duplicate-main",
    name="Page has at most one main landmark",
    outcomes={"several": "Several main landmarks"},
    why="Screen reader users cannot tell which one is the main content.",
    severity=MEDIUM,
    fix="Keep one `<main>`; use `<div>` or `<section>` for the others.",
    references=("axe-core: landmark-no-duplicate-main (best practice)",),
)
@faulty("the page", "has more than one main landmark")
def landmark_no_duplicate_main(document: AccessibleDocument) -> Verdict:
    return landmarks.judge_landmark_count(document, "main")


@check(
    "landmark-one-main",
    name="Page has a main landmark",
    outcomes={"missing": "No main landmark"},
    why="Screen reader users cannot jump straight to the content.",
    severity=MEDIUM,
    fix="Put the main content into `<main>…</main>`.",
    references=("axe-core: landmark-one-main (best practice)",),
    absence=True,
)
@faulty("the page", "has no main landmark")
def landmark_one_main(document: AccessibleDocument) -> Verdict:
    if landmarks.landmark_candidates(document, "main"):
        return Pass("The page has a main landmark.")
    return warn_unless_dialog(document, "main, [role=main]", Warn("missing", "The page has no main landmark."))


@check(
    "landmark-unique",
    name="Landmarks are unique",
    outcomes={"duplicate": "Landmarks with the same role and name"},
    why="Screen reader users who navigate by landmarks cannot tell them apart.",
    severity=MEDIUM,
    fix='Give landmarks of the same kind different names: `<nav aria-label="Shop">` and `<nav aria-label="Footer">`.',
    references=("axe-core: landmark-unique (best practice)",),
)
@warns("landmark|landmarks", "has|have the role and name of another", "differ in role or name", BEST_PRACTICE)
def landmark_unique(document: AccessibleDocument) -> Faults:
    faults = landmarks.find_duplicate_landmarks(document)
    if all(role(document, landmark) == "main" for landmark in faults.certain):
        fix = "Keep one `<main>`, whatever the names; use `<div>` or `<section>` for the others."
        return replace(faults, fix=fix)
    return faults


@check(
    "region",
    name="All content is in landmarks",
    outcomes={"outside": "Content outside landmarks"},
    why="Screen reader users who navigate by landmarks miss content outside of them.",
    severity=MEDIUM,
    fix="Put all content of the page into `<header>`, `<nav>`, `<main>`, `<aside>` or `<footer>`.",
    references=("axe-core: region (best practice)",),
    absence=True,
)
@warns("part|parts of the page", "is|are outside landmarks", "are in landmarks", BEST_PRACTICE)
def region(document: AccessibleDocument) -> Faults | Verdict:
    faults = landmarks.find_content_outside(document)
    if not faults.judged:
        return NO_TEXT
    if verdict := not_served(document):
        return verdict
    if not faults.certain:
        return Pass("All content of the page is in landmarks.")
    return faults
