from __future__ import annotations

import pytest

from tests.website_scan.cast import URL, document, head, message, outcome, page, rows, verdict
from tests.website_scan.seo.cast import judge, message_with_places
from website_scan.crawl.sitemaps import SitemapFile, Sitemaps, parse_sitemap
from website_scan.page.evidence import Page
from website_scan.seo.checks import international as checks
from website_scan.seo.evidence import AlternateAnswers, PageAnswer
from website_scan.seo.hreflang import find_hreflang_code_fault

GERMAN = "https://site.example.com/de/shop/shoes"
SET = f'<link rel=alternate hreflang=en href="{URL}"><link rel=alternate hreflang=de href="{GERMAN}">'


def page_with_alternate(code: str, href: str = GERMAN) -> Page:
    return page(head(f'<link rel="alternate" hreflang="{code}" href="{href}">'))


@pytest.mark.parametrize(
    "code",
    [
        *(
            "en",
            "fil",
            "EN",
            "en-GB",
            "en-gb",
            "pt-BR",
            "zh-Hans",
            "zh-Hant-TW",
            "fil",
            "x-default",
            "X-Default",
            "sr-Latn-RS",
        ),
        *("de-CH", "no", "nb-NO", "he"),
    ],
)
def test_hreflang_code_is_valid(code: str) -> None:
    assert find_hreflang_code_fault(code) is None
    html_page = page_with_alternate(code)
    assert verdict(judge(checks.hreflang_code, html_page)) == "pass"


@pytest.mark.parametrize(
    ("code", "expected_text"),
    [
        ("en-UK", "the United Kingdom is GB"),
        ("eng", "know that language as en"),
        ("deu-AT", "know that language as de"),
        ("ger", "know that language as de"),
        ("en-EU", "not a country"),
        ("es-419", "a UN region"),
        ("en_US", "not a language code with"),
        ("english", "not a language code with"),
        ("xx", "not a language"),
        ("us", "not a language"),
        ("en-XX", "not a country"),
        ("zh-Abcd", "not a script"),
        ("be-NLX", "not a language code with"),
        ("", "not a language code with"),
        ("x-defaults", "not a language code with"),
    ],
)
def test_hreflang_code_is_invalid(code: str, expected_text: str) -> None:
    html_page = page_with_alternate(code)
    finding = judge(checks.hreflang_code, html_page)
    assert (verdict(finding), outcome(finding)) == ("fail", "invalid")
    (row,) = rows(finding)
    assert row["hreflang"] == code
    assert expected_text in str(row["reason"])


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        (GERMAN, "pass"),
        ("HTTPS://site.example.com/de", "pass"),
        ("/de/", "relative"),
        ("//site.example.com/de/", "relative"),
        ("", "relative"),
        ("https://[broken", "relative"),
    ],
)
def test_hreflang_absolute_check_verdict(href: str, expected: str) -> None:
    html_page = page_with_alternate("de", href)
    assert outcome(judge(checks.hreflang_absolute, html_page)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (SET, "pass"),
        (SET.replace(URL, f"{URL}#top"), "pass"),
        # A link to the canonical URL counts as a link to the page.
        (f'<link rel=canonical href="{GERMAN}"><link rel=alternate hreflang=de href="{GERMAN}">', "pass"),
        # WordPress writes percent escapes in lower case.
        (
            '<link rel=canonical href="/%e6%97%a5"><link rel=alternate hreflang=ja href="https://site.example.com/%E6%97%A5">',
            "pass",
        ),
        (f'<link rel=alternate hreflang=de href="{GERMAN}">', "missing"),
    ],
)
def test_hreflang_self_check_verdict(markup: str, expected: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.hreflang_self, html_page)) == expected


def test_language_versions_in_headers_count() -> None:
    html_page = page(
        head(""), ("Link", f'<{URL}>; rel="alternate"; hreflang="x-default", <{GERMAN}>; rel=alternate; hreflang=de')
    )
    assert verdict(judge(checks.hreflang_self, html_page)) == "pass"
    assert verdict(judge(checks.hreflang_x_default, html_page)) == "pass"


