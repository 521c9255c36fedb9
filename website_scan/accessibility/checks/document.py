"""Language and document checks: the declarations of the whole page, and disturbances such as refresh and motion."""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.languages import (
    LANGUAGE_ATTRIBUTES,
    has_text_of_its_language,
    invalid_languages,
    is_registered,
    primary_subtag,
)
from website_scan.accessibility.verdicts import Faults, evidence_item, judge, start_tag
from website_scan.accessibility.wcag import (
    AUDIO_CONTROL,
    BEST_PRACTICE,
    CAPTIONS,
    LANGUAGE_OF_PAGE,
    LANGUAGE_OF_PARTS,
    PAGE_TITLED,
    PAUSE_STOP_HIDE,
    RESIZE_TEXT,
    TIMING_ADJUSTABLE,
    Criterion,
)
from website_scan.accessibility.wording import faulty, sentence, wording_of
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, Fail, Finding, NotApplicable, Pass
from website_scan.messages import counted, excerpt
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, elements, enclosing, http_equivs, live, metas_named, select, texts
from website_scan.page.meta import refresh, scale, viewport_properties

CATEGORY = Category("Language and document", weight=5, html=True)

NO_ROOT = NotApplicable("The page has no html element.")
# Attributes of a player without sound. HTML has no `paused`, but some scripts write it.
SILENT = ("muted", "paused")

# A page that reloads after more than 20 hours is excepted (WCAG 2.2.1).
LONG_REFRESH_S = 72_000
LEAST_SCALE, GENEROUS_SCALE = 2.0, 5.0  # zoom factors
UNLIMITED = frozenset({"device-width", "device-height"})
ZOOMABLE = UNLIMITED | {"yes"}


@check(
    "html-has-lang",
    name="Page declares its language",
    found="Page does not declare its language",
    why="Screen readers pronounce the page in the user's language instead of the page's.",
    severity=HIGH,
    fix='Declare the language of the page: <html lang="en">',
    references=(f"{LANGUAGE_OF_PAGE}", "axe-core: html-has-lang"),
)
@faulty("the page", "does not declare its language")
def html_has_lang(document: Document) -> Finding:
    root = document.tree.root
    if root is None:
        return NO_ROOT
    if language := _language(root, "lang"):
        return Pass(f'The html element has lang="{excerpt(language, 40)}".')
    missing = "no" if attribute(root, "lang") is None else "an empty"
    elsewhere = ", and xml:lang does not count in HTML" if _language(root, "xml:lang") else ""
    return Fail(
        f"{sentence(wording_of(html_has_lang).clause(1))}: the html element has {missing} lang attribute{elsewhere}.",
        evidence=[evidence_item(root, LANGUAGE_OF_PAGE)],
    )


@check(
    "html-lang-valid",
    name="Language of the page is valid",
    found="Language of the page is invalid",
    why="Screen readers do not know the language, and pronounce the page wrongly.",
    severity=HIGH,
    fix='Use a language tag from the IANA registry: <html lang="en">, "de", "pt-BR", …',
    references=(f"{LANGUAGE_OF_PAGE}", "RFC 5646, section 2.2.1", "axe-core: html-lang-valid"),
)
@faulty("the page", "declares an invalid language")
def html_lang_valid(document: Document) -> Finding:
    root = document.tree.root
    if root is None:
        return NO_ROOT
    if not any(attribute(root, name) for name in LANGUAGE_ATTRIBUTES):
        return NotApplicable("The html element has no language.")
    if invalid := invalid_languages(root):
        shown = " and ".join(excerpt(each, 60) for each in invalid)
        return Fail(
            f"{sentence(wording_of(html_lang_valid).clause(1))}: the html element has {shown}.",
            evidence=[evidence_item(root, LANGUAGE_OF_PAGE)],
        )
    return Pass(f"The language of the page is registered: {excerpt(start_tag(root), 80)}.")


