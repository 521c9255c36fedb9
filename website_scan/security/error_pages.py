"""Debug pages of frameworks, recognized by signatures that no article has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from website_scan.net.http.response import Response
from website_scan.page.soft_404 import media_type

# Markup of a site's own articles, which debug pages never have. An article may quote the marks of a debug page.
ARTICLE = re.compile(
    r"<article\b|<link[^>]{1,200}rel=[\"']?canonical|<meta[^>]{1,200}(?:property=[\"']?og:|name=[\"']?description)",
    re.IGNORECASE,
)
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "text/plain", "application/json", "application/xml"})
READ_CHARACTERS = 128 * 1024

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
FRAMES = 3


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a framework's debug page: every mark must be found, `frames` at least three times.

    `is_inside`: the error is printed inside the site's own pages, with any status.
    """

    name: str
    marks: tuple[re.Pattern[str], ...]
    frames: re.Pattern[str] | None = None
    is_inside: bool = False


def _signature(name: str, *marks: str, frames: str | None = None, is_inside: bool = False) -> Signature:
    return Signature(
        name,
        tuple(re.compile(mark) for mark in marks),
        re.compile(frames) if frames else None,
        is_inside,
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
    _signature("PHP with display_errors", PHP_ERROR, is_inside=True),
    _signature("PHP with display_errors", r"(?m)^PHP Fatal error:  [^\n]{1,1000} in /[^\n]{1,300}:\d+$"),
    _signature("a Java stack trace", r"\b(?:[a-z]\w*\.){1,10}[A-Z]\w*(?:Exception|Error)\b", frames=JAVA_FRAMES),
    _signature("a Python traceback", r"Traceback \(most recent call last\):", PYTHON_FRAME),
    _signature("a Go stack trace", r"goroutine \d+ \[running\]:", r"\.go:\d+ \+0x"),
)


def debug_page(response: Response, page_text: str) -> str | None:
    """Return the name of the debug page, or None for an ordinary response or an article about such pages.

    Marks that the page itself shows, too, are its content. The status must be an error's and the markup not that of
    an article, except for PHP, which prints its errors inside pages.
    """
    if media_type(response) not in PAGE_TYPES and not media_type(response).endswith("+json"):
        return None
    text = response.body.decode("utf-8", "replace")[:READ_CHARACTERS]
    is_article = response.status < 400 or ARTICLE.search(text) is not None
    for signature in SIGNATURES:
        if is_article and not signature.is_inside:
            continue
        if _matches(signature, text) and (signature.is_inside or not _matches(signature, page_text)):
            return signature.name
    return None


def _matches(signature: Signature, text: str) -> bool:
    if not all(mark.search(text) for mark in signature.marks):
        return False
    return signature.frames is None or len(signature.frames.findall(text[:READ_CHARACTERS])) >= FRAMES
