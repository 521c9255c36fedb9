from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import (
    POLICY,
    document,
    message,
    outcome,
    page,
    response,
    rows,
    severity_of,
    target,
    verdict,
)
from tests.website_scan.seo.cast import judge
from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Rendered
from website_scan.findings import ScanType, Severity
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.seo.checks import indexability as checks
from website_scan.seo.evidence import MissingPathAnswer
from website_scan.seo.visible_text import read_missing_page_words

MENU = "<nav><a href=/shoes>Shoes</a> <a href=/boots>Boots</a> <a href=/cart>Cart</a></nav>"


def markup(title: str, body: str) -> str:
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title></head><body>{MENU}<main>{body}</main></body></html>"
    )


GONE = markup("Page not found | Acme", "<h1>Page not found</h1><p>We could not find the page you asked for.")
ARTICLE = markup(
    "Error 404: what it is and how to mend it | Acme",
    "<h1>Error 404: what it is and how to mend it</h1><p>Page not found: everybody knows it.</p>"
    + "<p>Some words. " * 99,
)

ERROR_PAGES = {
    "WordPress": ("Page not found - Acme", "<h1>Oops! That page can't be found.</h1><p>Try a search?"),
    "Next.js": ("404: This page could not be found", "<h1>404</h1><h2>This page could not be found.</h2>"),
    "nginx": ("404 Not Found", "<h1>404 Not Found</h1><p>The page you are looking for is not found."),
    "status code as heading": ("404 - Acme", "<h1>404</h1><p>The page you are looking for does not exist."),
    "Apache": ("404 Not Found", "<h1>Not Found</h1><p>The requested URL was not found on this server."),
    "message in title only": ("Error 404 (Not Found)", "<p>We can't find that page."),
    "a shop": ("Acme", "<h1>Product not found</h1><p>This product is no longer available."),
    "in German": ("Seite nicht gefunden | Acme", "<h1>Seite nicht gefunden</h1><p>Leider."),
    "in French": ("Erreur 404 - Page introuvable", "<h1>Page introuvable</h1>"),
    "in Spanish": ("Página no encontrada", "<h1>Página no encontrada</h1>"),
    "in Japanese": ("ページが見つかりません | Acme", "<h1>ページが見つかりません</h1>"),
    "in Chinese": ("页面不存在", "<h1>页面不存在</h1>"),
    "in Russian": ("Страница не найдена", "<h1>Ошибка 404. Страница не найдена</h1>"),
}
OTHER_PAGES = {
    "an article": ("Error 404: how to mend it | Acme", "<h1>Error 404: how to mend it</h1><p>Page not found…"),
    "a long article": ("404 Not Found | Docs", "<h1>404 Not Found</h1><p>The page was not found. " + "Word " * 300),
    "glossary entry": ("404 - Glossary", "<h1>404</h1><p>A status code: the server has nothing to send."),
    "a shop": ("Shoes | Acme", "<h1>Shoes</h1><p>Size not found? Write to us. This product was not found in blue."),
    "a search without results": ("Search results for x | Acme", "<h1>No results found</h1><p>Nothing found for x."),
    "a film": ("Not Fade Away | Films", "<h1>Not Fade Away</h1><p>A film of 2012."),
    "a street": ("404 Main Street | Homes", "<h1>404 Main Street</h1><p>This listing is no longer available."),
    "a car": ("Peugeot 404 - Cars", "<h1>Peugeot 404</h1><p>A car of 1960."),
    "lost property": ("Lost and found | Town", "<h1>Lost and found</h1><p>The item was not found? Ask us."),
    "a home page": ("Acme", "<h1>Shoes and boots</h1><p>By hand."),
    "empty page": ("", ""),
}


@pytest.mark.parametrize(("title", "body"), ERROR_PAGES.values(), ids=ERROR_PAGES)
def test_not_found_with_status_200_is_warning(title: str, body: str) -> None:
    finding = judge(checks.soft_404, page(markup(title, body)), MissingPathAnswer())
    assert (verdict(finding), outcome(finding)) == ("warn", "error-page")
    assert severity_of(checks.soft_404, finding) is Severity.MEDIUM
    assert "status 200" in message(finding)


@pytest.mark.parametrize(("title", "body"), OTHER_PAGES.values(), ids=OTHER_PAGES)
def test_other_page_is_not_soft_404(title: str, body: str) -> None:
    html_page = page(markup(title, body))
    assert verdict(judge(checks.soft_404, html_page, MissingPathAnswer())) == "pass"
    assert not read_missing_page_words(AccessibleDocument(document(html_page))).is_in_all_parts


@pytest.mark.parametrize(
    ("markup", "other", "status", "expected"),
    [
        (GONE, GONE, 200, "fail"),
        (GONE, "<title>404</title><h1>Not Found</h1>", 404, "warn"),
        (ARTICLE, "<title>404</title><h1>Not Found</h1>", 404, "pass"),
        (ARTICLE, GONE, 200, "pass"),
    ],
)
def test_soft_404_fails_with_same_random_response(markup: str, other: str, status: int, expected: str) -> None:
    headers = ("Content-Type", "text/html; charset=utf-8")
    missing_path = MissingPathAnswer("/shop/shoes-a1b2c3", response("", headers, status=status, body=other.encode()))
    assert verdict(judge(checks.soft_404, page(markup), missing_path)) == expected


def test_message_names_random_path() -> None:
    headers = ("Content-Type", "text/html; charset=utf-8")
    missing_path = MissingPathAnswer("/shop/shoes-a1b2c3", response("", headers, body=GONE.encode()))
    finding = judge(checks.soft_404, page(GONE), missing_path)
    assert outcome(finding) == "error-page"
    assert severity_of(checks.soft_404, finding) is Severity.HIGH
    assert "as does /shop/shoes-a1b2c3, a path that cannot exist" in message(finding)
    assert rows(finding) == [{"asked": "/shop/shoes-a1b2c3", "status": 200}]


def test_not_found_message_of_scripts_counts() -> None:
    shell = page("<!doctype html><title>Acme</title><div id=root></div><script src=/app.js></script>")
    rendered = Rendered(document(page(GONE)), {})
    assert verdict(judge(checks.soft_404, shell, MissingPathAnswer(), rendered)) == "warn"
    assert verdict(judge(checks.soft_404, shell, MissingPathAnswer())) == "pass"


def scan_page(site: Site, path: str) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(site.url + path), [ScanType.SEO], network, Budget())[0]


def test_soft_404_caps_score_at_40() -> None:
    with Site({"*": Answer(GONE)}) as site:
        result = scan_page(site, "/old-shoes")
    assert {check.id: check.status for check in result.checks}["soft-404"] == "fail"
    assert result.score is not None
    assert result.score <= 40


def test_ordinary_page_needs_no_random_path() -> None:
    with Site({"/shoes": Answer(markup("Shoes", "<h1>Shoes</h1>"))}) as site:
        result = scan_page(site, "/shoes")
        sibling_paths = {path for path in site.paths() if path.startswith("/shoes-")}
    assert {check.id: check.status for check in result.checks}["soft-404"] == "pass"
    assert not sibling_paths
