"""The data folder.

A file in it gives other commands the environment variables of a running `manage.py up`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from operations.stack.demo import write_private
from website_scan.environment import read

BASE_DIR = Path(__file__).resolve().parents[2]
DATA_DIR = read("DATA_DIR", lambda raw: Path(raw).expanduser().resolve(), BASE_DIR / "var", "A folder.")
NAME = "running.json"


@contextlib.contextmanager
def published(data_dir: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Write environment variables to a file in the data folder, readable by its owner only, until the block ends."""
    path = data_dir / NAME
    write_private(path, json.dumps(variables, indent=2) + "\n")
    with path.open(encoding="utf-8") as file:
        # The file is valid only while it is locked, because a killed service cannot delete it.
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def variables_of(data_dir: Path) -> dict[str, str]:
    """Return the environment variables of the service that runs on a data folder.

    Only its own user can read them.

    Returns an empty dictionary if no service runs there, or if it is another user's.
    """
    try:
        with (data_dir / NAME).open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                variables: dict[str, str] = json.load(file)
                return variables
    except OSError:
        pass
    return {}
