"""Tests for the processor time of other tools' commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.peers import CommandFailed, cpu_s

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
MEASURE = """
import os, sys
from pathlib import Path
from benchmarks.peers import adopt_orphans, cpu_s
adopt_orphans()
print(cpu_s((sys.executable, "-c", sys.argv[1]), os.environ, Path(sys.argv[2])))
"""


@pytest.mark.parametrize("code", [f"{BURN}print('{{}}')", WITH_ORPHAN])
def test_processor_time_includes_all_processes_of_a_command(code: str, tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", MEASURE, code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert 0.3 <= float(answer.stdout) < 3


def test_command_without_result_fails(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="has no result: no page"):
        cpu_s((sys.executable, "-c", "print('no page')"), os.environ, tmp_path)
