"""Garbage collection is off while code is loaded, and on afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys
from importlib import import_module

import pytest

from infrastructure.loading import uncollected
from tests.command_line import ROOT, environment


def test_collecting_goes_on_after_loading_even_where_that_fails() -> None:
    with uncollected():
        assert not gc.isenabled()
    with pytest.raises(ImportError), uncollected():
        import_module("no.such.module")
    assert gc.isenabled()


def test_a_command_loads_without_collecting_and_collects_while_it_works() -> None:
    """`manage.py shell` stands for any command, and inspects its own process."""
    look = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 50_000)"
    ran = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "shell", "--no-imports", "--command", look],
        env=environment(SECRET_KEY="k" * 40),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("True True\n", 0), ran.stderr
