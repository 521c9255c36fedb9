"""Tests for the documentation search."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from documentation.contents import GUIDES
from documentation.reference import api
from documentation.search import search_index
from documentation.views import addresses
from tests.page_reading import page_of

Index = dict[str, Any]


@pytest.fixture(scope="module")
def index() -> Index:
    text = Client().get("/docs/search-index.js").content.decode()
    assert text == search_index()
    parsed: Index = json.loads(text.removeprefix("globalThis.searchIndex = ").removesuffix(";\n"))
    return parsed


def titles(index: Index, word: str) -> list[str]:
    return [index["sections"][number][0] for place in index["words"].get(word, ()) for number in place]


def test_search_index_is_cached_for_an_hour() -> None:
    response = Client().get("/docs/search-index.js")
    assert response["Content-Type"] == "text/javascript; charset=utf-8"
    assert response["Cache-Control"] == "public, max-age=3600"


def test_search_index_contains_each_page(index: Index) -> None:
    paths = {address.partition("#")[0] for *_, address in index["sections"]}
    assert paths == {*addresses()} - {"/docs/checks/"}
    assert {guide.title for guide in GUIDES} <= {page for _, page, _ in index["sections"]}


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("hsts", "HTTP Strict Transport Security"),
        ("max-age", "HTTP Strict Transport Security"),
        ("options", "MIME sniffing is disabled"),
        ("idempotency-key", "Create a scan"),
        ("insufficient_scope", "Errors"),
        ("signature", "Signature verification"),
        ("fail-under", "Exit codes"),
    ],
)
def test_search_index_finds_sections_by_word(index: Index, word: str, title: str) -> None:
    assert title in titles(index, word)


def test_search_index_excludes_stop_words(index: Index) -> None:
    assert not {"the", "and", "a", "to"} & index["words"].keys()
    assert max(map(len, index["words"])) <= 40


def test_search_results_link_to_existing_headings(index: Index) -> None:
    pages: dict[str, set[str]] = {}
    for *_, address in index["sections"]:
        path, _, anchor = address.partition("#")
        if path not in pages:
            pages[path] = set(page_of(Client().get(path)).xpath("//@id"))
        assert not anchor or anchor in pages[path], address
    assert sum(len(group.operations) for group in api().groups.values()) > 40


def test_search_field_is_hidden_without_scripts() -> None:
    page = page_of(Client().get("/docs/"))
    (form,) = page.xpath("//*[@role='search']")
    assert form.get("hidden") is not None
    assert form.xpath(".//label/@for") == form.xpath(".//input/@id")
    listed = set(page.xpath("//nav[@aria-label='Documentation']//li/a/@href"))
    assert {path for path in addresses() if not path.startswith("/docs/checks/")} <= listed
