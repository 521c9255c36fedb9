"""Tests that the supervisor restarts ended programs.

It leaves no process running.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from operations.stack.management.commands.up import programs
from operations.stack.supervisor import STOP_TIMEOUT_S, Program, Supervisor
from tests.operations.stack.processes import running_with, spawned, wait_until

BASE_DIR = Path(__file__).resolve().parents[3]
OUTLIVE = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", sys.argv[1], "child of", sys.argv[2]])
print("deaf", flush=True)
signal.pause()
"""
CHILD_IGNORING_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
# SIGTERM ends this program, but its child process keeps a FIFO open.
LEAVE_CHILD_PROCESS = """
import signal, subprocess, sys
child = "import signal, sys; fifo = open(sys.argv[1], 'w'); signal.pause()"
subprocess.Popen([sys.executable, "-c", child, sys.argv[1]])
signal.pause()
"""
# This program waits for its child process, and blocks SIGTERM until it waits.
WAIT_FOR_END_OF_CHILD = """
import select, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
fifo = open(sys.argv[1])
print("reads", flush=True)
signal.sigwait([signal.SIGTERM])
readable, _, _ = select.select([fifo], [], [], 5)
print("the child has ended" if readable else "the child lives", flush=True)
"""
SUPERVISE = """
import os, pathlib, sys
from operations.stack.supervisor import Program, Supervisor
from tests.operations.stack.processes import spawned
sleeper = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()", sys.argv[1]]
programs = [Program(name, sleeper, os.environ, pathlib.Path("/")) for name in ("web", "worker")]
Supervisor(programs, sys.stdout, start=spawned).run()
"""


class Clock:
    """Fake clock that tests advance."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def program(name: str, code: str, *arguments: str) -> Program:
    return Program(name, [sys.executable, "-c", code, *arguments], os.environ, Path("/"))


def test_supervisor_output_names_the_programs() -> None:
    output = io.StringIO()
    programs = [
        program("web", r"import os, signal; os.write(1, b'one\ntwo'); signal.pause()"),
        program("worker", r"import sys; sys.stderr.buffer.write(b'\xff\n'); print('three')"),
    ]

    def stop_when_complete() -> None:
        if {"one", "three", "�"} <= {line.split("| ")[-1] for line in output.getvalue().split("\n")}:
            supervisor.stop()

    supervisor = Supervisor(programs, output, start=spawned, on_tick=stop_when_complete)
    supervisor.run()
    lines = [line.split(" ", 1)[1] for line in output.getvalue().splitlines()]
    assert "web    | one" in lines
    assert "web    | two" in lines  # The line is printed although it has no newline.
    assert "worker | three" in lines
    assert "worker | �" in lines


def test_supervisor_starts_a_ready_program() -> None:
    output = io.StringIO()
    outputs: list[str] = []

    def waits() -> bool:
        outputs.append(output.getvalue())
        return "web    | up" not in output.getvalue()

    def stop_when_complete() -> None:
        if "worker | up" in output.getvalue():
            supervisor.stop()

    up = "import signal; print('up', flush=True); signal.pause()"
    programs = [program("web", up), replace(program("worker", up), waits=waits)]
    supervisor = Supervisor(programs, output, start=spawned, on_tick=stop_when_complete)
    supervisor.run()
    assert len(outputs) > 1
    assert "worker | up" not in outputs[-1]  # The supervisor does not call `waits` after the program has started.


def test_supervisor_restarts_after_growing_pauses(tmp_path: Path) -> None:
    clock, output = Clock(), io.StringIO()
    starts = tmp_path / "starts"
    log_start = "import sys; open(sys.argv[1], 'a').write('start\\n'); sys.exit(3)"
    expected = [1, 2, 4, 8, 16, 30, 30]

    def on_tick() -> None:
        deaths = len(output.getvalue().splitlines())
        if deaths == len(expected):
            supervisor.stop()
        elif deaths > len(pauses):
            pauses.append(expected[deaths - 1])
            clock.now += expected[deaths - 1]

    pauses: list[int] = []
    supervisor = Supervisor(
        [program("worker", log_start, str(starts))], output, start=spawned, on_tick=on_tick, clock=clock
    )
    supervisor.run()
    assert [line.split("| ")[-1] for line in output.getvalue().splitlines()] == [
        f"worker ended with status 3; it starts again in {pause} s" for pause in expected
    ]
    assert len(starts.read_text().splitlines()) == len(expected)


def test_supervisor_waits_until_the_pause_ends(tmp_path: Path) -> None:
    clock, output = Clock(), io.StringIO()
    ticks_after_death = 0

    def on_tick() -> None:
        nonlocal ticks_after_death
        if "ended with status" in output.getvalue():
            clock.now += 0.1
            ticks_after_death += 1
            if ticks_after_death == 9:
                supervisor.stop()

    supervisor = Supervisor([program("web", "exit(1)")], output, start=spawned, on_tick=on_tick, clock=clock)
    supervisor.run()
    assert output.getvalue().count("ended with status") == 1


def test_long_run_resets_the_restart_pause() -> None:
    clock, output = Clock(), io.StringIO()

    def on_tick() -> None:
        restarts = output.getvalue().count("starts again")
        if restarts == 3:
            supervisor.stop()
        clock.now += 61

    supervisor = Supervisor([program("web", "exit(1)")], output, start=spawned, on_tick=on_tick, clock=clock)
    supervisor.run()
    assert output.getvalue().count("in 1 s") == 3


def test_supervisor_reports_signal_of_dead_program() -> None:
    output = io.StringIO()

    def on_tick() -> None:
        if output.getvalue():
            supervisor.stop()

    killed = program("worker", "import os; os.kill(os.getpid(), 9)")
    supervisor = Supervisor([killed], output, start=spawned, on_tick=on_tick)
    supervisor.run()
    assert "worker was ended by SIGKILL" in output.getvalue()


def test_children_of_dead_program_are_killed(tmp_path: Path) -> None:
    marker = str(tmp_path)
    leave = """
