"""URL hygiene: addresses that people can read, type and share."""

from __future__ import annotations

import re

import ada_url

from scans.engine.catalogue import Category, check
from scans.engine.evidence import Page
from scans.engine.findings import LOW, Finding, Pass, Warn
from scans.engine.masking import excerpt

CATEGORY = Category("URL hygiene", weight=2)

MAX_CHARACTERS = 115
ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
SESSION = re.compile(
    r"(?:^|[?&;])(?:phpsessid|jsessionid|aspsessionid[a-z]*|sessionid|session_id|sessid|sid)=[^&;]{6}", re.IGNORECASE
)


@check(
    "url-hygiene",
    name="Readable address",
    severity=LOW,
    fix="Use short lower-case words with hyphens between them, and redirect the old address with a 301.",
    references=("Google Search Central: URL structure",),
)
def url_hygiene(page: Page) -> Finding:
    """People and search engines read addresses too."""
    url = ada_url.URL(page.target.url)
    path = url.pathname
    plain = ENCODED.sub("", path)
    faults = []
    if "_" in plain:
        faults.append("underscores")
    if any(letter.isupper() for letter in plain):
        faults.append("capitals")
    if "%20" in path or "+" in path:
        faults.append("spaces")
    if "//" in path:
        faults.append("double slashes")
    if SESSION.search(url.search) or SESSION.search(f";{path.partition(';')[2]}"):
        faults.append("a session's ID")
    if len(page.target.url) > MAX_CHARACTERS:
        faults.append(f"{len(page.target.url)} characters")
    if faults:
        return Warn(f"The address has {', '.join(faults)}: {excerpt(page.target.url)}")
    return Pass("The address is short and plain.")
