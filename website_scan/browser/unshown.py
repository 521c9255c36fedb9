"""Judgement of what the browser showed: the page's content, or something in its place, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from website_scan.browser.evidence import BrowserLoad, Load, LoadedRequest, Screen, ShownContent, ShownThing, Unshown
from website_scan.findings import NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Pass, Verdict, with_values
from website_scan.page.references import ResourceKind
from website_scan.page.stand_ins import challenge_line, error_line, is_consent_dialog, is_placeholder
from website_scan.places import Column, Place
from website_scan.values import Address, Code, Excerpt, Seconds, Value, Word

# A larger picture is content, even if it moves.
LARGE_SHARE = 0.25
MAIN_SHARE = 0.1
# A dialog of fewer words, such as a button for a chat, is no content.
DIALOG_WORDS = 8
MAX_PLACEHOLDER = 60  # characters
SHOWN_CAUSES = 3
# Elements that may be a spinner beside “Loading…”.
TURNING = frozenset({"background", "canvas", "img", "progress", "svg"})
# Elements of which a picture of one colour does not prove that they show nothing.
OPAQUE = frozenset({"canvas", "embed", "frame", "iframe", "object", "video"})
# What scripts report if there is no WebGL: the scanner's browser has none.
NO_WEBGL = re.compile(
    r"webgl|webgpu|3d context|(?:of null|null \()\W{0,4}(?:reading )?\W{0,4}(?:attachShader|bindBuffer|canvas|clear"
    r"|clearColor|createBuffer|createProgram|createShader|createTexture|enable|getExtension|getParameter|viewport)\b",
    re.IGNORECASE,
)
# The console's words for scripts that the browser refuses to run.
REFUSED = re.compile(r"content security policy|mime type", re.IGNORECASE)
STACK = re.compile(r"(?<!\s)\s+at (?:\S+ \()?(?:https?:|<anonymous>)")

JUDGED = (
    "Fails if a browser that waits still shows nothing, only a loading screen, only a header or footer around an empty "
    "container, or an error message. Could not run behind a consent dialog or a bot protection, or if the scanner's "
    "browser may be the reason."
)
# Outcomes of the check of each scan type, in the order of `Unshown`.
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
    """Why a page shows nothing: an exception, a request that failed, or an element in the place of the content."""

    kind: ClassVar[str] = "cause"

    exception: Annotated[str | None, Column("Exception", "code")] = None
    url: Annotated[str | None, Column("Address", "address")] = None
    error: Annotated[str | None, Column("Error")] = None
    selector: Annotated[str | None, Column("Selector", "code")] = None


def nothing_shown(screen: Screen, *, has_failed: bool) -> Unshown | None:
    """Return what the page shows in place of its content; None if it shows content.

    `has_failed`: a script stopped or was not loaded.
    """
    if screen.is_plain:
        return Unshown.BLANK
    texts = screen.texts
    content = texts["content"]
    is_picture = any(each.share >= LARGE_SHARE and not each.is_turning for each in screen.things)
    if not screen.fields and not is_picture:
        if challenge_line(screen.title, screen.text):
            return Unshown.CHALLENGE
        if error_line(screen.title, screen.text):
            return Unshown.ERROR
    waits = bool(content) and screen.has_scripts and _is_placeholder(content, screen)
    solid = [each for each in screen.things if each.region == "content" and not _is_spinner(each, beside_text=waits)]
    if is_consent_dialog(texts["dialog"]) and not solid and (not content or waits):
        return Unshown.CONSENT
    if solid or (content and not waits):
        is_wall = bool(screen.empty_roots) and not screen.fields and is_consent_dialog(content)
        return Unshown.CONSENT if is_wall else None
    if _is_content(screen):
        return None
    if screen.has_scripts and (waits or screen.signs):
        return Unshown.LOADING
    if texts["frame"] or texts["dialog"] or any(each.region != "content" for each in screen.things):
        is_empty = bool(screen.empty_roots) and screen.has_scripts and (has_failed or not screen.fields)
        return Unshown.FRAME if is_empty else None
    if screen.has_painted or not screen.has_scripts:
        return None
    return Unshown.BLANK if has_failed else Unshown.UNCERTAIN


def shown_content(load: BrowserLoad, screen: Screen) -> ShownContent:
    """Judge what the first load showed in the end."""
    causes = _causes(load)
    unshown = nothing_shown(screen, has_failed=_has_failed(load))
    if unshown is None:
        return ShownContent()
    if unshown is Unshown.CONSENT:
        return ShownContent(unshown, "The page shows only a consent dialog, which the scan does not answer.")
    if unshown is Unshown.CHALLENGE:
        line = Excerpt(challenge_line(screen.title, screen.text).rstrip("."), 80)
        return ShownContent(
            unshown, "A bot protection answered the browser in place of the site: “{line}”.", {"line": line}
        )
    if doubt := _doubt(load, screen, unshown):
        return ShownContent(Unshown.UNCERTAIN, doubt)
    if unshown is Unshown.ERROR:
        line = Excerpt(error_line(screen.title, screen.text).rstrip("."), 120)
        return ShownContent(unshown, "The page says in place of its content: “{line}”.", {"line": line}, causes)
    seen, values, places = _seen(screen, unshown)
    why, reasons = _why(load)
    waited = Seconds(max(1, round(screen.waited_s)), 0)
    return ShownContent(
        unshown,
        f"After {{waited}} in a browser, {seen}.{why}",
        {"waited": waited} | values | reasons,
        causes + tuple(Cause(selector=excerpt(each, 300)) for each in places),
    )


def judge_shown(content: ShownContent) -> Verdict:
    """Return the finding of each scan type's own check. The site need not be at fault for what is no `is_fault`."""
    if content.unshown is None:
        return Pass("The browser shows content.")
    if not content.is_fault:
        return NotApplicable(content.message)
    outcome = "empty-main" if content.unshown is Unshown.FRAME else str(content.unshown)
    fix = FIX_ERROR if content.unshown is Unshown.ERROR else None
    return with_values(Fail(outcome, content.summary, details=content.causes, fix=fix), content.values)


