"""Judgement of whether the browser showed the page's content, and of the causes if it did not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from website_scan.browser.evidence import (
    BrowserLoad,
    Load,
    LoadedRequest,
    Screen,
    ShownContent,
    Unshown,
    VisibleElement,
)
from website_scan.findings import NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Pass, Verdict, with_values
from website_scan.page.references import ResourceKind
from website_scan.page.stand_ins import challenge_line, error_line, is_consent_dialog, is_placeholder
from website_scan.places import Column, Place
from website_scan.values import Address, Code, Excerpt, Seconds, Value, Word

# Share of the viewport from which a picture is content, even if it moves.
LARGE_SHARE = 0.25
MAIN_SHARE = 0.1
# A dialog with fewer words, such as a chat button, is not content.
DIALOG_WORDS = 8
MAX_PLACEHOLDER = 60  # characters
MAX_CAUSES = 3
# Elements that may be a spinner beside “Loading…”.
TURNING = frozenset({"background", "canvas", "img", "progress", "svg"})
# Elements that may be drawn outside of screenshots, so that a screenshot of one colour does not prove a blank page.
OPAQUE = frozenset({"canvas", "embed", "frame", "iframe", "object", "video"})
# Error messages of scripts that need WebGL, which the scanner's browser does not have.
NO_WEBGL = re.compile(
    r"webgl|webgpu|3d context|(?:of null|null \()\W{0,4}(?:reading )?\W{0,4}(?:attachShader|bindBuffer|canvas|clear"
    r"|clearColor|createBuffer|createProgram|createShader|createTexture|enable|getExtension|getParameter|viewport)\b",
    re.IGNORECASE,
)
# Console messages for scripts that the browser refuses to run.
REFUSED = re.compile(r"content security policy|mime type", re.IGNORECASE)
STACK = re.compile(r"(?<!\s)\s+at (?:\S+ \()?(?:https?:|<anonymous>)")

JUDGED = (
    "Fails if a browser that waits still shows nothing, only a loading screen, only a header or footer around an empty "
    "container, or an error message. Could not run behind a consent dialog or a bot protection, or if the scanner's "
    "browser may be the reason."
)
# Outcomes of the check of every scan type, in the order of `Unshown`.
OUTCOMES: Mapping[str, str] = {
    "blank": "The page stays blank in a browser",
    "loading": "The page does not get beyond its loading screen",
    "empty-main": "The main part of the page stays empty",
    "error": "The page shows an error message with a successful status",
}
FIX = (
    "Open the page in a private window with the browser's console, and fix the first error: an exception, a script "
    "that does not load or is blocked, or a request that fails."
)
FIX_ERROR = Fix(
    "Find the cause in the log of the server or app, and send error pages with an error status, such as 500."
)


@dataclass(frozen=True, slots=True)
class Cause(Place):
    """Cause of missing content: an exception, a failed request, or an element in place of the content."""

    kind: ClassVar[str] = "cause"

    exception: Annotated[str | None, Column("Exception", "code")] = None
    url: Annotated[str | None, Column("Address", "address")] = None
    error: Annotated[str | None, Column("Error")] = None
    selector: Annotated[str | None, Column("Selector", "code")] = None


def classify_screen(screen: Screen, *, has_failed: bool) -> Unshown | None:
    """Return what the page shows in place of its content; None if the page shows content.

    `has_failed`: an exception stopped a script, or a script was not loaded.
    """
    if screen.is_plain:
        return Unshown.BLANK
    texts = screen.texts
    content = texts["content"]
    is_picture = any(element.share >= LARGE_SHARE and not element.is_spinning for element in screen.elements)
    if not screen.fields and not is_picture:
        if challenge_line(screen.title, screen.text):
            return Unshown.CHALLENGE
        if error_line(screen.title, screen.text):
            return Unshown.ERROR
    is_placeholder_text = bool(content) and screen.has_scripts and _is_placeholder(content, screen)
    content_elements = [
        element
        for element in screen.elements
        if element.region == "content" and not _is_spinner(element, beside_text=is_placeholder_text)
    ]
    if is_consent_dialog(texts["dialog"]) and not content_elements and (not content or is_placeholder_text):
        return Unshown.CONSENT
    if content_elements or (content and not is_placeholder_text):
        is_wall = bool(screen.empty_roots) and not screen.fields and is_consent_dialog(content)
        return Unshown.CONSENT if is_wall else None
    if _is_content(screen):
        return None
    if screen.has_scripts and (is_placeholder_text or screen.loading_indicators):
        return Unshown.LOADING
    if texts["frame"] or texts["dialog"] or any(element.region != "content" for element in screen.elements):
        is_empty = bool(screen.empty_roots) and screen.has_scripts and (has_failed or not screen.fields)
        return Unshown.FRAME if is_empty else None
    if screen.has_painted or not screen.has_scripts:
        return None
    return Unshown.BLANK if has_failed else Unshown.UNCERTAIN


def judge_screen(load: BrowserLoad, screen: Screen) -> ShownContent:
    """Judge whether the first load showed the page's content in the end."""
    causes = _list_causes(load)
    unshown = classify_screen(screen, has_failed=_has_script_failure(load))
    if unshown is None:
        return ShownContent()
    if unshown is Unshown.CONSENT:
        return ShownContent(unshown, "The page shows only a consent dialog, which the scan does not answer.")
    if unshown is Unshown.CHALLENGE:
        line = Excerpt(challenge_line(screen.title, screen.text).rstrip("."), 80)
        return ShownContent(
            unshown, "A bot protection answered the browser in place of the site: “{line}”.", {"line": line}
        )
    if doubt := _explain_doubt(load, screen, unshown):
        return ShownContent(Unshown.UNCERTAIN, doubt)
    if unshown is Unshown.ERROR:
        line = Excerpt(error_line(screen.title, screen.text).rstrip("."), 120)
        return ShownContent(unshown, "The page says in place of its content: “{line}”.", {"line": line}, causes)
    sentence, values, selectors = _describe_screen(screen, unshown)
    cause, reasons = _describe_cause(load)
    waited = Seconds(max(1, round(screen.waited_s)), 0)
    return ShownContent(
        unshown,
        f"After {{waited}} in a browser, {sentence}.{cause}",
        {"waited": waited} | values | reasons,
        causes + tuple(Cause(selector=excerpt(selector, 300)) for selector in selectors),
    )


