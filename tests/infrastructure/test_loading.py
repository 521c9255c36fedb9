"""Tests that garbage collection is disabled only during imports."""

from __future__ import annotations

import gc
import subprocess
import sys
from importlib import import_module

import pytest

from infrastructure.loading import without_garbage_collection
from tests.command_line import ROOT, environment


def test_failed_import_enables_garbage_collection() -> None:
    with without_garbage_collection():
        assert not gc.isenabled()
    with pytest.raises(ImportError), without_garbage_collection():
        import_module("no.such.module")
    assert gc.isenabled()


def test_manage_py_freezes_imported_objects() -> None:
    """`manage.py shell` stands for any command.

    It prints the state of its own process.
    """
    code = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 50_000)"
    process = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "shell", "--no-imports", "--command", code],
        env=environment(SECRET_KEY="k" * 40),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.stdout, process.returncode) == ("True True\n", 0), process.stderr
