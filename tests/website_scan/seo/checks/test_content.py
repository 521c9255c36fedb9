from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, head, message, outcome, page, severity_of, title_of, verdict
from tests.website_scan.seo.cast import judge
from website_scan.browser.evidence import Rendered
from website_scan.findings import Severity
from website_scan.seo.checks import content as checks

FIFTY, LONG = "Red running shoes for women and men, at the docks!", "x" * 61


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<title>{FIFTY}</title>", "pass"),
        ("<title>Twenty letters, yes.</title>", "pass"),
        ("<title>Nineteen letters, .</title>", "short"),
        (f"<title>{'x' * 60}</title>", "pass"),
        (f"<title>{LONG}</title>", "long"),
        ("<title>  \n </title>", "empty"),
        ("<p>Text", "missing"),
        ("<p><svg><title>A drawing of a very red shoe</title></svg>", "missing"),
        (f"<title>{FIFTY}</title><p><svg><title>Logo</title></svg>", "pass"),
        (f"<title>{FIFTY}</title><title>{FIFTY}</title>", "several"),
        (
            "<title>女性と男性のための赤いランニングシューズ</title>",
            "pass",
        ),  # This title of 20 full-width characters is as wide as 40 Latin ones.
        (f"<title>{'赤' * 31}</title>", "long"),
        # This title of 16 characters is long enough with about 250 pixels.
        ("<title>Debian 管理者ハンドブック</title>", "pass"),
        ("<title>한국어로 쓴 제목은 글자 하나가 정사각형이다</title>", "pass"),
        (f"<title>{'il' * 45}</title>", "pass"),  # These 90 narrow letters fit into a search result.
        (f"<title>{'WM' * 20}</title>", "long"),  # These 40 wide letters do not fit into a search result.
        (f"<title>{'é' * 54}</title>", "pass"),
        (f"<title>{'Å' * 54}</title>", "long"),
        (f"<title>\n  {FIFTY[:25]}\n   {FIFTY[25:]}\n</title>", "pass"),
        ("<script>document.title = 'Shoes'</script>", "missing"),
    ],
)
def test_title_check_verdict(html: str, expected: str) -> None:
    html_page = page(f"<!doctype html><html lang=en>{html}")
    assert outcome(judge(checks.title, html_page)) == expected


def test_title_message_states_length() -> None:
    text = message(judge(checks.title, page("<title>Debian 管理者ハンドブック</title>")))
    assert text.startswith("The title has 16 characters, about 249 pixels")


def test_description_message_states_length() -> None:
    text = message(judge(checks.meta_description, page(head(f"<meta name=description content='{'赤' * 45}'>"))))
    assert text.startswith("The meta description has 45 characters, as wide as 90 Latin ones")


@pytest.mark.parametrize(
    ("html", "expected", "severity", "title"),
    [
        ("<p>Text", "fail", Severity.HIGH, "Page has no title"),
        ("<title> </title>", "fail", Severity.HIGH, "Page title is empty"),
        (f"<title>{FIFTY}</title>" * 2, "warn", Severity.LOW, "Page has several titles"),
        ("<title>Shop</title>", "warn", Severity.LOW, "Page title is too short"),
        (f"<title>{LONG}</title>", "warn", Severity.LOW, "Page title is too long"),
    ],
)
def test_missing_title_fails(html: str, expected: str, severity: Severity, title: str) -> None:
    finding = judge(checks.title, page(f"<!doctype html><html lang=en>{html}"))
    assert (verdict(finding), severity_of(checks.title, finding)) == (expected, severity)
    assert title_of(checks.title, finding) == title


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("", "missing"),
        ("<meta name=description>", "empty"),
        ("<meta name=description content=' '>", "empty"),
        (f"<meta name=Description content='{'x' * 80}'>", "pass"),
        (f"<meta name=description content='{'x' * 160}'>", "pass"),
        (f"<meta name=description content='{'x' * 79}'>", "short"),
        (f"<meta name=description content='{'x' * 161}'>", "long"),
        (f"<meta name=description content='{'赤' * 45}'>", "pass"),
        (f"<meta property=og:description content='{'x' * 90}'>", "missing"),
        (f"<meta name=description content=''><meta name=description content='{'x' * 90}'>", "pass"),
    ],
)
def test_meta_description_check_verdict(markup: str, expected: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.meta_description, html_page)) == expected


@pytest.mark.parametrize(("length", "expected"), [(0, "fail"), (79, "warn"), (80, "pass"), (161, "warn")])
def test_missing_description_fails(length: int, expected: str) -> None:
    html_page = page(head(f"<meta name=description content='{'x' * length}'>"))
    assert verdict(judge(checks.meta_description, html_page)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h1>Shoes</h1>", "pass"),
        ("<h1><span>Shoes</span></h1><h1>Boots</h1>", "pass"),
        ("<h1><a href=/><img src=logo alt='Shoes &amp; Co'></a></h1>", "pass"),
        ("<div role=heading aria-level=1>Shoes</div>", "pass"),
        ("<h1></h1>", "empty"),
        ("<h1><img src=logo alt=''></h1>", "empty"),
        ("<h1 hidden>Shoes</h1>", "missing"),
        ("<h2>Shoes</h2>", "missing"),
        ("<div role=heading aria-level=2>Shoes</div>", "missing"),
    ],
)
def test_h1_check_verdict(markup: str, expected: str) -> None:
    finding = judge(checks.h1, page(body(markup)))
    assert outcome(finding) == expected
    assert verdict(finding) == ("pass" if expected == "pass" else "warn")


