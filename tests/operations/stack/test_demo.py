"""The demo organization: only in embedded databases or on request, and its secrets at most once in a log."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from infrastructure.web.mail import CONSOLE
from operations.stack.demo import DemoLogin, demo_path, login_to_show, save_demo
from operations.stack.management.commands.up import welcome

LOGIN = DemoLogin("Demo", "demo@example.com", "the password", "the key")


def test_a_database_of_ones_own_gets_no_superuser_unless_asked_for(tmp_path: Path) -> None:
    own = {"DATABASE_URL": "postgresql://db.example.com/scans"}
    assert demo_path(tmp_path, own, embedded=False, with_demo=False) is None
    wanted = demo_path(tmp_path, own, embedded=False, with_demo=True)
    assert wanted is not None
    assert wanted != demo_path(tmp_path, {}, embedded=True, with_demo=False)


def test_secrets_are_shown_at_the_first_start_and_then_on_a_terminal_only(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    save_demo(path, LOGIN)
    for was_known, on_terminal, shown in ((False, False, True), (True, True, True), (True, False, False)):
        login = login_to_show(path, was_known=was_known, on_terminal=on_terminal)
        text = welcome("https://scan.example.com", tmp_path, login, path)
        assert (str(path) in text) == (not shown)
        assert ("the password" in text, "the key" in text) == (shown, shown)
        assert "demo@example.com" in text
        assert "https://scan.example.com/admin/ with the login below" in text


@pytest.mark.parametrize(("backend", "told"), [(CONSOLE, True), ("django.core.mail.backends.smtp.EmailBackend", False)])
def test_who_starts_it_learns_where_mail_goes(settings: Settings, tmp_path: Path, backend: str, told: bool) -> None:
    settings.EMAIL_BACKEND = backend
    assert ("is written to this log" in welcome("http://localhost:8000", tmp_path, None, None)) == told


def test_without_a_demo_organization_there_is_no_login_to_show(tmp_path: Path) -> None:
    text = welcome("https://scan.example.com", tmp_path, login_to_show(None, was_known=False, on_terminal=True), None)
    assert "Login" not in text
    assert "https://scan.example.com/admin/ for whom `make superuser` makes a login" in text
    assert "Bearer <API key>" in text
