"""Tests for the references of checks and their links."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.report.references import SECTION, ReferenceLink, criterion, reference, safe_link, table

WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"
REFERENCES = {text for scan_type in ScanType for check in checks(scan_type) for text in check.references}
# These hosts belong to standards bodies, browser vendors and search engines.
HOSTS = {
    *("www.w3.org", "html.spec.whatwg.org", "fetch.spec.whatwg.org", "tc39.es", "www.iso.org", "csrc.nist.gov"),
    *("www.rfc-editor.org", "datatracker.ietf.org", "cwe.mitre.org", "www.cve.org", "owasp.org"),
    *("developer.mozilla.org", "web.dev", "developer.chrome.com", "httparchive.org", "research.google"),
    *("developers.google.com", "schema.org", "www.sitemaps.org", "ogp.me", "web.archive.org"),
    *("dequeuniversity.com", "docs.spring.io", "httpd.apache.org", "pages.nist.gov", "www.ncsc.gov.uk"),
    "docs.github.com",
    "github.com",
}


def test_all_references_are_links() -> None:
    """Regression test: 74 references of checks were broken links."""
    assert {text for text in REFERENCES if reference(text).url is None} == set()


def test_references_link_to_known_hosts() -> None:
    urls = [urlsplit(reference(text).url or "") for text in REFERENCES]
    assert {(url.scheme, url.hostname) for url in urls} == {("https", host) for host in HOSTS}


def test_every_reference_url_is_used() -> None:
    assert table().keys() <= REFERENCES | {SECTION.sub("", text) for text in REFERENCES}


def test_header_checks_refer_to_mdn() -> None:
    """Regression test: no header check linked to MDN."""
    mdn = {
        check.id for check in checks(ScanType.SECURITY) if any(text.startswith("MDN: ") for text in check.references)
    }
    assert {
        check.id for check in checks(ScanType.SECURITY) if check.category_id in ("headers", "csp", "cookies")
    } <= mdn


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("RFC 9110", "https://www.rfc-editor.org/rfc/rfc9110"),
        ("RFC 9325, section 3.1", "https://www.rfc-editor.org/rfc/rfc9325#section-3.1"),
        ("CWE-319", "https://cwe.mitre.org/data/definitions/319.html"),
        ("CVE-2024-38526", "https://www.cve.org/CVERecord?id=CVE-2024-38526"),
        ("axe-core: image-alt", "https://dequeuniversity.com/rules/axe/4.10/image-alt"),
        ("axe-core: region (best practice)", "https://dequeuniversity.com/rules/axe/4.10/region"),
        ("https://example.com/x", "https://example.com/x"),
        ("Fetch, section 3.6", "https://fetch.spec.whatwg.org/#x-content-type-options-header"),
        ("Fetch, section 9.9", None),
        ("CSP Level 3, sections 6.1.9 and 6.3.1", "https://www.w3.org/TR/CSP3/"),
        ("CSP Level 3, nothing", None),
        ("OWASP WSTG-INFO-02", "https://owasp.org/www-project-web-security-testing-guide/"),
        ("RFC 9309, sections 2.2 to 2.5", "https://www.rfc-editor.org/rfc/rfc9309"),
        ("axe-core: ../../x", None),
    ],
)
def test_known_reference_gets_a_url(text: str, url: str | None) -> None:
    assert reference(text) == ReferenceLink(text, url)


@pytest.mark.parametrize(
    ("text", "number", "level", "url"),
    [
        ("WCAG 4.1.2 Name, Role, Value (A)", "4.1.2", "A", WCAG + "name-role-value"),
        ("WCAG 1.4.3 Contrast (Minimum) (AA)", "1.4.3", "AA", WCAG + "contrast-minimum"),
        ("WCAG 2.4.4 Link Purpose (In Context) (A)", "2.4.4", "A", WCAG + "link-purpose-in-context"),
        ("WCAG 2.4.4 (A)", "2.4.4", "A", None),
    ],
)
def test_wcag_criterion_is_parsed(text: str, number: str, level: str, url: str | None) -> None:
    wcag = criterion(text)
    assert wcag is not None
    assert (wcag.number, wcag.level, wcag.url) == (number, level, url)


def test_all_wcag_references_are_parsed() -> None:
    named = {text for check in checks(ScanType.ACCESSIBILITY) for text in check.references if text.startswith("WCAG ")}
    assert len(named) > 15
    assert {text for text in named if criterion(text) is None} == set()


@pytest.mark.parametrize("text", ["WCAG 2.2, 2.5.8 Target Size (Minimum)", "WCAG", "WCAG 4.1.2", "RFC 9110", ""])
def test_reference_without_level_is_no_criterion(text: str) -> None:
    assert criterion(text) is None


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "JAVASCRIPT:x", " https://a.b/", "\thttps://a.b/", "data:text/html,x", "//a.b/"),
        *("https:a.b", "https:///a", "http://", "http://[::1", "vbscript:x", "", None, 7),
    ],
)
def test_only_http_addresses_are_links(url: object) -> None:
    assert safe_link(url) is None
