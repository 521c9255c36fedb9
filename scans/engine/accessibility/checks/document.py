"""Language and document: what the page as a whole says about itself, and whether it leaves its readers in peace."""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.languages import has_text_of_its_language, is_registered, primary_subtag
from scans.engine.accessibility.verdicts import BEST_PRACTICE, Criterion, judge, selector, start_tag
from scans.engine.catalogue import Category, check
from scans.engine.findings import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    NotApplicable,
    Pass,
    Warn,
)
from scans.engine.messages import excerpt
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, elements, enclosing, http_equivs, live, select, texts
from scans.engine.page.meta import refresh, scale

CATEGORY = Category("Language and document", weight=5)

NOT_HTML = NotApplicable("The page is not HTML.")
LANGUAGE_OF_PAGE = Criterion("3.1.1", "A")
LANGUAGE_OF_PARTS = Criterion("3.1.2", "AA")
LANGUAGE_ATTRIBUTES = ("lang", "xml:lang")
PAGE_TITLED = Criterion("2.4.2", "A")
TIMING_ADJUSTABLE = Criterion("2.2.1", "A")
RESIZE_TEXT = Criterion("1.4.4", "AA")
PAUSE_STOP_HIDE = Criterion("2.2.2", "A")
CAPTIONS = Criterion("1.2.2", "A")
AUDIO_CONTROL = Criterion("1.4.2", "A")
# Attributes of a player that is not heard; HTML has no `paused`, but some scripts do.
SILENT = ("muted", "paused")

# A page that reloads after more than 20 hours is excepted (WCAG 2.2.1).
LONG_REFRESH_S = 72_000
LEAST_SCALE, GENEROUS_SCALE = 2.0, 5.0


@check(
    "html-has-lang",
    name="Page has a language",
    severity=HIGH,
    fix='Declare the language of the page: <html lang="en">',
    references=("WCAG 3.1.1 Language of Page (A)", "axe-core: html-has-lang"),
)
def html_has_lang(page: Page, document: Document) -> Finding:
    root = document.tree.root
    if not page.is_html or root is None:
        return NOT_HTML
    if language := _language(root, "lang"):
        return Pass(f"The html element says lang=“{excerpt(language, 40)}”.")
    elsewhere = ", and xml:lang does not count in HTML" if _language(root, "xml:lang") else ""
    return Fail(
        f"The html element has no lang attribute{elsewhere}, so screen readers guess how to pronounce the page.",
        evidence=(_item(root, LANGUAGE_OF_PAGE),),
    )


@check(
    "html-lang-valid",
    name="Language of the page exists",
    severity=HIGH,
    fix='Write a language of the IANA registry: <html lang="en">, "de", "pt-BR", …',
    references=("WCAG 3.1.1 Language of Page (A)", "RFC 5646, section 2.2.1", "axe-core: html-lang-valid"),
)
def html_lang_valid(page: Page, document: Document) -> Finding:
    root = document.tree.root
    if not page.is_html or root is None:
        return NOT_HTML
    if not any(attribute(root, name) for name in LANGUAGE_ATTRIBUTES):
        return NotApplicable("The html element has no language.")
    if faults := _language_faults(root):
        shown = " and ".join(excerpt(each, 60) for each in faults)
        return Fail(
            f"The html element says {shown}, which is no language, so screen readers guess how to pronounce the page.",
            evidence=(_item(root, LANGUAGE_OF_PAGE),),
        )
    return Pass(f"The language of the page is registered: {excerpt(start_tag(root), 80)}.")


