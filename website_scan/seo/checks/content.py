"""Content and metadata checks: titles, descriptions, headings, image alternatives, and the amount of text."""

from __future__ import annotations

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.images import judge_image_alternatives
from website_scan.accessibility.names import accessible_name, shown_text
from website_scan.accessibility.wording import faulty
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, check
from website_scan.crawl.indexing import IndexingRules
from website_scan.findings import HIGH, LOW, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import counted, excerpt
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live
from website_scan.seo.log_in import is_log_in
from website_scan.seo.metadata import descriptions, title_px, titles, width
from website_scan.seo.visible_text import read_visible_text

# The content of an error page is not indexed.
CATEGORY = Category("Content and metadata", weight=22, html=True, error_pages=False)

TITLE_PX = (160, 600)
# In letters of Latin width.
DESCRIPTION_WIDTH = (80, 160)
ENOUGH_WORDS = 50


@check(
    "title",
    name="Page has one title of suitable length",
    found="Page has no title",
    why="Search results usually show the title as their headline, and search engines may replace a poor one.",
    judged=f"Titles from {TITLE_PX[0]} to {TITLE_PX[1]} pixels pass, in the width of Arial as search results show it. "
    "Where scripts set the title, theirs counts.",
    severity=HIGH,
    fix="Write one <title> in the head, of about 20 to 60 characters, that distinguishes this page from all others.",
    references=("HTML, the title element", "Google Search Central: title links"),
)
def title(document: Document, rendered: Rendered | None) -> Finding:
    # A difference between the two is what rendered-metadata reports.
    found = (list(titles(rendered.document)) if rendered is not None else []) or list(titles(document))
    if not found:
        return Fail("The page has no title.")
    if not found[0]:
        return Fail("The page's title is empty.", title="Page title is empty")
    if len(found) > 1:
        return Warn(
            f"The page has {len(found)} titles, of which browsers show the first: “{excerpt(found[0], 80)}”.",
            LOW,
            title="Page has several titles",
        )
    shown, (least, most) = f"“{excerpt(found[0], 80)}”", TITLE_PX
    measured = f"The title has {counted(len(found[0]), 'character')}, about {title_px(found[0])} pixels"
    if title_px(found[0]) < least:
        return Warn(f"{measured}: {shown}.", LOW, title="Page title is too short")
    if title_px(found[0]) > most:
        return Warn(
            f"{measured}, of which search results show about {most}: {shown}.", LOW, title="Page title is too long"
        )
    return Pass(f"{measured}: {shown}.")


@check(
    "meta-description",
    name="Meta description has a suitable length",
    found="Page has no meta description",
    why="Search results often show the meta description, which helps people decide whether to click.",
    judged=f"Descriptions from {DESCRIPTION_WIDTH[0]} to {DESCRIPTION_WIDTH[1]} characters pass, in the HTML itself or "
    "once scripts have added them.",
    severity=LOW,
    fix='Summarize the page in 80 to 160 characters: <meta name="description" content="…">',
    references=("Google Search Central: snippets and meta descriptions",),
)
def meta_description(document: Document, rendered: Rendered | None) -> Finding:
    found = descriptions(document) or (descriptions(rendered.document) if rendered is not None else [])
    if not found:
        return Fail("The page has no meta description.")
    description = next((each for each in found if each), "")
    if not description:
        return Fail("The page's meta description is empty.", title="Meta description is empty")
    least, most = DESCRIPTION_WIDTH
    shown, room = f"“{excerpt(description, 80)}”", width(description)
    measured = f"The meta description has {counted(len(description), 'character')}"
    if room != len(description):
        measured += f", as wide as {room} Latin ones"
    if room < least:
        return Warn(f"{measured}, fewer than {least}: {shown}.", LOW, title="Meta description is too short")
    if room > most:
        return Warn(
            f"{measured}, of which search results show about {most}: {shown}.",
            LOW,
            title="Meta description is too long",
        )
    return Pass(f"{measured}: {shown}.")


@check(
    "h1",
    name="Page has a main heading",
    found="Page has no main heading",
    why="The main heading tells search engines and readers what the page is about.",
    severity=LOW,
    fix="Give the page a heading <h1> that says what it is about.",
    judged="Headings count in the HTML itself or once the page's scripts have run.",
    references=("Google Search Central: title links",),
    content=True,
    absence=True,
)
def h1(document: AccessibleDocument, rendered: Rendered | None) -> Finding:
    headings = _main_headings(document)
    if not any(headings) and rendered is not None:
        headings = _main_headings(AccessibleDocument(rendered.document)) or headings
    texts = [each for each in headings if each]
    if texts:
        more = f", the first of {len(texts)}" if len(texts) > 1 else ""
        return Pass(f"The main heading is “{excerpt(texts[0], 80)}”{more}.")
    if headings:
        return Warn("The page's main heading is empty.", title="Main heading is empty")
    return Warn("The page has no main heading (h1).")


def _main_headings(document: AccessibleDocument) -> list[str]:
    """Return the texts of the main headings that are not hidden; "" for an empty one."""
    return [
        accessible_name(document, node) or shown_text(document, node)
        for node in live(document.document, "h1, [role=heading i][aria-level='1']")
        if not document.visibility.is_hidden(node)
    ]


@check(
    "seo-image-alt",
    name="Images have alternative text",
    found="Images without alternative text",
    why="Search engines read the alternative text to understand what an image shows.",
    severity=MEDIUM,
    fix='Say what each image shows: <img alt="Red running shoe, side view">; use alt="" if it is decorative.',
    references=("Google Search Central: image best practices", "WCAG 1.1.1 Non-text Content (A)"),
    content=True,
)
@faulty("image|images", "has|have no alternative text")
def seo_image_alt(document: AccessibleDocument) -> Finding:
    return judge_image_alternatives(seo_image_alt, document)


@check(
    "thin-content",
    name="Page has enough text",
    found="Page has little text",
    why="Search engines find little that tells them what the page is about.",
    judged=f"Pages with at least {ENOUGH_WORDS} words pass, in the HTML itself or once their scripts have run. Log-in "
    "pages, and pages that ask not to be indexed, are not judged.",
    severity=LOW,
    fix="Write about the page's subject, as text in the HTML itself.",
    references=("Google Search Central: helpful content",),
    content=True,
    absence=True,
)
def thin_content(
    page: Page, document: AccessibleDocument, indexing: IndexingRules, rendered: Rendered | None
) -> Finding:
    text = read_visible_text(document)
    if text.words < ENOUGH_WORDS and rendered is not None:
        text = max(text, read_visible_text(AccessibleDocument(rendered.document)), key=lambda each: each.words)
    if text.words >= ENOUGH_WORDS:
        number = f"more than {text.words // 100 * 100:,}" if text.is_long else f"{text.words:,}"
        return Pass(f"The page has {number} words of visible text.")
    if indexing.decisive or is_log_in(page, document):
        return NotApplicable("Nobody searches for the page.")
    return Warn(f"The page has {counted(text.words, 'word')} of visible text.")


@check(
    "lang-present",
    name="Page language is declared",
    found="Page language is not declared",
    why="Browsers, and search engines that read the attribute, have to guess the language.",
    severity=LOW,
    fix='Declare the language of the page: <html lang="en">',
    references=("HTML, the lang attribute", "WCAG 3.1.1 Language of Page (A)"),
)
def lang_present(document: Document) -> Finding:
    root = document.tree.root
    language = (attribute(root, "lang") if root is not None else None) or ""
    if language.strip():
        return Pass(f"The page declares the language “{excerpt(language.strip(), 40)}”.")
    return Fail("The html element has no lang attribute.")
