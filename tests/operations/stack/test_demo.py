"""Tests for the demo organization."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from infrastructure.web.mail import CONSOLE
from operations.stack.demo import DemoLogin, demo_path, login_to_show, read_demo, save_demo
from operations.stack.management.commands.up import welcome

LOGIN = DemoLogin("Demo", "demo@example.com", "the password", "the key")


def test_external_database_has_demo_on_request(tmp_path: Path) -> None:
    variables = {"DATABASE_URL": "postgresql://db.example.com/scans"}
    assert demo_path(tmp_path, variables, embedded=False, with_demo=False) is None
    path = demo_path(tmp_path, variables, embedded=False, with_demo=True)
    assert path is not None
    assert path != demo_path(tmp_path, {}, embedded=True, with_demo=False)


def test_renamed_organization_keeps_its_demo_secrets(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    save_demo(path, LOGIN)
    save_demo(path, DemoLogin("Waterworks", LOGIN.email, None, None))
    assert read_demo(path) == DemoLogin("Waterworks", LOGIN.email, LOGIN.password, LOGIN.api_key)
    save_demo(path, DemoLogin("Waterworks", "ada@example.com", None, None))
    assert read_demo(path) == DemoLogin("Waterworks", "ada@example.com", None, None)


def test_demo_secrets_are_printed_at_first_start(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    save_demo(path, LOGIN)
    for was_known, on_terminal, has_secrets in ((False, False, True), (True, True, True), (True, False, False)):
        login = login_to_show(path, was_known=was_known, on_terminal=on_terminal)
        text = welcome("https://scan.example.com", tmp_path, login, path)
        assert (str(path) in text) == (not has_secrets)
        assert ("the password" in text, "the key" in text) == (has_secrets, has_secrets)
        assert "demo@example.com" in text
        assert "https://scan.example.com/admin/ with the login below" in text


@pytest.mark.parametrize(
    ("backend", "is_logged"), [(CONSOLE, True), ("django.core.mail.backends.smtp.EmailBackend", False)]
)
def test_welcome_message_says_if_mail_is_logged(
    settings: Settings, tmp_path: Path, backend: str, is_logged: bool
) -> None:
    settings.EMAIL_BACKEND = backend
    assert ("is written to this log" in welcome("http://localhost:8000", tmp_path, None, None)) == is_logged


def test_welcome_message_without_demo_has_no_login(tmp_path: Path) -> None:
    text = welcome("https://scan.example.com", tmp_path, login_to_show(None, was_known=False, on_terminal=True), None)
    assert "Login" not in text
    assert "https://scan.example.com/admin/ for whom `make superuser` makes a login" in text
    assert "Bearer <API key>" in text
