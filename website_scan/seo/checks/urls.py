"""URL checks: readability of the page's URL."""

from __future__ import annotations

import re
import urllib.parse

from website_scan.catalogue import Category, check
from website_scan.findings import LOW
from website_scan.messages import MASK
from website_scan.outcomes import Pass, Verdict, Warn
from website_scan.page.evidence import Page
from website_scan.values import Address, Values, Word

CATEGORY = Category("URL hygiene", weight=2)

MAX_CHARACTERS = 115
ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
# Session IDs in URLs. The last four parameters are osCommerce's, xt:Commerce's, Zen Cart's and ColdFusion's; then
# ASP.NET's (S(…)) in the path.
SESSION_ID = re.compile(
    r"([?&;](?:phpsessid|jsessionid|aspsessionid[a-z]*|session_?id|sessid|sid|oscsid|xtcsid|zenid|cftoken)=)[^&;/?#]{6,}"
    r"|(/\(S\()[0-9a-z]{20,}(?=\)\)/)",
    re.IGNORECASE,
)
# Language tags in the path, such as /en-GB/ and /zh_Hant_TW/, which BCP 47 writes with capitals.
LOCALE = re.compile(r"(?<=/)[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_][A-Z]{2})?(?=/|$)")
# A plus between letters means a space, unlike those of “c++”.
PLUS_FOR_SPACE = re.compile(r"\w\+\w")


@check(
    "url-hygiene",
    name="URL is easy to read and share",
    outcomes={"hard-to-read": "URL is hard to read"},
    why="People find such an address hard to read, type and share.",
    severity=LOW,
    fix="Use short lower-case words with hyphens between them, such as `https://example.com/red-shoes`, and redirect "
    "the old URL with a 301.",
    references=("Google Search Central: URL structure",),
)
def url_hygiene(page: Page) -> Verdict:
    url = page.target.url
    path = page.target.address.path
    plain = LOCALE.sub("", ENCODED.sub("", path))
    faults = []
    if "_" in plain:
        faults.append("underscores")
    if any(letter.isupper() for letter in plain):
        faults.append("capital letters")
    if "%20" in path or PLUS_FOR_SPACE.search(path):
        faults.append("spaces")
    if "//" in path:
        faults.append("double slashes")
    without_session = SESSION_ID.sub(rf"\g<1>\g<2>{MASK}", url)
    if without_session != url:
        faults.append("a session ID")
    # Browsers display the decoded URL. Encoded, a Japanese letter takes nine characters.
    length = len(urllib.parse.unquote(url))
    if length > MAX_CHARACTERS:
        faults.append(f"{length} characters (more than {MAX_CHARACTERS})")
    if faults:
        return Warn(
            "hard-to-read",
            "The URL has {faults}: {url}.",
            faults=Values([Word(fault) for fault in faults], " and "),
            url=Address(without_session),
        )
    return Pass("The URL is short and easy to read.")
