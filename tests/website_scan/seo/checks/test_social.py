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
def test_og_title_check_verdict(markup: str, expected: str) -> None:
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
def test_og_image_check_verdict(reference: str, image: SocialImage, expected: str, expected_text: str) -> None:
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
        (og("og:url", "https://site.example.com/other"), "pass"),  # If there is no canonical URL, any og:url passes.
        (CANONICAL + og("og:url", f"{URL}?ref=1"), "not-canonical"),
        (CANONICAL + og("og:url", "http://site.example.com/shop/shoes"), "not-canonical"),
        (CANONICAL + og("og:url", "https://[broken"), "invalid"),
        ('<link rel=canonical href="/%e6%97%a5">' + og("og:url", "https://site.example.com/\u65e5"), "pass"),
        (og("og:url", "fb:12345"), "invalid"),
        (CANONICAL, "n/a"),  # Social networks use the shared URL.
    ],
)
def test_og_url_check_verdict(markup: str, expected: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.og_url, html_page)) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (og("twitter:card", "summary", "name"), "pass"),
        (og("twitter:card", "summary_large_image"), "pass"),  # The network X reads the attribute property, too.
        (og("twitter:title", "x", "name"), "missing"),
        ("", "missing"),
    ],
)
def test_twitter_card_check_verdict(markup: str, expected: str) -> None:
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
def test_social_checks_skip_noindex_pages(html_page: Page) -> None:
    assert [verdict(judge(check, html_page, SocialImage())) for check in ALL_MISSING] == ["n/a"] * 4


@pytest.mark.parametrize(
    "html_page",
    [
        page(head(og("og:title", "All systems run") + NOINDEX)),  # People share status pages.
        page(head(og("og:title", "Log in to the shop"), LOG_IN_FORM)),
    ],
    ids=["status page", "log-in page with a card"],
)
def test_social_metadata_is_judged_despite_noindex(html_page: Page) -> None:
    assert verdict(judge(checks.og_title, html_page)) == "pass"
    assert outcome(judge(checks.og_image, html_page, SocialImage())) == "missing"


@pytest.mark.parametrize(
    "html_page",
    [
        page(head("", LOG_IN_FORM + "<p>News of the forum. " * 100)),  # The forum has a login form next to its topics.
        page(head("", f"<div hidden>{LOG_IN_FORM}</div><p>Shoes.")),  # The login form of the shop opens in a dialog.
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


def test_og_image_finding_lists_broken_url() -> None:
    finding = judge(checks.og_image, page(head(og("og:image", "https://cdn.example.com/a.jpg"))), SocialImage(404))
    assert verdict(finding) == "warn"
    assert rows(finding) == [{"url": "https://cdn.example.com/a.jpg"}]
