"""Run a command on the embedded database of `make run` while the service is stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from operations.stack import embedded
from website_scan import environment


def run_on_embedded_database(data_dir: Path) -> int | None:
    """Start the embedded PostgreSQL, run this command again with its DATABASE_URL, and return the exit status.

    Returns None without a start if DATABASE_URL is set (also by a service running on the folder), or if the folder has
    no database. Raises EmbeddedError.
    """
    if environment.is_set("DATABASE_URL") or not (data_dir / "postgres" / "PG_VERSION").exists():
        return None
    with embedded.stack(data_dir, redis=False) as stack:
        variables = os.environ | stack.env
        key = data_dir / "secret_key"
        if not environment.is_set("SECRET_KEY") and key.exists():
            variables |= {"SECRET_KEY": "", "SECRET_KEY_FILE": str(key)}
        return subprocess.run([sys.executable, *sys.argv], env=variables, check=False).returncode
