"""Find PostgreSQL client programs in the server's version.

This module does not import Django.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from psycopg import pq
from psycopg.conninfo import make_conninfo

from operations.stack.postgres import find_binaries
from operations.stack.processes import EmbeddedError

PROGRAMS = ("pg_dump", "pg_restore", "psql")
DISTRIBUTIONS = Path("/usr/lib/postgresql")  # Debian and its derivatives have one folder here for each version.


class NoClients(Exception):
    """Raised when client programs for the server's version are missing.

    The message names the package to install.
    """


def clients_for(major: int, folders: Iterable[Path] | None = None) -> Path:
    """Return the folder with pg_dump, pg_restore and psql in the server's major version.

    Raises NoClients.

    Older programs refuse to work with the server, and the server may not understand the output of newer programs.
    """
    versions = {folder: version_of(folder) for folder in (_folders() if folders is None else folders)}
    for folder, version in versions.items():
        if version == major:
            return folder
    others = ", ".join(str(version) for version in sorted({version for version in versions.values() if version}))
    others = others or "none"
    raise NoClients(
        f"PostgreSQL {major} needs pg_dump, pg_restore and psql {major}; found: {others}. "
        f"Install postgresql-client-{major}, or run this where they are."
    )


def version_of(folder: Path) -> int | None:
    """Return the major version of a folder's programs.

    None if a program is missing or does not run.
    """
    if not all(os.access(folder / name, os.X_OK) for name in PROGRAMS):
        return None
    try:
        process = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = re.search(r"\(PostgreSQL\) (\d+)", process.stdout)
    return int(match[1]) if match else None


def connection_arguments(parameters: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Convert psycopg's connection parameters to a conninfo string and environment variables for client programs.

    The password is passed in the environment, because every user may read the command lines of all processes. `options`
    are dropped: the time limit of a request does not suit a backup.
    """
    keywords = {option.keyword.decode() for option in pq.Conninfo.get_defaults()} - {"password", "options"}
    conninfo = make_conninfo(**{name: value for name, value in parameters.items() if name in keywords})
    password = parameters.get("password")
    return conninfo, dict(os.environ) | ({"PGPASSWORD": str(password)} if password else {})


def _folders() -> Iterator[Path]:
    if on_path := shutil.which("pg_dump"):
        yield Path(on_path).parent
    yield from sorted(DISTRIBUTIONS.glob("*/bin"), reverse=True)
    try:
        yield find_binaries()
    except EmbeddedError:
        return
