"""Recognition of web frameworks' debug pages by signatures.

The signatures do not match articles about debug pages.
"""

from __future__ import annotations

import re

from msgspec import Struct

from website_scan.net.http.response import Response
from website_scan.page.soft_404 import media_type

# Articles may quote a debug page, but debug pages contain no article markup.
ARTICLE = re.compile(
    r"<article\b|<link[^>]{1,200}rel=[\"']?canonical|<meta[^>]{1,200}(?:property=[\"']?og:|name=[\"']?description)",
    re.IGNORECASE,
)
DEBUG_PAGE_MEDIA_TYPES = frozenset(
    {"", "text/html", "application/xhtml+xml", "text/plain", "application/json", "application/xml"}
)
MAX_CHARACTERS = 128 * 1024

JAVA_STACK_FRAMES = (
    r"(?:[\s;>]|^)at (?:[\w$]{1,100}\.){2,20}[\w$<>&;]{1,100}"
    r"\((?:[\w$]{1,100}\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\)"
)
NODE_STACK_FRAMES = r"(?:<br>|\n)[ &nbsp;]{0,30}at [^<\n]{1,300}:\d+:\d+\)?"
PYTHON_STACK_FRAME = r"File (?:\"|&quot;|&#34;)/?[^\n]{1,300}, line \d+, in "
PHP_ERROR_MESSAGE = (
    r"<b>(?:Fatal error|Parse error|Warning|Notice|Deprecated)</b>: {1,2}[^\n]{1,1000}"
    r" in <b>(?:/|[A-Z]:\\)[^<\n]{1,300}</b> on line <b>\d+</b>"
)
MIN_STACK_FRAMES = 3


class Signature(Struct, frozen=True):
    """Signature of a framework's debug page.

    All `marks` must match, and `frames` (stack frames) at least three times.

    `is_printed_within_pages`: the error appears within the site's own pages, with any HTTP status.
    """

    name: str
    marks: tuple[re.Pattern[str], ...]
    frames: re.Pattern[str] | None = None
    is_printed_within_pages: bool = False


def _compile_signature(
    name: str, *marks: str, frames: str | None = None, is_printed_within_pages: bool = False
) -> Signature:
    return Signature(
        name,
        tuple(re.compile(mark) for mark in marks),
        re.compile(frames) if frames else None,
        is_printed_within_pages,
    )


SIGNATURES = (
    _compile_signature("Django with DEBUG = True", r"seeing this error because you have\s+<code>DEBUG = True</code>"),
    _compile_signature("Django with DEBUG = True", r"Request Method:", r"Django Version:", r"Exception Type:"),
    _compile_signature(
        "Werkzeug's debugger", r"// Werkzeug Debugger</title>|The debugger caught an exception in your WSGI"
    ),
    _compile_signature("Rails in development mode", r"<title>Action Controller: Exception caught</title>"),
    _compile_signature("Rails in development mode", r"\bRails\.root: /", r"Routing Error|No route matches|Error in "),
    _compile_signature(
        "Laravel's Ignition", r"window\.ignite\s*\(|<title>[^<]{0,300}Ignition</title>|class=\"ignition\b"
    ),
    _compile_signature("Laravel in debug mode", r"laravel-exceptions-renderer|<title>Whoops! There was an error"),
    _compile_signature(
        "Laravel in debug mode",
        r'"exception":\s*"[\w\\]{3,200}"',
        r'"file":\s*"(?:/|[A-Z]:|\\/)',
        r'"line":\s*\d',
        r'"trace":\s*\[',
    ),
    _compile_signature("Symfony in debug mode", r"class=\"[^\"]{0,100}exception-(?:summary|message)\b", r"(?i)symfony"),
    _compile_signature(
        "ASP.NET with custom errors off", r"Server Error in '[^'<]{1,200}' Application", r"Stack Trace:"
    ),
    _compile_signature("ASP.NET Core's developer page", r"class=\"(?:titleerror|rawExceptionStackTrace)\b"),
    _compile_signature("IIS with detailed errors", r"Detailed Error Information", r"<th>Physical Path</th>"),
    _compile_signature("Spring's Whitelabel page with a trace", r"Whitelabel Error Page", frames=JAVA_STACK_FRAMES),
    _compile_signature("Spring with traces", r'"trace":\s*"(?:[a-z]\w*\.)+\w*(?:Exception|Error)\b', r'"path":'),
    _compile_signature("Express in development mode", r"Error: ", frames=NODE_STACK_FRAMES),
    _compile_signature("PHP with display_errors", PHP_ERROR_MESSAGE, is_printed_within_pages=True),
    _compile_signature("PHP with display_errors", r"(?m)^PHP Fatal error:  [^\n]{1,1000} in /[^\n]{1,300}:\d+$"),
    _compile_signature(
        "a Java stack trace", r"\b(?:[a-z]\w*\.){1,10}[A-Z]\w*(?:Exception|Error)\b", frames=JAVA_STACK_FRAMES
    ),
    _compile_signature("a Python traceback", r"Traceback \(most recent call last\):", PYTHON_STACK_FRAME),
    _compile_signature("a Go stack trace", r"goroutine \d+ \[running\]:", r"\.go:\d+ \+0x"),
)


def recognize_debug_page(response: Response, page_text: str) -> str | None:
    """Return the framework and mode that a debug page reveals.

    None if the response is not a debug page.

    A signature that also matches `page_text`, the text of the scanned page, is content of the site. The status must be
    400 or higher and the markup not that of an article, except for PHP, which prints its errors within pages.
    """
    if media_type(response) not in DEBUG_PAGE_MEDIA_TYPES and not media_type(response).endswith("+json"):
        return None
    text = response.body.decode("utf-8", "replace")[:MAX_CHARACTERS]
    may_be_ordinary_page = response.status < 400 or ARTICLE.search(text) is not None
    for signature in SIGNATURES:
        if may_be_ordinary_page and not signature.is_printed_within_pages:
            continue
        if _matches_signature(signature, text) and (
            signature.is_printed_within_pages or not _matches_signature(signature, page_text)
        ):
            return signature.name
    return None


def _matches_signature(signature: Signature, text: str) -> bool:
    if not all(mark.search(text) for mark in signature.marks):
        return False
    return signature.frames is None or len(signature.frames.findall(text[:MAX_CHARACTERS])) >= MIN_STACK_FRAMES