@check(
    "valid-lang",
    name="Languages of parts are valid",
    found="Languages of parts are invalid",
    why="Screen readers guess how to pronounce such a part.",
    severity=HIGH,
    fix='Use a language tag from the IANA registry: <q lang="fr">, or remove the attribute.',
    references=(f"{LANGUAGE_OF_PARTS}", "RFC 5646, section 2.2.1", "axe-core: valid-lang"),
    content=True,
)
@faulty("part|parts with a language of its|their own", "has|have one that does not exist")
def valid_lang(document: AccessibleDocument) -> Finding:
    parts = (
        each
        for each in document.exposed(r"[lang], [xml\:lang]")
        if each.tag != "html" and any(attribute(each, name) is not None for name in LANGUAGE_ATTRIBUTES)
    )
    return judge(
        valid_lang,
        Faults.find(document, parts, lambda each: invalid_languages(each) and has_text_of_its_language(document, each)),
        LANGUAGE_OF_PARTS,
        passed="have a registered one",
    )


@check(
    "html-xml-lang-mismatch",
    name="lang and xml:lang agree",
    found="lang and xml:lang differ",
    why="Which of the two languages is used depends on the browser.",
    severity=MEDIUM,
    fix="Remove xml:lang, or give it the same language as lang.",
    references=(f"{LANGUAGE_OF_PAGE}", "axe-core: html-xml-lang-mismatch"),
)
@faulty("the page", "declares two languages")
def html_xml_lang_mismatch(document: Document) -> Finding:
    root = document.tree.root
    if root is None:
        return NO_ROOT
    language, xml_language = _language(root, "lang"), _language(root, "xml:lang")
    if not language or not xml_language:
        return NotApplicable("The html element does not have both lang and xml:lang.")
    if not (is_registered(primary_subtag(language)) and is_registered(primary_subtag(xml_language))):
        return NotApplicable("One of the html element's languages does not exist; html-lang-valid reports that.")
    shown = f"lang is “{excerpt(language, 40)}”, xml:lang “{excerpt(xml_language, 40)}”"
    if primary_subtag(language) == primary_subtag(xml_language):
        return Pass(f"The html element has the same language twice: {shown}.")
    return Fail(
        f"{sentence(wording_of(html_xml_lang_mismatch).clause(1))}: {shown}.",
        evidence=[evidence_item(root, LANGUAGE_OF_PAGE)],
    )


@check(
    "document-title",
    name="Page has a title",
    found="Page has no title",
    why="The title is the first thing that screen readers announce, and it names the tab.",
    severity=HIGH,
    fix="Write a <title> in the head that says what the page is.",
    references=(f"{PAGE_TITLED}", "axe-core: document-title"),
)
@faulty("the page", "has no title")
def document_title(document: Document) -> Finding:
    titles = (node for node in live(document, "title") if enclosing(node, "svg") is None)
    first = next(titles, None)
    text = " ".join((first.text() or "").split()) if first is not None else ""
    if text:
        return Pass(f"The page's title is “{excerpt(text, 80)}”.")
    if first is not None:
        return Fail("The page's title is empty.", title="Page title is empty")
    return Fail(f"{sentence(wording_of(document_title).clause(1))}.")


@check(
    "meta-refresh",
    name="No timed refresh within 20 hours",
    found="Timed refresh within 20 hours",
    why="The page changes while people are still reading, and screen readers start again from the top.",
    severity=CRITICAL,
    fix="Redirect on the server (status 301), or let visitors reload the page themselves.",
    references=(f"{TIMING_ADJUSTABLE}", "axe-core: meta-refresh"),
)
@faulty("the page", "changes by itself within 20 hours")
def meta_refresh(page: Page, document: Document) -> Finding:
    found = refresh(page, document)
    if found is None and http_equivs(document, "refresh", anywhere=True):
        return Pass("The page's refresh is invalid, so browsers ignore it.")
    if found is None:
        return NotApplicable("The page has no refresh.")
    does = f"goes to {excerpt(found.url)}" if found.url else "reloads"
    if 0 < found.seconds <= LONG_REFRESH_S:
        return Fail(
            f"The page {does} after {counted(found.seconds, 'second')}.",
            evidence=[{"seconds": found.seconds, "wcag": TIMING_ADJUSTABLE.number, "level": TIMING_ADJUSTABLE.level}],
        )
    when = "at once" if found.seconds == 0 else f"only after {found.seconds:,} s"
    return Pass(f"The page {does} {when}, so nobody is interrupted.")