def _seen(screen: Screen, unshown: Unshown) -> tuple[str, dict[str, Value], tuple[str, ...]]:
    """Return what a screen without content shows, as a template with its values, and the selectors of that."""
    if unshown is Unshown.LOADING and screen.texts["content"]:
        return "the page still shows only “{text}”", {"text": Excerpt(screen.texts["content"], 60)}, screen.signs
    if unshown is Unshown.LOADING:
        sign = Code(screen.signs[0], 120)
        return "the page still shows only that it is loading ({sign})", {"sign": sign}, screen.signs
    if unshown is Unshown.FRAME:
        empty = Code(screen.empty_roots[0], 120)
        places = screen.empty_roots[:SHOWN_CAUSES]
        return "{empty} is still empty, between header and footer", {"empty": empty}, places
    if screen.text:
        return "the page is one plain colour: none of its text can be seen", {}, ()
    return "the page shows nothing", {}, ()


def _is_placeholder(content: str, screen: Screen) -> bool:
    if len(content) > MAX_PLACEHOLDER:
        return False
    words = content.split()
    # Beside a spinner, a name may stand before it: “Acme Loading…”.
    return is_placeholder(content) or (
        bool(screen.signs) and any(is_placeholder(" ".join(words[start:])) for start in range(1, len(words)))
    )


def _is_spinner(thing: ShownThing, *, beside_text: bool) -> bool:
    return thing.share < LARGE_SHARE and (thing.is_turning or (beside_text and thing.tag in TURNING))


def _is_content(screen: Screen) -> bool:
    """Return True if a dialog is more than a note: a form, a text or a picture of its own."""
    if any(each.region == "dialog" and (each.tag == "input" or each.share >= MAIN_SHARE) for each in screen.things):
        return True
    return len(screen.texts["dialog"].split()) >= DIALOG_WORDS


def _doubt(load: BrowserLoad, screen: Screen, unshown: Unshown) -> str:
    """Return why the scanner, not the site, may be the reason that nothing is shown; empty if it is not."""
    if unshown is Unshown.ERROR:
        return ""
    if any(map(NO_WEBGL.search, (*load.exceptions, *load.console_errors))):
        return "The page needs WebGL, which the scanner's browser does not have."
    if unshown is Unshown.UNCERTAIN:
        return "The browser painted no text and no image."
    if unshown is Unshown.BLANK and any(each.tag in OPAQUE and each.share >= MAIN_SHARE for each in screen.things):
        return "The browser saw nothing of what the page draws or plays."
    is_late = load.first.load_s is None or not screen.had_time
    return "The page had shown no content when the time ran out." if is_late else ""


def _scripts(load: Load) -> list[LoadedRequest]:
    return [each for each in load.requests if each.kind is ResourceKind.SCRIPT and not each.in_frame]


def _is_failed(request: LoadedRequest) -> bool:
    return bool(request.error) or (request.status is not None and request.status >= 400)


def _refused(load: BrowserLoad) -> list[str]:
    return [each for each in load.console_errors if each not in load.exceptions and _is_refused_script(each)]


def _is_refused_script(message: str) -> bool:
    reason = REFUSED.search(message)
    return reason is not None and "script" in message[: reason.start()].lower()


def _has_failed(load: BrowserLoad) -> bool:
    return bool(load.exceptions or _refused(load)) or any(map(_is_failed, _scripts(load.first)))


def _failed_requests(load: Load) -> list[LoadedRequest]:
    """Return failed scripts, then failed or unanswered requests of scripts."""
    asked = [each for each in load.requests if each.is_programmed and not each.in_frame]
    return [each for each in _scripts(load) if _is_failed(each)] + [
        each for each in asked if _is_failed(each) or each.status is None
    ]


def _failure(request: LoadedRequest) -> str:
    if request.status is not None and request.status >= 400:
        return f"status {request.status}"
    return request.error.removeprefix("net::") or "no answer"


def _causes(load: BrowserLoad) -> tuple[Cause, ...]:
    thrown = [*load.exceptions[:SHOWN_CAUSES], *_refused(load)[:SHOWN_CAUSES]]
    failed = _failed_requests(load.first)[:SHOWN_CAUSES]
    return (
        *(Cause(exception=excerpt(each, 300)) for each in thrown),
        *(Cause(url=excerpt(each.url, 300), error=_failure(each)) for each in failed),
    )


def _why(load: BrowserLoad) -> tuple[str, dict[str, Value]]:
    """Return the first cause as a sentence, a template with its values; empty if none is known."""
    if load.exceptions:
        return " An exception stopped a script: {exception}.", {
            "exception": Excerpt(STACK.split(load.exceptions[0])[0])
        }
    if refused := _refused(load):
        return " The browser refused a script: {refusal}.", {"refusal": Excerpt(refused[0].rstrip("."), 200)}
    if failed := _failed_requests(load.first):
        kind = "script" if failed[0].kind is ResourceKind.SCRIPT else "request for"
        values: dict[str, Value] = {"url": Address(failed[0].url, 120), "failure": Word(_failure(failed[0]))}
        return f" Its {kind} {{url}} failed: {{failure}}.", values
    return "", {}
