"""URLs as somebody wrote them are not changed, even if no browser would load them."""

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
def test_written_host_is_only_converted_to_lower_case(text: str, host: str) -> None:
    assert written_host(text) == host


def test_parts_of_a_written_URL_are_not_canonicalized() -> None:
    parts = split_url("HTTPS://Example.com:443/a/../b?q=ü")
    assert parts == ("https", "Example.com:443", "/a/../b", "q=ü", "")


def test_port_that_is_not_a_number_raises_ValueError() -> None:
    with pytest.raises(ValueError, match="Port"):
        _ = split_url("postgres://localhost:port/scan").port


def test_references_are_joined_by_RFC_3986() -> None:
    page = split_url("https://example.com/a/b?c")
    assert join_urls(page, "../x").geturl() == "https://example.com/x"
    assert join_urls(page, "//other.example/x").netloc == "other.example"
