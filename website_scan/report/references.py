"""Links for the references of checks to standards.

They come from references.toml or a pattern.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct

from website_scan.check_ids import check_ids
from website_scan.findings import ScanType
from website_scan.requirements.model import is_own_check
from website_scan.written_urls import written_host

AXE_RULES = "https://dequeuniversity.com/rules/axe/4.10/"
TESTING_GUIDE = "https://owasp.org/www-project-web-security-testing-guide/"
TABLE = Path(__file__).with_name("references.toml")
SECTION = re.compile(r", sections? \d[\d.]*(?: (?:and|to) [\d.]+)?")
UNDERSTANDING_WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"
# Pattern for a WCAG success criterion, such as "WCAG 4.1.2 Name, Role, Value (A)".
CRITERION = re.compile(r"WCAG (\d\.\d{1,2}\.\d{1,2})(?: ([^\n]{1,80}))? \((A{1,3})\)")


class ReferenceLink(Struct, frozen=True):
    """Reference of a check to a standard.

    `url` is None if no page is known.
    """

    text: str
    url: str | None


class CriterionLink(Struct, frozen=True):
    """Success criterion of WCAG 2.2.

    It has a level (A, AA, AAA) and the URL of its explanation.
    """

    number: str
    name: str
    level: str
    url: str | None


def safe_link(url: object) -> str | None:
    """Return the URL if it is safe in an href, or None.

    Safe URLs are absolute and http or https, unlike `javascript:` URLs.
    """
    if not isinstance(url, str) or not re.match(r"https?://[^\s/]", url):
        return None
    return url if written_host(url) else None


def page_url(check_pages: str, check_id: str) -> str:
    """Return the URL of a check's documentation page.

    Empty for removed checks, or if `check_pages` is empty. Own requirements have one page for all.
    """
    if check_pages and is_own_check(check_id):
        return f"{check_pages.removesuffix('checks/')}requirements"
    return f"{check_pages}{check_id}" if check_pages and check_id in _known_checks() else ""


@cache
def _known_checks() -> frozenset[str]:
    return frozenset().union(*map(check_ids, ScanType))


@cache
def table() -> dict[str, str]:
    """Return the URLs in references.toml by reference name."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def address_of(text: str) -> str | None:
    """Return the URL of a reference in references.toml, or None.

    The name may end with a section.
    """
    return table().get(text) or table().get(SECTION.sub("", text))


@lru_cache(maxsize=1024)
def reference(text: str) -> ReferenceLink:
    """Return the link for a reference.

    It is a name in references.toml, a URL, CWE, CVE, RFC, WCAG criterion or axe rule.

    A section may follow the name.
    """
    if url := address_of(text):
        return ReferenceLink(text, url)
    if match := re.fullmatch(r"CWE-(\d+)", text):
        return ReferenceLink(text, f"https://cwe.mitre.org/data/definitions/{match[1]}.html")
    if match := re.fullmatch(r"CVE-\d{4}-\d{4,7}", text):
        return ReferenceLink(text, f"https://www.cve.org/CVERecord?id={match[0]}")
    if re.fullmatch(r"OWASP WSTG-[A-Z]{4}-\d\d", text):
        return ReferenceLink(text, TESTING_GUIDE)
    if match := re.fullmatch(r"RFC (\d+)(?:, section (\d+(?:\.\d+)*)|, sections .*)?", text):
        section = f"#section-{match[2]}" if match[2] else ""
        return ReferenceLink(text, f"https://www.rfc-editor.org/rfc/rfc{match[1]}{section}")
    if match := re.fullmatch(r"axe-core: ([a-z-]{2,60})(?: \(best practice\))?", text):
        return ReferenceLink(text, f"{AXE_RULES}{match[1]}")
    wcag = criterion(text)
    return ReferenceLink(text, wcag.url if wcag else safe_link(text))


@lru_cache(maxsize=1024)
def criterion(text: str) -> CriterionLink | None:
    """Parse a reference to a WCAG success criterion.

    Returns None for other references.
    """
    match = CRITERION.fullmatch(text)
    if match is None:
        return None
    name = match[2] or ""
    slug = re.sub(r"[^a-z]+", "-", name.lower()).strip("-")
    return CriterionLink(match[1], name, match[3], f"{UNDERSTANDING_WCAG}{slug}" if slug else None)
