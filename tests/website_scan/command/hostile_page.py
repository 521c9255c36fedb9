"""A hostile page that tries to break out of every output format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.targets.server import Answer, Certificate, Site
from website_scan import settings as scanning
from website_scan.browser.warm import WarmBrowser
from website_scan.command import local
from website_scan.command.arguments import parse_arguments
from website_scan.command.gate import CommandReport
from website_scan.command.progress import ProgressLine

# Texts that break out of strings, elements, comments, cells or code spans, that start formulas, links or mentions, or
# that control a terminal.
BREAKOUTS = (
    "=1+1|cmd /C calc",
    "]]><system-out>",
    "--><!--",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "![b](https://evil.example/pixel.png)",
    "<https://evil.example/>",
    "https://evil.example/",
    "www.evil.example",
    "`` ` | \\| \\",
    "@team #1 *x* _y_ ~z~",
    "\x1b[31m\x1b]0;x\x07\x9b2J",
    "\u202eevil\u2066",
    "\"'{{ 7*7 }}{% x %}",
    "\u2028# head\u2029- [ ] item",
)
ALL = " ".join(BREAKOUTS)
PATH = "/%3Cscript%3E/]]%3E|`*_[x](javascript:1)&;=@!'/a:b//..%2f%2e%2e?q=%22%3E&r=[x](https://evil.example)|`"
LONG = "long " * 200_000  # This text has a length of one megabyte.


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("\x00", "")


def _elements() -> Iterator[str]:
    for number, breakout in enumerate(BREAKOUTS):
        value = _attribute(breakout)
        yield f'<img id="{value}" class="{value}" src="/{value}.png">'
        yield f'<a id="link {value}" href="/{value}"></a><a href="{value}"></a>'
        yield f'<input name="{value}" id="x{number}"><label for="{value}">{breakout}</label>'
        yield f'<iframe src="https://evil.example/{value}"></iframe><button aria-label="" data-x="{value}"></button>'
        yield f"<h{number % 6 + 1}>{breakout}</h{number % 6 + 1}>"
        yield f'<div role="{value}" aria-{number}="{value}">{breakout}</div>'
        yield f'<script type="application/ld+json">{{"@type": {json.dumps(breakout)}, "name": "\\ud800"</script>'
        yield f'<meta name="description" content="{value}"><link rel="alternate" hreflang="{value}" href="{value}">'
        yield f'<script src="https://evil.example/jquery-1.4.2.min.js?{value}"></script>'
    yield f'<img src="/long.png" title="{LONG}" id="{"i" * 10_000}">'


def _page() -> str:
    title = ALL.replace("&", "&amp;").replace("<", "&lt;")
    return f'<!doctype html><html lang="{_attribute(ALL)}"><title>{title}</title><body>{"".join(_elements())}'


def _headers() -> list[tuple[str, str]]:
    latin_1_text = "".join(c if 32 <= ord(c) < 127 or 160 <= ord(c) < 256 else "?" for c in ALL)
    cookies = [f"{name}=1; Domain=localhost; Path=/" for name in ("=1+1", "a|`b`", "<b>", "[x](y)", "@team", "]]>")]
    return [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Server", f"nginx/1.2.3 {latin_1_text}"),
        ("X-Powered-By", f"PHP/5.2.1 {latin_1_text}"),
        (
            "Content-Security-Policy",
            f"script-src 'unsafe-inline' {latin_1_text.replace(';', '')}; {latin_1_text.replace(';', '')}",
        ),
        ("Strict-Transport-Security", f"max-age=1; {latin_1_text.replace(';', '')}"),
        ("Referrer-Policy", latin_1_text),
        ("Link", f"<{latin_1_text}>; rel=canonical"),
        *(("Set-Cookie", cookie) for cookie in cookies),
    ]


@contextmanager
def hostile_site() -> Iterator[Site]:
    page = Answer(_page(), headers=_headers())
    with Site(
        {"*": page, "/robots.txt": Answer(f"{ALL}\nUser-agent: *\nDisallow: /{ALL}\n")}, certificate=Certificate.VALID
    ) as site:
        yield site


def reports_of(site: Site, *paths: str, browser: WarmBrowser | None = None) -> list[CommandReport]:
    """Scan pages of the site for all scan types, like the command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "SCAN_CA_BUNDLE", site.ca_file)
        patch.setattr(local, "browser", lambda: browser)
        urls = [f"{site.url_as('localhost')}{path}" for path in paths]
        options = parse_arguments([*urls, "--allow-network", "127.0.0.0/8", "--quiet"], "website-scan")
        return [report for visit in local.scan_pages(options, ProgressLine(is_quiet=True)) for report in visit]
