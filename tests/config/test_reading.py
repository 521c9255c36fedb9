"""What templates make of addresses and numbers."""

from __future__ import annotations

import pytest
from django.template import Context, Template

PAGE = Template("{% load reading %}{{ value|breakable }}")


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
def test_an_address_breaks_after_marks_and_is_escaped(address: str, html: str) -> None:
    assert PAGE.render(Context({"value": address})) == html


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")])
def test_large_numbers_are_grouped(number: int, text: str) -> None:
    assert Template("{% load reading %}{{ value|grouped }}").render(Context({"value": number})) == text
