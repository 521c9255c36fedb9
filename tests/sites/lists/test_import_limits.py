"""Tests that long uploads are refused before parsing."""

from __future__ import annotations

import json
import time

import pytest
from django.core.cache import cache

from accounts.models import Tier
from sites.lists import api, import_limits
from sites.lists.uploads import estimate_rows
from tests.factories import Member
from tests.page_reading import browser_of, text_of
from tests.sites.lists.cast import make_list

LINES = "".join(f"https://www.example.com/{number}\n" for number in range(100_000)).encode()
LONG_LIST = LINES[:100_000]


@pytest.fixture(autouse=True)
def small_plan(db: None) -> None:
    Tier.objects.update(list_entries=10)


def never_parse(*_: object) -> None:
    raise AssertionError("the upload was parsed")


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (LINES, "text/plain"),
        (LINES, "text/csv"),
        (
            json.dumps({"entries": [{"url": "https://a.example/", "tags": ["a"] * 30}] * 60_000}).encode(),
            "application/json",
        ),
    ],
    ids=["text", "csv", "json"],
)
def test_upload_beyond_the_plan_is_not_parsed(
    home: Member, monkeypatch: pytest.MonkeyPatch, method: str, content: bytes, media_type: str
) -> None:
    monkeypatch.setattr(api, "read_rows", never_parse)
    path = f"/v1/lists/{make_list(home).id}/entries"
    home.api.get("/v1/usage")
    begin = time.process_time()
    response = home.api.call(method, path, content, media_type)
    cpu_s = time.process_time() - begin
    assert (response.status_code, response.json()["code"]) == (409, "LIST_LIMIT")
    assert "10 sites" in response.json()["error"]
    assert cpu_s < 0.1


def test_upload_to_a_foreign_list_is_not_parsed(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "read_rows", never_parse)
    response = stranger.api.call("PUT", f"/v1/lists/{make_list(home).id}/entries", LINES, "text/plain")
    assert response.status_code == 404


def test_duplicate_sites_count_once(home: Member) -> None:
    content = b"www.example.com\n" * 1_000
    response = home.api.call("PUT", f"/v1/lists/{make_list(home).id}/entries", content, "text/plain")
    assert (response.status_code, response.json()["added"]) == (200, 1)


def test_second_long_import_has_to_wait(home: Member) -> None:
    Tier.objects.update(list_entries=10_000)
    path = f"/v1/lists/{make_list(home).id}/entries"
    cache.add(f"list-import:{home.organization.pk}", 1, 60)
    response = home.api.call("PUT", path, LONG_LIST, "text/plain")
    assert (response.status_code, response.json()["code"]) == (429, "RATE_LIMITED")
    assert int(response["Retry-After"]) >= 1
    assert home.api.call("PUT", path, b"www.example.com", "text/plain").status_code == 200
    cache.delete(f"list-import:{home.organization.pk}")
    assert home.api.call("PUT", path, LONG_LIST.rpartition(b"\n")[0], "text/plain").status_code == 200


def test_process_imports_one_long_list_at_a_time(home: Member) -> None:
    Tier.objects.update(list_entries=10_000)
    path = f"/v1/lists/{make_list(home).id}/entries"
    with import_limits._long_import:
        response = home.api.call("PUT", path, LONG_LIST, "text/plain")
    assert (response.status_code, response.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert home.api.call("PUT", path, LONG_LIST.rpartition(b"\n")[0], "text/plain").status_code == 200


def test_preview_beyond_the_plan_is_refused(home: Member) -> None:
    site_list = make_list(home)
    path = f"/o/{home.organization.slug}/lists/{site_list.id}/import"
    response = browser_of(home).post(path, {"sites": LINES[:50_000].decode()})
    assert response.status_code == 409
    assert "Your plan allows 10 sites in all lists together." in text_of(response)


@pytest.mark.parametrize(
    ("content", "media_type", "expected"),
    [
        (b"", "text/plain", 1),
        (b"a\r\nb\r\n\r\n\r\n", "text/csv", 2),
        (b"a\rb\nc", "text/csv; charset=utf-8", 3),
        (b'{"entries": []}', "application/json", 0),
        (b'{"entries": [' + b'{"url": "a"},' * 1600 + b"]}", "Application/JSON", 200),
    ],
)
def test_uploaded_rows_are_estimated(content: bytes, media_type: str, expected: int) -> None:
    assert estimate_rows(content, media_type) == expected
