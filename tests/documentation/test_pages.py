"""Tests for the documentation at /docs/."""

from __future__ import annotations

import gzip
import re
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from lxml import html

from documentation.contents import GUIDES, OVERVIEW, resolver
from documentation.markdown import Chunk, chunks, render
from documentation.reference import api
from documentation.views import addresses
from tests.generated import description
from tests.page_reading import page_of, parsed

MAX_COMPRESSED_BYTES = 60_000
PAGES = [url for url in addresses() if not url.startswith("/docs/checks/") or url == "/docs/checks/"]


@pytest.fixture(scope="module")
def pages() -> dict[str, html.HtmlElement]:
    return {path: page_of(Client().get(path)) for path in PAGES}


def page_text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


@pytest.mark.parametrize("path", PAGES)
def test_documentation_page_needs_no_query(path: str, django_assert_num_queries: Any, db: None) -> None:
    with django_assert_num_queries(0):
        response = Client().get(path)
    assert response.status_code == 200
    assert len(gzip.compress(response.content)) < MAX_COMPRESSED_BYTES
    page = page_of(response)
    assert [element.rpartition("/")[2] for element in page.xpath("//script/@src")] == ["site.js", "search.js"]
    assert page.xpath("//@style") == page.xpath("//script[not(@src)]") == []


def test_documentation_pages_have_unique_ids(pages: dict[str, html.HtmlElement]) -> None:
    for path, page in pages.items():
        ids = page.xpath("//@id")
        assert len(ids) == len(set(ids)), path
        levels = [
            int(element.tag[1]) for element in page.xpath("//main//*[self::h1 or self::h2 or self::h3 or self::h4]")
        ]
        assert [index for index, level in enumerate(levels) if level == 1] == [0], path
        assert all(after <= before + 1 for before, after in pairwise(levels)), path


def test_documentation_links_are_valid(pages: dict[str, html.HtmlElement]) -> None:
    paths = {*addresses(), "/openapi.yaml", "/", "/login/"}
    for path, page in pages.items():
        for href in page.xpath("//main//a/@href"):
            if href.startswith("http"):
                continue
            target, _, anchor = href.partition("#")
            target = (target or path).partition("?")[0]
            assert target in paths, (path, href)
            if anchor:
                assert anchor in pages[target].xpath("//@id"), (path, href)


def test_each_heading_is_on_one_page() -> None:
    for document in {guide.document for guide in GUIDES}:
        used = [chunk for guide in (OVERVIEW, *GUIDES) if guide.document == document for chunk in guide.chunks]
        assert sorted(used, key=repr) == sorted(chunks(document), key=repr), document


def test_api_operation_is_on_its_group_page(pages: dict[str, html.HtmlElement]) -> None:
    count = 0
    for path, methods in description()["paths"].items():
        for method, operation in methods.items():
            (tag,) = operation["tags"]
            page = pages[f"/docs/api/{tag.lower()}"]
            (section,) = page.xpath(f"//section[@aria-labelledby='{operation['operationId'].replace('_', '-')}']")
            text = page_text(section)
            assert f"{method.upper()} {path}" in text
            assert operation["summary"] in text
            for parameter in operation.get("parameters", ()):
                assert parameter["name"] in text
            (request, *_) = section.xpath(".//pre")
            assert request.text_content().startswith("curl ")
            for status, response in operation["responses"].items():
                if status < "300":
                    assert f"Response: {status}" in text
                    for content in response.get("content", {}).values():
                        assert "example" not in content or len(section.xpath(".//pre")) > 1
            for code in re.findall(r"`([A-Z_]{4,})`", str(operation["responses"])):
                assert code in text or code in page_text(page), (path, code)
            count += 1
    assert count == sum(len(group.operations) for group in api().groups.values()) > 40


