"""Tests for programs that run as forks, not as new processes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.stack.processes import running_with, wait_until

BASE_DIR = Path(__file__).resolve().parents[3]
FORK = """
import os, pathlib, signal, subprocess, sys
from operations.stack.forks import fork
folder = pathlib.Path(sys.argv[1])
def run(code, *arguments, **env):
    program = folder / "program.py"
    program.write_text(code)
    return fork("tried", [sys.executable, str(program), *arguments], env={"MARK": str(folder)} | env, cwd=folder)
"""


def output_of_forks(code: str, folder: Path) -> str:
    """Run Python code that forks programs, and return its output.

    The code calls `run(program, *arguments, **env)`.
    """
    process = subprocess.run(
        [sys.executable, "-c", FORK + code, str(folder)], cwd=BASE_DIR, capture_output=True, text=True, timeout=30
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_fork_has_its_own_environment(tmp_path: Path) -> None:
    code = """
child = run("import os, sys; print(sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read() == ''); "
            "print(__name__, file=sys.stderr)", "a", "b", X="1")
print(child.read().decode(), child.wait(10))
"""
    assert (
        output_of_forks(code, tmp_path)
        == f"['a', 'b'] {{'MARK': '{tmp_path}', 'X': '1'}} {tmp_path} True\n__main__\n 0\n"
    )


def test_fork_runs_module_like_python_m(tmp_path: Path) -> None:
    code = """
child = fork("tried", [sys.executable, "-m", "json.tool", "--help"], env={}, cwd="/")
print(child.read().decode().splitlines()[0], child.wait(10))
"""
    assert "json.tool [-h]" in output_of_forks(code, tmp_path)


@pytest.mark.parametrize(
    ("program", "output", "status"),
    [
        ("import sys; sys.exit(3)", "", 3),
        ("import sys; sys.exit('no way')", "no way\n", 1),
        ("raise KeyboardInterrupt", "", 130),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "", -15),
        ("import atexit; atexit.register(print, 'over')", "over\n", 0),
        ("import threading; threading.Thread(target=lambda: print('last')).start()", "last\n", 0),
    ],
)
def test_fork_exits_like_python(program: str, output: str, status: int, tmp_path: Path) -> None:
    code = f"""
child = run({program!r})
print(repr(child.read().decode()), child.wait(10), child.returncode)
"""
    assert output_of_forks(code, tmp_path) == f"{output!r} {status} {status}\n"


def test_fork_prints_traceback_of_exception(tmp_path: Path) -> None:
    output = output_of_forks("child = run('1 / 0')\nprint(child.read().decode(), child.wait(10))", tmp_path)
    assert "program.py" in output
    assert output.endswith("ZeroDivisionError: division by zero\n 1\n")


def test_fork_inherits_no_open_files(tmp_path: Path) -> None:
    code = """
signal.signal(signal.SIGTERM, lambda *_: print("the parent's handler"))
kept = open(folder / "kept", "w")
child = run("import os, signal; print(signal.getsignal(signal.SIGTERM), len(os.listdir('/dev/fd')))")
print(child.read().decode(), child.wait(10))
"""
    handler, files = output_of_forks(code, tmp_path).split()[:2]
    assert handler == str(int(signal.SIG_DFL)) or "SIG_DFL" in handler
    assert int(files) == 4  # The standard streams and the listing's own descriptor are open.


def test_signal_right_after_fork_ends_the_child(tmp_path: Path) -> None:
    code = """
signal.signal(signal.SIGTERM, lambda *_: None)
child = run("import signal; signal.pause()")
child.send_signal(signal.SIGTERM)
print(child.wait(10))
"""
    assert output_of_forks(code, tmp_path) == "-15\n"


def test_fork_wait_raises_TimeoutExpired(tmp_path: Path) -> None:
    code = """
child = run("import signal; signal.pause()")
try:
    child.wait(0.05)
except subprocess.TimeoutExpired:
    print(child.poll())
child.kill()
print(child.wait(10))
"""
    assert output_of_forks(code, tmp_path) == "None\n-9\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a parent's death to children")
def test_fork_ends_with_its_parent(tmp_path: Path) -> None:
    code = """
child = run("import signal; print('up', flush=True); signal.pause()")
child.stdout.readline()
print(pathlib.Path(f"/proc/{child.pid}/comm").read_text(), end="", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = subprocess.run(
        [sys.executable, "-c", FORK + code, str(tmp_path)], cwd=BASE_DIR, capture_output=True, text=True, timeout=30
    )
    assert process.stdout == "tried\n"
    wait_until(lambda: running_with(str(tmp_path)) == {}, timeout_s=5)
