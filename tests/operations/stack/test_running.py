"""Tests that commands find the running service's database and key.

They run in a second shell.
"""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from accounts.keys.minting import is_well_formed
from operations.stack import running
from tests.accounts.test_command_create_api_key import database_url
from tests.command_line import run


def test_variables_of_running_service_are_private(tmp_path: Path) -> None:
    assert running.variables_of(tmp_path) == {}
    with running.published(tmp_path, {"SECRET_KEY": "secret"}):
        assert running.variables_of(tmp_path) == {"SECRET_KEY": "secret"}
        assert running.variables_of(tmp_path) == {"SECRET_KEY": "secret"}  # Reading the file does not change it.
        assert stat.S_IMODE((tmp_path / running.NAME).stat().st_mode) == 0o600
    assert running.variables_of(tmp_path) == {}
    assert list(tmp_path.iterdir()) == []


def test_variables_of_killed_service_are_ignored(tmp_path: Path) -> None:
    (tmp_path / running.NAME).write_text('{"DATABASE_URL": "postgresql:///gone"}')
    assert running.variables_of(tmp_path) == {}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_command_uses_database_of_running_service(tmp_path: Path) -> None:
    variables = {"SECRET_KEY": settings.SECRET_KEY, "DATABASE_URL": database_url(connection.settings_dict["NAME"])}
    with running.published(tmp_path, variables | {"REDIS_URL": settings.REDIS_URL}):
        process = run("create_api_key", "Acme", DATA_DIR=str(tmp_path))
        assert (process.returncode, process.stderr) == (0, "")
        assert is_well_formed(process.stdout.strip())
        # Variables of the shell take precedence.
        failed = run("create_api_key", "Acme", DATA_DIR=str(tmp_path), DATABASE_URL="postgresql://127.0.0.1:1/x")
        assert failed.returncode == 1


@pytest.mark.parametrize("command", [("maintenance", "on"), ("reencrypt_secrets",), ("createsuperuser", "--noinput")])
def test_missing_database_causes_no_traceback(command: tuple[str, ...]) -> None:
    process = run(*command, SECRET_KEY="x" * 40)
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.splitlines()[-1].startswith("PostgreSQL does not answer (")
