"""Programs as forks: each behaves as if Python had been started for it. A process of its own forks, without threads."""

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


def forking(code: str, folder: Path) -> str:
    """Run code with `run(program, *arguments, **env)`, which forks a program; return the output."""
    ran = subprocess.run(
        [sys.executable, "-c", FORK + code, str(folder)], cwd=BASE_DIR, capture_output=True, text=True, timeout=30
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_a_program_has_its_arguments_environment_and_folder_and_one_stream_of_output(tmp_path: Path) -> None:
    code = """
child = run("import os, sys; print(sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read() == ''); "
            "print(__name__, file=sys.stderr)", "a", "b", X="1")
print(child.read().decode(), child.wait(10))
"""
    assert forking(code, tmp_path) == f"['a', 'b'] {{'MARK': '{tmp_path}', 'X': '1'}} {tmp_path} True\n__main__\n 0\n"


def test_a_module_is_run_as_by_python(tmp_path: Path) -> None:
    code = """
child = fork("tried", [sys.executable, "-m", "json.tool", "--help"], env={}, cwd="/")
print(child.read().decode().splitlines()[0], child.wait(10))
"""
    assert "json.tool [-h]" in forking(code, tmp_path)


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
def test_the_end_of_a_program_is_that_of_python(program: str, output: str, status: int, tmp_path: Path) -> None:
    code = f"""
child = run({program!r})
print(repr(child.read().decode()), child.wait(10), child.returncode)
"""
    assert forking(code, tmp_path) == f"{output!r} {status} {status}\n"


def test_an_error_is_printed_with_its_traceback(tmp_path: Path) -> None:
    said = forking("child = run('1 / 0')\nprint(child.read().decode(), child.wait(10))", tmp_path)
    assert "program.py" in said
    assert said.endswith("ZeroDivisionError: division by zero\n 1\n")


def test_a_program_has_no_handler_and_no_open_file_of_its_parent(tmp_path: Path) -> None:
    code = """
signal.signal(signal.SIGTERM, lambda *_: print("the parent's handler"))
kept = open(folder / "kept", "w")
child = run("import os, signal; print(signal.getsignal(signal.SIGTERM), len(os.listdir('/dev/fd')))")
print(child.read().decode(), child.wait(10))
"""
    handler, files = forking(code, tmp_path).split()[:2]
    assert handler == str(int(signal.SIG_DFL)) or "SIG_DFL" in handler
    assert int(files) == 4  # the standard streams, and that of listing them


def test_a_signal_right_after_the_start_ends_it(tmp_path: Path) -> None:
    code = """
signal.signal(signal.SIGTERM, lambda *_: None)
child = run("import signal; signal.pause()")
child.send_signal(signal.SIGTERM)
print(child.wait(10))
"""
    assert forking(code, tmp_path) == "-15\n"


def test_a_program_that_does_not_end_in_time_is_told_of(tmp_path: Path) -> None:
    code = """
child = run("import signal; signal.pause()")
try:
    child.wait(0.05)
except subprocess.TimeoutExpired:
    print(child.poll())
child.kill()
print(child.wait(10))
"""
    assert forking(code, tmp_path) == "None\n-9\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent's death")
def test_a_program_ends_with_its_parent_and_has_its_name(tmp_path: Path) -> None:
    code = """
child = run("import signal; print('up', flush=True); signal.pause()")
child.stdout.readline()
print(pathlib.Path(f"/proc/{child.pid}/comm").read_text(), end="", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ran = subprocess.run(
        [sys.executable, "-c", FORK + code, str(tmp_path)], cwd=BASE_DIR, capture_output=True, text=True, timeout=30
    )
    assert ran.stdout == "tried\n"
    wait_until(lambda: running_with(str(tmp_path)) == {}, timeout_s=5)