def judge_shown_content(content: ShownContent) -> Verdict:
    """Return the verdict of the check on missing content. Not applicable if the site need not be at fault."""
    if content.unshown is None:
        return Pass("The browser shows content.")
    if not content.is_fault:
        return NotApplicable(content.message)
    outcome = "empty-main" if content.unshown is Unshown.FRAME else str(content.unshown)
    fix = FIX_ERROR if content.unshown is Unshown.ERROR else None
    return with_values(Fail(outcome, content.summary, details=content.causes, fix=fix), content.values)


def _describe_screen(screen: Screen, unshown: Unshown) -> tuple[str, dict[str, Value], tuple[str, ...]]:
    """Describe a screen without content: template of a sentence, its values, and selectors of elements to report."""
    if unshown is Unshown.LOADING and screen.texts["content"]:
        return (
            "the page still shows only “{text}”",
            {"text": Excerpt(screen.texts["content"], 60)},
            screen.loading_indicators,
        )
    if unshown is Unshown.LOADING:
        sign = Code(screen.loading_indicators[0], 120)
        return "the page still shows only that it is loading ({sign})", {"sign": sign}, screen.loading_indicators
    if unshown is Unshown.FRAME:
        empty = Code(screen.empty_roots[0], 120)
        roots = screen.empty_roots[:MAX_CAUSES]
        return "{empty} is still empty, between header and footer", {"empty": empty}, roots
    if screen.text:
        return "the page is one plain colour: none of its text can be seen", {}, ()
    return "the page shows nothing", {}, ()


def _is_placeholder(content: str, screen: Screen) -> bool:
    if len(content) > MAX_PLACEHOLDER:
        return False
    words = content.split()
    # Beside a spinner, a name may precede the placeholder: “Acme Loading…”.
    return is_placeholder(content) or (
        bool(screen.loading_indicators)
        and any(is_placeholder(" ".join(words[start:])) for start in range(1, len(words)))
    )


