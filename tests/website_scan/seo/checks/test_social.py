from __future__ import annotations

import pytest

from tests.website_scan.cast import URL, head, message, outcome, page, rows, verdict
from tests.website_scan.seo.cast import judge
from website_scan.page.evidence import Page
from website_scan.seo.checks import social as checks
from website_scan.seo.evidence import SocialImage

CANONICAL = f'<link rel="canonical" href="{URL}">'


def og(name: str, content: str, attribute: str = "property") -> str:
    return f'<meta {attribute}="{name}" content="{content}">'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (og("og:title", "Red shoes"), "pass"),
        (og("OG:Title", "Red shoes"), "pass"),
        (og("og:title", "Red shoes", "name"), "pass"),
        (og("og:title", "") + og("og:title", "Red shoes"), "pass"),
        (og("og:title", " "), "missing"),
        (og("og:titles", "x"), "missing"),
        ("", "missing"),
    ],
)
def test_og_title(markup: str, expected: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.og_title, html_page)) == expected


@pytest.mark.parametrize(
    ("reference", "image", "expected", "expected_text"),
    [
        ("https://cdn.example.com/a.jpg", SocialImage(200), "pass", "og:image loads"),
        ("/a.jpg", SocialImage(200), "relative", "not an absolute URL"),
        ("//cdn.example.com/a.jpg", SocialImage(200), "relative", "not an absolute URL"),
        ("https://cdn.example.com/a.jpg", SocialImage(404), "unavailable", "status 404"),
        (
            "https://cdn.example.com/a.jpg",
            SocialImage(error="It can't be reached."),
            "unavailable",
            "it can't be reached",
        ),
        ("", SocialImage(), "missing", "no og:image"),
    ],
)
def test_og_image(reference: str, image: SocialImage, expected: str, expected_text: str) -> None:
    html_page = page(head(og("og:image", reference)))
    finding = judge(checks.og_image, html_page, image)
    assert outcome(finding) == expected
    assert expected_text in message(finding)


@pytest.mark.parametrize("name", ["og:image:url", "og:image:secure_url"])
def test_og_image_aliases_count(name: str) -> None:
    html_page = page(head(og(name, "https://cdn.example.com/a.jpg")))
    assert verdict(judge(checks.og_image, html_page, SocialImage(200))) == "pass"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (CANONICAL + og("og:url", URL), "pass"),
        (CANONICAL + og("og:url", f"{URL}#top"), "pass"),
        (CANONICAL + og("og:url", "/shop/shoes"), "pass"),
        (og("og:url", "https://site.example.com/other"), "pass"),  # without a canonical URL, any og:url passes
        (CANONICAL + og("og:url", f"{URL}?ref=1"), "not-canonical"),
        (CANONICAL + og("og:url", "http://site.example.com/shop/shoes"), "not-canonical"),
        (CANONICAL + og("og:url", "https://[broken"), "invalid"),
        ('<link rel=canonical href="/%e6%97%a5">' + og("og:url", "https://site.example.com/\u65e5"), "pass"),
        (og("og:url", "fb:12345"), "invalid"),
        (CANONICAL, "n/a"),  # social networks use the shared URL
    ],
)
def test_og_url(markup: str, expected: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.og_url, html_page)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (og("twitter:card", "summary", "name"), "pass"),
        (og("twitter:card", "summary_large_image"), "pass"),  # X reads property, too
        (og("twitter:title", "x", "name"), "missing"),
        ("", "missing"),
    ],
)
def test_twitter_card(markup: str, expected: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.twitter_card, html_page)) == expected


ALL_MISSING = (checks.og_title, checks.og_image, checks.og_url, checks.twitter_card)
LOG_IN_FORM = "<form><input name=user><input type=password name=secret><button>Log in</button></form>"
NOINDEX = "<meta name=robots content=noindex>"


@pytest.mark.parametrize(
    "html_page",
    [
        page(head(NOINDEX)),
        page(head(""), ("X-Robots-Tag", "noindex")),
        page(head("", LOG_IN_FORM)),
        page(head("", "<p>Enter your e-mail address."), url="https://site.example.com/sign-in"),
        page(head("", "<p>Enter your e-mail address."), url="https://site.example.com/wp-login.php?redirect_to=/"),
    ],
    ids=["noindex", "noindex in header", "log-in form", "sign-in URL", "WordPress log-in URL"],
)
def test_social_checks_do_not_apply_to_noindex_and_log_in_pages(html_page: Page) -> None:
    assert [verdict(judge(check, html_page, SocialImage())) for check in ALL_MISSING] == ["n/a"] * 4


@pytest.mark.parametrize(
    "html_page",
    [
        page(head(og("og:title", "All systems run") + NOINDEX)),  # a status page, which people share
        page(head(og("og:title", "Log in to the shop"), LOG_IN_FORM)),
    ],
    ids=["status page", "log-in page with a card"],
)
def test_page_with_social_metadata_is_judged_in_spite_of_noindex_or_log_in(html_page: Page) -> None:
    assert verdict(judge(checks.og_title, html_page)) == "pass"
    assert outcome(judge(checks.og_image, html_page, SocialImage())) == "missing"


@pytest.mark.parametrize(
    "html_page",
    [
        page(head("", LOG_IN_FORM + "<p>News of the forum. " * 100)),  # a forum with a log-in form beside its topics
        page(head("", f"<div hidden>{LOG_IN_FORM}</div><p>Shoes.")),  # a shop whose log-in opens in a dialog
        page(head("", "<p>Three steps."), url="https://site.example.com/help/how-to-log-in"),
        page(head("<meta name=GPTBot content=noindex>")),
        page(head("<meta name=bingbot content=noindex>")),
    ],
    ids=[
        "forum with log-in form",
        "hidden log-in form",
        "article on log-ins",
        "noindex for GPTBot",
        "noindex for Bing",
    ],
)
def test_other_pages_need_social_metadata(html_page: Page) -> None:
    outcomes = [outcome(judge(check, html_page, SocialImage())) for check in ALL_MISSING]
    assert outcomes == ["missing", "missing", "n/a", "missing"]


def test_og_image_finding_lists_url_that_does_not_load() -> None:
    finding = judge(checks.og_image, page(head(og("og:image", "https://cdn.example.com/a.jpg"))), SocialImage(404))
    assert verdict(finding) == "warn"
    assert rows(finding) == [{"url": "https://cdn.example.com/a.jpg"}]
