"""Helper that dumps a whole database as text."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from typing import Any

from psycopg.conninfo import make_conninfo

from operations.stack.postgres import find_binaries

KEYS = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD", "dbname": "NAME"}


def dump_of_database(database: Mapping[str, Any]) -> str:
    """Return a database's SQL dump and its decoded binary columns.

    `database` is an entry of DATABASES.
    """
    conninfo = make_conninfo(**{name: database[key] for name, key in KEYS.items() if database.get(key)})
    command = [str(find_binaries() / "pg_dump"), "--inserts", "--dbname", conninfo]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    binary_columns = re.findall(r"'\\x([0-9a-f]*)'", dump)
    return dump + "\n".join(bytes.fromhex(column).decode("latin-1") for column in binary_columns)
