"""Garbage collection is disabled during imports, and enabled afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys
from importlib import import_module

import pytest

from infrastructure.loading import without_garbage_collection
from tests.command_line import ROOT, environment


def test_garbage_collection_is_enabled_again_after_failed_import() -> None:
    with without_garbage_collection():
        assert not gc.isenabled()
    with pytest.raises(ImportError), without_garbage_collection():
        import_module("no.such.module")
    assert gc.isenabled()


def test_manage_py_freezes_imported_objects_and_collects_afterwards() -> None:
    """`manage.py shell` is an example of any command, and prints the state of its own process."""
    code = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 50_000)"
    process = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "shell", "--no-imports", "--command", code],
        env=environment(SECRET_KEY="k" * 40),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.stdout, process.returncode) == ("True True\n", 0), process.stderr