def test_api_reference_shows_field_limits(pages: dict[str, html.HtmlElement]) -> None:
    (section,) = pages["/docs/api/scans"].xpath("//section[@aria-labelledby='create-scan']")
    rows: dict[str, str] = {}
    for row in section.xpath(".//tr[th]"):
        rows.setdefault(page_text(row.find("th")), page_text(row))
    assert "At most 2,048 characters" in rows["url required"]
    assert "security, performance, accessibility, seo" in rows["type required"]
    assert "1 to 255 characters" in rows["Idempotency-Key header"]
    assert "progress.percent" in " ".join(rows)
    assert "integer or null" in rows["score required"]
    assert "object or null" in rows["error required"]
    assert "array of objects" in rows["skipped_checks required"]
    (section,) = pages["/docs/api/audits"].xpath("//section[@aria-labelledby='get-audit']")
    assert "results.*.score" in page_text(section)


def test_error_codes_are_linked_from_responses(pages: dict[str, html.HtmlElement]) -> None:
    errors = pages["/docs/errors"]
    listed = set(errors.xpath("//td/@id"))
    assert {"RATE_LIMITED", "INSUFFICIENT_SCOPE", "TLS_FAILED"} <= listed
    heads = [[page_text(cell) for cell in row] for row in errors.xpath("//thead/tr")]
    assert heads[0] == ["status", "code", "when", "what to do"]
    for row in errors.xpath("//tbody/tr"):
        assert all(page_text(cell) for cell in row), page_text(row)
    linked = {
        href.partition("#")[2]
        for path, page in pages.items()
        if path.startswith("/docs/api/")
        for href in page.xpath("//main//a/@href")
        if href.startswith("/docs/errors#")
    }
    assert len(linked) > 25
    assert linked <= listed


def test_api_groups_equal_the_openapi_tags() -> None:
    tags = {tag for methods in description()["paths"].values() for method in methods.values() for tag in method["tags"]}
    assert tags == {declared["name"] for declared in description()["tags"]}


def test_examples_contain_the_base_url(settings: Any) -> None:
    """The cached page may contain BASE_URL in its examples.

    BASE_URL does not change within a process.
    """
    page = Client().get("/docs/").content.decode()
    assert f'curl -X POST "{settings.BASE_URL}/v1/scan"'.replace('"', "&quot;") in page


def test_webhook_samples_are_on_the_page(pages: dict[str, html.HtmlElement]) -> None:
    blocks = [element.text_content() for element in pages["/docs/webhooks"].xpath("//pre/code")]
    for mark in ("def is_genuine(", "function isGenuine(", "func isGenuine(", "function is_genuine("):
        assert any(mark in block for block in blocks), mark


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/api/nothing", "/docs/api/", "/docs/operations", "/docs/../x"])
def test_unknown_documentation_page_returns_404(db: None, path: str) -> None:
    assert Client().get(path).status_code == 404


def test_raw_html_in_markdown_is_escaped() -> None:
    text = (
        "<script>alert(1)</script> [x](javascript:alert(1)) [y](data:text/html,x) ![z](https://evil.test/p.png)\n\n"
        '| a | b |\n|---|---|\n| <img src=x onerror=alert(1)> | `<b>` |\n\n```js"><script>\n</code><script>1\n```\n'
    )
    rendered, _ = render([Chunk(2, "A <b>title</b>", "", text)], resolver("api.md"))
    page = parsed(f"<main>{rendered}</main>")
    assert page.xpath("//script|//b|//img[@onerror]") == []
    assert page.xpath("//a/@href") == []
    assert "<script>alert(1)</script>" in page.text_content()


def test_resolver_returns_none_for_unknown_links() -> None:
    resolve = resolver("api.md")
    assert resolve("operations.md#deployment") is None
    assert resolve("adr/0002-dependencies.md") is None
    assert resolve("#no-such-heading") is None
    assert resolve("#errors") == "/docs/errors#errors"
    assert resolve("#conventions") == "/docs/#conventions"
    assert resolve("webhooks.md#rotate-the-secret") == "/docs/webhooks#rotate-the-secret"
    assert resolve("checks.md") == "/docs/checks/"
    assert resolve("../openapi.yaml") == "/openapi.yaml"
    assert resolve("https://www.standardwebhooks.com/") == "https://www.standardwebhooks.com/"


def test_hash_signs_in_code_are_not_headings() -> None:
    titles = [chunk.title for chunk in chunks("webhooks.md")]
    assert not any("signature:" in title for title in titles)
    assert "Signature verification" in titles