def _is_spinner(element: VisibleElement, *, beside_text: bool) -> bool:
    return element.share < LARGE_SHARE and (element.is_spinning or (beside_text and element.tag in TURNING))


def _is_content(screen: Screen) -> bool:
    """Return True if a dialog has content: a form field, a picture, or a text of eight words or more."""
    if any(
        element.region == "dialog" and (element.tag == "input" or element.share >= MAIN_SHARE)
        for element in screen.elements
    ):
        return True
    return len(screen.texts["dialog"].split()) >= DIALOG_WORDS


def _explain_doubt(load: BrowserLoad, screen: Screen, unshown: Unshown) -> str:
    """Return why the scanner, not the site, may be the reason for missing content; empty if there is no doubt."""
    if unshown is Unshown.ERROR:
        return ""
    if any(map(NO_WEBGL.search, (*load.exceptions, *load.console_errors))):
        return "The page needs WebGL, which the scanner's browser does not have."
    if unshown is Unshown.UNCERTAIN:
        return "The browser painted no text and no image."
    if unshown is Unshown.BLANK and any(
        element.tag in OPAQUE and element.share >= MAIN_SHARE for element in screen.elements
    ):
        return "The browser saw nothing of what the page draws or plays."
    is_late = load.first.load_s is None or not screen.had_time
    return "The page had shown no content when the time ran out." if is_late else ""


def _list_scripts(load: Load) -> list[LoadedRequest]:
    return [request for request in load.requests if request.kind is ResourceKind.SCRIPT and not request.in_frame]


def _has_failed(request: LoadedRequest) -> bool:
    return bool(request.error) or (request.status is not None and request.status >= 400)


def _list_refused_scripts(load: BrowserLoad) -> list[str]:
    return [
        message for message in load.console_errors if message not in load.exceptions and _is_script_refusal(message)
    ]


def _is_script_refusal(message: str) -> bool:
    reason = REFUSED.search(message)
    return reason is not None and "script" in message[: reason.start()].lower()


def _has_script_failure(load: BrowserLoad) -> bool:
    return bool(load.exceptions or _list_refused_scripts(load)) or any(map(_has_failed, _list_scripts(load.first)))


def _list_failed_requests(load: Load) -> list[LoadedRequest]:
    """Return failed scripts, then failed or unanswered requests that scripts sent."""
    script_requests = [request for request in load.requests if request.is_sent_by_code and not request.in_frame]
    return [script for script in _list_scripts(load) if _has_failed(script)] + [
        request for request in script_requests if _has_failed(request) or request.status is None
    ]


def _describe_failure(request: LoadedRequest) -> str:
    if request.status is not None and request.status >= 400:
        return f"status {request.status}"
    return request.error.removeprefix("net::") or "no answer"


def _list_causes(load: BrowserLoad) -> tuple[Cause, ...]:
    messages = [*load.exceptions[:MAX_CAUSES], *_list_refused_scripts(load)[:MAX_CAUSES]]
    requests = _list_failed_requests(load.first)[:MAX_CAUSES]
    return (
        *(Cause(exception=excerpt(message, 300)) for message in messages),
        *(Cause(url=excerpt(request.url, 300), error=_describe_failure(request)) for request in requests),
    )


def _describe_cause(load: BrowserLoad) -> tuple[str, dict[str, Value]]:
    """Describe the first known cause: a template of a sentence, and its values; empty if no cause is known."""
    if load.exceptions:
        return " An exception stopped a script: {exception}.", {
            "exception": Excerpt(STACK.split(load.exceptions[0])[0])
        }
    if refused := _list_refused_scripts(load):
        return " The browser refused a script: {refusal}.", {"refusal": Excerpt(refused[0].rstrip("."), 200)}
    if failed := _list_failed_requests(load.first):
        kind = "script" if failed[0].kind is ResourceKind.SCRIPT else "request for"
        values: dict[str, Value] = {"url": Address(failed[0].url, 120), "failure": Word(_describe_failure(failed[0]))}
        return f" Its {kind} {{url}} failed: {{failure}}.", values
    return "", {}
