"""Checks of the page's language, title, zoom and moving content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.languages import (
    LANGUAGE_ATTRIBUTES,
    has_text_in_own_language,
    invalid_languages,
    is_registered_subtag,
    primary_subtag,
)
from website_scan.accessibility.verdicts import Faults, judges, place, start_tag
from website_scan.accessibility.wcag import (
    AUDIO_CONTROL,
    BEST_PRACTICE,
    CAPTIONS,
    LANGUAGE_OF_PAGE_CRITERION,
    LANGUAGE_OF_PARTS,
    PAGE_TITLED,
    PAUSE_STOP_HIDE,
    RESIZE_TEXT,
    TIMING_ADJUSTABLE,
    Criterion,
)
from website_scan.accessibility.wording import faulty
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, set_values
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, elements, enclosing, http_equivs, live, metas_named, select, texts
from website_scan.page.meta import refresh, scale, viewport_properties
from website_scan.places import Column, Place
from website_scan.values import Address, Code, Count, Excerpt, Value, Values

CATEGORY = Category("Language and document", weight=5, html=True)

NO_HTML_ELEMENT = NotApplicable("The page has no html element.")
# HTML has no attribute `paused`, but some scripts use it.
SILENT = ("muted", "paused")

# WCAG 2.2.1 excepts time limits of more than 20 hours.
MAX_JUDGED_REFRESH_S = 72_000
MIN_MAXIMUM_SCALE, MIN_LARGE_MAXIMUM_SCALE = 2.0, 5.0
UNLIMITED = frozenset({"device-width", "device-height"})
ZOOMABLE = UNLIMITED | {"yes"}
ZOOM = {Language.HTML: '<meta name="viewport" content="width=device-width, initial-scale=1">'}


class TimedRefresh(Place, frozen=True):
    """Timed refresh of the page, with its delay."""

    kind: ClassVar[str] = "refresh"

    seconds: Annotated[int, Column("Time", "number", "s")]
    wcag: Annotated[str, Column("WCAG", "short")]
    level: Annotated[str, Column("WCAG level", "short")]


@check(
    "html-has-lang",
    name="Page declares its language",
    outcomes={"missing": "Page does not declare its language"},
    why="Screen readers pronounce the page in the user's language instead of the page's.",
    consequence="Blind visitors may hear the page read out with the wrong pronunciation, and not understand it.",
    severity=HIGH,
    fix=Fix("Declare the language of the page.", {Language.HTML: '<html lang="en">'}),
    references=(f"{LANGUAGE_OF_PAGE_CRITERION}", "axe-core: html-has-lang"),
)
@faulty("the page", "does not declare its language")
def html_has_lang(document: Document) -> Verdict:
    root = document.tree.root
    if root is None:
        return NO_HTML_ELEMENT
    if language := _language_attribute(root, "lang"):
        return Pass('The html element has lang="{language}".', language=Excerpt(language, 40))
    missing = "no" if attribute(root, "lang") is None else "an empty"
    elsewhere = ", and xml:lang does not count in HTML" if _language_attribute(root, "xml:lang") else ""
    return Fail(
        "missing",
        f"The page does not declare its language: the html element has {missing} lang attribute{elsewhere}.",
        places=[place(root, LANGUAGE_OF_PAGE_CRITERION)],
    )


@check(
    "html-lang-valid",
    name="Language of the page is valid",
    outcomes={"invalid": "Language of the page is invalid"},
    why="Screen readers do not know the language, and pronounce the page wrongly.",
    consequence="Blind visitors may hear the page read out with the wrong pronunciation, and not understand it.",
    severity=HIGH,
    fix='Use a language tag from the IANA registry, such as `<html lang="en">`, `lang="de"` or `lang="pt-BR"`.',
    references=(f"{LANGUAGE_OF_PAGE_CRITERION}", "RFC 5646, section 2.2.1", "axe-core: html-lang-valid"),
)
@faulty("the page", "declares an invalid language")
def html_lang_valid(document: Document) -> Verdict:
    root = document.tree.root
    if root is None:
        return NO_HTML_ELEMENT
    if not any(attribute(root, name) for name in LANGUAGE_ATTRIBUTES):
        return NotApplicable("The html element has no language.")
    if invalid := invalid_languages(root):
        return Fail(
            "invalid",
            "The page declares an invalid language: the html element has {languages}.",
            languages=Values([Code(language, 60) for language in invalid], " and "),
            places=[place(root, LANGUAGE_OF_PAGE_CRITERION)],
        )
    return Pass("The language of the page is registered: {root}.", root=Code(start_tag(root), 80))


@check(
    "valid-lang",
    name="Languages of parts are valid",
    outcomes={"invalid": "Languages of parts are invalid"},
    why="Screen readers guess how to pronounce such a part.",
    consequence="Blind visitors may hear a part of the page with the wrong pronunciation, and not understand it.",
    severity=HIGH,
    fix='Use a language tag from the IANA registry: `<q lang="fr">`, or remove the attribute.',
    references=(f"{LANGUAGE_OF_PARTS}", "RFC 5646, section 2.2.1", "axe-core: valid-lang"),
    content=True,
)
@judges(
    "part|parts with a language of its|their own",
    "has|have one that does not exist",
    "have a registered one",
    LANGUAGE_OF_PARTS,
)
def valid_lang(document: AccessibleDocument) -> Faults:
    parts = (
        part
        for part in document.exposed(r"[lang], [xml\:lang]")
        if part.tag != "html" and any(attribute(part, name) is not None for name in LANGUAGE_ATTRIBUTES)
    )
    return Faults.find(parts, lambda part: invalid_languages(part) and has_text_in_own_language(document, part))


@check(
    "html-xml-lang-mismatch",
    name="lang and xml:lang agree",
    outcomes={"differ": "lang and xml:lang differ"},
    why="Which of the two languages is used depends on the browser.",
    severity=MEDIUM,
    fix="Remove `xml:lang`, or give it the same language as `lang`.",
    references=(f"{LANGUAGE_OF_PAGE_CRITERION}", "axe-core: html-xml-lang-mismatch"),
)
@faulty("the page", "declares two languages")
def html_xml_lang_mismatch(document: Document) -> Verdict:
    root = document.tree.root
    if root is None:
        return NO_HTML_ELEMENT
    language, xml_language = _language_attribute(root, "lang"), _language_attribute(root, "xml:lang")
    if not language or not xml_language:
        return NotApplicable("The html element does not have both lang and xml:lang.")
    if not (is_registered_subtag(primary_subtag(language)) and is_registered_subtag(primary_subtag(xml_language))):
        return NotApplicable("One of the html element's languages does not exist; html-lang-valid reports that.")
    if primary_subtag(language) == primary_subtag(xml_language):
        return Pass(
            "The html element has the same language twice: lang is “{lang}”, xml:lang “{xml_lang}”.",
            lang=Excerpt(language, 40),
            xml_lang=Excerpt(xml_language, 40),
        )
    return Fail(
        "differ",
        "The page declares two languages: lang is “{lang}”, xml:lang “{xml_lang}”.",
        lang=Excerpt(language, 40),
        xml_lang=Excerpt(xml_language, 40),
        places=[place(root, LANGUAGE_OF_PAGE_CRITERION)],
    )


@check(
    "document-title",
    name="Page has a title",
    outcomes={"missing": "Page has no title", "empty": "Page title is empty"},
    why="The title is the first thing that screen readers announce, and it names the tab.",
    consequence="Blind visitors, and anyone with many pages open, cannot tell from its name what the page is about.",
    severity=HIGH,
    fix="Write a `<title>` in the head that says what the page is.",
    references=(f"{PAGE_TITLED}", "axe-core: document-title"),
)
@faulty("the page", "has no title")
def document_title(document: Document) -> Verdict:
    titles = (node for node in live(document, "title") if enclosing(node, "svg") is None)
    first = next(titles, None)
    text = " ".join((first.text() or "").split()) if first is not None else ""
    if text:
        return Pass("The page's title is “{title}”.", title=Excerpt(text, 80))
    if first is not None:
        return Fail("empty", "The page's title is empty.")
    return Fail("missing", "The page has no title.")


@check(
    "meta-refresh",
    name="No timed refresh within 20 hours",
    outcomes={"timed": "Timed refresh within 20 hours"},
    why="The page changes while people are still reading, and screen readers start again from the top.",
    consequence="The page may change while visitors are still reading or typing, so they lose their place.",
    severity=CRITICAL,
    fix="Redirect on the server with status 301, or let visitors reload the page themselves.",
    references=(f"{TIMING_ADJUSTABLE}", "axe-core: meta-refresh"),
)
@faulty("the page", "changes by itself within 20 hours")
def meta_refresh(page: Page, document: Document) -> Verdict:
    redirect = refresh(page, document)
    if redirect is None and http_equivs(document, "refresh", anywhere=True):
        return Pass("The page's refresh is invalid, so browsers ignore it.")
    if redirect is None:
        return NotApplicable("The page has no refresh.")
    url: dict[str, Value] = {"url": Address(redirect.url)} if redirect.url else {}
    does = "The page goes to {url}" if redirect.url else "The page reloads"
    if redirect.seconds == 0:
        return set_values(Pass(f"{does} at once, so nobody is interrupted."), url)
    after = url | {"delay": Count(redirect.seconds, "second")}
    if redirect.seconds > MAX_JUDGED_REFRESH_S:
        return set_values(Pass(f"{does} only after {{delay}}, so nobody is interrupted."), after)
    row = TimedRefresh(redirect.seconds, TIMING_ADJUSTABLE.number, TIMING_ADJUSTABLE.level)
    return set_values(Fail("timed", f"{does} after {{delay}}.", details=[row]), after)


@check(
    "meta-viewport",
    name="Page can be zoomed to 200%",
    outcomes={"disabled": "Zooming to 200% is disabled"},
    why="People with low vision cannot enlarge the page.",
    severity=MEDIUM,
    fix=Fix("Allow zooming.", ZOOM),
    references=(f"{RESIZE_TEXT}", "axe-core: meta-viewport"),
)
@faulty("the viewport", "keeps people from zooming to 200%")
def meta_viewport(document: Document) -> Verdict:
    return _judge_viewport("disabled", document, _disables_zoom, RESIZE_TEXT, "200%")


@check(
    "meta-viewport-large",
    name="No zoom limit between 200% and 500%",
    outcomes={"limited": "Zoom is limited to less than 500%"},
    why="People with low vision cannot enlarge the page as far as they need.",
    severity=LOW,
    fix=Fix("Do not limit zooming.", ZOOM),
    references=("axe-core: meta-viewport-large (best practice)",),
)
@faulty("the viewport", "keeps people from zooming to 500%")
def meta_viewport_large(document: Document) -> Verdict:
    finding = _judge_viewport("limited", document, _limits_zoom_below_500_percent, BEST_PRACTICE, "500%")
    if isinstance(finding, Pass) and any(_disables_zoom(properties) for _, properties in _viewport_elements(document)):
        return Pass("The viewport already disables zooming to 200%; meta-viewport reports that.")
    return finding


@check(
    "blink",
    name="No blinking text",
    outcomes={"blinking": "Blinking text"},
    why="Blinking text is hard to read, and draws attention away from everything else.",
    consequence="Visitors may find it hard to read or concentrate, because text on the page blinks.",
    severity=HIGH,
    fix="Replace the `<blink>` element, for example with `<strong>`.",
    references=(f"{PAUSE_STOP_HIDE}", "axe-core: blink"),
    content=True,
)
@judges("<blink> element|elements", "shows|show blinking content", "are empty or hidden", PAUSE_STOP_HIDE)
def blink(document: AccessibleDocument) -> Faults:
    return _find_moving_text(document, "blink", lambda _: True)


@check(
    "marquee",
    name="No scrolling text",
    outcomes={"scrolling": "Scrolling text"},
    why="Moving text is hard to read and to click, and visitors cannot stop it.",
    consequence="Visitors may find some text hard to read, because it moves and they cannot stop it.",
    severity=HIGH,
    fix="Replace the `<marquee>` element with static text.",
    references=(f"{PAUSE_STOP_HIDE}", "axe-core: marquee"),
    content=True,
)
@judges("<marquee> element|elements", "shows|show moving content", "are empty or hidden", PAUSE_STOP_HIDE)
def marquee(document: AccessibleDocument) -> Faults:
    return _find_moving_text(document, "marquee", _has_content)


@check(
    "video-caption",
    name="Videos have captions",
    outcomes={"missing": "Videos without a captions track"},
    why="Deaf people cannot follow what is said.",
    consequence="Deaf visitors may not be able to follow what is said in a video.",
    severity=CRITICAL,
    fix=Fix(
        "Add captions to the video.",
        {Language.HTML: '<track kind="captions" src="talk.vtt" srclang="en" label="English">'},
    ),
    references=(f"{CAPTIONS}", "axe-core: video-caption"),
    content=True,
)
@judges("video|videos with sound", "has|have no captions", "have a captions track", CAPTIONS)
def video_caption(document: AccessibleDocument) -> Faults:
    videos = [video for video in document.exposed("video") if attribute(video, "muted") is None]
    videos_without_captions = [
        video for video in videos if not any(_is_captions_track(track) for track in select(video, "track"))
    ]
    # A video may have no sound, or captions that scripts add.
    return Faults(videos, review=videos_without_captions)


@check(
    "no-autoplay-audio",
    name="Audio that plays automatically can be stopped",
    outcomes={"no-controls": "Audio plays automatically without controls"},
    why="The sound drowns out the screen reader, and there is no control to stop it.",
    severity=MEDIUM,
    fix="Remove `autoplay`, or add `muted`, so that sound starts only when the visitor wants it.",
    references=(f"{AUDIO_CONTROL}", "axe-core: no-autoplay-audio"),
    content=True,
)
@judges(
    "player|players that starts|start by itself|themselves",
    "plays|play sound for more than three seconds without controls",
    "have controls to stop them",
    AUDIO_CONTROL,
)
def no_autoplay_audio(document: AccessibleDocument) -> Faults:
    # Hidden audio players count, because their sound is audible.
    players = [
        player
        for player in live(document.document, "audio[autoplay], video[autoplay]")
        if all(attribute(player, name) is None for name in SILENT) and _has_media_source(player)
    ]
    # A person has to judge the length of the sound by playing it.
    return Faults(players, review=[player for player in players if attribute(player, "controls") is None])


def _judge_viewport(
    outcome: str,
    document: Document,
    is_faulty: Callable[[dict[str, str]], bool],
    criterion: Criterion,
    size: str,
) -> Verdict:
    metas = _viewport_elements(document)
    if not metas:
        return NotApplicable("The page has no meta viewport.")
    if faulty_metas := [(node, properties) for node, properties in metas if is_faulty(properties)]:
        faults = [
            Excerpt(f"{name}={value}", 40)
            for _, properties in faulty_metas
            for name, value in properties.items()
            if is_faulty({name: value})
        ]
        return Fail(
            outcome,
            f"The viewport keeps people from zooming to {size} ({{faults}}).",
            places=[place(node, criterion) for node, _ in faulty_metas],
            faults=Values(list(dict.fromkeys(faults))),
        )
    return Pass(
        f"No maximum-scale keeps people from zooming to {size}: {{viewport}}.", viewport=Code(start_tag(metas[0][0]))
    )


def _viewport_elements(document: Document) -> list[tuple[LexborNode, dict[str, str]]]:
    """Return the viewport meta elements with their parsed properties."""
    return [(node, viewport_properties(attribute(node, "content") or "")) for node in metas_named(document, "viewport")]


def _disables_zoom(properties: dict[str, str]) -> bool:
    """Return True if the viewport disables zooming to 200%.

    Browsers treat unknown words as 0 (CSS Device Adaptation, 10.4).
    """
    scalable, largest = properties.get("user-scalable", "yes"), properties.get("maximum-scale", "5")
    number, limit = scale(scalable), scale(largest)
    if number is None and scalable not in ZOOMABLE:
        return True
    if limit is None and largest not in UNLIMITED:
        return True
    return (number is not None and -1 < number < 1) or (limit is not None and 0 <= limit < MIN_MAXIMUM_SCALE)


def _limits_zoom_below_500_percent(properties: dict[str, str]) -> bool:
    """Return True if the page's zoom limit is between 200% and 500%.

    500% is excluded. `_disables_zoom` judges lower limits.
    """
    number = scale(properties.get("maximum-scale", ""))
    return number is not None and MIN_MAXIMUM_SCALE <= number < MIN_LARGE_MAXIMUM_SCALE


def _find_moving_text(document: AccessibleDocument, tag: str, has_size: Callable[[LexborNode], bool]) -> Faults:
    # Movement that is hidden from screen readers disturbs everyone who sees it.
    return Faults.find(
        live(document.document, tag), lambda node: has_size(node) and not document.visibility.is_hidden(node)
    )


def _has_content(node: LexborNode) -> bool:
    return any(texts(node)) or any(True for _ in elements(node))


def _is_captions_track(track: LexborNode) -> bool:
    return (attribute(track, "kind") or "").lower() == "captions"


def _has_media_source(player: LexborNode) -> bool:
    sources = (child for child in elements(player) if child.tag == "source")
    return any(attribute(player_or_source, "src") for player_or_source in (player, *sources))


def _language_attribute(root: LexborNode, name: str) -> str:
    return (attribute(root, name) or "").strip()
