"""Data folder, and the file in it with the variables of the `manage.py up` that runs there, for other shells."""

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
def shown(data_dir: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Write the variables to the folder, readable by its owner only, until the block ends."""
    path = data_dir / NAME
    write_private(path, json.dumps(variables, indent=2) + "\n")
    with path.open(encoding="utf-8") as file:
        # The lock marks the variables as valid: a killed service leaves the file behind.
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def variables_of(data_dir: Path) -> dict[str, str]:
    """Return the variables of the service that runs on this folder; empty if none runs, or if it is another user's."""
    try:
        with (data_dir / NAME).open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                found: dict[str, str] = json.load(file)
                return found
    except OSError:
        pass
    return {}
