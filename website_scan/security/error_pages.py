"""Recognition of debug pages of frameworks, by signatures that do not match articles about such pages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from website_scan.net.http.response import Response
from website_scan.page.soft_404 import media_type

# Markup of articles, which may quote a debug page. Debug pages themselves never have such markup.
ARTICLE = re.compile(
    r"<article\b|<link[^>]{1,200}rel=[\"']?canonical|<meta[^>]{1,200}(?:property=[\"']?og:|name=[\"']?description)",
    re.IGNORECASE,
)
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "text/plain", "application/json", "application/xml"})
MAX_CHARACTERS = 128 * 1024

JAVA_FRAMES = (
    r"(?:[\s;>]|^)at (?:[\w$]{1,100}\.){2,20}[\w$<>&;]{1,100}"
    r"\((?:[\w$]{1,100}\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\)"
)
NODE_FRAMES = r"(?:<br>|\n)[ &nbsp;]{0,30}at [^<\n]{1,300}:\d+:\d+\)?"
PYTHON_FRAME = r"File (?:\"|&quot;|&#34;)/?[^\n]{1,300}, line \d+, in "
PHP_ERROR = (
    r"<b>(?:Fatal error|Parse error|Warning|Notice|Deprecated)</b>: {1,2}[^\n]{1,1000}"
    r" in <b>(?:/|[A-Z]:\\)[^<\n]{1,300}</b> on line <b>\d+</b>"
)
MIN_FRAMES = 3


@dataclass(frozen=True, slots=True)
class Signature:
    """Signature of a framework's debug page: every mark must match, and `frames` (stack frames) at least three times.

    `is_printed_in_pages`: the error appears within the site's own pages, with any HTTP status.
    """

    name: str
    marks: tuple[re.Pattern[str], ...]
    frames: re.Pattern[str] | None = None
    is_printed_in_pages: bool = False


def _signature(name: str, *marks: str, frames: str | None = None, is_printed_in_pages: bool = False) -> Signature:
    return Signature(
        name,
        tuple(re.compile(mark) for mark in marks),
        re.compile(frames) if frames else None,
        is_printed_in_pages,
    )


SIGNATURES = (
    _signature("Django with DEBUG = True", r"seeing this error because you have\s+<code>DEBUG = True</code>"),
    _signature("Django with DEBUG = True", r"Request Method:", r"Django Version:", r"Exception Type:"),
    _signature("Werkzeug's debugger", r"// Werkzeug Debugger</title>|The debugger caught an exception in your WSGI"),
    _signature("Rails in development mode", r"<title>Action Controller: Exception caught</title>"),
    _signature("Rails in development mode", r"\bRails\.root: /", r"Routing Error|No route matches|Error in "),
    _signature("Laravel's Ignition", r"window\.ignite\s*\(|<title>[^<]{0,300}Ignition</title>|class=\"ignition\b"),
    _signature("Laravel in debug mode", r"laravel-exceptions-renderer|<title>Whoops! There was an error"),
    _signature(
        "Laravel in debug mode",
        r'"exception":\s*"[\w\\]{3,200}"',
        r'"file":\s*"(?:/|[A-Z]:|\\/)',
        r'"line":\s*\d',
        r'"trace":\s*\[',
    ),
    _signature("Symfony in debug mode", r"class=\"[^\"]{0,100}exception-(?:summary|message)\b", r"(?i)symfony"),
    _signature("ASP.NET with custom errors off", r"Server Error in '[^'<]{1,200}' Application", r"Stack Trace:"),
    _signature("ASP.NET Core's developer page", r"class=\"(?:titleerror|rawExceptionStackTrace)\b"),
    _signature("IIS with detailed errors", r"Detailed Error Information", r"<th>Physical Path</th>"),
    _signature("Spring's Whitelabel page with a trace", r"Whitelabel Error Page", frames=JAVA_FRAMES),
    _signature("Spring with traces", r'"trace":\s*"(?:[a-z]\w*\.)+\w*(?:Exception|Error)\b', r'"path":'),
    _signature("Express in development mode", r"Error: ", frames=NODE_FRAMES),
    _signature("PHP with display_errors", PHP_ERROR, is_printed_in_pages=True),
    _signature("PHP with display_errors", r"(?m)^PHP Fatal error:  [^\n]{1,1000} in /[^\n]{1,300}:\d+$"),
    _signature("a Java stack trace", r"\b(?:[a-z]\w*\.){1,10}[A-Z]\w*(?:Exception|Error)\b", frames=JAVA_FRAMES),
    _signature("a Python traceback", r"Traceback \(most recent call last\):", PYTHON_FRAME),
    _signature("a Go stack trace", r"goroutine \d+ \[running\]:", r"\.go:\d+ \+0x"),
)


def debug_page(response: Response, page_text: str) -> str | None:
    """Return the framework and mode that a debug page reveals. None for other responses.

    A signature that also matches `page_text`, the text of the scanned page, is content of the site. The status must be
    400 or higher and the markup not that of an article, except for PHP, which prints its errors within pages.
    """
    if media_type(response) not in PAGE_TYPES and not media_type(response).endswith("+json"):
        return None
    text = response.body.decode("utf-8", "replace")[:MAX_CHARACTERS]
    is_ordinary = response.status < 400 or ARTICLE.search(text) is not None
    for signature in SIGNATURES:
        if is_ordinary and not signature.is_printed_in_pages:
            continue
        if _matches(signature, text) and (signature.is_printed_in_pages or not _matches(signature, page_text)):
            return signature.name
    return None


def _matches(signature: Signature, text: str) -> bool:
    if not all(mark.search(text) for mark in signature.marks):
        return False
    return signature.frames is None or len(signature.frames.findall(text[:MAX_CHARACTERS])) >= MIN_FRAMES