import subprocess, sys
child = "import signal; print('left', flush=True); signal.pause()"
left = subprocess.Popen([sys.executable, "-c", child, sys.argv[1]], stdout=subprocess.PIPE)
left.stdout.readline()
"""
    clock, output = Clock(), io.StringIO()

    def on_tick() -> None:
        if "starts again" in output.getvalue():
            supervisor.stop()

    supervisor = Supervisor([program("worker", leave, marker)], output, start=spawned, on_tick=on_tick, clock=clock)
    supervisor.run()
    wait_until(lambda: running_with(marker) == {}, timeout_s=2)


@pytest.mark.slow
def test_programs_that_ignore_SIGTERM_are_killed(tmp_path: Path) -> None:
    marker = str(tmp_path)
    output = io.StringIO()

    def on_tick() -> None:
        if "deaf" in output.getvalue() and len(running_with(marker)) == 2:
            supervisor.stop()

    supervisor = Supervisor(
        [program("web", OUTLIVE, CHILD_IGNORING_SIGTERM, marker)], output, start=spawned, on_tick=on_tick
    )
    before = time.monotonic()
    supervisor.run()
    assert STOP_TIMEOUT_S <= time.monotonic() - before < 10
    assert "web does not stop, it is killed" in output.getvalue()
    wait_until(lambda: running_with(marker) == {}, timeout_s=2)


def test_children_of_stopped_program_are_killed(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    output = io.StringIO()

    def on_tick() -> None:
        if "reads" in output.getvalue():
            supervisor.stop()

    programs = [program("quick", LEAVE_CHILD_PROCESS, str(fifo)), program("slow", WAIT_FOR_END_OF_CHILD, str(fifo))]
    supervisor = Supervisor(programs, output, start=spawned, on_tick=on_tick)
    supervisor.run()
    assert "the child has ended" in output.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stop_signal_ends_supervisor(number: signal.Signals, tmp_path: Path) -> None:
    with start_supervisor(tmp_path) as supervisor:
        supervisor.send_signal(number)
        assert supervisor.wait(10) == 0
    assert running_with(str(tmp_path)) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a parent's death to children")
def test_programs_end_when_supervisor_is_killed(tmp_path: Path) -> None:
    with start_supervisor(tmp_path) as supervisor:
        supervisor.kill()
    wait_until(lambda: running_with(str(tmp_path)) == {}, timeout_s=5)


def test_closed_output_stops_supervisor(tmp_path: Path) -> None:
    with start_supervisor(tmp_path) as supervisor:
        assert supervisor.stdout is not None
        supervisor.stdout.close()
        # Nobody reads the supervisor's report on a program's death.
        sleepers = [pid for pid in running_with(str(tmp_path)) if pid != supervisor.pid]
        os.kill(sleepers[0], signal.SIGKILL)
        assert supervisor.wait(10) in (0, 120)  # Python exits with 120 if it cannot flush its output.
    assert running_with(str(tmp_path)) == {}


def start_supervisor(tmp_path: Path) -> subprocess.Popen[str]:
    """Start a supervisor with two idle programs.

    Their command lines contain `tmp_path`.
    """
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, str(tmp_path)],
        cwd=BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout is not None
    watchdog = threading.Timer(20, supervisor.kill)
    watchdog.start()
    for _ in range(2):
        assert supervisor.stdout.readline().endswith("| up\n")
    watchdog.cancel()
    return supervisor


def test_graceful_timeout_is_below_STOP_TIMEOUT_S() -> None:
    web = next(program.command for program in programs(BASE_DIR, 8000, {}) if program.name == "web")
    assert float(web[web.index("--graceful-timeout") + 1]) + 3 <= STOP_TIMEOUT_S