@check(
    "meta-viewport",
    name="Page can be zoomed to 200%",
    found="Zooming to 200% is disabled",
    why="People with low vision cannot enlarge the page.",
    severity=MEDIUM,
    fix='Allow zooming: <meta name="viewport" content="width=device-width, initial-scale=1">',
    references=(f"{RESIZE_TEXT}", "axe-core: meta-viewport"),
)
@faulty("the viewport", "keeps people from zooming to 200%")
def meta_viewport(document: Document) -> Finding:
    return _judged_viewport(meta_viewport, document, _forbids_zoom, RESIZE_TEXT, "200%")


@check(
    "meta-viewport-large",
    name="No zoom limit between 200% and 500%",
    found="Zoom is limited to less than 500%",
    why="People with low vision cannot enlarge the page as far as they need.",
    severity=LOW,
    fix='Do not limit zooming: <meta name="viewport" content="width=device-width, initial-scale=1">',
    references=("axe-core: meta-viewport-large (best practice)",),
)
@faulty("the viewport", "keeps people from zooming to 500%")
def meta_viewport_large(document: Document) -> Finding:
    finding = _judged_viewport(meta_viewport_large, document, _limits_zoom, BEST_PRACTICE, "500%")
    if isinstance(finding, Pass) and any(_forbids_zoom(properties) for _, properties in _viewports(document)):
        return Pass("The viewport already disables zooming to 200%; meta-viewport reports that.")
    return finding


@check(
    "blink",
    name="No blinking text",
    found="Blinking text",
    why="Blinking text is hard to read, and draws attention away from everything else.",
    severity=HIGH,
    fix="Replace the <blink> element, for example with <strong>.",
    references=(f"{PAUSE_STOP_HIDE}", "axe-core: blink"),
    content=True,
)
@faulty("<blink> element|elements", "shows|show blinking content")
def blink(document: AccessibleDocument) -> Finding:
    return _judged_motion(blink, document, "blink", lambda _: True)


@check(
    "marquee",
    name="No scrolling text",
    found="Scrolling text",
    why="Moving text is hard to read and to click, and visitors cannot stop it.",
    severity=HIGH,
    fix="Replace the <marquee> element with static text.",
    references=(f"{PAUSE_STOP_HIDE}", "axe-core: marquee"),
    content=True,
)
@faulty("<marquee> element|elements", "shows|show moving content")
def marquee(document: AccessibleDocument) -> Finding:
    return _judged_motion(marquee, document, "marquee", _has_content)


@check(
    "video-caption",
    name="Videos have captions",
    found="Videos without a captions track",
    why="Deaf people cannot follow what is said.",
    severity=CRITICAL,
    fix='Add captions: <track kind="captions" src="talk.vtt" srclang="en" label="English">',
    references=(f"{CAPTIONS}", "axe-core: video-caption"),
    content=True,
)
@faulty("video|videos with sound", "has|have no captions")
def video_caption(document: AccessibleDocument) -> Finding:
    videos = [each for each in document.exposed("video") if attribute(each, "muted") is None]
    bare = [each for each in videos if not any(_is_captions(track) for track in select(each, "track"))]
    # Captions may also be burnt into the picture or added by a script, and a video may have no sound.
    return judge(
        video_caption,
        Faults(document, videos, review=bare),
        CAPTIONS,
        passed="have a captions track",
    )


