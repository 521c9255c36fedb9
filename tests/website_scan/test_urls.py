"""Tests for parsed URLs and their canonical form."""

from __future__ import annotations

from urllib.parse import urlsplit

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.urls import (
    MAX_CACHED_URL_CHARACTERS,
    Url,
    are_equivalent,
    host_and_port_of,
    host_of,
    normal_form,
    origin_of,
)

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
def test_URL_has_the_parts_of_WHATWG(text: str, base: str | None) -> None:
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
def test_urllib_splits_canonical_URL_equally(text: str) -> None:
    """Stored reports and fingerprints depend on how urllib splits URLs."""
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
def test_URL_has_one_canonical_form(text: str, href: str, host: str, port: int | None) -> None:
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
def test_relative_URL_has_no_host(text: str) -> None:
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
def test_references_are_joined_as_in_browsers(reference: str, href: str) -> None:
    assert Url.of(reference, "https://example.com/a/b?c#d").href == href


def test_empty_query_is_preserved() -> None:
    url = Url.of("https://example.com/a?#")
    assert (url.href, url.without_fragment) == ("https://example.com/a?#", "https://example.com/a?")
    assert (url.query, url.fragment, url.path_and_query) == ("", "", "/a")


@pytest.mark.parametrize("host", ["", "a b", "[::1"])
def test_with_host_refuses_invalid_host(host: str) -> None:
    with pytest.raises(ValueError, match="nvalid"):
        Url.of("http://./evil.example/").with_host(host)


def test_only_short_URLs_are_cached() -> None:
    text, long = "https://example.com/once", "https://example.com/" + "a" * MAX_CACHED_URL_CHARACTERS
    assert Url.of(text) is Url.of(text)
    assert Url.of(long) is not Url.of(long)
    assert Url.of(long) == Url.of(long)


def test_very_long_URL_takes_linear_time() -> None:
    for text in ("data:," + "a" * 3_000_000, "https://example.com/" + "?#" * 1_000_000, "foo://" + "@" * 100_000 + "h"):
        assert Url.parse(text, "https://example.com/") is not None


# RFC 3986, sections 6.2.2 and 6.2.3: normalization rules.
EQUIVALENT_URLS = {
    "6.2.2.1 digits of escapes": ("https://a.example/%eb%b3%b4", "https://a.example/%EB%B3%B4"),
    "6.2.2.1 digits in the query": ("https://a.example/?q=%c3%a9", "https://a.example/?q=%C3%A9"),
    "6.2.2.1 scheme and host": ("HTTPS://A.Example/", "https://a.example/"),
    "6.2.2.2 tilde": ("https://a.example/%7Eann", "https://a.example/~ann"),
    "6.2.2.2 tilde in lower case": ("https://a.example/%7eann", "https://a.example/~ann"),
    "6.2.2.2 letter": ("https://a.example/%61", "https://a.example/a"),
    "6.2.2.2 digit": ("https://a.example/%31", "https://a.example/1"),
    "6.2.2.2 hyphen and underscore": ("https://a.example/a%2Db%5Fc", "https://a.example/a-b_c"),
    "6.2.2.2 dot in a name": ("https://a.example/a%2Ehtml", "https://a.example/a.html"),
    "6.2.2.2 letter in the query": ("https://a.example/?%71=1", "https://a.example/?q=1"),
    "6.2.2.3 dot segments": ("https://a.example/b/../c/./d", "https://a.example/c/d"),
    "6.2.2.3 escaped dot segments": ("https://a.example/b/%2e%2E/c", "https://a.example/c"),
    "6.2.3 default port": ("https://a.example:443/", "https://a.example/"),
    "6.2.3 empty path": ("https://a.example", "https://a.example/"),
    "2.1 character outside ASCII": ("https://a.example/보", "https://a.example/%eb%b3%b4"),
    "2 characters that no URI contains": ("https://a.example/a|b^c", "https://a.example/a%7Cb%5ec"),
    "2 brackets in the query": ("https://a.example/?f[a]=1", "https://a.example/?f%5ba%5D=1"),
    "3.2.2 host outside ASCII": ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    "3.5 fragment": ("https://a.example/#top", "https://a.example/"),
}
DIFFERENT_URLS = {
    "2.2 slash": ("https://a.example/a%2Fb", "https://a.example/a/b"),
    "2.2 ampersand": ("https://a.example/?q=a%26b", "https://a.example/?q=a&b"),
    "2.2 plus": ("https://a.example/?q=a%2Bb", "https://a.example/?q=a+b"),
    "2.2 comma": ("https://a.example/a%2Cb", "https://a.example/a,b"),
    "2.4 escaped percent sign": ("https://a.example/%2561", "https://a.example/%61"),
    "2.4 escaped escape": ("https://a.example/%25eb", "https://a.example/%eb"),
    "6.2.2.1 path has a case": ("https://a.example/A", "https://a.example/a"),
    "6.2.3 other port": ("https://a.example:8443/", "https://a.example/"),
    "3.1 other scheme": ("http://a.example/", "https://a.example/"),
    "3.3 slash at the end": ("https://a.example/a/", "https://a.example/a"),
    "3.4 empty query": ("https://a.example/?", "https://a.example/"),
    "space as plus": ("https://a.example/?q=a+b", "https://a.example/?q=a%20b"),
}


@pytest.mark.parametrize(("url", "other"), EQUIVALENT_URLS.values(), ids=EQUIVALENT_URLS)
def test_equivalent_urls_are_normalized(url: str, other: str) -> None:
    assert are_equivalent(url, other)
    assert normal_form(normal_form(url)) == normal_form(url)


@pytest.mark.parametrize(("url", "other"), DIFFERENT_URLS.values(), ids=DIFFERENT_URLS)
def test_different_urls_stay_different(url: str, other: str) -> None:
    assert not are_equivalent(url, other)


@pytest.mark.parametrize("text", ["", "no URL", "https://[", "mailto:%61@b.example", "https://[::1]:8443/"])
def test_other_text_is_not_normalized(text: str) -> None:
    assert normal_form(text) == text
