"""What stands in a database, all of it, as text."""

from __future__ import annotations

import re
import subprocess

from config.stack.postgres import find_binaries


def dump_of_database(conninfo: str) -> str:
    """pg_dump's, and what the binary columns hold behind it."""
    command = [str(find_binaries() / "pg_dump"), "--inserts", "--dbname", conninfo]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    binary = re.findall(r"'\\x([0-9a-f]*)'", dumped)
    return dumped + "\n".join(bytes.fromhex(each).decode("latin-1") for each in binary)