@check(
    "no-autoplay-audio",
    name="Audio that plays automatically can be stopped",
    found="Audio plays automatically without controls",
    why="The sound drowns out the screen reader, and there is no control to stop it.",
    severity=MEDIUM,
    fix="Remove autoplay, or add muted, so that sound starts only when the visitor wants it.",
    references=(f"{AUDIO_CONTROL}", "axe-core: no-autoplay-audio"),
    content=True,
)
@faulty(
    "player|players that starts|start by itself|themselves",
    "plays|play sound for more than three seconds without controls",
)
def no_autoplay_audio(document: AccessibleDocument) -> Finding:
    # A hidden player is audible all the same.
    players = [
        each
        for each in live(document.document, "audio[autoplay], video[autoplay]")
        if all(attribute(each, name) is None for name in SILENT) and _has_source(each)
    ]
    # The length of the sound is known only to a player.
    return judge(
        no_autoplay_audio,
        Faults(document, players, review=[each for each in players if attribute(each, "controls") is None]),
        AUDIO_CONTROL,
        passed="have controls to stop them",
    )


def _judged_viewport(
    check: Callable[..., Finding],
    document: Document,
    is_faulty: Callable[[dict[str, str]], bool],
    criterion: Criterion,
    size: str,
) -> Finding:
    metas = _viewports(document)
    if not metas:
        return NotApplicable("The page has no meta viewport.")
    if limiting := [node for node, properties in metas if is_faulty(properties)]:
        return Fail(
            f"{sentence(wording_of(check).clause(1))}: {excerpt(start_tag(limiting[0]))}.",
            evidence=[evidence_item(node, criterion) for node in limiting],
        )
    return Pass(f"No maximum-scale keeps people from zooming to {size}: {excerpt(start_tag(metas[0][0]))}.")


def _viewports(document: Document) -> list[tuple[LexborNode, dict[str, str]]]:
    """Return the viewport elements with their properties."""
    return [(node, viewport_properties(attribute(node, "content") or "")) for node in metas_named(document, "viewport")]


def _forbids_zoom(properties: dict[str, str]) -> bool:
    """Return True if zooming to 200% is disabled. Browsers read an unknown word as 0 (CSS Device Adaptation, 10.4)."""
    scalable, largest = properties.get("user-scalable", "yes"), properties.get("maximum-scale", "5")
    number, limit = scale(scalable), scale(largest)
    if number is None and scalable not in ZOOMABLE:
        return True
    if limit is None and largest not in UNLIMITED:
        return True
    return (number is not None and -1 < number < 1) or (limit is not None and 0 <= limit < LEAST_SCALE)


def _limits_zoom(properties: dict[str, str]) -> bool:
    """Return True if the limit is below 500%, but not so low that `_forbids_zoom` is True."""
    number = scale(properties.get("maximum-scale", ""))
    return number is not None and LEAST_SCALE <= number < GENEROUS_SCALE


def _judged_motion(
    check: Callable[..., Finding], document: AccessibleDocument, tag: str, takes_room: Callable[[LexborNode], bool]
) -> Finding:
    return judge(
        check,
        # Moving text disturbs everyone who sees it, even where it is hidden from assistive technology.
        Faults.find(
            document,
            live(document.document, tag),
            lambda each: takes_room(each) and not document.visibility.is_hidden(each),
        ),
        PAUSE_STOP_HIDE,
        passed="are empty or hidden",
    )


def _has_content(node: LexborNode) -> bool:
    return any(texts(node)) or any(True for _ in elements(node))


def _is_captions(track: LexborNode) -> bool:
    return (attribute(track, "kind") or "").lower() == "captions"


def _has_source(player: LexborNode) -> bool:
    sources = (each for each in elements(player) if each.tag == "source")
    return any(attribute(each, "src") for each in (player, *sources))


def _language(root: LexborNode, name: str) -> str:
    return (attribute(root, name) or "").strip()
