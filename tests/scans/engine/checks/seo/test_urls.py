from __future__ import annotations

import pytest

from scans.engine.checks.seo import urls as checks
from tests.scans.engine.checks.cast import message, page, verdict


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/", None),
        ("/shop/red-shoes", None),
        ("/shop/red-shoes?utm_source=News&Color=Red", None),  # what stands behind the question mark is not the name
        ("/%C3%BCber-uns", None),  # the hexadecimal digits of ü are no capitals
        ("/search?sid=", None),
        ("/search?side=left_hand", None),
        ("/red_shoes", "underscores"),
        ("/Red-Shoes", "capitals"),
        ("/red%20shoes", "spaces"),
        ("/red+shoes", "spaces"),
        ("/shop//shoes", "double slashes"),
        ("/shop?PHPSESSID=0123456789abcdef", "a session's ID"),
        ("/shop;jsessionid=0123456789ABCDEF", "a session's ID"),
        ("/" + "a" * 120, "characters"),
    ],
)
def test_url_hygiene(path: str, said: str | None) -> None:
    finding = checks.url_hygiene(page(url=f"https://site.example.com{path}"))
    assert verdict(finding) == ("pass" if said is None else "warn"), message(finding)
    assert (said or "") in message(finding)


def test_a_session_is_not_repeated_in_the_report() -> None:
    finding = checks.url_hygiene(page(url="https://site.example.com/shop?PHPSESSID=0123456789abcdef"))
    assert "0123456789abcdef" not in message(finding)
