"""Tests for the template filter `unlinked`, which breaks addresses from strangers in e-mails."""

from __future__ import annotations

import pytest

from accounts.mailing.filters import unlinked

OWN = "https://shop.example.com/basket"


@pytest.mark.parametrize(
    "text",
    [
        "http://evil.test/x",
        "https://93.184.216.34/",
        "ftp://evil",
        "www.evil.example",
        "mailto:eve",
        "eve@evil.test",
        "evil.com",
        "(evil.co.uk)",
        "evil.com/shop.example.com",
        "https://shop.example.com.evil.test/",
        "https://shop.example.com@evil.test/",
        "https://shop.example.com:evil@evil.test/",
        "https://shop.example.com/,https://evil.test/",
        "https://shop.example.com\\\\@evil.test",
        "shop.example.com,evil.com",
        "https://evil.test/https://shop.example.com/",
        "https://example.com/",
        "evil.рф",
    ],
)
def test_unlinked_filter_breaks_addresses_of_strangers(text: str) -> None:
    broken = unlinked(text, OWN)
    assert broken.replace("\u2060", "") == text
    assert broken != text


@pytest.mark.parametrize(
    "text",
    [
        "ul.rolls > li:nth-child(2) > a:hover",
        "#main::before, [data-src=x]",
        "3.6.0",
        "jquery@3.6.0",
        "app.js and styles.min.css",
        "12:30, max-age=0; Path=/",
        "{color:red}",
        "One sentence.Another",
        "https://shop.example.com/rolls.png?v=1.2#top",
        "“https://shop.example.com/”,",
        "http://shop.example.com",
        "shop.example.com.",
        "(SHOP.example.com/a)",
    ],
)
def test_unlinked_filter_leaves_other_text_unchanged(text: str) -> None:
    assert unlinked(text, OWN) == text


def test_unlinked_filter_leaves_only_the_given_host_unchanged() -> None:
    assert "\u2060" in unlinked("shop.example.com")
    assert "\u2060" not in unlinked("shop.example.com:8080/a", "shop.example.com:8080")
    assert "\u2060" in unlinked("shop.example.com:8080/a", "shop.example.com")
