"""Tests that uploaded files are not written to disk."""

from __future__ import annotations

import pytest
from django.core.files import uploadhandler
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client


@pytest.mark.django_db
def test_upload_is_not_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django parses the whole body to check the CSRF token.

    The body includes its files.
    """
    written: list[object] = []
    monkeypatch.setattr(uploadhandler, "TemporaryUploadedFile", lambda *named: written.append(named))
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    large = SimpleUploadedFile("large.bin", b"x" * 5_000_000)
    assert client.post("/login/", {"login": "ada", "file": large}).status_code == 403
    assert written == []


@pytest.mark.django_db
def test_form_without_file_field_ignores_files(client: Client) -> None:
    file = SimpleUploadedFile("a.txt", b"text")
    response = client.post("/login/", {"login": "ada@people.test", "password": "wrong", "file": file})
    assert response.status_code == 200
