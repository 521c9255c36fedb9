from __future__ import annotations

import pytest

from tests.website_scan.cast import URL, document, head, message, outcome, page, rows, verdict
from tests.website_scan.seo.cast import judge, told
from website_scan.page.evidence import Page
from website_scan.seo.checks import international as checks
from website_scan.seo.evidence import AlternateAnswers, PageAnswer
from website_scan.seo.hreflang import code_fault

GERMAN = "https://site.example.com/de/shop/shoes"
SET = f'<link rel=alternate hreflang=en href="{URL}"><link rel=alternate hreflang=de href="{GERMAN}">'


def one(code: str, href: str = GERMAN) -> Page:
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
def test_codes_that_search_engines_know(code: str) -> None:
    assert code_fault(code) is None
    seen = one(code)
    assert verdict(judge(checks.hreflang_code, seen)) == "pass"


@pytest.mark.parametrize(
    ("code", "said"),
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
def test_codes_that_nobody_knows(code: str, said: str) -> None:
    seen = one(code)
    finding = judge(checks.hreflang_code, seen)
    assert (verdict(finding), outcome(finding)) == ("fail", "invalid")
    (row,) = rows(finding)
    assert row["hreflang"] == code
    assert said in str(row["reason"])


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
def test_hreflang_absolute(href: str, expected: str) -> None:
    seen = one("de", href)
    assert outcome(judge(checks.hreflang_absolute, seen)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (SET, "pass"),
        (SET.replace(URL, f"{URL}#top"), "pass"),
        # The canonical URL counts as the page.
        (f'<link rel=canonical href="{GERMAN}"><link rel=alternate hreflang=de href="{GERMAN}">', "pass"),
        # WordPress writes percent escapes in lower case.
        (
            '<link rel=canonical href="/%e6%97%a5"><link rel=alternate hreflang=ja href="https://site.example.com/%E6%97%A5">',
            "pass",
        ),
        (f'<link rel=alternate hreflang=de href="{GERMAN}">', "missing"),
    ],
)
def test_hreflang_self(markup: str, expected: str) -> None:
    seen = page(head(markup))
    assert outcome(judge(checks.hreflang_self, seen)) == expected


def test_versions_in_link_headers_count() -> None:
    seen = page(
        head(""), ("Link", f'<{URL}>; rel="alternate"; hreflang="x-default", <{GERMAN}>; rel=alternate; hreflang=de')
    )
    assert verdict(judge(checks.hreflang_self, seen)) == "pass"
    assert verdict(judge(checks.hreflang_x_default, seen)) == "pass"


def test_a_link_header_that_leads_nowhere_is_no_address() -> None:
    seen = page(head(""), ("Link", "<https://[broken>; rel=alternate; hreflang=de"))
    finding = judge(checks.hreflang_absolute, seen)
    assert verdict(finding) == "fail"
    assert told(finding) == "1 hreflang entry has no absolute URL: https://[broken."


def test_without_x_default_there_is_a_warning() -> None:
    seen = page(head(SET))
    finding = judge(checks.hreflang_x_default, seen)
    assert (verdict(finding), outcome(finding)) == ("warn", "missing")


def answering(html: str = "", status: int = 200) -> AlternateAnswers:
    other = page(html, url=GERMAN, status=status)
    return AlternateAnswers((PageAnswer(GERMAN, other, document(other)),))


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (answering(head(SET)), None),
        (answering(head(SET.replace(URL, "/shop/shoes"))), None),  # relative, but it leads to this page
        (answering(head("")), "does not link back"),
        (answering(head(f'<link rel=alternate hreflang=de href="{GERMAN}">')), "does not link back"),
        (answering(head(SET), 404), "status 404"),
        (answering(head(SET), 301), "status 301"),
        (AlternateAnswers((PageAnswer(GERMAN, error="It does not resolve."),)), "it does not resolve"),
    ],
)
def test_hreflang_return(answers: AlternateAnswers, said: str | None) -> None:
    seen = page(head(SET))
    finding = judge(checks.hreflang_return, seen, answers)
    assert outcome(finding) == ("pass" if said is None else "unconfirmed"), message(finding)
    assert verdict(finding) == ("pass" if said is None else "fail")
    assert (said or "") in told(finding)


@pytest.mark.parametrize("status", [401, 403, 503])
def test_a_version_that_shuts_scanners_out_is_not_judged(status: int) -> None:
    seen = page(head(SET))
    assert verdict(judge(checks.hreflang_return, seen, answering("", status))) == "n/a"


@pytest.mark.parametrize(("codes", "expected"), [(["x-default"], "n/a"), (["x-default", "de"], "unconfirmed")])
def test_a_page_for_all_other_languages_may_redirect(codes: list[str], expected: str) -> None:
    links = "".join(f'<link rel=alternate hreflang={code} href="{GERMAN}">' for code in codes)
    seen = page(head(links))
    assert outcome(judge(checks.hreflang_return, seen, answering("", 302))) == expected


def test_the_message_reads_as_a_sentence() -> None:
    seen = one("en-UK")
    assert told(judge(checks.hreflang_code, seen)) == (
        "1 hreflang code is invalid: “en-UK” ends with UK, which is not a country; the United Kingdom is GB."
    )


def test_an_entry_without_a_code_names_no_place() -> None:
    seen = page(head('<link rel=alternate hreflang="" href=/de/><link rel=alternate hreflang=fr href=/fr/>'))
    finding = judge(checks.hreflang_absolute, seen)
    assert told(finding) == "2 hreflang entries have no absolute URL: /fr/."
    assert [row["href"] for row in rows(finding)] == ["/de/", "/fr/"]


def test_a_set_of_the_page_alone_has_nobody_to_link_back() -> None:
    seen = one("en", URL)
    assert verdict(judge(checks.hreflang_return, seen, AlternateAnswers(()))) == "n/a"


@pytest.mark.parametrize(
    "markup",
    [
        "",
        '<link rel=alternate type=application/rss+xml href="/feed">',
        f'<link rel=stylesheet hreflang=de href="{GERMAN}">',
        f'</head><body><link rel=alternate hreflang=de href="{GERMAN}">',
    ],
)
def test_a_page_without_language_versions_is_not_judged(markup: str) -> None:
    seen = page(head(markup))
    for finding in (
        judge(checks.hreflang_code, seen),
        judge(checks.hreflang_absolute, seen),
        judge(checks.hreflang_self, seen),
        judge(checks.hreflang_x_default, seen),
        judge(checks.hreflang_return, seen, AlternateAnswers(())),
    ):
        assert verdict(finding) == "n/a"