def test_invalid_link_header_url_is_not_absolute() -> None:
    html_page = page(head(""), ("Link", "<https://[broken>; rel=alternate; hreflang=de"))
    finding = judge(checks.hreflang_absolute, html_page)
    assert verdict(finding) == "fail"
    assert message_with_places(finding) == "1 hreflang entry has no absolute URL: https://[broken."


def test_missing_x_default_is_warning() -> None:
    html_page = page(head(SET))
    finding = judge(checks.hreflang_x_default, html_page)
    assert (verdict(finding), outcome(finding)) == ("warn", "missing")


def german_version(html: str = "", status: int = 200) -> AlternateAnswers:
    other = page(html, url=GERMAN, status=status)
    return AlternateAnswers((PageAnswer(GERMAN, other, document(other)),))


@pytest.mark.parametrize(
    ("answers", "expected_text"),
    [
        (german_version(head(SET)), None),
        # The other version has a relative link to this page.
        (german_version(head(SET.replace(URL, "/shop/shoes"))), None),
        (german_version(head("")), "does not link back"),
        (german_version(head(f'<link rel=alternate hreflang=de href="{GERMAN}">')), "does not link back"),
        (german_version(head(SET), 404), "status 404"),
        (german_version(head(SET), 301), "status 301"),
        (AlternateAnswers((PageAnswer(GERMAN, error="It does not resolve."),)), "it does not resolve"),
    ],
)
def test_hreflang_return_check_verdict(answers: AlternateAnswers, expected_text: str | None) -> None:
    html_page = page(head(SET))
    finding = judge(checks.hreflang_return, html_page, answers)
    assert outcome(finding) == ("pass" if expected_text is None else "unconfirmed"), message(finding)
    assert verdict(finding) == ("pass" if expected_text is None else "fail")
    assert (expected_text or "") in message_with_places(finding)


@pytest.mark.parametrize("status", [401, 403, 503])
def test_version_that_refuses_scanners_is_not_judged(status: int) -> None:
    html_page = page(head(SET))
    assert verdict(judge(checks.hreflang_return, html_page, german_version("", status))) == "n/a"


@pytest.mark.parametrize(("codes", "expected"), [(["x-default"], "n/a"), (["x-default", "de"], "unconfirmed")])
def test_x_default_may_redirect(codes: list[str], expected: str) -> None:
    links = "".join(f'<link rel=alternate hreflang={code} href="{GERMAN}">' for code in codes)
    html_page = page(head(links))
    assert outcome(judge(checks.hreflang_return, html_page, german_version("", 302))) == expected


def test_hreflang_message_explains_fault() -> None:
    html_page = page_with_alternate("en-UK")
    assert message_with_places(judge(checks.hreflang_code, html_page)) == (
        "1 hreflang code is invalid: “en-UK” ends with UK, which is not a country; the United Kingdom is GB."
    )


def test_entry_without_code_is_only_in_details() -> None:
    html_page = page(head('<link rel=alternate hreflang="" href=/de/><link rel=alternate hreflang=fr href=/fr/>'))
    finding = judge(checks.hreflang_absolute, html_page)
    assert message_with_places(finding) == "2 hreflang entries have no absolute URL: /fr/."
    assert [row["href"] for row in rows(finding)] == ["/de/", "/fr/"]


@pytest.mark.parametrize("href", ["", 'href=""', 'href=" "', f'content="{URL}"'])
def test_hreflang_link_needs_href(href: str) -> None:
    """HTML, the link element.

    An empty or missing href creates no link, not even to the page itself.
    """
    html_page = page(head(f"<link rel=alternate hreflang=en {href}><link rel=alternate hreflang=de href='{GERMAN}'>"))
    finding = judge(checks.hreflang_absolute, html_page)
    assert message_with_places(finding) == "1 hreflang entry has no absolute URL: (empty)."
    assert outcome(judge(checks.hreflang_self, html_page)) == "missing"