def test_h1_message_quotes_main_heading() -> None:
    assert message(judge(checks.h1, page(body("<h1>Shoes</h1>")))) == "The main heading is “Shoes”."
    text = message(judge(checks.h1, page(body("<h1>Shoes</h1><h1>Boots</h1>"))))
    assert text == "The main heading is “Shoes”, the first of 2."


@pytest.mark.parametrize(
    ("raw", "after", "expected"),
    [
        ("<div id=root></div>", "<div id=root><h1>Shoes</h1></div>", "pass"),
        ("<div id=root></div>", "<div id=root><h2>Shoes</h2></div>", "missing"),
        ("<h1></h1>", "<h1>Shoes</h1>", "pass"),
        ("<h1>Shoes</h1>", "<h2>Shoes</h2>", "pass"),
    ],
)
def test_heading_added_by_scripts_counts(raw: str, after: str, expected: str) -> None:
    rendered = Rendered(document(page(body(after))), {})
    assert outcome(judge(checks.h1, page(body(raw)), rendered)) == expected


@pytest.mark.parametrize(
    ("raw", "after", "expected"),
    [
        ("<title>Shop</title>", f"<title>{FIFTY}</title>", "pass"),
        ("", f"<title>{FIFTY}</title>", "pass"),
        (f"<title>{FIFTY}</title>", "<title>Shop</title>", "short"),
        (f"<title>{FIFTY}</title>", "", "pass"),
    ],
)
def test_title_set_by_scripts_is_judged(raw: str, after: str, expected: str) -> None:
    rendered = Rendered(document(page(f"<!doctype html>{after}")), {})
    assert outcome(judge(checks.title, page(f"<!doctype html>{raw}"), rendered)) == expected


def test_description_added_by_scripts_counts() -> None:
    rendered = Rendered(document(page(head(f"<meta name=description content='{'x' * 90}'>"))), {})
    assert verdict(judge(checks.meta_description, page(head("")), rendered)) == "pass"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>", "n/a"),
        ("<img src=a alt=Shoe>", "pass"),
        ("<img src=a>", "fail"),
        ("<img src=a width=300 height=200>", "fail"),
        ("<img src=a width=12>", "fail"),  # The height of the image is unknown.
        ("<img src=a width=12 height=80%>", "fail"),
        # Toggles, icons and tracking pixels do not appear in image searches.
        ("<img src=a width=12 height=12>", "n/a"),
        ("<img src=a width=24px height=' 16 '>", "n/a"),
        ("<img src=a width=1 height=1><img src=a alt=Shoe>", "pass"),
    ],
)
def test_seo_image_alt_check_verdict(markup: str, expected: str) -> None:
    html_page = page(body(markup))
    assert verdict(judge(checks.seo_image_alt, html_page)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>" + "word " * 50, "pass"),  # The page is only a short notice.
        ("<p>" + "word " * 49, "little"),
        ("<p>word</p>" * 50, "pass"),
        ("<p hidden>" + "word " * 50, "little"),
        ("<script>" + "word " * 50 + "</script>", "little"),
        ("<style>" + "word " * 50 + "</style>", "little"),
        ("<noscript>" + "word " * 50 + "</noscript>", "little"),
        ("<p>" + "- " * 300, "little"),
        ("<p aria-hidden=true>" + "word " * 50, "pass"),  # Sighted visitors see text with aria-hidden.
        ("<p>" + "赤い靴" * 40, "pass"),
        ("<p>" + "赤い靴" * 20, "little"),
        ("<div id=app></div>", "little"),
        ("<label>Password <input type=password></label>", "n/a"),
        ("<div hidden><input type=password></div><p>Shoes", "little"),
    ],
)
def test_thin_content_check_verdict(markup: str, expected: str) -> None:
    html_page = page(body(markup))
    assert outcome(judge(checks.thin_content, html_page)) == expected


def test_words_are_counted_up_to_limit() -> None:
    html_page = page(body("<p>Some words of a book.</p>" * 20_000))
    text = message(judge(checks.thin_content, html_page))
    assert text == "The page has more than 9,000 words of visible text."


@pytest.mark.parametrize(("words", "expected"), [(50, "pass"), (49, "little")])
def test_text_added_by_scripts_counts(words: int, expected: str) -> None:
    html_page = page(body("<div id=app></div>"))
    rendered = Rendered(document(page(body("<p>" + "word " * words))), {})
    assert outcome(judge(checks.thin_content, html_page, rendered)) == expected


def test_thin_content_check_skips_noindex_page() -> None:
    html_page = page(head("<meta name=robots content=noindex>", "<p>All systems run."))
    assert verdict(judge(checks.thin_content, html_page)) == "n/a"


def test_thin_content_message_requires_no_number() -> None:
    finding = judge(checks.thin_content, page(body("<p>Three short words")))
    assert verdict(finding) == "warn"
    assert message(finding) == "The page has 3 words of visible text."


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<!doctype html><html lang=de><p>Text", "pass"),
        ("<!doctype html><HTML LANG='pt-BR'><p>Text", "pass"),
        ("<!doctype html><html lang=''><p>Text", "missing"),
        ("<!doctype html><html lang=' '><p>Text", "missing"),
        ("<!doctype html><html><body lang=de><p>Text", "missing"),
        ("<!doctype html><html xml:lang=de><p>Text", "missing"),
        ("<p>Text", "missing"),
    ],
)
def test_lang_present_check_verdict(html: str, expected: str) -> None:
    finding = judge(checks.lang_present, page(html))
    assert outcome(finding) == expected
    assert verdict(finding) == ("pass" if expected == "pass" else "fail")