@check(
    "valid-lang",
    name="Languages of parts exist",
    severity=HIGH,
    fix='Write a language of the IANA registry: <q lang="fr">, or remove the attribute.',
    references=("WCAG 3.1.2 Language of Parts (AA)", "RFC 5646, section 2.2.1", "axe-core: valid-lang"),
)
def valid_lang(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    parts = [
        each
        for each in document.exposed(r"[lang], [xml\:lang]")
        if each.tag != "html" and any(attribute(each, name) is not None for name in LANGUAGE_ATTRIBUTES)
    ]
    if not parts:
        return NotApplicable("No part of the page has a language of its own.")
    return judge(
        document,
        parts,
        [each for each in parts if _language_faults(each) and has_text_of_its_language(document, each)],
        LANGUAGE_OF_PARTS,
        passed=f"All languages of parts ({len(parts)}) are registered.",
        failed="parts in a language that does not exist, so screen readers guess how to pronounce them",
    )


@check(
    "html-xml-lang-mismatch",
    name="lang and xml:lang agree",
    severity=MEDIUM,
    fix="Remove xml:lang, or give it the same language as lang.",
    references=("WCAG 3.1.1 Language of Page (A)", "axe-core: html-xml-lang-mismatch"),
)
def html_xml_lang_mismatch(page: Page, document: Document) -> Finding:
    root = document.tree.root
    if not page.is_html or root is None:
        return NOT_HTML
    language, xml_language = _language(root, "lang"), _language(root, "xml:lang")
    if not language or not xml_language:
        return NotApplicable("The html element does not have both lang and xml:lang.")
    if not (is_registered(primary_subtag(language)) and is_registered(primary_subtag(xml_language))):
        return NotApplicable("One of the html element's languages does not exist, which is another check's business.")
    shown = f"lang is “{excerpt(language, 40)}”, xml:lang “{excerpt(xml_language, 40)}”"
    if primary_subtag(language) == primary_subtag(xml_language):
        return Pass(f"The same language twice: {shown}.")
    return Fail(f"Two languages for one page: {shown}.", evidence=(_item(root, LANGUAGE_OF_PAGE),))


@check(
    "document-title",
    name="Page has a title",
    severity=HIGH,
    fix="Write a <title> in the head that says what the page is.",
    references=("WCAG 2.4.2 Page Titled (A)", "axe-core: document-title"),
)
def document_title(page: Page, document: Document) -> Finding:
    if not page.is_html:
        return NOT_HTML
    titles = (node for node in live(document, "title") if enclosing(node, "svg") is None)
    first = next(titles, None)
    text = " ".join((first.text() or "").split()) if first is not None else ""
    if text:
        return Pass(f"The page's title is “{excerpt(text, 80)}”.")
    what = "no title" if first is None else "an empty title"
    return Fail(f"The page has {what}, so nobody hears on which page they are.")


@check(
    "meta-refresh",
    name="Page does not reload by itself",
    severity=CRITICAL,
    fix="Redirect on the server (301), or let visitors reload the page themselves.",
    references=("WCAG 2.2.1 Timing Adjustable (A)", "axe-core: meta-refresh"),
)
def meta_refresh(page: Page, document: Document) -> Finding:
    if not page.is_html:
        return NOT_HTML
    found = refresh(page, document)
    if found is None and http_equivs(document, "refresh", anywhere=True):
        return Pass("The page's refresh is none that browsers obey.")
    if found is None:
        return NotApplicable("The page has no refresh.")
    does = f"goes to {excerpt(found.url)}" if found.url else "reloads"
    if 0 < found.seconds <= LONG_REFRESH_S:
        evidence: tuple[EvidenceItem, ...] = (
            {"seconds": found.seconds, "wcag": TIMING_ADJUSTABLE.number, "level": TIMING_ADJUSTABLE.level},
        )
        return Fail(f"The page {does} after {found.seconds:,} s, whether or not its reader is done.", evidence=evidence)
    when = "at once" if found.seconds == 0 else f"only after {found.seconds:,} s"
    return Pass(f"The page {does} {when}, so nobody is interrupted.")


@check(
    "meta-viewport",
    name="Page can be zoomed",
    severity=MEDIUM,
    fix='Let people zoom: <meta name="viewport" content="width=device-width, initial-scale=1">',
    references=("WCAG 1.4.4 Resize Text (AA)", "axe-core: meta-viewport"),
)
def meta_viewport(page: Page, document: Document) -> Finding:
    return _judged_viewport(page, document, _forbids_zoom, RESIZE_TEXT, "twice the size")


@check(
    "meta-viewport-large",
    name="Page can be zoomed far",
    severity=LOW,
    fix='Set no limit to zooming: <meta name="viewport" content="width=device-width, initial-scale=1">',
    references=("axe-core: meta-viewport-large (best practice)",),
)
def meta_viewport_large(page: Page, document: Document) -> Finding:
    finding = _judged_viewport(page, document, _limits_zoom, BEST_PRACTICE, "five times the size")
    if isinstance(finding, Pass) and any(_forbids_zoom(properties) for _, properties in _viewports(document)):
        return Pass("The viewport forbids zooming more strictly, which is another check's business.")
    return finding


@check(
    "blink",
    name="No blinking text",
    severity=HIGH,
    fix="Replace the <blink> element, for example by <strong>.",
    references=("WCAG 2.2.2 Pause, Stop, Hide (A)", "axe-core: blink"),
)
def blink(page: Page, document: AccessibleDocument) -> Finding:
    return _without(page, document, "blink", lambda _: True)


@check(
    "marquee",
    name="No moving text",
    severity=HIGH,
    fix="Replace the <marquee> element by text that stands still.",
    references=("WCAG 2.2.2 Pause, Stop, Hide (A)", "axe-core: marquee"),
)
def marquee(page: Page, document: AccessibleDocument) -> Finding:
    return _without(page, document, "marquee", _has_content)


@check(
    "video-caption",
    name="Videos have captions",
    severity=CRITICAL,
    fix='Add captions: <track kind="captions" src="talk.vtt" srclang="en" label="English">',
    references=("WCAG 1.2.2 Captions (Prerecorded) (A)", "axe-core: video-caption"),
)
def video_caption(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    videos = [each for each in document.exposed("video") if attribute(each, "muted") is None]
    if not videos:
        return NotApplicable("The page has no video with sound.")
    bare = [each for each in videos if not any(_is_captions(track) for track in select(each, "track"))]
    finding = judge(
        document,
        videos,
        bare,
        CAPTIONS,
        passed=f"All videos ({len(videos)}) have a track of captions.",
        failed="videos without a track of captions",
    )
    if isinstance(finding, Fail):
        # Captions may also be burnt into the picture or come by script, and a film may have no sound.
        return Warn(f"{finding.message} Please see whether they have captions otherwise.", None, finding.evidence)
    return finding


@check(
    "no-autoplay-audio",
    name="No sound by itself",
    severity=MEDIUM,
    fix="Remove autoplay, or add muted: sound starts when the visitor wants it.",
    references=("WCAG 1.4.2 Audio Control (A)", "axe-core: no-autoplay-audio"),
)
def no_autoplay_audio(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    # One that is hidden is heard all the same.
    players = [
        each
        for each in live(document.document, "audio[autoplay], video[autoplay]")
        if all(attribute(each, name) is None for name in SILENT) and _has_source(each)
    ]
    if not players:
        return NotApplicable("Nothing on the page plays sound by itself.")
    finding = judge(
        document,
        players,
        [each for each in players if attribute(each, "controls") is None],
        AUDIO_CONTROL,
        passed="What plays by itself has controls to stop it.",
        failed="players that start with sound and have no controls",
    )
    if isinstance(finding, Fail):
        # Less than three seconds of sound are allowed, and how long it is only a player knows.
        return Warn(f"{finding.message} Sound of more than three seconds is not allowed so.", None, finding.evidence)
    return finding


def _judged_viewport(
    page: Page,
    document: Document,
    is_faulty: Callable[[dict[str, str]], bool],
    criterion: Criterion,
    size: str,
) -> Finding:
    if not page.is_html:
        return NOT_HTML
    metas = _viewports(document)
    if not metas:
        return NotApplicable("The page has no meta viewport.")
    faulty = [node for node, properties in metas if is_faulty(properties)]
    if faulty:
        evidence = tuple(_item(node, criterion) for node in faulty)
        shown = excerpt(start_tag(faulty[0]))
        return Fail(f"The viewport keeps people from zooming to {size}: {shown}.", evidence=evidence)
    return Pass(f"No maximum-scale keeps people from zooming to {size}: {excerpt(start_tag(metas[0][0]))}.")


def _without(page: Page, document: AccessibleDocument, tag: str, takes_room: Callable[[LexborNode], bool]) -> Finding:
    if not page.is_html:
        return NOT_HTML
    found = list(live(document.document, tag))
    if not found:
        return NotApplicable(f"The page has no <{tag}>.")
    return judge(
        document,
        found,
        # Who sees it is disturbed by it, also where assistive technology does not meet it.
        [each for each in found if takes_room(each) and not document.visibility.is_hidden(each)],
        PAUSE_STOP_HIDE,
        passed=f"Every <{tag}> of the page is empty or hidden.",
        failed=f"<{tag}> elements, which nobody can stop",
    )


def _has_content(node: LexborNode) -> bool:
    return any(texts(node)) or any(True for _ in elements(node))


def _viewports(document: Document) -> list[tuple[LexborNode, dict[str, str]]]:
    """The viewport elements and what they say in lower case. As axe-core, which takes white space for no separator."""
    return [
        (node, _viewport_properties((attribute(node, "content") or "").lower()))
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() == "viewport"
    ]


def _viewport_properties(content: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in re.split(r"[;,]", content):
        name, _, value = (each.strip() for each in part.partition("="))
        number = scale(value)
        if not value or (name == "maximum-scale" and number is not None and number < 0):
            continue
        found[name] = "1" if name == "maximum-scale" and value == "yes" else value
    return found


def _forbids_zoom(properties: dict[str, str]) -> bool:
    scalable = properties.get("user-scalable", "")
    number, largest = scale(scalable), scale(properties.get("maximum-scale", ""))
    return (
        scalable == "no" or (number is not None and -1 < number < 1) or (largest is not None and largest < LEAST_SCALE)
    )


def _limits_zoom(properties: dict[str, str]) -> bool:
    """A limit that is not yet so low that meta-viewport speaks of it."""
    number = scale(properties.get("maximum-scale", ""))
    return number is not None and LEAST_SCALE <= number < GENEROUS_SCALE


def _is_captions(track: LexborNode) -> bool:
    return (attribute(track, "kind") or "").lower() == "captions"


def _has_source(player: LexborNode) -> bool:
    sources = (each for each in elements(player) if each.tag == "source")
    return any(attribute(each, "src") for each in (player, *sources))


def _language(root: LexborNode, name: str) -> str:
    return (attribute(root, name) or "").strip()


def _language_faults(node: LexborNode) -> list[str]:
    """The attributes whose language is blank or not registered, as written."""
    faults = []
    for name in LANGUAGE_ATTRIBUTES:
        value = attribute(node, name)
        if value and not is_registered(primary_subtag(value)):
            faults.append(f"{name}=“{value[:100]}”")
    return faults


def _item(node: LexborNode, criterion: Criterion) -> EvidenceItem:
    return {
        "selector": selector(node),
        "snippet": excerpt(start_tag(node)),
        "wcag": criterion.number or None,
        "level": criterion.level or None,
    }
