"""Checks of titles, descriptions, headings and text.

They also judge image alternatives.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from msgspec.structs import replace
from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.images import find_images_without_alternative
from website_scan.accessibility.names import accessible_name, shown_text
from website_scan.accessibility.verdicts import Faults, judges
from website_scan.accessibility.wcag import NON_TEXT_CONTENT
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, check
from website_scan.crawl.indexing import IndexingRules
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live
from website_scan.seo.log_in import is_log_in_page
from website_scan.seo.metadata import descriptions, title_width_px, titles, width_in_latin_letters
from website_scan.seo.visible_text import read_visible_text
from website_scan.values import Count, Excerpt, Number, Value

# Search engines do not index the content of error pages.
CATEGORY = Category("Content and metadata", weight=22, html=True, error_pages=False)

MAX_ICON_PX = 24
TITLE_WIDTH_RANGE_PX = (160, 600)
# Minimum and maximum width of a meta description, in Latin letters.
DESCRIPTION_WIDTH_RANGE = (80, 160)
MIN_WORDS = 50


class MeasuredDescription(TypedDict):
    """Values in the message about a meta description.

    `width` is set only if the width differs from the number of characters.
    """

    characters: Value
    width: NotRequired[Value]
    description: Value


@check(
    "title",
    name="Page has one title of suitable length",
    outcomes={
        "missing": "Page has no title",
        "empty": "Page title is empty",
        "several": outcome("Page has several titles", LOW),
        "short": outcome("Page title is too short", LOW),
        "long": outcome("Page title is too long", LOW),
    },
    why="Search results usually show the title as their headline, and search engines may replace a poor one.",
    consequence="Search engines choose a headline for the page themselves, which may attract fewer people.",
    judged=f"Titles from {TITLE_WIDTH_RANGE_PX[0]} to {TITLE_WIDTH_RANGE_PX[1]} pixels pass, in the width of Arial "
    "as search results show it. Where scripts set the title, theirs counts.",
    severity=HIGH,
    fix="Write one `<title>` in the head, of about 20 to 60 characters, that distinguishes this page from all others.",
    references=("HTML, the title element", "Google Search Central: title links"),
)
def title(document: Document, rendered: Rendered | None) -> Verdict:
    # Differences between the HTML and the rendered page are left to the check rendered-metadata.
    texts = (list(titles(rendered.document)) if rendered is not None else []) or list(titles(document))
    if not texts:
        return Fail("missing", "The page has no title.")
    if not texts[0]:
        return Fail("empty", "The page's title is empty.")
    title = Excerpt(texts[0], 80)
    if len(texts) > 1:
        return Warn(
            "several",
            "The page has {titles}, of which browsers show the first: “{title}”.",
            titles=Count(len(texts), "title"),
            title=title,
        )
    measured = "The title has {characters}, about {pixels}"
    characters, pixels = Count(len(texts[0]), "character"), Count(title_width_px(texts[0]), "pixel")
    least, most = TITLE_WIDTH_RANGE_PX
    if pixels.value < least:
        return Warn("short", f"{measured}: “{{title}}”.", characters=characters, pixels=pixels, title=title)
    if pixels.value > most:
        return Warn(
            "long",
            f"{measured}, of which search results show about {{most}}: “{{title}}”.",
            characters=characters,
            pixels=pixels,
            most=most,
            title=title,
        )
    return Pass(f"{measured}: “{{title}}”.", characters=characters, pixels=pixels, title=title)


@check(
    "meta-description",
    name="Meta description has a suitable length",
    outcomes={
        "missing": "Page has no meta description",
        "empty": "Meta description is empty",
        "short": "Meta description is too short",
        "long": "Meta description is too long",
    },
    why="Search results often show the meta description, which helps people decide whether to click.",
    judged=f"Descriptions from {DESCRIPTION_WIDTH_RANGE[0]} to {DESCRIPTION_WIDTH_RANGE[1]} characters pass, in the "
    "HTML itself or once scripts have added them.",
    severity=LOW,
    fix=Fix("Summarize the page in 80 to 160 characters.", {Language.HTML: '<meta name="description" content="…">'}),
    references=("Google Search Central: snippets and meta descriptions",),
)
def meta_description(document: Document, rendered: Rendered | None) -> Verdict:
    texts = descriptions(document) or (descriptions(rendered.document) if rendered is not None else [])
    if not texts:
        return Fail("missing", "The page has no meta description.")
    description = next(filter(None, texts), "")
    if not description:
        return Fail("empty", "The page's meta description is empty.")
    least, most = DESCRIPTION_WIDTH_RANGE
    description_width = width_in_latin_letters(description)
    measured = "The meta description has {characters}"
    values: MeasuredDescription = {
        "characters": Count(len(description), "character"),
        "description": Excerpt(description, 80),
    }
    if description_width != len(description):
        measured += ", as wide as {width} Latin ones"
        values["width"] = Number(description_width)
    if description_width < least:
        return Warn("short", f"{measured}, fewer than {{least}}: “{{description}}”.", least=Number(least), **values)
    if description_width > most:
        return Warn(
            "long",
            f"{measured}, of which search results show about {{most}}: “{{description}}”.",
            most=Number(most),
            **values,
        )
    return Pass(f"{measured}: “{{description}}”.", **values)


@check(
    "h1",
    name="Page has a main heading",
    outcomes={"missing": "Page has no main heading", "empty": "Main heading is empty"},
    why="The main heading tells search engines and readers what the page is about.",
    severity=LOW,
    fix="Give the page an `<h1>` that says what it is about.",
    judged="Headings count in the HTML itself or once the page's scripts have run.",
    references=("Google Search Central: title links",),
    content=True,
    absence=True,
)
def h1(document: AccessibleDocument, rendered: Rendered | None) -> Verdict:
    headings = _main_heading_texts(document)
    if not any(headings) and rendered is not None:
        headings = _main_heading_texts(AccessibleDocument(rendered.document)) or headings
    texts = [text for text in headings if text]
    if len(texts) > 1:
        return Pass(
            "The main heading is “{text}”, the first of {headings}.", text=Excerpt(texts[0], 80), headings=len(texts)
        )
    if texts:
        return Pass("The main heading is “{text}”.", text=Excerpt(texts[0], 80))
    if headings:
        return Warn("empty", "The page's main heading is empty.")
    return Warn("missing", "The page has no main heading (h1).")


def _main_heading_texts(document: AccessibleDocument) -> list[str]:
    """Return the texts of the visible main headings.

    The text of an empty heading is "".
    """
    return [
        accessible_name(document, node) or shown_text(document, node)
        for node in live(document.document, "h1, [role=heading i][aria-level='1']")
        if not document.visibility.is_hidden(node)
    ]


@check(
    "seo-image-alt",
    name="Images have alternative text",
    outcomes={"missing": "Images without alternative text"},
    why="Search engines read the alternative text to understand what an image shows.",
    severity=MEDIUM,
    fix='Say what each image shows: `<img alt="Red running shoe, side view">`. Write `alt=""` if it is decorative.',
    references=("Google Search Central: image best practices", "WCAG 1.1.1 Non-text Content (A)"),
    content=True,
)
@judges(
    "image|images",
    "has|have no alternative text",
    "have alternative text or are marked as decorative",
    NON_TEXT_CONTENT,
)
def seo_image_alt(document: AccessibleDocument) -> Faults:
    """Judge images except icons.

    Search engines show no icons in their results.
    """
    faults = find_images_without_alternative(document)
    return replace(
        faults,
        judged=[image for image in faults.judged if not _is_icon(image)],
        certain=[image for image in faults.certain if not _is_icon(image)],
    )


def _is_icon(image: LexborNode) -> bool:
    """Return True if the attributes of an image element make it small."""
    sizes = [(attribute(image, name) or "").strip().lower().removesuffix("px") for name in ("width", "height")]
    return all(size.isdecimal() and int(size[:5]) <= MAX_ICON_PX for size in sizes)


@check(
    "thin-content",
    name="Page has enough text",
    outcomes={"little": "Page has little text"},
    why="Search engines find little that tells them what the page is about.",
    judged=f"Pages with at least {MIN_WORDS} words pass, in the HTML itself or once their scripts have run. Log-in "
    "pages, and pages that ask not to be indexed, are not judged.",
    severity=LOW,
    fix="Write about the page's subject, as text in the HTML itself.",
    references=("Google Search Central: helpful content",),
    content=True,
    absence=True,
)
def thin_content(
    page: Page, document: AccessibleDocument, indexing: IndexingRules, rendered: Rendered | None
) -> Verdict:
    text = read_visible_text(document)
    if text.words < MIN_WORDS and rendered is not None:
        text = max(
            text, read_visible_text(AccessibleDocument(rendered.document)), key=lambda candidate: candidate.words
        )
    if text.words >= MIN_WORDS:
        if text.is_truncated:
            return Pass("The page has more than {words} of visible text.", words=Count(text.words // 100 * 100, "word"))
        return Pass("The page has {words} of visible text.", words=Count(text.words, "word"))
    if indexing.decisive or is_log_in_page(page, document):
        return NotApplicable("The page asks not to be indexed, or is a log-in page.")
    return Warn("little", "The page has {words} of visible text.", words=Count(text.words, "word"))


@check(
    "lang-present",
    name="Page language is declared",
    outcomes={"missing": "Page language is not declared"},
    why="Browsers, and search engines that read the attribute, have to guess the language.",
    severity=LOW,
    fix=Fix("Declare the language of the page.", {Language.HTML: '<html lang="en">'}),
    references=("HTML, the lang attribute", "WCAG 3.1.1 Language of Page (A)"),
)
def lang_present(document: Document) -> Verdict:
    root = document.tree.root
    language = ((attribute(root, "lang") if root is not None else None) or "").strip()
    if language:
        return Pass("The page declares the language “{language}”.", language=Excerpt(language, 40))
    return Fail("missing", "The html element has no lang attribute.")
