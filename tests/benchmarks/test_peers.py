"""Tests for the processor time of other tools' commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.control_group import ControlGroupRefused, control_group
from benchmarks.peers import CommandFailed, cpu_s
from tests.operations.stack.processes import wait_until

START_TIMEOUT_S = 60.0
BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
# A command that ends at once. Its grandchild works on, after its own parent has ended as well.
WITH_ORPHAN = f"""
import os
if os.fork():
    print("{{}}")
elif os.fork():
    os._exit(0)
else:
    os.close(1)
    os.close(2)
    exec({BURN!r})
"""
# The first process of a PID namespace, as Chromium's sandbox has one. It ends after its child has worked, which kills
# the child, and the kernel adds the child's processor time to no parent.
WITH_NAMESPACE = f"""
import os, signal, sys
if os.getpid() != 1:
    os.execlp("unshare", "unshare", "--pid", "--fork", sys.executable, *sys.orig_argv[1:])
done, working = os.pipe()
if os.fork():
    os.read(done, 1)
    print("{{}}", flush=True)
    os._exit(0)
exec({BURN!r})
os.write(working, b"x")
signal.pause()
"""


@pytest.fixture(autouse=True)
def _needs_control_group() -> None:
    try:
        with control_group():
            pass
    except ControlGroupRefused as refusal:
        pytest.skip(str(refusal))


@pytest.mark.parametrize("code", [f"{BURN}print('{{}}')", WITH_ORPHAN, WITH_NAMESPACE])
def test_processor_time_includes_all_processes_of_a_command(code: str, tmp_path: Path) -> None:
    assert 0.3 <= cpu_s((sys.executable, "-c", code), os.environ, tmp_path) < 3


def test_processes_that_do_not_end_are_killed() -> None:
    with control_group() as group:
        with subprocess.Popen(group.command(("sleep", "600"))) as process:
            wait_until(lambda: group.folder.joinpath("cgroup.procs").read_text() != "", START_TIMEOUT_S)
            group.wait_for_end(0)
        assert process.returncode == -signal.SIGKILL
    assert not group.folder.exists()


def test_command_without_result_fails(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="has no result: no page"):
        cpu_s((sys.executable, "-c", "print('no page')"), os.environ, tmp_path)
