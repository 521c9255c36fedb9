from __future__ import annotations

import pytest

from tests.website_scan.cast import message, outcome, page, verdict
from website_scan.seo.checks import urls as checks


@pytest.mark.parametrize(
    ("path", "expected_text"),
    [
        ("/", None),
        ("/shop/red-shoes", None),
        ("/shop/red-shoes?utm_source=News&Color=Red", None),  # The check does not judge the query string.
        ("/%C3%BCber-uns", None),  # The hexadecimal digits of the escaped ü are no capital letters.
        ("/search?sid=", None),
        ("/search?side=left_hand", None),
        ("/%E6%97%A5%E6%9C%AC%E8%AA%9E" * 5, None),  # The decoded path is short enough.
        ("/%E6%97%A5" * 60, "characters"),
        ("/learn-c++", None),
        ("/c++/why", None),
        ("/en-GB/", None),
        ("/ja-JP", None),
        ("/zh-Hant-TW/shoes", None),
        ("/en_US/shoes", None),
        ("/EN/shoes", "capital letters"),
        ("/en-GB/Red-Shoes", "capital letters"),
        ("/en_US/red_shoes", "underscores"),
        ("/red_shoes", "underscores"),
        ("/Red-Shoes", "capital letters"),
        ("/red%20shoes", "spaces"),
        ("/red+shoes", "spaces"),
        ("/shop//shoes", "double slashes"),
        ("/shop?PHPSESSID=0123456789abcdef", "a session ID"),
        ("/shop;jsessionid=0123456789ABCDEF", "a session ID"),
        ("/" + "a" * 120, "characters"),
    ],
)
def test_url_hygiene_check_verdict(path: str, expected_text: str | None) -> None:
    finding = checks.url_hygiene(page(url=f"https://site.example.com{path}"))
    assert outcome(finding) == ("pass" if expected_text is None else "hard-to-read"), message(finding)
    assert verdict(finding) == ("pass" if expected_text is None else "warn")
    assert (expected_text or "") in message(finding)


@pytest.mark.parametrize(
    "path",
    [
        "/shop?PHPSESSID={}",
        "/shop?a=1&sessid={}#top",
        "/shop.php?osCsid={}",
        "/shop;jsessionid={}?a=1",
        "/shop;jsessionid={}/cart",
        "/?ASPSESSIONIDQQABCDEF={}",
        "/(S({}))/cart.aspx",
    ],
)
def test_session_id_in_url_is_masked(path: str) -> None:
    secret = "g123456789abcdefghij"
    finding = checks.url_hygiene(page(url=f"https://site.example.com{path.format(secret)}"))
    assert "a session ID" in message(finding)
    assert secret[:6] not in message(finding)
