"""Structure and table checks: the markup of lists, headings, landmarks and tables.

Each check is the axe-core rule of the same ID. Faults that depend on rendered styles or on scripts only warn."""

from __future__ import annotations

from dataclasses import replace

from scanner.accessibility.aria.native_roles import role
from scanner.accessibility.document import AccessibleDocument
from scanner.accessibility.structure import landmarks, lists, tables
from scanner.accessibility.structure.headings import skipping, top_headings
from scanner.accessibility.verdicts import NO_TEXT, Faults, judge, page_lacks, shows_text, warn_at_most
from scanner.accessibility.wcag import BEST_PRACTICE, INFO_AND_RELATIONSHIPS
from scanner.catalogue import Category, check
from scanner.findings import CRITICAL, HIGH, LOW, MEDIUM, Finding, NotApplicable, Pass, Warn

CATEGORY = Category("Structure and tables", weight=10, html=True, content=True)


@check(
    "list",
    name="Lists contain list items only",
    found="Lists with content outside list items",
    why="Screen readers announce the wrong number of items, or no list at all.",
    severity=HIGH,
    fix="Put everything in a <ul> or <ol> into its <li> elements.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: list"),
)
def list_(document: AccessibleDocument) -> Finding:
    return judge(
        lists.strays(document, "ul, ol", lists.strays_in_list),
        INFO_AND_RELATIONSHIPS,
        "lists",
        passed="contain list items only",
        failed="contain something other than list items, so screen readers announce them wrongly",
    )


@check(
    "listitem",
    name="List items are in a list",
    found="List items outside a list",
    why="Outside a list, screen readers can announce neither the item's position nor the number of items.",
    severity=HIGH,
    fix="Put the <li> elements directly into a <ul> or <ol> that has no other role.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: listitem"),
)
def listitem(document: AccessibleDocument) -> Finding:
    return judge(
        Faults.find(
            document, lists.items(document), lambda each: not lists.is_in_list(document, each), lists.is_in_component
        ),
        INFO_AND_RELATIONSHIPS,
        "list items",
        passed="are in a list",
        failed="outside a list, so screen readers do not announce what they belong to",
    )


@check(
    "dlitem",
    name="Terms and descriptions are in a description list",
    found="Terms or descriptions outside a description list",
    why="Screen readers cannot say which term a description belongs to.",
    severity=HIGH,
    fix="Put the <dt> and <dd> elements into a <dl>.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: dlitem"),
)
def dlitem(document: AccessibleDocument) -> Finding:
    items = lists.without_role(document, "dd, dt")
    return judge(
        Faults.find(document, items, lambda each: not lists.is_in_descriptions(each), lists.is_in_component),
        INFO_AND_RELATIONSHIPS,
        "terms and descriptions",
        passed="are in a description list",
        failed="outside a description list, so screen readers do not announce what they belong to",
    )


@check(
    "definition-list",
    name="Description lists are groups of terms and descriptions",
    found="Description lists with other content, or in the wrong order",
    why="Screen readers cannot say which term a description belongs to.",
    severity=HIGH,
    fix="Write groups of <dt> and then <dd> in a <dl>, each group in a <div> or not; nothing else.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: definition-list"),
)
def definition_list(document: AccessibleDocument) -> Finding:
    return judge(
        lists.strays(document, "dl", lists.strays_in_descriptions),
        INFO_AND_RELATIONSHIPS,
        "description lists",
        passed="are groups of <dt> and <dd>",
        failed="are not groups of <dt> and <dd>, so screen readers do not announce what belongs together",
    )


@check(
    "td-headers-attr",
    name="Headers attributes refer to header cells",
    found="Headers attributes with invalid references",
    why="Screen readers announce wrong headers with a cell, or none.",
    severity=HIGH,
    fix='Refer to the IDs of header cells in the same table: <th id="price">Price</th> … <td headers="price">.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: td-headers-attr"),
)
def td_headers_attr(document: AccessibleDocument) -> Finding:
    of_page = tables.tables(document)
    if not of_page:
        return NotApplicable("The page has no tables.")
    found = tables.references(document, of_page)
    if not found.judged:
        return Pass("No cell has a headers attribute.")
    return judge(
        found,
        INFO_AND_RELATIONSHIPS,
        "cells with a headers attribute",
        passed="refer to header cells of their table",
        failed="refer to something other than header cells of their table" if found.certain else "have an empty one",
    )


@check(
    "scope-attr-valid",
    name="Scope attributes are used correctly",
    found="Scope attributes are used incorrectly",
    why="Screen readers announce the wrong headers with the cells of the table.",
    severity=MEDIUM,
    fix='Use scope on header cells only: <th scope="col"> or <th scope="row">.',
    references=("axe-core: scope-attr-valid (best practice)",),
)
def scope_attr_valid(document: AccessibleDocument) -> Finding:
    return judge(
        tables.invalid_scopes(document),
        BEST_PRACTICE,
        "cells with a scope",
        passed="are header cells with a valid one",
        failed="have an invalid one or are not header cells",
    )


