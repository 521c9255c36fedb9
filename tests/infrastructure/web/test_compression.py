"""Tests that pages are compressed and API responses are not."""

from __future__ import annotations

import gzip

import pytest
from django.test import Client

from tests.factories import Member, finished_scan

ZIPPED = {"Accept-Encoding": "gzip"}


@pytest.mark.django_db
def test_page_is_gzipped() -> None:
    plain = Client().get("/login/")
    zipped = Client().get("/login/", headers=ZIPPED)
    assert "Content-Encoding" not in plain
    assert zipped["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in zipped["Vary"]
    assert b"<h1>" in gzip.decompress(zipped.content)
    assert len(zipped.content) < len(plain.content) / 2


def test_api_responses_are_not_compressed(home: Member) -> None:
    scan = finished_scan(home)
    response = home.api.get(f"/v1/report/{scan.id}", **ZIPPED)
    assert response.status_code == 200
    assert "Content-Encoding" not in response
    assert response.json()["id"] == scan.id