def test_hreflang_return_needs_other_versions() -> None:
    html_page = page_with_alternate("en", URL)
    assert verdict(judge(checks.hreflang_return, html_page, AlternateAnswers(()))) == "n/a"


@pytest.mark.parametrize(
    "markup",
    [
        "",
        '<link rel=alternate type=application/rss+xml href="/feed">',
        f'<link rel=stylesheet hreflang=de href="{GERMAN}">',
        f'</head><body><link rel=alternate hreflang=de href="{GERMAN}">',
    ],
)
def test_hreflang_checks_need_language_versions(markup: str) -> None:
    html_page = page(head(markup))
    for finding in (
        judge(checks.hreflang_code, html_page),
        judge(checks.hreflang_absolute, html_page),
        judge(checks.hreflang_self, html_page),
        judge(checks.hreflang_x_default, html_page),
        judge(checks.hreflang_return, html_page, AlternateAnswers(())),
    ):
        assert verdict(finding) == "n/a"


NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'


def sitemaps_with(*entries: tuple[str, dict[str, str]], is_whole: bool = True) -> Sitemaps:
    """Return a sitemap with these language versions by URL.

    Unless `is_whole`, only a part of the sitemap was read.
    """
    markup = "".join(
        f"<url><loc>{url}</loc>"
        + "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>' for code, href in versions.items())
        + "</url>"
        for url, versions in entries
    )
    content = f"<urlset {NAMESPACES}>{markup}" + ("</urlset>" if is_whole else "")
    parsed = parse_sitemap(content.encode(), is_cut=not is_whole, pages=frozenset({URL}))
    return Sitemaps((SitemapFile("https://site.example.com/sitemap.xml", 200, sitemap=parsed),), 1)


BOTH = {"en": URL, "de": GERMAN}
OTHER = "https://site.example.com/fr/shop/shoes"


@pytest.mark.parametrize(
    ("sitemaps", "expected"),
    [
        (sitemaps_with((URL, BOTH), (GERMAN, BOTH)), "pass"),
        (sitemaps_with((GERMAN, {"en": URL})), "pass"),
        # The sitemap contains no return link from this language version.
        (sitemaps_with((URL, BOTH)), "unconfirmed"),
        (sitemaps_with((URL, BOTH), (GERMAN, {"de": GERMAN})), "unconfirmed"),
        (sitemaps_with((URL, {}), (GERMAN, {})), "unconfirmed"),
        (sitemaps_with((OTHER, BOTH)), "unconfirmed"),
        (sitemaps_with(), "unconfirmed"),
        # The unread part of the sitemap may contain the return link.
        (sitemaps_with((OTHER, BOTH), is_whole=False), "n/a"),
        (sitemaps_with((OTHER, {}), is_whole=False), "unconfirmed"),
    ],
)
def test_sitemap_links_are_return_links(sitemaps: Sitemaps, expected: str) -> None:
    """Google Search Central, “Localized versions”.

    HTML, headers and sitemaps are equivalent.
    """
    finding = judge(checks.hreflang_return, page(head(SET)), german_version(head("")), sitemaps)
    assert outcome(finding) == expected


def test_erroneous_version_stays_unconfirmed() -> None:
    sitemaps = sitemaps_with((GERMAN, BOTH))
    finding = judge(checks.hreflang_return, page(head(SET)), german_version(head(""), 404), sitemaps)
    assert outcome(finding) == "unconfirmed"


def test_hreflang_checks_read_sitemap_entry() -> None:
    html_page = page_with_alternate("de")
    sitemaps = sitemaps_with((URL, {"en": URL, "X-Default": GERMAN}))
    assert outcome(judge(checks.hreflang_self, html_page, sitemaps)) == "pass"
    assert outcome(judge(checks.hreflang_x_default, html_page, sitemaps)) == "pass"
    elsewhere = sitemaps_with((OTHER, {"en": URL, "x-default": GERMAN}))
    assert outcome(judge(checks.hreflang_self, html_page, elsewhere)) == "missing"
    assert outcome(judge(checks.hreflang_x_default, html_page, elsewhere)) == "missing"
