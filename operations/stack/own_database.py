"""Run of a command on the database of `make run` while the service does not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from operations.stack import embedded
from website_scan import environment


def run_on_own_database(data_dir: Path) -> int | None:
    """Start the embedded PostgreSQL and run this command again on it; return the exit status.

    None if there is nothing to start: DATABASE_URL is set, a service runs on the folder, or it has no database.
    Raises EmbeddedError.
    """
    if environment.is_set("DATABASE_URL") or not (data_dir / "postgres" / "PG_VERSION").exists():
        return None
    with embedded.stack(data_dir, redis=False) as stack:
        variables = os.environ | stack.env
        key = data_dir / "secret_key"
        if not environment.is_set("SECRET_KEY") and key.exists():
            variables |= {"SECRET_KEY": "", "SECRET_KEY_FILE": str(key)}
        return subprocess.run([sys.executable, *sys.argv], env=variables, check=False).returncode
