"""Template database that each test process copies.

It is migrated once per test run.
"""

from __future__ import annotations

import os

# `tests.stack` sets this variable for all processes of a run.
VARIABLE = "TEMPLATE_DATABASE"
LOCK = 4_194_301


def use_template() -> None:
    """Make Django's test database a copy of the template.

    The first process migrates the template.
    """
    from django.db import connection  # `tests.stack` imports this module before the settings exist.

    name = os.environ[VARIABLE]
    with connection._nodb_cursor() as cursor:
        # PostgreSQL releases the lock when the connection is closed.
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        cursor.execute("SELECT FROM pg_database WHERE datname = %s", [name])
        if not cursor.rowcount:
            migrate(f"{name}_unfinished")
            cursor.execute(f'ALTER DATABASE "{name}_unfinished" RENAME TO "{name}"')
    connection.settings_dict["TEST"]["TEMPLATE"] = name


def migrate(name: str) -> None:
    """Create and migrate a database.

    Afterwards, all connections to it are closed.
    """
    from django.db import connection

    usual_name, test = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
    test_name = test["NAME"]
    test["NAME"] = name
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    finally:
        connection.close()
        connection.settings_dict["NAME"], test["NAME"] = usual_name, test_name


def drop_template() -> None:
    from django.db import connection

    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{os.environ[VARIABLE]}"')
