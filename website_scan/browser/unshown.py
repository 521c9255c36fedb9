"""Check whether the browser showed the page's content.

Finds the causes if the content is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

from website_scan.browser.evidence import BrowserLoad, Load, LoadedRequest, Screen, VisibleElement
from website_scan.browser.shown_content import MissingContent, ShownContent
from website_scan.browser.unanswered import unanswered_blocking_requests
from website_scan.findings import NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Pass, Verdict, set_values
from website_scan.page.references import ResourceKind
from website_scan.page.stand_ins import challenge_line, error_line, is_consent_dialog, is_placeholder
from website_scan.places import Column, Place
from website_scan.values import Address, Code, Excerpt, Seconds, Value, Word

# Large pictures are content even if they move.
MIN_PICTURE_SHARE = 0.25
MIN_CONTENT_SHARE = 0.1
# A dialog with fewer words, such as a chat button, is not content.
MIN_DIALOG_WORDS = 8
MAX_PLACEHOLDER_LENGTH = 60  # Maximum length of a placeholder text in characters.
MAX_CAUSES = 3
# Tags of elements that may be a spinner next to the text “Loading…”.
SPINNER_TAGS = frozenset({"background", "canvas", "img", "progress", "svg"})
# Screenshots may omit these elements, so a single colour proves nothing.
UNCAPTURED_TAGS = frozenset({"canvas", "embed", "frame", "iframe", "object", "video"})
# The scanner's browser does not support WebGL.
WEBGL_ERROR = re.compile(
    r"webgl|webgpu|3d context|(?:of null|null \()\W{0,4}(?:reading )?\W{0,4}(?:attachShader|bindBuffer|canvas|clear"
    r"|clearColor|createBuffer|createProgram|createShader|createTexture|enable|getExtension|getParameter|viewport)\b",
    re.IGNORECASE,
)
# Console messages about scripts that the browser blocks.
REFUSED = re.compile(r"content security policy|mime type", re.IGNORECASE)
STACK = re.compile(r"(?<!\s)\s+at (?:\S+ \()?(?:https?:|<anonymous>)")

JUDGED = (
    "Fails if a browser that waits still shows nothing, only a loading screen, only a header or footer around an empty "
    "container, or an error message. Could not run behind a consent dialog or a bot protection, or if the scanner's "
    "browser may be the reason."
)
NOTHING_SHOWN = "the page shows nothing"
# Outcomes of the checks for missing content, in the order of `MissingContent`.
OUTCOMES: Mapping[str, str] = {
    "blank": "The page stays blank in a browser",
    "loading": "The page does not get beyond its loading screen",
    "empty-main": "The main part of the page stays empty",
    "error": "The page shows an error message with a successful status",
}
FILE_WORDS = {ResourceKind.SCRIPT: "script", ResourceKind.STYLESHEET: "style sheet"}
FIX = (
    "Open the page in a private window with the browser's console, and fix the first error: an exception, a script "
    "that does not load or is blocked, or a request that fails."
)
ERROR_PAGE_FIX = Fix(
    "Find the cause in the log of the server or app, and send error pages with an error status, such as 500."
)


class Cause(Place, frozen=True):
    """Cause of missing content.

    It is an exception, a failed request, or an element that is shown instead of the content.
    """

    kind: ClassVar[str] = "cause"

    exception: Annotated[str | None, Column("Exception", "code")] = None
    url: Annotated[str | None, Column("Address", "address")] = None
    error: Annotated[str | None, Column("Error")] = None
    selector: Annotated[str | None, Column("Selector", "code")] = None


def classify_screen(screen: Screen, *, has_failed: bool) -> MissingContent | None:
    """Return the reason for missing content on the screen.

    None if the page shows content. `has_failed`: an exception stopped a script, or a script was not loaded.
    """
    if screen.is_plain:
        return MissingContent.BLANK
    texts = screen.texts
    content = texts["content"]
    has_large_picture = any(
        element.share >= MIN_PICTURE_SHARE and not element.is_spinning for element in screen.elements
    )
    if not screen.fields and not has_large_picture:
        if challenge_line(screen.title, screen.text):
            return MissingContent.CHALLENGE
        if error_line(screen.title, screen.text):
            return MissingContent.ERROR
    has_placeholder_text = bool(content) and screen.has_scripts and _is_placeholder_text(content, screen)
    content_elements = [
        element
        for element in screen.elements
        if element.region == "content" and not _is_spinner(element, beside_text=has_placeholder_text)
    ]
    if is_consent_dialog(texts["dialog"]) and not content_elements and (not content or has_placeholder_text):
        return MissingContent.CONSENT
    if content_elements or (content and not has_placeholder_text):
        is_consent_wall = bool(screen.empty_roots) and not screen.fields and is_consent_dialog(content)
        return MissingContent.CONSENT if is_consent_wall else None
    if _has_dialog_content(screen):
        return None
    if screen.has_scripts and (has_placeholder_text or screen.loading_indicators):
        return MissingContent.LOADING
    if texts["frame"] or texts["dialog"] or any(element.region != "content" for element in screen.elements):
        is_main_part_empty = bool(screen.empty_roots) and screen.has_scripts and (has_failed or not screen.fields)
        return MissingContent.FRAME if is_main_part_empty else None
    if screen.has_contentful_paint or not screen.has_scripts:
        return None
    return MissingContent.BLANK if has_failed else MissingContent.UNCERTAIN


def judge_screen(load: BrowserLoad, screen: Screen) -> ShownContent:
    """Judge from the final screen whether the first load showed content."""
    causes = _list_causes(load)
    unshown = classify_screen(screen, has_failed=_has_script_failure(load))
    blocking = unanswered_blocking_requests(load.first)
    if blocking:
        # Browsers draw nothing before render-blocking files have arrived (HTML, "render-blocking mechanism").
        unshown = MissingContent.BLANK
    if unshown is None:
        return ShownContent()
    if unshown is MissingContent.CONSENT:
        return ShownContent(unshown, "The page shows only a consent dialog, which the scan does not answer.")
    if unshown is MissingContent.CHALLENGE:
        line = Excerpt(challenge_line(screen.title, screen.text).rstrip("."), 80)
        return ShownContent(
            unshown, "A bot protection answered the browser instead of the site: “{line}”.", {"line": line}
        )
    if not blocking and (doubt := _explain_doubt(load, screen, unshown)):
        return ShownContent(MissingContent.UNCERTAIN, doubt)
    if unshown is MissingContent.ERROR:
        line = Excerpt(error_line(screen.title, screen.text).rstrip("."), 120)
        return ShownContent(unshown, "Instead of its content, the page says: “{line}”.", {"line": line}, causes)
    sentence, values, selectors = (NOTHING_SHOWN, {}, ()) if blocking else _describe_screen(screen, unshown)
    cause, reasons = _describe_cause(load)
    waited = Seconds(max(1, round(screen.waited_s)), 0)
    return ShownContent(
        unshown,
        f"After {{waited}} in a browser, {sentence}.{cause}",
        {"waited": waited} | values | reasons,
        causes + tuple(Cause(selector=excerpt(selector, 300)) for selector in selectors),
    )


def judge_shown_content(content: ShownContent) -> Verdict:
    """Return the verdict on missing content.

    Not applicable if the site may not be at fault.
    """
    if content.unshown is None:
        return Pass("The browser shows content.")
    if not content.is_fault:
        return NotApplicable(content.message)
    outcome = "empty-main" if content.unshown is MissingContent.FRAME else str(content.unshown)
    fix = ERROR_PAGE_FIX if content.unshown is MissingContent.ERROR else None
    return set_values(Fail(outcome, content.summary, details=content.causes, fix=fix), content.values)


def _describe_screen(screen: Screen, unshown: MissingContent) -> tuple[str, dict[str, Value], tuple[str, ...]]:
    """Describe a screen without content.

    Returns a sentence template, its values, and the selectors of elements to report.
    """
    if unshown is MissingContent.LOADING and screen.texts["content"]:
        return (
            "the page still shows only “{text}”",
            {"text": Excerpt(screen.texts["content"], 60)},
            screen.loading_indicators,
        )
    if unshown is MissingContent.LOADING:
        sign = Code(screen.loading_indicators[0], 120)
        return "the page still shows only that it is loading ({sign})", {"sign": sign}, screen.loading_indicators
    if unshown is MissingContent.FRAME:
        empty = Code(screen.empty_roots[0], 120)
        roots = screen.empty_roots[:MAX_CAUSES]
        return "{empty} is still empty, between header and footer", {"empty": empty}, roots
    if screen.text:
        return "the page is one plain colour: none of its text can be seen", {}, ()
    return NOTHING_SHOWN, {}, ()


def _is_placeholder_text(content: str, screen: Screen) -> bool:
    if len(content) > MAX_PLACEHOLDER_LENGTH:
        return False
    words = content.split()
    # A name may precede the text beside a spinner: “Acme Loading…”.
    return is_placeholder(content) or (
        bool(screen.loading_indicators)
        and any(is_placeholder(" ".join(words[start:])) for start in range(1, len(words)))
    )


def _is_spinner(element: VisibleElement, *, beside_text: bool) -> bool:
    return element.share < MIN_PICTURE_SHARE and (element.is_spinning or (beside_text and element.tag in SPINNER_TAGS))


def _has_dialog_content(screen: Screen) -> bool:
    """Return True if a dialog has content.

    A form field, a picture, or a text of at least eight words.
    """
    if any(
        element.region == "dialog" and (element.tag == "input" or element.share >= MIN_CONTENT_SHARE)
        for element in screen.elements
    ):
        return True
    return len(screen.texts["dialog"].split()) >= MIN_DIALOG_WORDS


def _explain_doubt(load: BrowserLoad, screen: Screen, unshown: MissingContent) -> str:
    """Return why the scanner may have caused the missing content.

    Empty if the site has caused it.
    """
    if unshown is MissingContent.ERROR:
        return ""
    if any(map(WEBGL_ERROR.search, (*load.exceptions, *load.console_errors))):
        return "The page needs WebGL, which the scanner's browser does not have."
    if unshown is MissingContent.UNCERTAIN:
        return "The browser painted no text and no image."
    if unshown is MissingContent.BLANK and any(
        element.tag in UNCAPTURED_TAGS and element.share >= MIN_CONTENT_SHARE for element in screen.elements
    ):
        return "The browser saw nothing of what the page draws or plays."
    has_timed_out = load.first.load_s is None or not screen.had_enough_time
    return "The page had shown no content when the time ran out." if has_timed_out else ""


def _list_script_requests(load: Load) -> list[LoadedRequest]:
    return [request for request in load.requests if request.kind is ResourceKind.SCRIPT and not request.is_in_frame]


def _has_request_failed(request: LoadedRequest) -> bool:
    return bool(request.error) or (request.status is not None and request.status >= 400)


def _list_refused_scripts(load: BrowserLoad) -> list[str]:
    return [
        message for message in load.console_errors if message not in load.exceptions and _is_script_refusal(message)
    ]


def _is_script_refusal(message: str) -> bool:
    reason = REFUSED.search(message)
    return reason is not None and "script" in message[: reason.start()].lower()


def _has_script_failure(load: BrowserLoad) -> bool:
    return bool(load.exceptions or _list_refused_scripts(load)) or any(
        map(_has_request_failed, _list_script_requests(load.first))
    )


def _list_failed_requests(load: Load) -> list[LoadedRequest]:
    """Return the likely causes of missing content.

    Unanswered files that block rendering, failed scripts, then failed requests that scripts sent.
    """
    script_requests = [request for request in load.requests if request.is_sent_by_script and not request.is_in_frame]
    return [
        *unanswered_blocking_requests(load),
        *(script for script in _list_script_requests(load) if _has_request_failed(script)),
        *(request for request in script_requests if _has_request_failed(request) or request.status is None),
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
    """Describe the first known cause of missing content.

    Returns a sentence template and its values; empty if no cause is known.
    """
    if load.exceptions:
        return " An exception stopped a script: {exception}.", {
            "exception": Excerpt(STACK.split(load.exceptions[0])[0])
        }
    if refused := _list_refused_scripts(load):
        return " The browser refused a script: {refusal}.", {"refusal": Excerpt(refused[0].rstrip("."), 200)}
    if failed := _list_failed_requests(load.first):
        kind = FILE_WORDS.get(failed[0].kind, "request for") if failed[0].kind else "request for"
        values: dict[str, Value] = {"url": Address(failed[0].url, 120), "failure": Word(_describe_failure(failed[0]))}
        return f" Its {kind} {{url}} failed: {{failure}}.", values
    return "", {}