@check(
    "table-duplicate-name",
    name="Table summaries differ from captions",
    found="Table summaries repeat the caption",
    why="Screen readers say the same thing twice.",
    severity=LOW,
    fix="Remove the summary attribute, or say in it what the caption does not.",
    references=("axe-core: table-duplicate-name (best practice)",),
)
def table_duplicate_name(document: AccessibleDocument) -> Finding:
    return judge(
        Faults.find(document, document.exposed("table"), lambda each: tables.repeats_caption(document, each)),
        BEST_PRACTICE,
        "tables",
        passed="have a summary that differs from the caption, or only one of the two",
        failed="have a summary that repeats the caption, so screen readers announce it twice",
    )


@check(
    "th-has-data-cells",
    name="Table headers refer to data cells",
    found="Table headers without data cells",
    why="Screen readers announce a header that applies to no cell.",
    severity=HIGH,
    fix='Say what a header applies to, <th scope="col"> or <th scope="row">, and use <td> for other cells.',
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: th-has-data-cells"),
)
def th_has_data_cells(document: AccessibleDocument) -> Finding:
    found = tables.headers(document)
    if found is None:
        return NotApplicable("The page has no data tables.")
    if not found.judged:
        return Pass("The data tables have no header cells with text.")
    # People see from its looks if a cell is a header at all.
    found = replace(found, certain=(), review=found.certain)
    return judge(found, INFO_AND_RELATIONSHIPS, "table headers", passed="have data cells", failed="without data cells")


@check(
    "table-fake-caption",
    name="Table captions are caption elements",
    found="Table captions made of cells",
    why="Screen readers announce the caption as a cell, and do not name the table after it.",
    severity=HIGH,
    fix="Move the text of the row into a caption: <table><caption>Prices</caption><tr>…",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: table-fake-caption"),
)
def table_fake_caption(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        tables.fake_captions(document),
        INFO_AND_RELATIONSHIPS,
        "data tables",
        passed="have no caption made of cells",
        failed="have a first row of one cell, which screen readers do not announce as the caption",
        caveat="A row that is a header of all columns is right.",
    )


@check(
    "td-has-header",
    name="Data cells of large tables have headers",
    found="Data cells without headers",
    why="Screen readers say the value of a cell, but not what it means.",
    judged="Tables of at least three rows and three columns are judged.",
    severity=CRITICAL,
    fix='Use <th> for the cells that say what a column or row contains: <th scope="col">Price</th>',
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: td-has-header"),
)
def td_has_header(document: AccessibleDocument) -> Finding:
    return judge(
        tables.without_headers(document),
        INFO_AND_RELATIONSHIPS,
        "large data tables",
        passed="have a header for each data cell",
        failed="have data cells without a header, so screen readers do not announce what they mean",
        caveat="A table that only lays out the page needs none.",
    )


@check(
    "heading-order",
    name="Headings do not skip levels",
    found="Headings skip levels",
    why="Screen reader users who navigate by headings may think they have missed a section.",
    severity=MEDIUM,
    fix="Skip no level on the way down: <h3> follows <h2>, not <h1>.",
    references=("axe-core: heading-order (best practice)",),
)
def heading_order(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        skipping(document),
        BEST_PRACTICE,
        "headings",
        passed="follow one another without skipping a level",
        failed="skip a level, so that the outline has gaps",
    )


@check(
    "page-has-heading-one",
    name="Page has a level-one heading",
    found="No level-one heading",
    why="Screen reader users jump to the main heading to find where the content begins.",
    severity=MEDIUM,
    fix="Put what the page is about into an <h1>.",
    references=("axe-core: page-has-heading-one (best practice)",),
    absence=True,
)
def page_has_heading_one(document: AccessibleDocument) -> Finding:
    if found := top_headings(document):
        return Pass(f"The page has a level-one heading ({len(found)}).")
    return page_lacks(document, "h1", "The page has no <h1>, which shows people where its content begins.")


@check(
    "landmark-banner-is-top-level",
    name="Banner landmark is at top level",
    found="Banner landmark inside another landmark",
    why="Screen reader users who navigate by landmarks do not find the header of the page.",
    severity=MEDIUM,
    fix="Move the <header> or role=banner out of the landmark around it.",
    references=("axe-core: landmark-banner-is-top-level (best practice)",),
)
def landmark_banner_is_top_level(document: AccessibleDocument) -> Finding:
    return landmarks.judge_nesting(document, "banner")


