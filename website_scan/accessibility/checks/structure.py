"""Structure and table checks: the markup of lists, headings, landmarks and tables.

Each check is the axe-core rule of the same ID. Faults that depend on rendered styles or on scripts only warn."""

from __future__ import annotations

from dataclasses import replace

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.structure import landmarks, lists, tables
from website_scan.accessibility.structure.headings import skipping, top_headings
from website_scan.accessibility.verdicts import NO_TEXT, Faults, judge, page_lacks, shows_text, warn_at_most
from website_scan.accessibility.wcag import BEST_PRACTICE, INFO_AND_RELATIONSHIPS
from website_scan.accessibility.wording import Wording, faulty
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, Finding, NotApplicable, Pass, Warn

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
@faulty("list|lists", "contains|contain something other than list items")
def list_(document: AccessibleDocument) -> Finding:
    return judge(
        list_,
        lists.strays(document, "ul, ol", lists.strays_in_list),
        INFO_AND_RELATIONSHIPS,
        passed="contain list items only",
    )


@check(
    "listitem",
    name="List items are in a list",
    found="List items outside a list",
    why="Screen readers can announce neither the item's position nor the number of items.",
    severity=HIGH,
    fix="Put the <li> elements directly into a <ul> or <ol> that has no other role.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: listitem"),
)
@faulty("list item|items", "is|are outside a list")
def listitem(document: AccessibleDocument) -> Finding:
    return judge(
        listitem,
        Faults.find(
            document, lists.items(document), lambda each: not lists.is_in_list(document, each), lists.is_in_component
        ),
        INFO_AND_RELATIONSHIPS,
        passed="are in a list",
    )


@check(
    "dlitem",
    name="Terms and descriptions are in a description list",
    found="Terms and descriptions outside a description list",
    why="Screen readers cannot say which term a description belongs to.",
    severity=HIGH,
    fix="Put the <dt> and <dd> elements into a <dl>.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: dlitem"),
)
@faulty("term|terms or description|descriptions", "is|are outside a description list")
def dlitem(document: AccessibleDocument) -> Finding:
    items = lists.without_role(document, "dd, dt")
    return judge(
        dlitem,
        Faults.find(document, items, lambda each: not lists.is_in_descriptions(each), lists.is_in_component),
        INFO_AND_RELATIONSHIPS,
        passed="are in a description list",
    )


