"""Test that results never contain credentials.

The scanned site may repeat them.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

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


def redacted_result(text: str, credentials: Credentials, url: str = URL) -> str:
    return (
        redacted(replace(result(text), url=url), OriginCredentials("https://shop.example.com", credentials))
        .checks[0]
        .summary
    )


def header(value: str, name: str = "X-Key") -> Credentials:
    return Credentials(headers=((name, value),))


def test_all_texts_of_a_result_are_redacted() -> None:
    text = repr(redacted(result(f"It says {KEY} there."), OriginCredentials(URL, header(KEY))))
    assert KEY not in text
    assert text.count(f"It says {MASK} there.") == 12


def test_result_without_credentials_is_unchanged() -> None:
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
def test_credentials_are_redacted_in_any_encoding(repeated: str) -> None:
    cleaned = redacted_result(f"The header says “{repeated}”.", header(KEY))
    assert MASK in cleaned
    assert not any(KEY[at : at + 8].lower() in cleaned.lower() for at in range(len(KEY) - 7))


def escape_characters(form: str, text: str = KEY) -> str:
    return "".join(form.format(ord(char)) for char in text)


@pytest.mark.parametrize(
    "repeated",
    [
        *(
            escape_characters("%{:02x}"),
            escape_characters("%{:02X}"),
            escape_characters("%25{:02X}"),
            escape_characters("&#{};"),
            escape_characters("&#x{:04X};"),
        ),
        *(
            escape_characters("&#{}"),
            escape_characters("\\u{:04x}"),
            escape_characters("\\u{{{:x}}}"),
            escape_characters("\\x{:02x}"),
            escape_characters("\\\\u{:04x}"),
        ),
        *(
            escape_characters("{:02x}"),
            KEY[:5] + escape_characters("%{:02x}", KEY[5:9]) + escape_characters("&#{};", KEY[9:]),
        ),
        escape_characters("&amp;#{};"),
    ],
)
def test_doubly_escaped_credentials_are_redacted(repeated: str) -> None:
    assert redacted_result(f"The header says “{repeated}”.", header(KEY)) == f"The header says “{MASK}”."


def test_escaped_non_ASCII_password_is_redacted() -> None:
    credentials = Credentials(basic_auth=("admin", "пароль-für-mich"))
    for repeated in (quote("пароль-für-mich"), escape_characters("\\u{:04x}", "пароль-für-mich")):
        assert redacted_result(f"x {repeated} y", credentials) == f"x {MASK} y"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_credentials_in_Base64_are_redacted(before: str, encode: Callable[[bytes], bytes]) -> None:
    whole = encode(f"{before}{KEY}, and more".encode()).decode()
    start, mask, rest = redacted_result(whole, header(KEY)).partition(MASK)
    # The remaining characters encode only the text around the value.
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
    assert redacted_result(text, header("Zr5-tok")) == text
    assert redacted_result(text, header("another-Value-0815")) == text


def test_basic_auth_password_is_redacted() -> None:
    credentials = Credentials(basic_auth=("admin", "hunter2"))
    assert redacted_result("Basic YWRtaW46aHVudGVyMg== is admin:hunter2", credentials) == f"Basic {MASK}== is {MASK}"
    # A short user name may be a common word and is not redacted.
    assert (
        redacted_result("/wp-admin is public; hunter2; hunter22", credentials)
        == f"/wp-admin is public; {MASK}; hunter22"
    )


def test_bearer_token_keeps_its_scheme() -> None:
    assert redacted_result("abcdefghij", header("Bearer abcdefghij", "Authorization")) == MASK


@pytest.mark.parametrize("value", ["1", "en", "yes"])
def test_short_credentials_keep_ordinary_words(value: str) -> None:
    text = 'The page has lang="en" and yes, 1 form.'
    assert redacted_result(text, Credentials(cookies=(("lang", value),))) == text


def test_scan_URL_is_not_redacted() -> None:
    """Every report contains the scan's URL.

    A credential that starts with it is redacted in part.
    """
    text = "https://shop.example.com/a.css of shop.example.com-3f9a77c1"
    assert (
        redacted_result(text, header("shop.example.com-3f9a77c1"))
        == f"https://shop.example.com/a.css of shop.exam{MASK}"
    )


@pytest.mark.parametrize(("status", "says"), [(200, False), (401, True), (403, True), (404, False)])
def test_notice_names_origin_of_refusal(status: int, says: bool) -> None:
    original = replace(result("x"), facts={"status": status, "notice": "Before."})
    notice = str(redacted(original, OriginCredentials("https://shop.example.com", header(KEY))).facts["notice"])
    assert notice.startswith("Before.")
    assert ("are for https://shop.example.com only" in notice) == says
