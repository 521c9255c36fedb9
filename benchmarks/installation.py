"""Installation of the service for `make bench`, `soak`, `faults` and `dogfood`, with its own servers and folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from operations.stack import embedded

BASE_DIR = Path(__file__).resolve().parent.parent


@contextmanager
def servers(*, durable: bool = True) -> Iterator[tuple[Path, embedded.Stack]]:
    """Run PostgreSQL and Redis in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="wss-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with embedded.stack(folder, durable=durable) as stack:
            yield folder, stack


def install(folder: Path, stack: embedded.Stack | None, **variables: str) -> None:
    """Set the service up in this process, migrated; without `stack`, `variables` name its servers."""
    defaults = {
        "DATA_DIR": str(folder),
        "SECRET_KEY": "benchmark-" * 5,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        # Off, because its lines would appear between those of the tables.
        "ACCESS_LOG": "0",
    }
    os.environ |= (stack.env if stack else {}) | defaults | variables
    subprocess.run([sys.executable, "manage.py", "prepare"], cwd=BASE_DIR, check=True)
    django.setup()
