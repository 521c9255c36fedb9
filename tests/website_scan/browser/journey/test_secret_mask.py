"""Tests for the replacement of secrets in texts."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule
from website_scan.browser.journey.secrets import SecretMask

SECRET = "Pa$$ wörd&\"'/<9>"
MASK = SecretMask({"password": SECRET, "card": "4111111111111111", "pin": "123"})


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        SECRET.upper(),
        SECRET.lower(),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%C3%B6", "%c3%b6").lower(),
        quote(quote(SECRET, safe=""), safe=""),
        html.escape(SECRET),
        html.escape(SECRET, quote=False),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(SECRET).replace("&", "\\u0026").replace("<", "\\u003C"),
        SECRET.replace("<", "&#60;").replace("'", "\\'").replace("/", "\\x2f"),
        SECRET.encode().hex(),
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
    ],
)
def test_all_forms_of_a_secret_are_replaced(form: str) -> None:
    masked = MASK.text(f"before {form} after")
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert "{{password}}" in masked or "{{card}}" in masked
    assert form not in masked
    assert MASK.occurs_in(form)


@pytest.mark.parametrize("before", ["", "u", "us", "user:", "a longer name:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_secrets_within_base64_are_replaced(before: str, encode: object) -> None:
    assert callable(encode)
    text = encode(f"{before}{SECRET}".encode()).decode()
    assert "{{password}}" in MASK.text(f"Basic {text}")


@pytest.mark.parametrize("end", ["", '"', "…", "'>"])
def test_beginning_of_a_secret_is_replaced_where_a_text_was_cut(end: str) -> None:
    assert MASK.text(f'value="{SECRET[:9]}{end}') == f'value="{{{{password}}}}{end}'


def test_secret_in_several_elements_is_replaced() -> None:
    mask = SecretMask({"user": "anna@shop.example"})
    assert mask.text("<p><b>anna</b><i>@shop</i>.example</p>") == "<p><b>{{user}}</b><i></i></p>"


def test_short_secrets_are_not_replaced() -> None:
    assert MASK.text("123 pieces") == "123 pieces"


def test_secrets_in_the_address_of_the_site_are_not_replaced() -> None:
    mask = SecretMask({"user": "Demo", "password": "s3cret-7"}, "https://demo.example.com/login")
    assert mask.text("https://demo.example.com/?p=s3cret-7") == "https://demo.example.com/?p={{password}}"
    assert mask.values == ["s3cret-7"]


def test_texts_without_secrets_are_unchanged() -> None:
    text = "Tea from Uji, 4111 1111 pieces"
    assert MASK.text(text) == text
    assert not MASK.occurs_in(text)


def test_secrets_in_nested_evidence_are_replaced() -> None:
    node = AxeNode(f"[value='{SECRET}']", "html", f"<input value={SECRET}>", "why")
    rule = AxeRule("label", "serious", (SECRET,), "help", 1, (node,), ((SECRET, 1),))
    report = AxeReport("4", {SECRET: rule}, {}, frozenset({SECRET}), frozenset())
    assert SECRET not in repr(MASK.apply(report))
    assert MASK.apply(report).violations["{{password}}"].nodes[0].snippet == "<input value={{password}}>"


def test_values_are_filled_with_secrets() -> None:
    assert MASK.fill("pin {{pin}}!") == "pin 123!"


@given(st.text(min_size=4, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_no_text_contains_a_secret_afterwards(secret: str, before: str, after: str) -> None:
    mask = SecretMask({"s": secret})
    masked = mask.text(before + secret + after)
    # The name of the secret may contain parts of itself.
    assert secret in "{{s}}" or secret not in masked.replace("{{s}}", "\0")
