"""URLs as values: every part equals the parser's, and all spellings of a URL have one canonical form."""

from __future__ import annotations

from urllib.parse import urlsplit

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.urls import CACHED_CHARACTERS, Url, host_and_port_of, host_of, origin_of

PIECES = [
    *("http:", "https:", "HTTPS:", "ws:", "ftp:", "file:", "blob:", "data:", "mailto:", "javascript:", "foo:", "C:"),
    *("/", "//", "\\", "\\\\", "/.//", "..", ".", "%2e", "?", "#", "@", ":", ":0", ":80", ":443", ":8443", ":99999"),
    *("user", "pa:ss", "%40", "example.com", "EXAMPLE.com", "münchen.de", "faß.de", "example.com.", "。", "…", "_a.b"),
    *("[::1]", "[::ffff:1.2.3.4]", "[::1", "127.1", "0x7f.1", "1.2.3.4.", "1.2.3.4..", "xn--mnchen-3ya.de", "xn--a"),
    *(
        "\t",
        "\n",
        "\r",
        " ",
        "\0",
        "\x7f",
        "é",
        "\ud800",
        "%",
        "%zz",
        "|",
        "^",
        "`",
        "{",
        "<",
        '"',
        "'",
        ";",
        "*",
        "&=",
    ),
]
BASES = [None, "https://example.com:8443/a/b?c#d", "foo://host:12/x/y", "foo:/x/y", "mailto:a@b", "file:///c:/x"]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=30), st.sampled_from(BASES))
def test_URL_parts_equal_those_of_the_WHATWG_parser(text: str, base: str | None) -> None:
    url = Url.parse(text, base)
    try:
        parsed = ada_url.URL(text, base)
    except ValueError:
        assert url is None
        return
    assert url is not None
    assert (url.href, f"{url.scheme}:", url.hostname, url.path) == (
        *(parsed.href, parsed.protocol, parsed.hostname, parsed.pathname),
    )
    assert (url.host_and_port, url.origin) == (parsed.host, parsed.origin)
    assert url.query == parsed.search.removeprefix("?")
    assert url.fragment == parsed.hash.removeprefix("#")
    assert url.path_and_query == parsed.pathname + parsed.search
    assert url.has_credentials == bool(parsed.username or parsed.password)
    assert Url.of(url.href) == url


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_canonical_URL_has_the_same_parts_in_urllib(text: str) -> None:
    """Stored reports and fingerprints depend on urllib's parts."""
    url = Url.parse(f"https://example.com{text}")
    if url is None or url.has_credentials:
        return
    parts = urlsplit(url.href)
    assert (parts.scheme, parts.netloc, parts.hostname) == (url.scheme, url.host_and_port, url.host)
    assert (parts.path, parts.query, parts.fragment) == (url.path, url.query, url.fragment)


@pytest.mark.parametrize(
    ("text", "href", "host", "port"),
    [
        ("HTTPS://EXAMPLE.com", "https://example.com/", "example.com", 443),
        ("https://example.com:443/", "https://example.com/", "example.com", 443),
        ("http://example.com:0/", "http://example.com:0/", "example.com", 0),
        ("http:\\\\example.com\\a", "http://example.com/a", "example.com", 80),
        ("http:example.com", "http://example.com/", "example.com", 80),
        ("http:////example.com/", "http://example.com/", "example.com", 80),
        (" ht\ntp://exam\tple.com/ ", "http://example.com/", "example.com", 80),
        ("https://münchen.de/ü?ü#ü", "https://xn--mnchen-3ya.de/%C3%BC?%C3%BC#%C3%BC", "xn--mnchen-3ya.de", 443),
        ("http://[::FFFF:1.2.3.4]:8080/", "http://[::ffff:102:304]:8080/", "::ffff:102:304", 8080),
        ("http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1", 80),
        ("http://a@b@example.com/", "http://a%40b@example.com/", "example.com", 80),
        ("http://@example.com/", "http://example.com/", "example.com", 80),
        ("mailto:A@B.example", "mailto:A@B.example", "", None),
        ("foo://Host:12/", "foo://Host:12/", "Host", 12),
        ("foo:/.//x", "foo:/.//x", "", None),
    ],
)
def test_spellings_of_a_URL_have_one_canonical_form(text: str, href: str, host: str, port: int | None) -> None:
    url = Url.of(text)
    assert (url.href, url.host, url.port) == (href, host, port)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "/a",
            "//example.com/",
            "example.com",
            "http://",
            "https:///",
            "http://[::1",
            "http://a b/",
            "http://:80/",
        ),
        *("http://example.com:99999/", "http://1.2.3.256/", "http://exa%00mple.com/", "http://\ud800/"),
    ],
)
def test_text_that_is_not_an_absolute_URL_has_no_host_and_origin(text: str) -> None:
    assert (Url.parse(text), host_of(text), host_and_port_of(text), origin_of(text)) == (None, "", "", "")
    with pytest.raises(ValueError, match="nvalid"):
        Url.of(text)


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("", "https://example.com/a/b?c"),
        ("//other.example", "https://other.example/"),
        ("\\\\other.example", "https://other.example/"),
        ("/\t/other.example", "https://other.example/"),
        ("../x?", "https://example.com/x?"),
        ("https:x", "https://example.com/a/x"),
        ("http:x", "http://x/"),
        ("?q#f", "https://example.com/a/b?q#f"),
    ],
)
def test_references_are_joined_like_in_browsers(reference: str, href: str) -> None:
    assert Url.of(reference, "https://example.com/a/b?c#d").href == href


def test_empty_query_is_preserved_and_empty_fragment_is_dropped() -> None:
    url = Url.of("https://example.com/a?#")
    assert (url.href, url.without_fragment) == ("https://example.com/a?#", "https://example.com/a?")
    assert (url.query, url.fragment, url.path_and_query) == ("", "", "/a")


@pytest.mark.parametrize("host", ["", "a b", "[::1"])
def test_with_host_refuses_an_invalid_host(host: str) -> None:
    with pytest.raises(ValueError, match="nvalid"):
        Url.of("http://./evil.example/").with_host(host)


def test_parsed_URLs_are_cached_unless_long() -> None:
    text, long = "https://example.com/once", "https://example.com/" + "a" * CACHED_CHARACTERS
    assert Url.of(text) is Url.of(text)
    assert Url.of(long) is not Url.of(long)
    assert Url.of(long) == Url.of(long)


def test_parsing_a_very_long_URL_takes_linear_time() -> None:
    for text in ("data:," + "a" * 3_000_000, "https://example.com/" + "?#" * 1_000_000, "foo://" + "@" * 100_000 + "h"):
        assert Url.parse(text, "https://example.com/") is not None
