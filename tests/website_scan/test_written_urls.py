"""Test that URLs keep their spelling.

This applies even if no browser would load them.
"""

from __future__ import annotations

import pytest

from website_scan.written_urls import join_urls, split_url, written_host


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://EXAMPLE.com:443/", "example.com"),
        ("https://münchen.de/", "münchen.de"),
        ("https://a.very.long.host…", "a.very.long.host…"),
        ("postgres://user:p%40ss@[::1]:5432/scan", "::1"),
        ("redis://:secret@localhost:6379/0", "localhost"),
        ("smtp+tls://user:password@host:587", "host"),
        ("//evil.example/path", "evil.example"),
        ("https://exam\tple.com/", "example.com"),
        ("https:\\\\example.com", ""),
        ("mailto:a@example.com", ""),
        ("https://[::1/", ""),
        ("/path", ""),
        ("", ""),
    ],
)
def test_written_host_becomes_lower_case(text: str, host: str) -> None:
    assert written_host(text) == host


def test_split_url_keeps_the_spelling() -> None:
    parts = split_url("HTTPS://Example.com:443/a/../b?q=ü")
    assert parts == ("https", "Example.com:443", "/a/../b", "q=ü", "")


def test_port_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="Port"):
        _ = split_url("postgres://localhost:port/scan").port


def test_references_follow_RFC_3986() -> None:
    page = split_url("https://example.com/a/b?c")
    assert join_urls(page, "../x").geturl() == "https://example.com/x"
    assert join_urls(page, "//other.example/x").netloc == "other.example"
