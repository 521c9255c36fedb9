"""Test that invalid URLs are reported before the first scan.

They are on the command line or in website-scan.toml.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import run_here
from website_scan.command.errors import WrongUsage
from website_scan.command.pages import canonical_pages


def usage_error(*urls: str) -> str:
    with pytest.raises(WrongUsage) as refused:
        canonical_pages(urls)
    return str(refused.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("example.com", "https://example.com/"),
        ("example.com/shop?a=1#top", "https://example.com/shop?a=1"),
        ("Bücher.example.org:8443", "https://xn--bcher-kva.example.org:8443/"),
        ("localhost:3000", "http://localhost:3000/"),
        ("app.localhost:3000/a", "http://app.localhost:3000/a"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("192.168.1.5:8000", "http://192.168.1.5:8000/"),
        ("[::1]:3000", "http://[::1]:3000/"),
    ],
)
def test_url_without_a_scheme_gets_one(url: str, expected: str) -> None:
    assert canonical_pages([url]) == (expected,)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            " ",
            "no url",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http:/one-slash/",
            "https://",
            "javascript:1",
        ),
        *(
            "https://example.com:99999/",
            "http://a\x1b[31mb/",
            "https://exa mple.com/",
            "--",
            "com",
            "https://example.com:0",
        ),
        f"https://example.com/{'a' * 2100}",
    ],
)
def test_invalid_url_is_refused(url: str) -> None:
    error = usage_error(url)
    assert error.startswith(f"{url or '(empty)'}: ")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://ada:s3cr3t@example.com/",
            "https://s3cr3t@example.com/",
            "ada:s3cr3t@example.com",
            "s3cr3t@example.com",
        ),
        *("https://ada:s3cr3t@x@example.com/", "https//ada:s3cr3t@example.com", "ftp://ada:s3cr3t@example.com/"),
        *("https://ada:s3cr3t@example.com:99999/", "https:/ada:s3cr3t@example.com/", "//ada:s3cr3t@example.com/"),
    ],
)
def test_password_in_a_url_is_not_repeated(url: str) -> None:
    error = usage_error(url)
    assert "s3cr3t" not in error
    assert "example.com" in error


def test_password_in_a_url_gets_a_hint() -> None:
    assert usage_error("https://ada:s3cr3t@example.com/").endswith(
        "must not contain a user name or password. Use --basic-auth."
    )


def test_every_invalid_url_is_reported_once() -> None:
    error = usage_error("https://example.com/", "ftp://a/", "ftp://b/", "ftp://a/")
    assert [line.partition(" ")[0] for line in error.splitlines()] == ["ftp://a/:", "ftp://b/:"]


def test_equivalent_urls_count_as_one_page() -> None:
    same = ("https://example.com", "https://example.com/#a", "HTTPS://EXAMPLE.com:443/", "https://example.com/./#b")
    assert canonical_pages(same) == ("https://example.com/",)
    assert canonical_pages(["https://example.com/a?b#c", "https://example.com/a?"]) == (
        "https://example.com/a?b",
        "https://example.com/a?",
    )
    assert canonical_pages(["/about/#team", "/about/", "/a b"]) == ("/about/", "/a%20b")


@pytest.mark.parametrize("is_in_file", [False, True], ids=["typed", "in the file"])
@pytest.mark.parametrize("output_format", ["text", "json", "sarif"])
def test_no_page_is_scanned_if_a_url_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str, is_in_file: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    urls = ("http://nobody.invalid/", "ftp://example.com/", "https://ada:s3cr3t@example.com/")
    if is_in_file:
        Path("website-scan.toml").write_text(f"urls = {list(urls)}")
    ran = run_here("scan", *(() if is_in_file else urls), "--format", output_format)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("ftp://example.com/: ") == 1
    assert "s3cr3t" not in ran.stderr


def test_forbidden_port_is_reported_early() -> None:
    ran = run_here("scan", "http://nobody.invalid/", "https://example.com:3000/", "--type", "seo")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "https://example.com:3000/: Port 3000 is not allowed here." in ran.stderr
    assert "SCAN_ALLOWED_PORTS" in ran.stderr


def test_url_that_is_not_utf_8_is_refused() -> None:
    ran = run_here("scan", "http://\udcff\udcfe.example.com/", "--type", "seo")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "\\udcff\\udcfe.example.com" in ran.stderr
