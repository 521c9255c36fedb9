"""Check that the page's URL is readable."""

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

MAX_URL_CHARACTERS = 115
ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
# Session IDs in URLs. The last four parameters are from osCommerce, xt:Commerce, Zen Cart and ColdFusion, and the form
# (S(…)) in the path is from ASP.NET.
SESSION_ID = re.compile(
    r"([?&;](?:phpsessid|jsessionid|aspsessionid[a-z]*|session_?id|sessid|sid|oscsid|xtcsid|zenid|cftoken)=)[^&;/?#]{6,}"
    r"|(/\(S\()[0-9a-z]{20,}(?=\)\)/)",
    re.IGNORECASE,
)
# Language tags such as /en-GB/ and /zh_Hant_TW/ may contain capital letters (BCP 47).
LOCALE = re.compile(r"(?<=/)[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_][A-Z]{2})?(?=/|$)")
# A plus between letters is an encoded space, unlike the plus signs of “c++”.
PLUS_AS_SPACE = re.compile(r"\w\+\w")


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
    if "%20" in path or PLUS_AS_SPACE.search(path):
        faults.append("spaces")
    if "//" in path:
        faults.append("double slashes")
    url_without_session_id = SESSION_ID.sub(rf"\g<1>\g<2>{MASK}", url)
    if url_without_session_id != url:
        faults.append("a session ID")
    # Browsers display the decoded URL, so the decoded length counts.
    length = len(urllib.parse.unquote(url))
    if length > MAX_URL_CHARACTERS:
        faults.append(f"{length} characters (more than {MAX_URL_CHARACTERS})")
    if faults:
        return Warn(
            "hard-to-read",
            "The URL has {faults}: {url}.",
            faults=Values([Word(fault) for fault in faults], " and "),
            url=Address(url_without_session_id),
        )
    return Pass("The URL is short and easy to read.")
