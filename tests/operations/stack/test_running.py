"""Commands in a second shell work with the service that runs on the same data folder."""

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


def test_the_variables_hold_while_the_service_runs_and_are_its_owners_alone(tmp_path: Path) -> None:
    assert running.variables_of(tmp_path) == {}
    with running.published(tmp_path, {"SECRET_KEY": "secret"}):
        assert running.variables_of(tmp_path) == {"SECRET_KEY": "secret"}
        assert running.variables_of(tmp_path) == {"SECRET_KEY": "secret"}  # reading changes nothing
        assert stat.S_IMODE((tmp_path / running.NAME).stat().st_mode) == 0o600
    assert running.variables_of(tmp_path) == {}
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_service_left_behind_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / running.NAME).write_text('{"DATABASE_URL": "postgresql:///gone"}')
    assert running.variables_of(tmp_path) == {}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_command_finds_key_and_database_of_the_service(tmp_path: Path) -> None:
    variables = {"SECRET_KEY": settings.SECRET_KEY, "DATABASE_URL": database_url(connection.settings_dict["NAME"])}
    with running.published(tmp_path, variables | {"REDIS_URL": settings.REDIS_URL}):
        ran = run("create_api_key", "Acme", DATA_DIR=str(tmp_path))
        assert (ran.returncode, ran.stderr) == (0, "")
        assert is_well_formed(ran.stdout.strip())
        # Variables of the shell take precedence.
        elsewhere = run("create_api_key", "Acme", DATA_DIR=str(tmp_path), DATABASE_URL="postgresql://127.0.0.1:1/x")
        assert elsewhere.returncode == 1


@pytest.mark.parametrize("command", [("maintenance", "on"), ("reencrypt_secrets",), ("createsuperuser", "--noinput")])
def test_without_a_database_a_command_says_so_without_a_traceback(command: tuple[str, ...]) -> None:
    ran = run(*command, SECRET_KEY="x" * 40)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[-1].startswith("PostgreSQL does not answer (")
