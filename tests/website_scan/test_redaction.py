"""Redaction: no result contains credentials of the scan that the site has repeated."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from tests.results import check_of
from website_scan.findings import HIGH, ScanType
from website_scan.messages import MASK, excerpt
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.places import Element
from website_scan.redaction import redacted
from website_scan.result import (
    CategoryResult,
    ScanError,
    ScanResult,
    SkippedCheck,
    Waterfall,
    WaterfallRow,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
URL = "https://shop.example.com/"
KEY = "Zr4-tok,en&<9>Qx7vB2mN"


def result(text: str, **columns: Any) -> ScanResult:
    check = check_of("id", "Name", "Title", "fail", HIGH, HIGH, text, text, [Element(text, text)])
    return replace(
        ScanResult(ScanType.SEO, URL, "partial", NOW, NOW, "v"),
        categories=(CategoryResult("c", "C", 1, (check,), 50),),
        skipped_checks=(SkippedCheck("s", "S", text, "code"),),
        error=ScanError("CODE", text),
        facts={"final_url": text, "status": 200},
        waterfall=Waterfall((WaterfallRow(text, "image", 0, 1, 2, 3, 200, False, False, False),), (), 2, 0),
        exhibits={
            "headers": [[text, text]],
            "search_result": {"title": text, "description": "", "url": "", "site": ""},
        },
        site={"title": text},
        **columns,
    )


def clean(text: str, credentials: Credentials, url: str = URL) -> str:
    return (
        redacted(replace(result(text), url=url), OriginCredentials("https://shop.example.com", credentials))
        .checks[0]
        .summary
    )


def header(value: str, name: str = "X-Key") -> Credentials:
    return Credentials(headers=((name, value),))


def test_every_text_of_a_result_is_redacted() -> None:
    text = repr(redacted(result(f"It says {KEY} there."), OriginCredentials(URL, header(KEY))))
    assert KEY not in text
    assert text.count(f"It says {MASK} there.") == 12


def test_result_without_credentials_is_returned_unchanged() -> None:
    original = result(KEY)
    assert redacted(original, None) is original


@pytest.mark.parametrize(
    "repeated",
    [
        *(KEY, KEY.upper(), quote(KEY), quote(KEY, safe=""), "Zr4-tok,en&amp;&lt;9&gt;Qx7vB2mN"),
        *("WnI0LXRvayxlbiY8OT5ReDd2QjJtTg==", "Zr4-tok,en\\u0026<9>Qx7vB2mN", KEY[:14] + "…", "…" + KEY[9:]),
        excerpt(f"token={KEY} and more"),
    ],
)
def test_credentials_are_redacted_in_every_encoding_that_sites_use(repeated: str) -> None:
    cleaned = clean(f"The header says “{repeated}”.", header(KEY))
    assert MASK in cleaned
    assert not any(KEY[at : at + 8].lower() in cleaned.lower() for at in range(len(KEY) - 7))


def escaped(form: str, text: str = KEY) -> str:
    return "".join(form.format(ord(char)) for char in text)


@pytest.mark.parametrize(
    "repeated",
    [
        *(escaped("%{:02x}"), escaped("%{:02X}"), escaped("%25{:02X}"), escaped("&#{};"), escaped("&#x{:04X};")),
        *(escaped("&#{}"), escaped("\\u{:04x}"), escaped("\\u{{{:x}}}"), escaped("\\x{:02x}"), escaped("\\\\u{:04x}")),
        *(escaped("{:02x}"), KEY[:5] + escaped("%{:02x}", KEY[5:9]) + escaped("&#{};", KEY[9:])),
        escaped("&amp;#{};"),
    ],
)
def test_credentials_are_redacted_with_any_characters_escaped_even_twice(repeated: str) -> None:
    assert clean(f"The header says “{repeated}”.", header(KEY)) == f"The header says “{MASK}”."


def test_escaped_non_ASCII_password_is_redacted() -> None:
    credentials = Credentials(basic_auth=("admin", "пароль-für-mich"))
    for repeated in (quote("пароль-für-mich"), escaped("\\u{:04x}", "пароль-für-mich")):
        assert clean(f"x {repeated} y", credentials) == f"x {MASK} y"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_credentials_are_redacted_at_any_offset_in_longer_Base64(before: str, encode: Callable[[bytes], bytes]) -> None:
    whole = encode(f"{before}{KEY}, and more".encode()).decode()
    start, mask, rest = clean(whole, header(KEY)).partition(MASK)
    # The remaining characters contain only the bits around the value.
    assert mask
    assert len(start) <= len(before) * 8 // 6 + 1
    assert len(rest) <= len(whole) - len(before + KEY) * 8 // 6


@pytest.mark.parametrize(
    "text",
    [
        "https://shop.example.com/caf%C3%A9?q=%5A%72%34&amp;b=%FF%00",
        "&notanentity; &#9999999; &#x110000; \\u{ffffff} \\ud800 %zz & 100% \\",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "#5a72342d is a colour, and 5a72 too",
    ],
)
def test_escapes_of_other_text_are_not_redacted(text: str) -> None:
    assert clean(text, header("Zr5-tok")) == text
    assert clean(text, header("another-Value-0815")) == text


def test_basic_auth_password_is_redacted_with_and_without_the_user_name() -> None:
    credentials = Credentials(basic_auth=("admin", "hunter2"))
    assert clean("Basic YWRtaW46aHVudGVyMg== is admin:hunter2", credentials) == f"Basic {MASK}== is {MASK}"
    # A short user name is a common word, so only the password is redacted.
    assert clean("/wp-admin is public; hunter2; hunter22", credentials) == f"/wp-admin is public; {MASK}; hunter22"


def test_bearer_token_is_redacted_without_its_scheme() -> None:
    assert clean("abcdefghij", header("Bearer abcdefghij", "Authorization")) == MASK


@pytest.mark.parametrize("value", ["1", "en", "yes"])
def test_short_credentials_do_not_redact_ordinary_words(value: str) -> None:
    text = 'The page has lang="en" and yes, 1 form.'
    assert clean(text, Credentials(cookies=(("lang", value),))) == text


def test_URL_of_the_scan_is_not_redacted() -> None:
    """Every report contains the scan's URL. A credential that contains the URL is hidden around it."""
    text = "https://shop.example.com/a.css of shop.example.com-3f9a77c1"
    assert clean(text, header("shop.example.com-3f9a77c1")) == f"https://shop.example.com/a.css of shop.exam{MASK}"


@pytest.mark.parametrize(("status", "says"), [(200, False), (401, True), (403, True), (404, False)])
def test_notice_names_the_origin_of_refused_credentials(status: int, says: bool) -> None:
    original = replace(result("x"), facts={"status": status, "notice": "Before."})
    notice = str(redacted(original, OriginCredentials("https://shop.example.com", header(KEY))).facts["notice"])
    assert notice.startswith("Before.")
    assert ("are for https://shop.example.com only" in notice) == says
