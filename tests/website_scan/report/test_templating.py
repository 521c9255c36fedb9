"""Tests for template filters for URLs, numbers and plurals."""

from __future__ import annotations

import pytest

from tests.page_reading import parsed
from website_scan.report.templating import environment

TEMPLATES = environment()


def render_template(template: str, value: object) -> str:
    return TEMPLATES.from_string(template).render(value=value)


@pytest.mark.parametrize(
    ("address", "html"),
    [
        ("https://a.example/x.html", "https://<wbr>a.<wbr>example/<wbr>x.<wbr>html"),
        ("ada@people.test", "ada@people.<wbr>test"),
        ("localhost", "localhost"),
        ("localhost:8000", "localhost:<wbr>8000"),
        ("/?a=1&b=<script>\"'", "/<wbr>?a=1&amp;b=&lt;script&gt;&quot;&#x27;"),
        ("</script>", "&lt;/<wbr>script&gt;"),
        ("", ""),
    ],
)
def test_address_wraps_after_punctuation(address: str, html: str) -> None:
    assert render_template("{{ value|breakable }}", address) == html


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")])
def test_large_numbers_are_grouped(number: int, text: str) -> None:
    assert render_template("{{ value|grouped }}", number) == text


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("https://a.example/", ["https://", "a.example/"]),
        ("https://shop.example.com/teas/green?page=2", ["https://", "shop.example.com/teas", "/green?page=2"]),
        ("/path", ["/path"]),
        ("xn--bcher-kva.example", ["xn--bcher-kva.example"]),
        ("http://[2001:db8::1]:8080/<script>alert(1)</script>&\"'", None),
        ("", []),
    ],
)
def test_one_line_address_is_complete(address: str, parts: list[str] | None) -> None:
    span = parsed(render_template("{{ value|one_line }}", address))
    assert span.text_content() == span.get("title") == address
    assert {node.tag for node in span.iter()} == {"span"}
    if parts is not None:
        assert [text for text in span.itertext() if text] == parts


def test_address_tooltip_is_limited() -> None:
    address = f"https://a.example/{'x' * 3000}"
    span = parsed(render_template("{{ value|one_line }}", address))
    assert span.text_content() == address
    assert len(span.get("title")) == 500


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 pages are"), (1, "1 page is"), (1.5, "1.5 pages are"), (2000, "2,000 pages are")]
)
def test_words_agree_with_their_number(number: float, text: str) -> None:
    assert render_template('{{ value|counted("page") }} {{ value|agreeing("is", "are") }}', number) == text
