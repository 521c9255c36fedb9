"""Content and metadata: what search engines show of the page, and whether there is enough to show."""

from __future__ import annotations

import re
import unicodedata

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.images import judge_image_alternatives
from scans.engine.accessibility.names import accessible_name, shown_text
from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, enclosing, live

CATEGORY = Category("Content and metadata", weight=25)

# In letters of Latin width; Chinese, Japanese and Korean ones take the room of two.
TITLE_WIDTH = (20, 60)
DESCRIPTION_WIDTH = (80, 160)
ENOUGH_WORDS = 200
# Nobody needs to know how many thousand words a book has. Spaces between the elements count, too.
ENOUGH_CHARACTERS = 40_000
# Scripts that are written without spaces; about two characters make a word.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@check(
    "title",
    name="Title",
    severity=HIGH,
    fix="Write one <title> of 20 to 60 characters in the head that tells this page from all others.",
    references=("HTML, the title element", "Google Search Central: title links"),
)
def title(page: Page, document: Document) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    titles = [
        " ".join((node.text() or "").split()) for node in live(document, "title") if enclosing(node, "svg") is None
    ]
    if not titles:
        return Fail("The page has no title.")
    first = titles[0]
    if not first:
        return Fail("The page's title is empty.")
    if len(titles) > 1:
        return Warn(f"The page has {len(titles)} titles; the first, “{excerpt(first, 80)}”, is shown.", LOW)
    return _judged_width("title", first, TITLE_WIDTH)


@check(
    "meta-description",
    name="Description",
    severity=MEDIUM,
    fix='Sum the page up in 80 to 160 characters: <meta name="description" content="…">',
    references=("Google Search Central: snippets and meta descriptions",),
)
def meta_description(page: Page, document: Document) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    descriptions = [
        " ".join((attribute(node, "content") or "").split())
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() == "description"
    ]
    if not descriptions:
        return Fail("The page has no meta description, so search engines cut one out of its text.")
    description = next((each for each in descriptions if each), "")
    if not description:
        return Fail("The page's meta description is empty.")
    return _judged_width("description", description, DESCRIPTION_WIDTH)


@check(
    "h1",
    name="Main heading",
    severity=LOW,
    fix="Give the page a heading <h1> that says what it is about.",
    references=("Google Search Central: title links",),
)
def h1(page: Page, document: AccessibleDocument) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    headings = [
        node
        for node in live(document.document, "h1, [role=heading i][aria-level='1']")
        if not document.visibility.is_hidden(node)
    ]
    texts = [text for node in headings if (text := accessible_name(document, node) or shown_text(document, node))]
    if texts:
        more = f", the first of {len(texts)}" if len(texts) > 1 else ""
        return Pass(f"The main heading is “{excerpt(texts[0], 80)}”{more}.")
    return Warn("The page's main heading is empty." if headings else "The page has no main heading (h1).")


@check(
    "seo-image-alt",
    name="Images can be searched for",
    severity=MEDIUM,
    fix='Say what each image shows: <img alt="Red running shoe, side view">; write alt="" where it only decorates.',
    references=("Google Search Central: image best practices", "WCAG 1.1.1 Non-text Content (A)"),
)
def seo_image_alt(page: Page, document: AccessibleDocument) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    return judge_image_alternatives(document)


@check(
    "thin-content",
    name="Enough text",
    severity=LOW,
    fix="Tell visitors more about the subject of the page, in text that stands in the HTML itself.",
    references=("Google Search Central: helpful content",),
)
def thin_content(page: Page, document: AccessibleDocument) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    body = document.document.tree.body
    text = shown_text(document, body, ENOUGH_CHARACTERS) if body is not None else ""
    words = count_words(text)
    if words >= ENOUGH_WORDS:
        more = "more than " if len(text) > ENOUGH_CHARACTERS // 2 else ""
        return Pass(f"The page has {more}{words // 100 * 100 if more else words:,} words of visible text.")
    return Warn(
        f"Before scripts run, the page has {counted(words, 'word')} of visible text; from {ENOUGH_WORDS} on "
        "there is something to find."
    )


@check(
    "lang-present",
    name="Language declared",
    severity=LOW,
    fix='Declare the language of the page: <html lang="en">',
    references=("HTML, the lang attribute", "WCAG 3.1.1 Language of Page (A)"),
)
def lang_present(page: Page, document: Document) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    root = document.tree.root
    language = (attribute(root, "lang") if root is not None else None) or ""
    if language.strip():
        return Pass(f"The page says that its language is “{excerpt(language.strip(), 40)}”.")
    return Fail("The html element has no lang attribute, so the language has to be guessed.")


def width(text: str) -> int:
    """How many letters of Latin width the text takes."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def count_words(text: str) -> int:
    """Words of a text, also in scripts that put no spaces between them."""
    unspaced = len(UNSPACED.findall(text))
    spaced = sum(1 for each in UNSPACED.sub(" ", text).split() if any(letter.isalnum() for letter in each))
    return spaced + unspaced // 2


def _judged_width(what: str, text: str, limits: tuple[int, int]) -> Finding:
    least, most = limits
    shown = f"“{excerpt(text, 80)}”"
    found = width(text)
    if found < least:
        return Warn(f"The {what} is short, {found} of at least {least} characters: {shown}.", LOW)
    if found > most:
        return Warn(f"The {what} has {found} characters, and what is over {most} is cut off: {shown}.", LOW)
    return Pass(f"The {what} has {found} characters: {shown}.")


def _not_judged(page: Page) -> NotApplicable | None:
    if not page.is_html:
        return NotApplicable("The page is not HTML.")
    if page.response.status >= 400:
        return NotApplicable("The page answers with an error, so its content is not indexed.")
    return None