@check(
    "landmark-contentinfo-is-top-level",
    name="Contentinfo landmark is at top level",
    found="Contentinfo landmark inside another landmark",
    why="Screen reader users who navigate by landmarks do not find the footer of the page.",
    severity=MEDIUM,
    fix="Move the <footer> or role=contentinfo out of the landmark around it.",
    references=("axe-core: landmark-contentinfo-is-top-level (best practice)",),
)
def landmark_contentinfo_is_top_level(document: AccessibleDocument) -> Finding:
    return landmarks.judge_nesting(document, "contentinfo")


@check(
    "landmark-main-is-top-level",
    name="Main landmark is at top level",
    found="Main landmark inside another landmark",
    why="Screen reader users who navigate by landmarks do not find the main content.",
    severity=MEDIUM,
    fix="Move the <main> out of the landmark around it.",
    references=("axe-core: landmark-main-is-top-level (best practice)",),
)
def landmark_main_is_top_level(document: AccessibleDocument) -> Finding:
    return landmarks.judge_nesting(document, "main")


@check(
    "landmark-no-duplicate-banner",
    name="Page has at most one banner landmark",
    found="Several banner landmarks",
    why="Screen reader users cannot tell which one is the header of the page.",
    severity=MEDIUM,
    fix="Keep one <header> that is not part of an <article> or <section>; use <div> for the others.",
    references=("axe-core: landmark-no-duplicate-banner (best practice)",),
)
def landmark_no_duplicate_banner(document: AccessibleDocument) -> Finding:
    return landmarks.judge_number(document, "banner")


@check(
    "landmark-no-duplicate-contentinfo",
    name="Page has at most one contentinfo landmark",
    found="Several contentinfo landmarks",
    why="Screen reader users cannot tell which one is the footer of the page.",
    severity=MEDIUM,
    fix="Keep one <footer> that is not part of an <article> or <section>; use <div> for the others.",
    references=("axe-core: landmark-no-duplicate-contentinfo (best practice)",),
)
def landmark_no_duplicate_contentinfo(document: AccessibleDocument) -> Finding:
    return landmarks.judge_number(document, "contentinfo")


@check(
    "landmark-no-duplicate-main",
    name="Page has at most one main landmark",
    found="Several main landmarks",
    why="Screen reader users cannot tell which one is the main content.",
    severity=MEDIUM,
    fix="Keep one <main>; use <div> or <section> for the others.",
    references=("axe-core: landmark-no-duplicate-main (best practice)",),
)
def landmark_no_duplicate_main(document: AccessibleDocument) -> Finding:
    return landmarks.judge_number(document, "main")


@check(
    "landmark-one-main",
    name="Page has a main landmark",
    found="No main landmark",
    why="Screen reader users cannot jump straight to the content.",
    severity=MEDIUM,
    fix="Put the main content into <main>…</main>.",
    references=("axe-core: landmark-one-main (best practice)",),
    absence=True,
)
def landmark_one_main(document: AccessibleDocument) -> Finding:
    if landmarks.candidates(document, "main"):
        return Pass("The page has a main landmark.")
    return page_lacks(
        document, "main, [role=main]", "The page has no <main>, so screen readers cannot jump to its main content."
    )


@check(
    "landmark-unique",
    name="Landmarks are unique",
    found="Landmarks with the same role and name",
    why="Two entries in the list of landmarks have the same name, so people cannot tell them apart.",
    severity=MEDIUM,
    fix='Give landmarks of the same kind different names: <nav aria-label="Shop"> and <nav aria-label="Footer">.',
    references=("axe-core: landmark-unique (best practice)",),
)
def landmark_unique(document: AccessibleDocument) -> Finding:
    found = landmarks.duplicate(document)
    finding = warn_at_most(
        found,
        BEST_PRACTICE,
        "landmarks",
        passed="differ in role or name",
        failed="have the role and the name of an earlier one, so that people cannot tell them apart",
    )
    if isinstance(finding, Warn) and all(role(document, each) == "main" for each in found.certain):
        return replace(finding, fix="Keep one <main>, whatever the names; use <div> or <section> for the others.")
    return finding


@check(
    "region",
    name="All content is in landmarks",
    found="Content outside landmarks",
    why="Screen reader users who navigate by landmarks miss content outside of them.",
    severity=MEDIUM,
    fix="Put all content of the page into <header>, <nav>, <main>, <aside> or <footer>.",
    references=("axe-core: region (best practice)",),
    absence=True,
)
def region(document: AccessibleDocument) -> Finding:
    found = landmarks.outside(document)
    if not found.judged or not shows_text(document):
        return NO_TEXT
    if not found.certain:
        return Pass("All content of the page is in landmarks.")
    return warn_at_most(
        found,
        BEST_PRACTICE,
        "elements",
        passed="with content are in landmarks",
        failed="outside landmarks, where people who jump between landmarks do not find them",
    )
