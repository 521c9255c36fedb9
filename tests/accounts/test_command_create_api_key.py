"""Tests for `manage.py create_api_key` in a separate process."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.keys.minting import is_well_formed
from accounts.models import ApiKey, Organization
from tests.command_line import run, run_here
from tests.factories import Api

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


def database_url(name: str) -> str:
    """Return the URL of another database on the tests' server.

    The host may be a folder of Unix sockets.
    """
    url = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(url._replace(path=f"{url.path.rpartition('/')[0]}/{name}"))


def create_api_key(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py create_api_key` in a separate process.

    It uses the tests' database.
    """
    database = database_url(connection.settings_dict["NAME"])
    defaults = {"DATABASE_URL": database, "SECRET_KEY": settings.SECRET_KEY, "REDIS_URL": settings.REDIS_URL}
    return run("create_api_key", *arguments, **defaults | variables)


def test_command_creates_key_and_organization() -> None:
    ran = create_api_key("Acme Works")
    assert (ran.returncode, ran.stderr) == (0, "")
    key = ran.stdout.removesuffix("\n")
    assert is_well_formed(key)
    usage = Api(key).get("/v1/usage").json()
    assert usage["quota"]["tier"] == "free"
    stored = ApiKey.objects.get()
    assert stored.name == "Command line"
    assert stored.organization.name == "Acme Works"
    assert key not in (stored.digest, stored.prefix)


def test_command_adds_keys_to_an_organization() -> None:
    keys = [run_here("create_api_key", "Acme", "--name", name).stdout.strip() for name in ("CI", "Laptop")]
    assert len(set(keys)) == 2
    assert Organization.objects.get().name == "Acme"
    assert set(ApiKey.objects.values_list("name", flat=True)) == {"CI", "Laptop"}
    assert all(Api(key).get("/v1/usage").status_code == 200 for key in keys)


def test_tier_option_sets_the_tier() -> None:
    for arguments in (["--tier", "pro"], []):
        key = run_here("create_api_key", "Acme", *arguments).stdout.strip()
        assert Api(key).get("/v1/usage").json()["quota"]["tier"] == "pro"


def test_options_set_scope_and_expiry_of_the_key() -> None:
    run_here("create_api_key", "Acme", "--scope", "read", "--expires", "30")
    key = ApiKey.objects.get()
    assert key.scope == "read"
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=5)
    run_here("create_api_key", "Acme", "--name", "Other")
    assert ApiKey.objects.filter(scope="manage", expires_at=None).count() == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "ORG"),
        (["Acme", "--tier", "gold"], "There is no tier 'gold'; there are free, pro, business, enterprise."),
        (["Acme", "--scope", "root"], "scope"),
        (["Acme", "--expires", "0"], "1 to 1825 days"),
        (["Acme", "--expires", "9" * 5000], "1 to 1825 days"),
        (["Acme", "--expires", "tomorrow"], "1 to 1825 days"),
        ([""], "printable characters"),
        (["!?"], "must contain a letter or a digit"),
        (["A" * 101], "1 to 100"),
        (["Acme", "--name", "N" * 101], "1 to 100"),
        (["Acme\x1b[31m"], "printable characters"),
        (["Acme\udcff"], "printable characters"),  # Python decodes a byte that is not UTF-8 to this surrogate.
    ],
)
def test_wrong_usage_creates_nothing(arguments: list[str], complaint: str) -> None:
    ran = run_here("create_api_key", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert complaint in ran.stderr
    assert not Organization.objects.exists()
    assert not ApiKey.objects.exists()


def test_unreachable_database_is_reported() -> None:
    ran = create_api_key("Acme", DATABASE_URL="postgresql://nobody@127.0.0.1:1/nothing")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "PostgreSQL does not answer" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_database_without_tables_suggests_migrate() -> None:
    ran = create_api_key("Acme", DATABASE_URL=database_url("postgres"))
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "manage.py migrate" in ran.stderr