@check(
    "definition-list",
    name="Description lists are groups of terms and descriptions",
    found="Malformed description lists",
    why="Screen readers cannot say which term a description belongs to.",
    severity=HIGH,
    fix="Write groups of <dt> and then <dd> in a <dl>, each group in a <div> or not; nothing else.",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: definition-list"),
)
@faulty("description list|lists", "does|do not consist of groups of <dt> and <dd>")
def definition_list(document: AccessibleDocument) -> Finding:
    return judge(
        definition_list,
        lists.strays(document, "dl", lists.strays_in_descriptions),
        INFO_AND_RELATIONSHIPS,
        passed="are groups of <dt> and <dd>",
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
@faulty("cell|cells with a headers attribute", "refers|refer to something other than header cells of the table")
def td_headers_attr(document: AccessibleDocument) -> Finding:
    of_page = tables.tables(document)
    if not of_page:
        return NotApplicable("The page has no tables.")
    found = tables.references(document, of_page)
    if not found.judged:
        return Pass("No cell has a headers attribute.")
    return judge(
        td_headers_attr,
        found,
        INFO_AND_RELATIONSHIPS,
        passed="refer to header cells of their table",
        wording=None if found.certain else Wording("cell|cells with a headers attribute", "lacks|lack a reference"),
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
@faulty("cell|cells with a scope", "uses|use it incorrectly")
def scope_attr_valid(document: AccessibleDocument) -> Finding:
    return judge(
        scope_attr_valid,
        tables.invalid_scopes(document),
        BEST_PRACTICE,
        passed="are header cells with a valid one",
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
@faulty("table|tables", "has|have a summary that repeats the caption")
def table_duplicate_name(document: AccessibleDocument) -> Finding:
    return judge(
        table_duplicate_name,
        Faults.find(document, document.exposed("table"), lambda each: tables.repeats_caption(document, each)),
        BEST_PRACTICE,
        passed="have a summary that differs from the caption, or only one of the two",
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
@faulty("table header|headers", "has|have no data cells")
def th_has_data_cells(document: AccessibleDocument) -> Finding:
    found = tables.headers(document)
    if found is None:
        return NotApplicable("The page has no data tables.")
    if not found.judged:
        return Pass("The data tables have no header cells with text.")
    # People see from its looks if a cell is a header at all.
    found = replace(found, certain=(), review=found.certain)
    return judge(th_has_data_cells, found, INFO_AND_RELATIONSHIPS, passed="have data cells")


@check(
    "table-fake-caption",
    name="Table captions are caption elements",
    found="Table captions made of cells",
    why="Screen readers announce the caption as a cell, and do not name the table after it.",
    severity=HIGH,
    fix="Move the text of the row into a caption: <table><caption>Prices</caption><tr>…",
    references=(f"{INFO_AND_RELATIONSHIPS}", "axe-core: table-fake-caption"),
)
@faulty("data table|tables", "has|have a first row of one cell")
def table_fake_caption(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        table_fake_caption,
        tables.fake_captions(document),
        INFO_AND_RELATIONSHIPS,
        passed="have no caption made of cells",
        unless="unless that cell is a header of all columns",
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
@faulty("large data table|tables", "has|have data cells without a header")
def td_has_header(document: AccessibleDocument) -> Finding:
    return judge(
        td_has_header,
        tables.without_headers(document),
        INFO_AND_RELATIONSHIPS,
        passed="have a header for each data cell",
        unless="unless it|they only lays|lay out the page",
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
@faulty("heading|headings", "skips|skip a level")
def heading_order(document: AccessibleDocument) -> Finding:
    return warn_at_most(
        heading_order,
        skipping(document),
        BEST_PRACTICE,
        passed="follow one another without skipping a level",
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
@faulty("the page", "has no level-one heading")
def page_has_heading_one(document: AccessibleDocument) -> Finding:
    if found := top_headings(document):
        return Pass(f"The page has a level-one heading ({len(found)}).")
    return page_lacks(page_has_heading_one, document, "h1")


@check(
    "landmark-banner-is-top-level",
    name="Banner landmark is at top level",
    found="Banner landmark inside another landmark",
    why="Screen reader users who navigate by landmarks do not find the header of the page.",
    severity=MEDIUM,
    fix="Move the <header> or role=banner out of the landmark around it.",
    references=("axe-core: landmark-banner-is-top-level (best practice)",),
)
@faulty("banner landmark|landmarks", "is|are inside another landmark")
def landmark_banner_is_top_level(document: AccessibleDocument) -> Finding:
    return landmarks.judge_nesting(landmark_banner_is_top_level, document, "banner")


@check(
    "landmark-contentinfo-is-top-level",
    name="Contentinfo landmark is at top level",
    found="Contentinfo landmark inside another landmark",
    why="Screen reader users who navigate by landmarks do not find the footer of the page.",
    severity=MEDIUM,
    fix="Move the <footer> or role=contentinfo out of the landmark around it.",
    references=("axe-core: landmark-contentinfo-is-top-level (best practice)",),
)
@faulty("contentinfo landmark|landmarks", "is|are inside another landmark")
def landmark_contentinfo_is_top_level(document: AccessibleDocument) -> Finding:
    return landmarks.judge_nesting(landmark_contentinfo_is_top_level, document, "contentinfo")


@check(
    "landmark-main-is-top-level",
    name="Main landmark is at top level",
    found="Main landmark inside another landmark",
    why="Screen reader users who navigate by landmarks do not find the main content.",
    severity=MEDIUM,
    fix="Move the <main> out of the landmark around it.",
    references=("axe-core: landmark-main-is-top-level (best practice)",),
)
@faulty("main landmark|landmarks", "is|are inside another landmark")
def landmark_main_is_top_level(document: AccessibleDocument) -> Finding:
    return landmarks.judge_nesting(landmark_main_is_top_level, document, "main")


@check(
    "landmark-no-duplicate-banner",
    name="Page has at most one banner landmark",
    found="Several banner landmarks",
    why="Screen reader users cannot tell which one is the header of the page.",
    severity=MEDIUM,
    fix="Keep one <header> that is not part of an <article> or <section>; use <div> for the others.",
    references=("axe-core: landmark-no-duplicate-banner (best practice)",),
)
@faulty("the page", "has more than one banner landmark")
def landmark_no_duplicate_banner(document: AccessibleDocument) -> Finding:
    return landmarks.judge_number(landmark_no_duplicate_banner, document, "banner")


@check(
    "landmark-no-duplicate-contentinfo",
    name="Page has at most one contentinfo landmark",
    found="Several contentinfo landmarks",
    why="Screen reader users cannot tell which one is the footer of the page.",
    severity=MEDIUM,
    fix="Keep one <footer> that is not part of an <article> or <section>; use <div> for the others.",
    references=("axe-core: landmark-no-duplicate-contentinfo (best practice)",),
)
@faulty("the page", "has more than one contentinfo landmark")
def landmark_no_duplicate_contentinfo(document: AccessibleDocument) -> Finding:
    return landmarks.judge_number(landmark_no_duplicate_contentinfo, document, "contentinfo")


@check(
    "landmark-no-duplicate-main",
    name="Page has at most one main landmark",
    found="Several main landmarks",
    why="Screen reader users cannot tell which one is the main content.",
    severity=MEDIUM,
    fix="Keep one <main>; use <div> or <section> for the others.",
    references=("axe-core: landmark-no-duplicate-main (best practice)",),
)
@faulty("the page", "has more than one main landmark")
def landmark_no_duplicate_main(document: AccessibleDocument) -> Finding:
    return landmarks.judge_number(landmark_no_duplicate_main, document, "main")


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
@faulty("the page", "has no main landmark")
def landmark_one_main(document: AccessibleDocument) -> Finding:
    if landmarks.candidates(document, "main"):
        return Pass("The page has a main landmark.")
    return page_lacks(landmark_one_main, document, "main, [role=main]")


@check(
    "landmark-unique",
    name="Landmarks are unique",
    found="Landmarks with the same role and name",
    why="Screen reader users who navigate by landmarks cannot tell them apart.",
    severity=MEDIUM,
    fix='Give landmarks of the same kind different names: <nav aria-label="Shop"> and <nav aria-label="Footer">.',
    references=("axe-core: landmark-unique (best practice)",),
)
@faulty("landmark|landmarks", "has|have the role and name of another")
def landmark_unique(document: AccessibleDocument) -> Finding:
    found = landmarks.duplicate(document)
    finding = warn_at_most(
        landmark_unique,
        found,
        BEST_PRACTICE,
        passed="differ in role or name",
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
@faulty("part|parts of the page", "is|are outside landmarks")
def region(document: AccessibleDocument) -> Finding:
    found = landmarks.outside(document)
    if not found.judged or not shows_text(document):
        return NO_TEXT
    if not found.certain:
        return Pass("All content of the page is in landmarks.")
    return warn_at_most(
        region,
        found,
        BEST_PRACTICE,
        passed="are in landmarks",
    )
